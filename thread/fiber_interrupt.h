#ifndef LOCKFREE_THREAD_FIBER_INTERRUPT_H
#define LOCKFREE_THREAD_FIBER_INTERRUPT_H
/**********************************************************************

  thread/fiber_interrupt.h - interrupts that meet a change of Fibers

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of cont.c, ractor.c and thread.c.
 *
 * Problem.  What another Ractor wants of a thread, that it stops at a barrier,
 * ends, or loads a file for it, are bits of the Fiber in which it finds the
 * thread.  If the thread changes to another Fiber before it looks, they are left
 * behind, and who set them waits for as long as the thread computes or sleeps
 * there.
 *
 * Solution.  Who sets a bit looks again whether that is still the Fiber; the
 * thread, when it has changed, takes along what has come.  Each writes one word
 * and then reads the other's:
 *
 *   rb_thread_set_interrupt               fiber_take_interrupts_along
 *   interrupt_flag of th->ec |= bit       th->ec = the new one
 *   (a seq_cst read-modify-write)         seq_cst fence
 *   read th->ec                           read interrupt_flag of the old one
 *
 * so that at least one of them sees what the other one did, and takes the bit from
 * the old Fiber: a bit is in one Fiber, as the thread would end twice by two.  The
 * fence is for several Ractors only: with one, who sets a bit has the GVL, but for
 * signals, of which ec_switch asks by itself.
 *
 * All bits are moved but the timer's, which comes again, and those of a thread's
 * exceptions and of postponed jobs where either Fiber masks them, as a finalizer
 * does, and a Fiber made in one for life: the old one looks at them later.  The
 * trap's are taken from behind the mask as well, since a Fiber made in a handler
 * would keep them.  A new Fiber has none: it is in th->ec later, which is stored
 * with release and read with acquire.
 *
 * The Fiber lives until its bit is set: it is in th->ec when that is read, so that
 * a collection which finds it dead begins later, and who sets the bit is at no
 * safe point in between.  The timer thread, which sets the bit of a signal, is no
 * Ractor's, and upstream's hazard: what it has read it uses at once.
 */

/* Sets the bits +mask+ in +th+, of any Ractor, wherever it runs.  A Ractor's thread, with a lock under which +th+ stays alive:
 * that of its interrupts, or of the scheduler, or of the VM. */
static inline void
rb_thread_set_interrupt(rb_thread_t *th, rb_atomic_t mask)
{
    rb_execution_context_t *ec, *now = __atomic_load_n(&th->ec, __ATOMIC_ACQUIRE); /* pairs with fiber_set_ec */

    do { /* until the bits are where it is, or it has taken them */
        ec = now;
        __atomic_fetch_or(&ec->interrupt_flag, mask, __ATOMIC_SEQ_CST);
        now = __atomic_load_n(&th->ec, __ATOMIC_SEQ_CST); /* after the bits; pairs with fiber_take_interrupts_along */
    } while (now != ec && (__atomic_fetch_and(&ec->interrupt_flag, ~mask, __ATOMIC_SEQ_CST) & mask));
}

/* +th+ stands, and need not be told that it has to.  Itself, with the scheduler's lock, under which the bit is set. */
static inline void
rb_thread_take_barrier_interrupt(rb_thread_t *th)
{
    rb_atomic_t *flag = &th->ec->interrupt_flag;

    if (__atomic_load_n(flag, __ATOMIC_RELAXED) & VM_BARRIER_INTERRUPT_MASK) {
        __atomic_fetch_and(flag, ~VM_BARRIER_INTERRUPT_MASK, __ATOMIC_RELAXED);
    }
}

/* The thread changes to +ec+, which it returns.  Itself. */
static inline rb_execution_context_t *
fiber_set_ec(rb_thread_t *th, rb_execution_context_t *ec)
{
    __atomic_store_n(&th->ec, ec, __ATOMIC_RELEASE); /* pairs with rb_thread_set_interrupt */
    return ec;
}

/* The thread has changed from +from+ to +to+.  Itself. */
static inline void
fiber_take_interrupts_along(rb_execution_context_t *from, rb_execution_context_t *to)
{
    if (from == to || !rb_multi_ractor_p()) return;

    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* th->ec before the bits; pairs with rb_thread_set_interrupt */
    rb_atomic_t masked = (from->interrupt_mask | to->interrupt_mask) & ~(rb_atomic_t)TRAP_INTERRUPT_MASK;
    rb_atomic_t bits = __atomic_load_n(&from->interrupt_flag, __ATOMIC_RELAXED) & ~(masked | TIMER_INTERRUPT_MASK);
    if (bits) bits &= __atomic_fetch_and(&from->interrupt_flag, ~bits, __ATOMIC_SEQ_CST); /* those not taken back */
    if (bits) ATOMIC_OR(to->interrupt_flag, bits);
}

/* +ec+ is a copy of that in which a Fiber was made.  Its thread, before others see it. */
static inline void
fiber_forget_interrupts(rb_execution_context_t *ec)
{
    if (rb_multi_ractor_p()) ec->interrupt_flag = 0;
}

#endif /* LOCKFREE_THREAD_FIBER_INTERRUPT_H */
