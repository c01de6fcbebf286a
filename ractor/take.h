#ifndef LOCKFREE_RACTOR_TAKE_H
#define LOCKFREE_RACTOR_TAKE_H
/**********************************************************************

  ractor/take.h - a take or select that is interrupted while it is answered

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of ractor.c.
 *
 * Who takes from a Ractor gives it the address of a basket, which for take lies
 * on the stack.  Its type says who may write it:
 *
 *   none      the taker, and whichever Ractor makes it yielding (seq_cst CAS)
 *   yielding  that Ractor: it copies the message, which may run Ruby code, and
 *             then makes the type the message's, or none again if that failed
 *   others    the taker
 *
 * Problem.  A thread that is killed, or is raised an exception in, while its
 * basket is yielding left upstream's take at once, and the answer was written
 * into what the stack had become.  Upstream's select waited, but with the lock
 * of its Ractor, which the answer needs.
 *
 * Solution.  Both withdraw a free basket, without that lock, before they look at their
 * interrupts, so that whoever looks at it meanwhile finds it reserved; if no interrupt
 * raises it is free again, in its old place, and who may have passed over it is woken.
 * Who finds that it has been answered takes the answer, which would be lost, and is
 * interrupted when it has it.  One that is yielding is waited for, but not for long
 * before it looks all the same: what is copied may need what a handler does.  If that
 * raises the copy is waited for, and lost.  The copying may need the taker's Ractor, or
 * main, which is to load a file: who waits gives way to its Ractor's other threads, and
 * starts what others ask of its thread, and if that fails (no thread can be made) goes on.
 * A select that finds its basket yielding sleeps on until it is filled, so that
 * an interrupt finds it in the one place where it withdraws.
 *
 * A copy that fails gives the basket back: ractor_take_refuse.  The other Ractors
 * that a select has asked may have passed over it while it was yielding, and who
 * fails does not know them.  It counts in the taker's Ractor, with its lock, and
 * a select that finds the count changed asks them all again before it sleeps.
 *
 * Who closes a port wakes the takers.  A taker's lock may be that of this Ractor,
 * or of one that is closed at the same time and has a taker here: it is never
 * taken with another one held.  In between the queue has what is not told yet,
 * and takers may withdraw from it.
 */

#include <time.h>

#define RACTOR_TAKE_PAUSES 200 /* of 50 microseconds and more */

void rb_thread_let_others_run(void); /* thread.c */

/* For a moment, while a basket is yielding.  Comes to a barrier, and does not look for other interrupts. */
static void
ractor_take_pause(void)
{
    rb_thread_let_others_run();
    RB_VM_LOCK_ENTER();
    RB_VM_LOCK_LEAVE();
    nanosleep(&(struct timespec){.tv_nsec = 50 * 1000}, NULL);
}

/* Whether +tb+, which is the current thread's own, is filled.  Its type is read once: whose copy fails makes what is yielding none. */
static bool
ractor_take_answered_p(struct rb_ractor_basket *tb)
{
    rb_atomic_t type = RUBY_ATOMIC_LOAD(tb->type.atomic);
    return type != basket_type_none && type != basket_type_yielding;
}

/* Whether nobody has answered, nor will.  The current thread's own basket, without the lock of any Ractor. */
static bool
ractor_take_withdraw(struct rb_ractor_basket *tb)
{
    while (true) {
        rb_atomic_t type = RUBY_ATOMIC_CAS(tb->type.atomic, basket_type_none, basket_type_reserved);
        if (type != basket_type_yielding) return type == basket_type_none || type == basket_type_reserved;
        ractor_take_pause();
    }
}

/* The basket that +b+ names, which is yielding, gets no answer: what was to be copied raised.  Its Ractor, +cr+. */
static void
ractor_take_refuse(rb_ractor_t *cr, struct rb_ractor_queue *ts, struct rb_ractor_basket *b)
{
    rb_ractor_t *tr = RACTOR_PTR(b->sender);
    struct rb_ractor_basket *tb = b->p.take.basket;
    struct rb_ractor_selector_take_config *config = b->p.take.config;

    RACTOR_LOCK_SELF(cr);
    if (cr->sync.outgoing_port_closed) { /* meanwhile, and who closed it has passed over the basket */
        if (config) config->closed = true;
        tb->sender = cr->pub.self;
        RUBY_ATOMIC_SET(tb->type.atomic, basket_type_deleted);
    }
    else {
        if (!config || config->oneshot) ractor_queue_enq(cr, ts, b); /* a select's is still there */
        RUBY_ATOMIC_SET(tb->type.atomic, basket_type_none);
        ractor_wakeup(cr, wait_yielding, wakeup_by_retry); /* who has found none */
    }
    RACTOR_UNLOCK_SELF(cr);

    RACTOR_LOCK(tr);
    tr->sync.takes_refused++;
    ractor_wakeup(tr, wait_taking, wakeup_by_retry);
    RACTOR_UNLOCK(tr);
    RB_GC_GUARD(b->sender);
}

/* Who sleeps: a take from +r+, or a select, NULL, of +tb+. */
struct take_wait_take_cleanup_data {
    rb_ractor_t *r;
    struct rb_ractor_basket *tb;
};

/* The basket of a take, which was withdrawn, and kept its place in the queue, is free again.  What came meanwhile is told. */
static void
ractor_take_again(rb_ractor_t *r, struct rb_ractor_basket *tb)
{
    bool ended = true;

    RACTOR_LOCK(r);
    RUBY_ATOMIC_SET(tb->type.atomic, basket_type_none);
    if (ractor_take_will(r, tb)) {
        /* what it left as it ended */
    }
    else if (r->sync.outgoing_port_closed) { /* and who closed it has passed over the basket */
        tb->sender = r->pub.self;
        RUBY_ATOMIC_SET(tb->type.atomic, basket_type_deleted);
    }
    else {
        ended = false;
        ractor_wakeup(r, wait_yielding, wakeup_by_take);
    }
    RACTOR_UNLOCK(r);
    if (ended) ractor_deregister_take(r, tb); /* if it is still in the queue; it lies on the stack */
}

/* The same of a select of +cr+'s, which is to ask all again. */
static void
ractor_select_again(rb_ractor_t *cr, struct rb_ractor_basket *tb)
{
    RUBY_ATOMIC_SET(tb->type.atomic, basket_type_none);
    RACTOR_LOCK_SELF(cr);
    cr->sync.takes_refused++;
    RACTOR_UNLOCK_SELF(cr);
}

/* Who sleeps, struct take_wait_take_cleanup_data, looks for interrupts of its thread, unless it has been answered.  What raises leaves
 * a basket that was free reserved, for ractor_take_withdraw to find.  Without the lock of any Ractor. */
static void
ractor_take_check_ints(rb_execution_context_t *ec, rb_ractor_t *cr, const void *wait_ptr)
{
    const struct take_wait_take_cleanup_data *wait = wait_ptr;
    rb_atomic_t type;

    if (!RUBY_VM_INTERRUPTED_ANY(ec)) return;

    for (int pauses = 0; ; pauses++) {
        type = RUBY_ATOMIC_CAS(wait->tb->type.atomic, basket_type_none, basket_type_reserved);
        if (type != basket_type_yielding || pauses == RACTOR_TAKE_PAUSES) break;
        ractor_take_pause();
    }
    if (type != basket_type_none && type != basket_type_yielding) return;

    rb_ec_check_ints(ec);

    if (type != basket_type_none) return;
    if (wait->r) ractor_take_again(wait->r, wait->tb);
    else ractor_select_again(cr, wait->tb);
}

/* How often a take of +cr+'s was refused, or withdrawn and put back.  Itself. */
static unsigned int
ractor_takes_refused(rb_ractor_t *cr)
{
    RACTOR_LOCK_SELF(cr);
    unsigned int refused = cr->sync.takes_refused;
    RACTOR_UNLOCK_SELF(cr);
    return refused;
}

#endif /* LOCKFREE_RACTOR_TAKE_H */
