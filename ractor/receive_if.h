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
 * closed it does so for ever.
 *
 * Solution.  It sleeps until there is a message that it has not looked at, and when none
 * can come any more it raises, as Ractor.receive does.
 */

/* Whether +rq+ has a message from the +index+th on that no other thread looks at.  Lock of +cr+, which is the current Ractor. */
static bool
ractor_queue_any_from_p(rb_ractor_t *cr, struct rb_ractor_queue *rq, int index)
{
    for (int i = index; i < rq->cnt; i++) {
        if (!ractor_queue_skip_p(cr, rq, i)) return true;
    }
    return false;
}

/* Until there is one: those before the +index+th were refused, if nothing has been taken from +rq+ since it had +serial+.  The current
 * Ractor.  Raises Ractor::ClosedError. */
static void
ractor_wait_receive_if(rb_execution_context_t *ec, rb_ractor_t *cr, struct rb_ractor_queue *rq, unsigned int serial, int index)
{
    bool any;

    ractor_recursive_receive_if(cr);
    RACTOR_LOCK(cr);
    while (true) {
        ractor_queue_compact(cr, rq);
        any = ractor_queue_any_from_p(cr, rq, rq->serial == serial ? index : 0);
        if (any || cr->sync.incoming_port_closed) break;
        ractor_sleep(ec, cr, wait_receiving);
    }
    RACTOR_UNLOCK(cr);
    if (!any) rb_raise(rb_eRactorClosedError, "The incoming port is already closed");
}

#endif /* LOCKFREE_RACTOR_RECEIVE_IF_H */
