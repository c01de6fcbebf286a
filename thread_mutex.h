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
 * ends, whose Fibers are passed by.
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
mutex_mark(void *ptr)
{
    const rb_mutex_t *mutex = ptr;
    struct sync_waiter *waiter;

    ccan_list_for_each(&mutex->waitq, waiter, node) {
        if (waiter->fiber) rb_gc_mark(rb_fiberptr_self(waiter->fiber));
    }
}

/* +mutex+, in no list, is about to be the first in that of +thread+, the running one. */
static inline void
thread_mutex_enter(rb_thread_t *thread, rb_mutex_t *mutex)
{
    mutex->next_mutex = thread->keeping_mutexes;
    mutex->th = thread;
}

/* The running thread of +ec+, which waits for +mutex+ no more, raises by +state+. */
static void
mutex_leave(rb_execution_context_t *ec, rb_mutex_t *mutex, enum ruby_tag_type state)
{
    VALUE errinfo = ec->errinfo; /* a scheduler's #unblock may rescue */

    if (!mutex->fiber) wakeup_one(&mutex->waitq); /* it may have been woken to have it */
    ec->errinfo = errinfo;
    EC_JUMP_TAG(ec, state);
}

/* Who waits for +mutex+, and may have been woken to have it, looks at its interrupts. */
static void
mutex_check_ints(rb_execution_context_t *ec, rb_mutex_t *mutex)
{
    enum ruby_tag_type state;

    if (rb_threadptr_pending_interrupt_empty_p(rb_ec_thread_ptr(ec)) && !RUBY_VM_INTERRUPTED_ANY(ec)) return;
    EC_PUSH_TAG(ec);
    if ((state = EC_EXEC_TAG()) == TAG_NONE) RUBY_VM_CHECK_INTS_BLOCKING(ec);
    EC_POP_TAG();
    if (state) mutex_leave(ec, mutex, state);
}

static VALUE call_rb_fiber_scheduler_block(VALUE mutex);

/* Has the scheduler run other Fibers until +waiter+, in the list of its Mutex, is woken; then it is in no list. */
static void
mutex_block_fiber(struct sync_waiter *waiter)
{
    rb_execution_context_t *ec = waiter->th->ec;
    enum ruby_tag_type state;

    RB_OBJ_WRITTEN(waiter->self, Qundef, rb_fiberptr_self(waiter->fiber)); /* mutex_mark */
    EC_PUSH_TAG(ec);
    if ((state = EC_EXEC_TAG()) == TAG_NONE) call_rb_fiber_scheduler_block(waiter->self);
    EC_POP_TAG();
    ccan_list_del(&waiter->node);
    if (state) mutex_leave(ec, mutex_ptr(waiter->self), state);
}

#endif /* LOCKFREE_THREAD_MUTEX_H */
