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
 * (receive_if_body, receive_if_ensure).  Their blocks take turns anyway.
 */

enum { RECEIVE_IF_NONE = -1, RECEIVE_IF_UNDECIDED = -2 };

/* The place of the next message from the +index+th on; or there is none, or another thread looks at it.  The one that the caller itself
 * looks at, when it is called by a handler, is passed over.  Lock of +cr+, which is the current Ractor. */
static int
receive_if_next(rb_ractor_t *cr, struct rb_ractor_queue *rq, int index, const struct rb_ractor_wait *wait)
{
    for (int i = index; i < rq->cnt; i++) {
        const struct rb_ractor_basket *b = ractor_queue_at(cr, rq, i);
        if (basket_type_p(b, basket_type_deleted) || wait->looks_at == i + 1) continue;
        return basket_type_p(b, basket_type_reserved) ? RECEIVE_IF_UNDECIDED : i;
    }
    return RECEIVE_IF_NONE;
}

/* Until there is one: those before the +index+th were refused, if nothing has been taken from +rq+ since it had +serial+.  The current
 * Ractor.  Raises Ractor::ClosedError. */
static void
receive_if_wait(rb_execution_context_t *ec, rb_ractor_t *cr, struct rb_ractor_queue *rq, unsigned int serial, int index)
{
    const struct rb_ractor_wait *wait = &rb_ec_thread_ptr(ec)->ractor_wait;
    int next;

    ractor_recursive_receive_if(cr);
    RACTOR_LOCK(cr);
    while (true) {
        ractor_queue_compact(cr, rq);
        next = receive_if_next(cr, rq, rq->serial == serial ? index : 0, wait);
        if (next >= 0 || (next == RECEIVE_IF_NONE && cr->sync.incoming_port_closed)) break;
        ractor_sleep(ec, cr, wait_receiving);
    }
    RACTOR_UNLOCK(cr);
    if (next < 0) rb_raise(rb_eRactorClosedError, "The incoming port is already closed");
}

#endif /* LOCKFREE_RACTOR_RECEIVE_IF_H */
