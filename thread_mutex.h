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
 *
 * A Fiber that waits by a scheduler is in a list on its own stack.  The Mutex keeps it, and it
 * keeps its thread: so the list is whole when the scheduler forgets the Fiber, or the thread
 * ends, or does without a scheduler, whose Fibers are passed by.
 *
 * An end.  Who unlocks a Mutex wakes one that waits.  If that one ends, or raises, before it
 * has the Mutex, it wakes the next: else those who wait sleep on, though nobody has it.
 */

static void thread_mutex_remove(rb_thread_t *thread, rb_mutex_t *mutex);
static void mutex_free_unlocked(void *ptr);
static rb_mutex_t *mutex_ptr(VALUE obj);

/* The GC, or a sweep; its thread, which may be another one, and the Mutexes in its list live. */
static void
mutex_free(void *ptr)
{
    rb_mutex_t *mutex = ptr;

    if (mutex->fiber) thread_mutex_remove(mutex->th, mutex);
    mutex->fiber = NULL;
    mutex_free_unlocked(ptr);
}

/* The GC. */
static void
mutex_mark_waiters(void *ptr)
{
    const rb_mutex_t *mutex = ptr;
    struct sync_waiter *waiter;

    ccan_list_for_each(&mutex->waitq, waiter, node) {
        if (waiter->fiber) rb_gc_mark(rb_fiberptr_self(waiter->fiber));
    }
}

/* Whether nobody can wake +waiter+: its thread has ended, or has no scheduler any more, and does not wait for it itself. */
static bool
sync_waiter_gone_p(const struct sync_waiter *waiter)
{
    const rb_thread_t *th = waiter->th;
    return th->status == THREAD_KILLED || (waiter->fiber && NIL_P(th->scheduler) && th->locking_mutex != waiter->self);
}

/* The first in the list of +mutex+, if any, can be woken. */
static void
mutex_pass_by_gone(rb_mutex_t *mutex)
{
    struct sync_waiter *first;

    while ((first = ccan_list_top(&mutex->waitq, struct sync_waiter, node)) && sync_waiter_gone_p(first)) {
        ccan_list_del_init(&first->node);
    }
}

/* +mutex+, in no list, is about to be the first in that of +thread+, the running one. */
static inline void
thread_mutex_enter(rb_thread_t *thread, rb_mutex_t *mutex)
{
    mutex->next_mutex = thread->keeping_mutexes;
    mutex->th = thread;
}

/* Runs a scheduler's #unblock, which may raise. */
static VALUE
mutex_wake_next(VALUE self)
{
    rb_mutex_t *mutex = mutex_ptr(self);

    mutex_pass_by_gone(mutex);
    wakeup_one(&mutex->waitq);
    return Qnil;
}

static VALUE mutex_lock_or_raise(VALUE self, int interruptible_p);

/* Locks the Mutex +self+, or raises what the thread, which may have been woken to have it, is to raise. */
static VALUE
do_mutex_lock(VALUE self, int interruptible_p)
{
    const rb_mutex_t *mutex = mutex_ptr(self);
    rb_execution_context_t *ec = GET_EC();
    enum ruby_tag_type state;

    if (!mutex->fiber) return mutex_lock_or_raise(self, interruptible_p);
    EC_PUSH_TAG(ec);
    if ((state = EC_EXEC_TAG()) == TAG_NONE) mutex_lock_or_raise(self, interruptible_p);
    EC_POP_TAG();
    if (state == TAG_NONE) return self;

    VALUE errinfo = ec->errinfo;
    if (!mutex->fiber) {
        int raised;

        ec->errinfo = Qnil; /* it may be none that Ruby code may see */
        rb_protect(mutex_wake_next, self, &raised);
        if (raised && state != TAG_FATAL) EC_JUMP_TAG(ec, raised); /* as in an ensure; but who is killed stays so */
        ec->errinfo = errinfo;
    }
    EC_JUMP_TAG(ec, state);
}

#endif /* LOCKFREE_THREAD_MUTEX_H */
