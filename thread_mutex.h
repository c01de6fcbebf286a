#ifndef LOCKFREE_THREAD_MUTEX_H
#define LOCKFREE_THREAD_MUTEX_H
/**********************************************************************

  thread_mutex.h - the list of the Mutexes that a thread has

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of thread_sync.c.  One thread's own business; crashes with one Ractor as well.
 *
 * A dead Fiber.  A Mutex that dies while it is locked leaves the list of its thread.
 * 3.4.5 finds that by the Fiber, which may have died in the same collection, and been
 * freed before; so does who waits for a Mutex that a dead Fiber has.  Here the Mutex
 * knows the thread itself, from when it enters the list, and nobody is woken who waits
 * for what is dead.
 *
 * A thread that has ended has unlocked its Mutexes, each of which still has the next
 * one of that list: it forgets it when it enters another.
 *
 * A handler.  A thread that waits for a Mutex runs handlers of signals, finalizers, and
 * the scheduler of its Fibers, with the Mutex let go.  One that calls try_lock has the
 * Mutex for that very thread, and has put it into the list: do_mutex_lock does not do
 * so again, which made the list a circle, without what the thread had before.
 */

static void thread_mutex_remove(rb_thread_t *thread, rb_mutex_t *mutex);
static void mutex_free_unlocked(void *ptr);

/* The GC, or a sweep; its thread, which may be another one, and the Mutexes in its list live. */
static void
mutex_free(void *ptr)
{
    rb_mutex_t *mutex = ptr;

    if (mutex->fiber) thread_mutex_remove(mutex->th, mutex);
    mutex->fiber = NULL;
    mutex_free_unlocked(ptr);
}

/* +mutex+, in no list, is about to be the first in that of +thread+, the running one. */
static inline void
thread_mutex_enter(rb_thread_t *thread, rb_mutex_t *mutex)
{
    mutex->next_mutex = thread->keeping_mutexes;
    mutex->th = thread;
}

#endif /* LOCKFREE_THREAD_MUTEX_H */
