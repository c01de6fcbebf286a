#ifndef LOCKFREE_RACTOR_NATIVE_THREAD_TURN_H
#define LOCKFREE_RACTOR_NATIVE_THREAD_TURN_H
/**********************************************************************

  ractor/native_thread_turn.h - Ractors that compute take turns

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of thread_pthread.c.
 *
 * Problem.  A Ractor keeps its native thread until it waits for something, or
 * ends.  Where there are more Ractors than native threads, the others begin when
 * one has ended; and if that one computes until it hears of them, never.
 *
 * Solution.  While Ractors are in the queue and no native thread waits for one,
 * the timer thread interrupts, at the end of each slice, who runs on those that
 * are shared, as it does where the threads of a Ractor take turns.  Who has run
 * for a quantum gives up its native thread, which takes the first Ractor of the
 * queue, and its own Ractor joins the queue as the last one; if more of its
 * threads are ready, with the next of them.
 */

#if USE_MN_THREADS

/* Whether a Ractor is queued for such a native thread as +th+, the current thread, is on.  A hint: read without the lock. */
static bool
ractor_sched_wanted_p(const rb_thread_t *th)
{
    return !th_has_dedicated_nt(th) && __atomic_load_n(&th->vm->ractor.sched.grq_cnt, __ATOMIC_RELAXED) > 0;
}

/* +th+, the current thread, none of whose Ractor is ready, gives its native thread to the queue.  Lock of its scheduler. */
static void
ractor_sched_give_native_thread(struct rb_thread_sched *sched, rb_thread_t *th)
{
    struct rb_native_thread *nt = th->nt;

    RB_INTERNAL_THREAD_HOOK(RUBY_INTERNAL_THREAD_EVENT_SUSPENDED, th);
    RACTOR_WAITS(leave(th, th));
    thread_sched_del_running_thread(sched, th);
    native_thread_assign(NULL, th);
    RB_INTERNAL_THREAD_HOOK(RUBY_INTERNAL_THREAD_EVENT_READY, th);
    ractor_sched_enq(th->vm, th->ractor);

    thread_sched_set_lock_owner(sched, NULL);
    rb_ractor_set_current_ec(th->ractor, NULL);
    coroutine_transfer0(th->sched.context, nt->nt_context, false);
    thread_sched_set_lock_owner(sched, th);

    thread_sched_add_running_thread(sched, th);
    th->running_time_us = 0;
    RACTOR_WAITS(resume(th));
    RB_INTERNAL_THREAD_HOOK(RUBY_INTERNAL_THREAD_EVENT_RESUMED, th);
}

/* The timer thread, at the end of a slice.  Lock of vm->ractor.sched. */
static void
ractor_sched_interrupt_shared(rb_vm_t *vm)
{
    rb_thread_t *th;

    if (vm->ractor.sched.grq_cnt <= ractor_sched_idle_cnt) return;
    ccan_list_for_each(&vm->ractor.sched.running_threads, th, sched.node.running_threads) {
        if (!th_has_dedicated_nt(th)) RUBY_VM_SET_TIMER_INTERRUPT(th->ec);
    }
}

#else
#  define ractor_sched_wanted_p(th) false
#  define ractor_sched_give_native_thread(sched, th) ((void)0)
#  define ractor_sched_interrupt_shared(vm) ((void)0)
#endif
#endif /* LOCKFREE_RACTOR_NATIVE_THREAD_TURN_H */
