#ifndef LOCKFREE_THREAD_READY_ONCE_H
#define LOCKFREE_THREAD_READY_ONCE_H
/**********************************************************************

  thread/ready_once.h - a thread is made ready once, and its Ractor queued once

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
 * [2] A Ractor whose next thread has no native thread is put in a queue, from
 * which native threads that are free take it.  Upstream may put it there twice,
 * which makes a circle of the queue: a thread that ends leaves the Ractor to the
 * next one, and if that is none, the timer thread may make one ready, and queue
 * the Ractor, before the ended thread looks who is next and queues it as well.
 * Here a Ractor is `queued` until who has taken it off has the lock of its
 * scheduler, and looks who is next: whoever makes a thread ready before, with
 * that lock, need not queue it again.  So it is in the queue once at most, and
 * not while it runs.  (rb_thread_sched.queued: with the lock of the scheduler.)
 */

/* [1]: the timer thread has done what it began for this thread, which runs and holds no lock.  Itself. */
static void
thread_sched_await_timer(void)
{
    rb_native_mutex_lock(&timer_th.waiting_lock);
    rb_native_mutex_unlock(&timer_th.waiting_lock);
}

#endif /* LOCKFREE_THREAD_READY_ONCE_H */
