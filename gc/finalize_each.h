#ifndef LOCKFREE_GC_FINALIZE_EACH_H
#define LOCKFREE_GC_FINALIZE_EACH_H
/**********************************************************************

  gc/finalize_each.h - each Ractor calls the finalizers of what it finds

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc/default/default.c.
 *
 * Problem.  Who has swept takes the list of what is to be finalized, when it looks for
 * interrupts, calls the finalizers, and takes the list again as long as there is one.
 * Upstream has one flag, for all, that somebody does so.  Others that leave objects come to
 * nothing meanwhile, and go on to leave more: where they leave more than it can call there is no
 * end.  Main, say, sleeps for ever, and cannot tell its Ractors to end, which fill the memory, 2 GB
 * a minute.
 *
 * Solution.  A flag for each Ractor, so that it does not begin again within a finalizer.  Lists are
 * taken by an exchange: nothing is in two of them, and each object is taken off the heap's counts
 * with the VM lock, as before.  Who leaves objects calls their finalizers before it goes on.
 *
 *   finalizes    of a Ractor's cache: its own, with its GVL
 *   finalizing   how many Ractors do: the checks of the GC ask whether it is 0.  Atomic, seq_cst
 *
 * The child of a fork has the flag of the Ractor that is left.
 */

/* The current Ractor's. */
static inline bool *
gc_finalizes(void)
{
    return &((rb_ractor_newobj_cache_t *)rb_gc_get_ractor_newobj_cache())->finalizes;
}

/* Whether the current Ractor is at it. */
static bool
gc_finalizes_p(void)
{
    return *gc_finalizes();
}

/* False: it is at it.  The current Ractor. */
static bool
gc_finalize_begin(rb_objspace_t *objspace)
{
    if (gc_finalizes_p()) return false;

    *gc_finalizes() = true;
    RUBY_ATOMIC_INC(finalizing);
    return true;
}

static void
gc_finalize_end(rb_objspace_t *objspace)
{
    *gc_finalizes() = false;
    RUBY_ATOMIC_DEC(finalizing);
}

/* In the child of a fork. */
static void
gc_finalize_alone(rb_objspace_t *objspace)
{
    RUBY_ATOMIC_SET(finalizing, gc_finalizes_p());
}

#endif /* LOCKFREE_GC_FINALIZE_EACH_H */
