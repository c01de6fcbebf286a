#ifndef LOCKFREE_THREAD_READY_ONCE_H
#define LOCKFREE_THREAD_READY_ONCE_H
/**********************************************************************

  thread_ready_once.h - a thread is made ready once, and its Ractor queued once

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of thread_pthread_mn.c.
 *
 * [1] A thread registers what it waits for, a time or a file, with the timer
 * thread, and then goes to sleep with the lock of its scheduler.  The timer
 * thread takes it off its list first, and then makes it ready with that lock.  A
 * thread that finds, before it sleeps, that it has been taken off goes on at
 * once.  Upstream's timer thread may make it ready after that: while it is ready
 * already, waits for something else, or has ended; then its dead stack was
 * switched to.  But the timer thread does both with `waiting_lock` held: who goes
 * on without having slept takes that lock once, while it is still running, which
 * the timer thread sees.
 *
 * [2] A thread that ends leaves the Ractor to the next one.  If that is none, the
 * timer thread may make one ready, and queue the Ractor, before the ended thread
 * looks who is next and queues it as well.  A Ractor that is twice in the queue
 * makes a circle of it.  So who has not chosen the next one itself looks first.
 */

/* [1]: the timer thread has done what it began for this thread, which runs and holds no lock.  Itself. */
static void
thread_sched_await_timer(void)
{
    rb_native_mutex_lock(&timer_th.waiting_lock);
    rb_native_mutex_unlock(&timer_th.waiting_lock);
}

/* [2]: queues +r+, whose next thread has no native thread, unless it is queued.
 * With the lock of its scheduler, so that only who has taken it off the queue,
 * and waits for that lock, can be overlooked: he finds that it is being run. */
static void
ractor_sched_enq_once(rb_vm_t *vm, rb_ractor_t *r)
{
    rb_ractor_t *queued;
    bool found = false;

    ractor_sched_lock(vm, NULL);
    ccan_list_for_each(&vm->ractor.sched.grq, queued, threads.sched.grq_node) {
        if (queued == r) found = true;
    }
    ractor_sched_unlock(vm, NULL);
    if (!found) ractor_sched_enq(vm, r); /* nobody else can: the scheduler is locked */
}

#endif /* LOCKFREE_THREAD_READY_ONCE_H */
