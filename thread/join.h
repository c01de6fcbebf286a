#ifndef LOCKFREE_THREAD_JOIN_H
#define LOCKFREE_THREAD_JOIN_H
/**********************************************************************

  thread/join.h - Thread#join: who waits, and a thread that another Ractor has left

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of thread.c.
 *
 * Problem.  A Ractor may end with a Thread as its value, and who takes it may join that,
 * while it is being ended.  Upstream enters the joiner into a list of the thread, and that
 * makes the joiner runnable, without a lock of both: by then the joiner may sleep for
 * something else, for which nobody can wake it any more.
 *
 * Solution.  The joiner looks each millisecond.  It does not wait for long: all threads of
 * a Ractor that has ended are being ended.  (A Fiber's storage can hand on one of a Ractor
 * that lives; whether that is a deadlock nobody asks, as with messages.)
 *
 * A Fiber that waits is in the thread's list on its own stack.  The thread
 * keeps it, and it keeps its own thread: so the list is whole when a scheduler forgets the
 * Fiber, or that thread ends, whose Fibers are passed by.  (In a child the list of a thread
 * that is not there any more may be on stacks that are not either.)
 *
 * Order.  The thread's value is stored with release, and its error before; the joiner's
 * acquiring load pairs with that.
 */

/* Those who wait for +th+ to finish.  The GC; who only asks what the thread refers to is told of nothing. */
void
rb_thread_mark_joiners(rb_thread_t *th)
{
    if (th->status == THREAD_KILLED || !rb_during_gc()) return;
    for (struct rb_waiting_list **joiner = &th->join_list; *joiner; ) {
        if ((*joiner)->thread->status == THREAD_KILLED) {
            *joiner = (*joiner)->next;
        }
        else {
            rb_gc_mark((*joiner)->kept);
            joiner = &(*joiner)->next;
        }
    }
}

/* +value+ is what +th+, the current thread, gives; it can be joined. */
static void
thread_set_value(rb_thread_t *th, VALUE value)
{
    __atomic_store_n(&th->value, value, __ATOMIC_RELEASE); /* pairs with thread_finished_other_p */
}

/* Whether +target+ has finished, or gone in a fork. */
static bool
thread_finished_other_p(const rb_thread_t *target)
{
    return !UNDEF_P(__atomic_load_n(&target->value, __ATOMIC_ACQUIRE)) || target->status == THREAD_KILLED;
}

/* Sleeps until +target+, of another Ractor, has finished, or for +limit+ nanoseconds, if any: then false. */
static bool
thread_join_other(const rb_thread_t *target, const rb_hrtime_t *limit)
{
    const rb_hrtime_t end = limit ? rb_hrtime_add(*limit, rb_hrtime_now()) : RB_HRTIME_MAX;

    while (!thread_finished_other_p(target)) {
        if (limit && rb_hrtime_now() >= end) return false;
        VALUE scheduler = rb_fiber_scheduler_current();
        if (!NIL_P(scheduler)) rb_fiber_scheduler_kernel_sleep(scheduler, DBL2NUM(0.001));
        else rb_thread_wait_for((struct timeval){ .tv_usec = 1000 });
    }
    return true;
}

#endif /* LOCKFREE_THREAD_JOIN_H */
