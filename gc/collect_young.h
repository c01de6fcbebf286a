#ifndef LOCKFREE_GC_COLLECT_YOUNG_H
#define LOCKFREE_GC_COLLECT_YOUNG_H
/**********************************************************************

  gc/collect_young.h - a collection for want of something that is not the collector's

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc/default/default.c.
 *
 * Who asks for such a collection, as thread/fiber_pool.h does, may do so several times while the
 * system lets another Ractor wait for a processor.  What that one holds at the moment, be
 * it forgotten in the next, would have become old: an object does when three collections
 * have found it, and then only a major one frees it, and what it refers to.  So but one of
 * GC_YOUNG_TURNS of these lets what it finds become older, with several Ractors, and while
 * marking is short: what is young is marked each time.  And since the heap was not full,
 * none counts as one of those after which a heap that has little room looks for more by a
 * major collection: it grows.
 *
 * All of this is changed with the VM lock.
 */

#include "lockfree/gc/time.h"

enum { GC_YOUNG_TURNS = 8, GC_YOUNG_LONG = 1000 * 1000 /* ns */ };

void rb_fiber_pool_collection_begins(bool asked); /* thread/fiber_pool.h */
void rb_thread_stacks_collection_begins(void); /* thread/ended_stack.h */
void rb_fiber_pool_marked(uint64_t took);

static bool gc_young_wanted;     /* the next collection is one of these */
static bool gc_young_asked;      /* the last one that began was */
static bool gc_young_keeps_ages; /* of what it marks */
static unsigned int gc_young_turn;
static uint64_t gc_young_began;
static bool gc_young_measured;
static uint64_t gc_young_took;   /* to mark, the last time: nanoseconds of the processor */

/* A collection begins, all others stand. */
static void
gc_young_begins(rb_objspace_t *objspace)
{
    rb_fiber_pool_collection_begins(gc_young_wanted);
    rb_thread_stacks_collection_begins();
    gc_young_asked = gc_young_measured = gc_young_wanted;
    gc_young_wanted = gc_young_keeps_ages = false;
    if (!gc_young_asked) return;

    if (rb_gc_multi_ractor_p() && gc_young_took < GC_YOUNG_LONG) gc_young_keeps_ages = ++gc_young_turn % GC_YOUNG_TURNS != 0;

    objspace->rgengc.last_major_gc++;
    gc_young_began = gc_thread_time();
}

/* The marking ends, which was a minor one, and so has been done at once. */
static void
gc_young_marked(void)
{
    if (!gc_young_measured) return;

    gc_young_measured = false;
    gc_young_took = gc_thread_time() - gc_young_began;
    rb_fiber_pool_marked(gc_young_took);
}

/* What is young and forgotten is found, and freed as pages are swept, by whoever fills them: no finalizer is called yet, and nothing
 * is done where the GC is disabled, or another Ractor collects first.  Any Ractor, with or without the VM lock.  Runs no Ruby
 * code. */
void
rb_gc_collect_young(void)
{
    rb_objspace_t *objspace = rb_gc_get_objspace();
    size_t count = __atomic_load_n(&objspace->profile.count, __ATOMIC_RELAXED);

    unsigned int lev = rb_gc_vm_lock();
    if (count == objspace->profile.count) {
        gc_young_wanted = true;
        garbage_collect(objspace, GPR_FLAG_MALLOC);
        gc_young_wanted = false;
    }
    rb_gc_vm_unlock(lev);
}

#endif /* LOCKFREE_GC_COLLECT_YOUNG_H */
