#ifndef LOCKFREE_GC_MALLOC_ARENAS_H
#define LOCKFREE_GC_MALLOC_ARENAS_H
/**********************************************************************

  gc/malloc_arenas.h - no more of malloc's arenas than processors can use, and what they keep

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc/default/default.c.
 *
 * Problem.  glibc gives each native thread an arena until there are 8 for each
 * processor, and what is freed in one is used again there alone.  So each native
 * thread of the Ractors keeps what was garbage between two collections, though
 * few of them run at once: 70 MB on 2 processors, where 8 Ractors make Strings of
 * 2 kB.
 *
 * Solution.  With the first Ractor the limit becomes GC_MALLOC_ARENAS for each
 * processor that the process may use.  With as many, threads that run seldom meet
 * in one: the time is the same, the memory half.  A limit that the user has set
 * stays, by MALLOC_ARENA_MAX or GLIBC_TUNABLES.
 *
 * Problem.  An arena gives its end back to the system when 128 kB of it are free.  What takes more for a
 * moment, as each Zlib::Deflate does, calls madvise each time, by which all processors that run the
 * process are interrupted: 8 Ractors took 1.4 times as long as one thread.
 *
 * Solution.  glibc itself keeps twice as much as the largest block that it has had from mmap and given back, which
 * it takes from an arena from then on.  One of GC_MALLOC_ONCE_MAPPED bytes is taken and given back.  Where the arena has
 * as much free already, it would come from there, so that is taken before, too, up to GC_MALLOC_ONCE_BLOCKS times.
 * Where the user has set the thresholds, that changes nothing.
 *
 * Limits.  Arenas that exist stay; a program that has more than 8 before its first
 * Ractor has glibc's limit for good.  The processors are those of that moment.  An
 * allocator loaded in place of glibc's does not know of this.
 */

#include "lockfree/gc/malloc_cache.h"

#define GC_MALLOC_ARENAS 2 /* for each processor */
#define GC_MALLOC_ONCE_MAPPED (512 * 1024)
#define GC_MALLOC_ONCE_BLOCKS 64

#if defined(__GLIBC__) && defined(__linux__)
#  include <malloc.h>
#  include <sched.h>

static bool
gc_malloc_arenas_of_user_p(void)
{
    const char *tunables = getenv("GLIBC_TUNABLES");

    return getenv("MALLOC_ARENA_MAX") || (tunables && strstr(tunables, "glibc.malloc.arena_max"));
}

/* Of GC_MALLOC_ONCE_MAPPED bytes: a block that has been mapped is made of whole pages, another one is as large as asked for. */
static bool
gc_malloc_mapped_p(void *block)
{
    return malloc_usable_size(block) >= GC_MALLOC_ONCE_MAPPED + 1024;
}

/* How many blocks all that is free may give.  Looks at each free chunk. */
static int
gc_malloc_blocks_free(void)
{
#  if __GLIBC_PREREQ(2, 33)
    return (int)MIN(mallinfo2().fordblks / GC_MALLOC_ONCE_MAPPED, GC_MALLOC_ONCE_BLOCKS - 2);
#  else
    return 0; /* mallinfo counts in ints */
#  endif
}

static void
gc_malloc_keep_more(void)
{
    void *blocks[GC_MALLOC_ONCE_BLOCKS];
    int count = 0, most = 1;

    while (count < most) {
        void *block = blocks[count] = malloc(GC_MALLOC_ONCE_MAPPED);
        if (!block) break;
        count++;
        if (gc_malloc_mapped_p(block)) break;
        if (count == 1) most = gc_malloc_blocks_free() + 2;
    }
    while (count > 0) free(blocks[--count]); /* the one that was mapped first */
}

static void
gc_malloc_limit_arenas(void)
{
    cpu_set_t usable;

    if (gc_malloc_arenas_of_user_p()) return;
    if (sched_getaffinity(0, sizeof(usable), &usable) != 0) return; /* more than CPU_SETSIZE: no need */
    (void)mallopt(M_ARENA_MAX, GC_MALLOC_ARENAS * CPU_COUNT(&usable));
}
#else
static void gc_malloc_keep_more(void) {}
static void gc_malloc_limit_arenas(void) {}
#endif

/* A Ractor is made.  Any thread; whoever comes first does it, and other than at the first Ractor it would come too late. */
static void
gc_malloc_prepare(void)
{
    static rb_atomic_t prepared;

    if (RUBY_ATOMIC_EXCHANGE(prepared, 1)) return;
    gc_malloc_limit_arenas();
    gc_malloc_keep_more();
    rb_malloc_caches_begin();
}

#endif /* LOCKFREE_GC_MALLOC_ARENAS_H */
