#ifndef LOCKFREE_THREAD_SYNC_H
#define LOCKFREE_THREAD_SYNC_H
/**********************************************************************

  thread/sync.h - who waits for a Mutex, a Queue or a ConditionVariable; the Mutexes that a thread has

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
 * A Fiber that waits is in a list on its own stack.  What it waits for keeps it, and it keeps
 * its thread: so the list is whole when a scheduler forgets the Fiber, or the thread ends.  One
 * that waits by a scheduler is passed by if its thread has none any more.
 *
 * A child.  The stacks that its parent's lists are on may be gone.  Of those who wait for a Mutex
 * the other threads are taken out at once; the list of a Queue or ConditionVariable begins
 * anew when it is first asked for: until then the GC passes it by, and whoever was in
 * it does not leave it.
 *
 * A scheduler's #unblock is Ruby code: while all are woken some may leave the list.  So the
 * first is taken out each time, and no next one is remembered.
 *
 * An end.  One who waits is woken for what there is: a Mutex, something in a Queue, room in one,
 * a signal.  If it ends, or raises, before it has that, or its time is over, it wakes the next who
 * waited then already: else those who wait sleep on, though it is there.  Not so a Fiber that
 * was woken by a scheduler, and that is not resumed any more.
 */

static void thread_mutex_remove(rb_thread_t *thread, rb_mutex_t *mutex);
static void mutex_free_unlocked(void *ptr);
static rb_mutex_t *mutex_ptr(VALUE obj);
static void wakeup_one(struct ccan_list_head *head);
static struct rb_queue *queue_ptr(VALUE obj);
static struct rb_szqueue *szqueue_ptr(VALUE obj);
static struct rb_condvar *condvar_ptr(VALUE self);
static const rb_data_type_t queue_data_type, szqueue_data_type;

/* ---- those who wait */

/* Has +self+ keep the current Fiber, which is about to wait for it as +waiter+, in its list.  A Fiber that is blocking, too: a handler
 * that the wait runs may leave it there. */
static void
sync_waiter_keep(VALUE self, struct sync_waiter *waiter)
{
    waiter->since = rb_hrtime_now();
    waiter->by_scheduler = !NIL_P(rb_fiber_scheduler_current());
    waiter->kept = rb_fiberptr_self(GET_EC()->fiber_ptr); /* false: a thread's first one */
    RB_OBJ_WRITTEN(self, Qundef, waiter->kept);
}

/* Whether nobody can wake +waiter+: its thread has ended, or has no scheduler any more, by which it waits. */
static bool
sync_waiter_gone_p(const struct sync_waiter *waiter)
{
    return waiter->th->status == THREAD_KILLED || (waiter->by_scheduler && NIL_P(waiter->th->scheduler));
}

/* The first in the list +waitq+ who can be woken, or NULL; those before it are taken out. */
static struct sync_waiter *
sync_waiter_first(struct ccan_list_head *waitq)
{
    struct sync_waiter *first;

    while ((first = ccan_list_top(waitq, struct sync_waiter, node)) && sync_waiter_gone_p(first)) {
        ccan_list_del_init(&first->node);
    }
    return first;
}

/* That one, who is about to be woken, and is taken out, too. */
static struct sync_waiter *
sync_waiter_shift(struct ccan_list_head *waitq)
{
    struct sync_waiter *first = sync_waiter_first(waitq);

    if (first) {
        ccan_list_del_init(&first->node);
        first->woken = rb_hrtime_now();
    }
    return first;
}

/* How many in the list +waitq+ can be woken. */
static long
sync_waiters(const struct ccan_list_head *waitq)
{
    const struct sync_waiter *waiter;
    long cnt = 0;

    ccan_list_for_each(waitq, waiter, node) cnt += !sync_waiter_gone_p(waiter);
    return cnt;
}

/* The GC.  Fibers of threads that have ended leave the list, as nobody resumes them: else they would be kept while +waitq+ is.  A
 * list of another +fork_gen+ is its parent's.  Who only asks what the object refers to is told of nothing, as by stock: a collection
 * may come meanwhile. */
static void
sync_mark_waiters(struct ccan_list_head *waitq, rb_serial_t fork_gen)
{
    struct sync_waiter *waiter, *next;

    if (fork_gen != GET_VM()->fork_gen || !rb_during_gc()) return;
    ccan_list_for_each_safe(waitq, waiter, next, node) {
        if (waiter->th->status == THREAD_KILLED) ccan_list_del_init(&waiter->node);
        else                                     rb_gc_mark(waiter->kept);
    }
}

/* Whether +waiter+ was woken for what the first in the list +waitq+ has waited for as well, then already. */
static bool
sync_hands_on_p(struct ccan_list_head *waitq, const struct sync_waiter *waiter)
{
    const struct sync_waiter *first = waiter->woken ? sync_waiter_first(waitq) : NULL;
    return first && first->since <= waiter->woken;
}

/* Whether all threads of the Ractor are ending: there is nobody to hand anything on to. */
static bool
sync_all_end_p(const rb_thread_t *th)
{
    const rb_thread_t *first = th->ractor->threads.main;
    return first->status == THREAD_KILLED || !UNDEF_P(first->value);
}

static VALUE
sync_wake_next(VALUE waitq)
{
    wakeup_one((struct ccan_list_head *)waitq);
    return Qnil;
}

/* Jumps to where +state+ is caught, after one of +waitq+ was woken, for which a scheduler's #unblock may be run.  If that raises, or
 * this thread is to, meanwhile, it is as in an ensure; but a thread that is killed stays so. */
NORETURN(static void sync_wake_and_jump(rb_execution_context_t *ec, enum ruby_tag_type state, struct ccan_list_head *waitq));

static void
sync_wake_and_jump(rb_execution_context_t *ec, enum ruby_tag_type state, struct ccan_list_head *waitq)
{
    VALUE errinfo = ec->errinfo;
    int raised = 0;

    if (state != TAG_RAISE) ec->errinfo = Qnil; /* it is none that Ruby code may see; else it is the cause of the next */
    if (!sync_all_end_p(rb_ec_thread_ptr(ec))) rb_protect(sync_wake_next, (VALUE)waitq, &raised);
    if (raised && (state != TAG_FATAL || errinfo == RUBY_FATAL_FIBER_KILLED)) EC_JUMP_TAG(ec, raised);
    ec->errinfo = errinfo;
    EC_JUMP_TAG(ec, state);
}

/* In a child: what +self+ may be has no list of its parent any more. */
static void
sync_begin_anew(VALUE self)
{
    if (rb_typeddata_is_kind_of(self, &szqueue_data_type)) szqueue_ptr(self);
    else if (rb_typeddata_is_kind_of(self, &queue_data_type)) queue_ptr(self);
    else condvar_ptr(self);
}

/* Has +waiter+, in the list +waitq+ of +self+, +sleep+, and then +leave+ the list, from which it may have been taken.
 * What +sleep+ gives. */
static VALUE
sync_sleep(VALUE self, struct ccan_list_head *waitq, struct sync_waiter *waiter,
           VALUE (*sleep)(VALUE), VALUE arg, VALUE (*leave)(VALUE))
{
    rb_execution_context_t *ec = GET_EC();
    const rb_serial_t fork_gen = GET_VM()->fork_gen;
    enum ruby_tag_type state;
    volatile VALUE value = Qnil;

    sync_waiter_keep(self, waiter);
    EC_PUSH_TAG(ec);
    if ((state = EC_EXEC_TAG()) == TAG_NONE) value = sleep(arg);
    EC_POP_TAG();

    if (fork_gen == GET_VM()->fork_gen) {
        leave((VALUE)waiter);
    }
    else {
        waiter->woken = 0;
        sync_begin_anew(self);
    }
    if (state == TAG_NONE) return value;
    if (sync_hands_on_p(waitq, waiter)) sync_wake_and_jump(ec, state, waitq);
    EC_JUMP_TAG(ec, state);
}

/* +waiter+ has come back from the list +waitq+ with nothing, as its time was over: it may have been woken meanwhile. */
static void
sync_timed_out(struct ccan_list_head *waitq, const struct sync_waiter *waiter)
{
    if (sync_hands_on_p(waitq, waiter)) wakeup_one(waitq);
}

/* ---- Mutex */

/* The GC; its thread, which may be another one, and the Mutexes in its list live.  Or any Ractor that sweeps, if its thread has left it. */
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
    sync_mark_waiters(&((rb_mutex_t *)ptr)->waitq, GET_VM()->fork_gen); /* mutex_abandon_waiters */
}

/* In a child: only the Fibers of the current thread, the only one, wait. */
static void
mutex_abandon_waiters(rb_mutex_t *mutex)
{
    const rb_thread_t *th = GET_THREAD();
    struct sync_waiter *waiter, *next;

    ccan_list_for_each_safe(&mutex->waitq, waiter, next, node) {
        if (waiter->th != th) ccan_list_del_init(&waiter->node);
    }
}

/* +mutex+, in no list, is about to be the first in that of +thread+, the running one. */
static inline void
thread_mutex_enter(rb_thread_t *thread, rb_mutex_t *mutex)
{
    mutex->next_mutex = thread->keeping_mutexes;
    mutex->th = thread;
}

/* +mutex+ is unlocked, and nobody waits for it: its thread is not at it any more. */
static inline void
mutex_leave(rb_mutex_t *mutex)
{
    __atomic_store_n(&mutex->th, NULL, __ATOMIC_RELEASE);
}

/* Whether the dead object +obj+, with data of a type, is a Mutex that its thread has left: no thread comes to it any more.  Any
 * Ractor that sweeps. */
bool
rb_mutex_left_p(VALUE obj)
{
    const rb_mutex_t *mutex = RTYPEDDATA_GET_DATA(obj);

    return RTYPEDDATA_TYPE(obj)->function.dfree == mutex_free && !__atomic_load_n(&mutex->th, __ATOMIC_ACQUIRE);
}

static VALUE mutex_lock_or_raise(VALUE self, int interruptible_p);

/* Locks the Mutex +self+, or raises what the thread, which may have been woken to have it, is to raise. */
static VALUE
do_mutex_lock(VALUE self, int interruptible_p)
{
    rb_mutex_t *mutex = mutex_ptr(self);
    rb_execution_context_t *ec = GET_EC();
    enum ruby_tag_type state;

    if (!mutex->fiber) return mutex_lock_or_raise(self, interruptible_p);
    EC_PUSH_TAG(ec);
    if ((state = EC_EXEC_TAG()) == TAG_NONE) mutex_lock_or_raise(self, interruptible_p);
    EC_POP_TAG();
    if (state == TAG_NONE) return self;

    if (!mutex->fiber) sync_wake_and_jump(ec, state, &mutex->waitq);
    EC_JUMP_TAG(ec, state);
}

#endif /* LOCKFREE_THREAD_SYNC_H */
