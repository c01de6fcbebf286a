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
 * closed it does so for ever.  And a thread reserves a message before its turn has come to
 * look at it: one whose Fiber does not get its turn any more keeps it for ever, threads that
 * come to another's pass over it, and do not come back when that has refused it.
 *
 * Solution.  It sleeps until there is a message that it has not looked at, and when none
 * can come any more it raises, as Ractor.receive does.  One that is being looked at is such
 * a message, too: it locks the mutex that whoever looks at one holds, as upstream's does, and
 * then chooses.  So a scheduler runs other Fibers meanwhile, a thread's own other Fiber in
 * its block is told, and so is a deadlock, as of any Mutex.
 *
 * Invariants.
 *   [A] One message is reserved, by who holds the mutex, from receive_if_choose to
 *       receive_if_body's end, or receive_if_ensure.
 *   [B] What somebody finds reserved who has just got the mutex was left by a Fiber whose
 *       thread has ended, or is a main thread that ends the others, and has lost its mutexes.
 *       It goes, as where the block raises; if the Fiber comes back to it, that decides nothing.
 */

/* Goes to the first message that +data+ has not refused yet, reserved or not; false: there is none.  Those before data->index were
 * refused, if nothing has been taken from the queue since it had data->serial.  Lock of the Ractor, which is the current one. */
static bool
receive_if_next(struct receive_block_data *data)
{
    struct rb_ractor_queue *rq = data->rq;
    int i = rq->serial == data->serial ? data->index : 0;

    while (i < rq->cnt && basket_type_p(ractor_queue_at(data->cr, rq, i), basket_type_deleted)) i++;
    data->index = i;
    data->serial = rq->serial;
    return i < rq->cnt;
}

/* Until there is one.  The current Ractor.  Raises Ractor::ClosedError. */
static void
receive_if_wait(rb_execution_context_t *ec, struct receive_block_data *data)
{
    rb_ractor_t *cr = data->cr;
    bool closed = false;

    ractor_recursive_receive_if(cr);
    RACTOR_LOCK(cr);
    while (true) {
        ractor_queue_compact(cr, data->rq);
        if (receive_if_next(data) || (closed = cr->sync.incoming_port_closed)) break;
        ractor_sleep(ec, cr, wait_receiving);
    }
    RACTOR_UNLOCK(cr);
    if (closed) rb_raise(rb_eRactorClosedError, "The incoming port is already closed");
}

/* Reserves one, and whether there was any: it may be gone.  The current Ractor, with the mutex. */
static bool
receive_if_choose(struct receive_block_data *data)
{
    rb_ractor_t *cr = data->cr;
    struct rb_ractor_queue *rq = data->rq;

    RACTOR_LOCK_SELF(cr);
    for (int i = 0; rq->reserved_cnt > 0 && i < rq->cnt; i++) { /* [B] */
        struct rb_ractor_basket *left = ractor_queue_at(cr, rq, i);
        if (!basket_type_p(left, basket_type_reserved)) continue;
        left->type.e = basket_type_deleted;
        rq->reserved_cnt--;
    }
    ractor_queue_compact(cr, rq);

    bool any = receive_if_next(data);
    if (any) {
        struct rb_ractor_basket *b = ractor_queue_at(cr, rq, data->index);
        data->v = ractor_basket_value(b);
        b->type.e = basket_type_reserved;
        rq->reserved_cnt++;
        data->success = false;
    }
    RACTOR_UNLOCK_SELF(cr);
    return any;
}

/* Whether the caller has the mutex, and so may decide.  The current Ractor. */
static bool
receive_if_has_turn(const rb_ractor_t *cr)
{
    return cr->receiving_mutex && RTEST(rb_mutex_owned_p(cr->receiving_mutex));
}

#endif /* LOCKFREE_RACTOR_RECEIVE_IF_H */
