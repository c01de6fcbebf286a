#ifndef LOCKFREE_GC_MALLOC_CACHE_H
#define LOCKFREE_GC_MALLOC_CACHE_H
/**********************************************************************

  gc/malloc_cache.h - what a sweep has freed, for the thread that has

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  glibc keeps seven blocks of a size for the thread that has freed them.  A sweep frees
 * hundreds: the others go to an arena, with its lock and atomic operations, which a process of one
 * thread is spared, and come back by the same way.  Eight Ractors that flatten small Arrays have
 * 1.3 times the processor time of one thread.  glibc can be told to keep more (GLIBC_TUNABLES,
 * glibc.malloc.tcache_count) before the process starts only.
 *
 * Solution.  With the second Ractor, a native thread keeps up to GC_MALLOC_CACHE_BYTES of each size of
 * blocks that it frees with xfree, or with rb_free_cached, as Onigmo does, and gives them out again, last in,
 * first out.  Blocks are malloc's as before: free and realloc know them, and what is counted
 * (gc/malloc_count.h) is the same: Onigmo's are not.
 *
 *   size k    blocks of 16 * k + 8 bytes and up to 15 more, by malloc_usable_size: glibc's own sizes;
 *             another allocator's are rounded down
 *
 * A thread that ends gives back what it keeps.
 *
 * Limits.  Up to GC_MALLOC_CACHE_SIZES * GC_MALLOC_CACHE_BYTES lie with each of GC_MALLOC_CACHE_THREADS native
 * threads, as a rule a fifth of that; others, of which so many cannot run at once, keep nothing.  In the child of a
 * fork what other threads kept is lost.  Not where the user has set what malloc does (GLIBC_TUNABLES, MALLOC_CHECK_,
 * MALLOC_PERTURB_) or has another or a tool loaded in its place (LD_PRELOAD, which valgrind sets, too), and not with
 * the sanitizers, which are to see each free.
 *
 * All is the thread's own, but rb_malloc_caches: who sees it late calls malloc meanwhile.  Who begins a cache
 * loads it with acquire, which synchronises with the release of rb_malloc_caches_begin, as it reads the key then.
 */

#include "ruby/internal/config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_MALLOC_USABLE_SIZE
#  ifdef HAVE_MALLOC_H
#    include <malloc.h>
#  endif
#  define RB_MALLOC_USABLE_SIZE(ptr) malloc_usable_size(ptr)
#else
#  define RB_MALLOC_USABLE_SIZE(ptr) ((size_t)0)
#endif

extern bool rb_malloc_caches; /* relaxed */

/* A block of +size+ bytes or more that the running thread has kept, or NULL. */
void *rb_malloc_cache_take(size_t size);

/* Whether the running thread keeps the block +ptr+ of +usable+ bytes. */
bool rb_malloc_cache_put(void *ptr, size_t usable);

/* A Ractor is made besides main.  Once, any thread. */
void rb_malloc_caches_begin(void);

/* malloc, calloc and free.  Any thread, no safe point, nothing is counted. */
static inline void *
rb_malloc_cached(size_t size)
{
    void *mem = __atomic_load_n(&rb_malloc_caches, __ATOMIC_RELAXED) ? rb_malloc_cache_take(size) : NULL;
    return mem ? mem : malloc(size);
}

static inline void *
rb_calloc_cached(size_t size)
{
    void *mem = __atomic_load_n(&rb_malloc_caches, __ATOMIC_RELAXED) ? rb_malloc_cache_take(size) : NULL;
    return mem ? memset(mem, 0, size) : calloc(1, size);
}

/* +usable+: bytes of the block, by malloc_usable_size. */
static inline void
rb_free_cached_sized(void *ptr, size_t usable)
{
    if (__atomic_load_n(&rb_malloc_caches, __ATOMIC_RELAXED) && rb_malloc_cache_put(ptr, usable)) return;
    free(ptr);
}

static inline void
rb_free_cached(void *ptr)
{
    if (__atomic_load_n(&rb_malloc_caches, __ATOMIC_RELAXED) && ptr && rb_malloc_cache_put(ptr, RB_MALLOC_USABLE_SIZE(ptr))) return;
    free(ptr);
}

#endif /* LOCKFREE_GC_MALLOC_CACHE_H */
