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
 * Solution.  Both withdraw the basket, without that lock: a yielding one is
 * waited for, and whoever looks at it afterwards finds it reserved.  It does not
 * matter when: a second interrupt waits as well.  What was answered meanwhile is
 * lost.  The copying may need the taker's Ractor, or main, which is to load a
 * file: who waits gives way to its Ractor's other threads, and starts what
 * others ask of its thread.  A select that finds its basket yielding sleeps on until it is filled,
 * so that an interrupt finds it in the one place where it withdraws.
 */

#include <time.h>

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

/* Whether nobody has answered.  The current thread's own basket, without the lock of any Ractor. */
static bool
ractor_take_withdraw(struct rb_ractor_basket *tb)
{
    while (true) {
        rb_atomic_t type = RUBY_ATOMIC_CAS(tb->type.atomic, basket_type_none, basket_type_reserved);
        if (type != basket_type_yielding) return type == basket_type_none;
        ractor_take_pause();
    }
}

#endif /* LOCKFREE_RACTOR_TAKE_H */
