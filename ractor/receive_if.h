#ifndef LOCKFREE_RACTOR_RECEIVE_IF_H
#define LOCKFREE_RACTOR_RECEIVE_IF_H
/**********************************************************************

  ractor/receive_if.h - Ractor.receive_if sleeps until there is another message

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of ractor.c.
 *
 * Problem.  Ractor.receive_if whose block has refused all messages in the queue looks
 * again at once, and so keeps a processor busy until another one comes.  When the port is
 * closed it does so for ever.  And it passes over a message that another thread of the
 * Ractor looks at, and does not come back to it when that has refused it.
 *
 * Solution.  It sleeps until there is a message that it has not looked at, and when none
 * can come any more it raises, as Ractor.receive does.  It looks at them in their order: who
 * comes to one that another thread looks at waits until that is decided, and is woken
 * (receive_if_body, receive_if_ensure).  Their blocks take turns anyway.  One that its own
 * thread looks at, in another Fiber, or in what a handler has interrupted, it passes over, as
 * upstream does: nobody but that thread could decide.
 *
 * A Fiber that is left in its block ends with its thread, and nobody decides any more: the
 * message goes, as where the block raises.
 */

enum { RECEIVE_IF_NONE = -1, RECEIVE_IF_UNDECIDED = -2 };

/* The place of the next message from the +index+th on for +th+, the current thread; or there is none, or another thread looks at it.
 * Lock of +cr+, which is the current Ractor. */
static int
receive_if_next(rb_ractor_t *cr, struct rb_ractor_queue *rq, int index, const rb_thread_t *th)
{
    for (int i = index; i < rq->cnt; i++) {
        struct rb_ractor_basket *b = ractor_queue_at(cr, rq, i);
        if (basket_type_p(b, basket_type_deleted)) continue;
        if (!basket_type_p(b, basket_type_reserved)) return i;
        if (b->looked_at_by != th) return RECEIVE_IF_UNDECIDED;
    }
    return RECEIVE_IF_NONE;
}

/* +th+, of +cr+, has ended, or never begun. */
static void
receive_if_thread_ended(rb_ractor_t *cr, const rb_thread_t *th)
{
    struct rb_ractor_queue *rq = &cr->sync.recv_queue;
    bool any = false;

    RACTOR_LOCK(cr);
    for (int i = 0; rq->reserved_cnt > 0 && i < rq->cnt; i++) {
        struct rb_ractor_basket *b = ractor_queue_at(cr, rq, i);
        if (!basket_type_p(b, basket_type_reserved) || b->looked_at_by != th) continue;
        b->type.e = basket_type_deleted;
        rq->reserved_cnt--;
        any = true;
    }
    if (any) {
        ractor_queue_compact(cr, rq);
        ractor_wakeup(cr, wait_receiving, wakeup_by_retry);
    }
    RACTOR_UNLOCK(cr);
}

/* Until there is one: those before the +index+th were refused, if nothing has been taken from +rq+ since it had +serial+.  The current
 * Ractor.  Raises Ractor::ClosedError. */
static void
receive_if_wait(rb_execution_context_t *ec, rb_ractor_t *cr, struct rb_ractor_queue *rq, unsigned int serial, int index)
{
    const rb_thread_t *th = rb_ec_thread_ptr(ec);
    int next;

    ractor_recursive_receive_if(cr);
    RACTOR_LOCK(cr);
    while (true) {
        ractor_queue_compact(cr, rq);
        next = receive_if_next(cr, rq, rq->serial == serial ? index : 0, th);
        if (next >= 0 || (next == RECEIVE_IF_NONE && cr->sync.incoming_port_closed)) break;
        ractor_sleep(ec, cr, wait_receiving);
    }
    RACTOR_UNLOCK(cr);
    if (next < 0) rb_raise(rb_eRactorClosedError, "The incoming port is already closed");
}

#endif /* LOCKFREE_RACTOR_RECEIVE_IF_H */
