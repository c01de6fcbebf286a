#ifndef LOCKFREE_GC_FINALIZE_TURN_H
#define LOCKFREE_GC_FINALIZE_TURN_H
/**********************************************************************

  gc/finalize_turn.h - a Ractor calls finalizers for a while, and goes on

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc/default/default.c.
 *
 * Problem.  Who has swept calls finalizers when it looks for interrupts, one Ractor at a time,
 * and goes on as long as there are any.  Others that leave them come to nothing meanwhile, and
 * go on to leave more: where they leave more than it can call there is no end.  Main, say, sleeps for
 * ever, and cannot tell its Ractors to end, which fill the memory, 2 GB a minute.
 *
 * Solution.  It calls them for GC_FINALIZE_TURN, and returns to what it was about.  The next turn is
 * whoever's looks first: its own at its next look, which comes before it sleeps
 * (rb_threadptr_execute_interrupts, which flushes postponed jobs once), or theirs who leave them.
 * GC.start calls all that were found until then.
 *
 *   finalizing        one at a time calls finalizers, whoever has set it; the rest is its
 *   finalize_rest     what was taken off heap_pages_deferred_final, and not called
 *   finalize_until    when the turn is over; 0: never
 *
 * With one Ractor, and at the end of the process, there are no turns.
 */

#define GC_FINALIZE_TURN (10 * 1000 * 1000) /* ns */

static void finalize_list(rb_objspace_t *objspace, VALUE zombie);

static uint64_t
gc_finalize_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 * 1000 * 1000 + now.tv_nsec;
}

/* Whether the turn is over, and +rest+ is left for the next one.  Who finalizes. */
static bool
gc_finalize_turn_over_p(rb_objspace_t *objspace, VALUE rest)
{
    if (objspace->finalize_until == 0 || !rest || gc_finalize_clock() < objspace->finalize_until) return false;

    objspace->finalize_rest = rest;
    return true;
}

/* Zombies that are linked, or 0: the rest first.  Who finalizes. */
static VALUE
gc_finalize_take(rb_objspace_t *objspace)
{
    VALUE zombie = objspace->finalize_rest;

    objspace->finalize_rest = 0;
    return zombie ? zombie : RUBY_ATOMIC_VALUE_EXCHANGE(heap_pages_deferred_final, 0);
}

/* What was found until now, with several Ractors, until +until+.  Who finalizes. */
static void
gc_finalize_so_far(rb_objspace_t *objspace, uint64_t until)
{
    objspace->finalize_until = until;
    if (objspace->finalize_rest) finalize_list(objspace, gc_finalize_take(objspace));
    if (!objspace->finalize_rest) finalize_list(objspace, gc_finalize_take(objspace));
    objspace->finalize_until = 0;
}

#endif /* LOCKFREE_GC_FINALIZE_TURN_H */
