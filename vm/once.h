#ifndef LOCKFREE_VM_ONCE_H
#define LOCKFREE_VM_ONCE_H
/**********************************************************************

  vm/once.h - what is evaluated once: //o and END

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  Two Ractors that come to a Regexp with the option o at once both
 * find that no thread is evaluating it, and each gets its own.
 *
 * Solution.  is->once.running_thread goes from NULL to the thread by one
 * compare-and-swap.  The thread that has made it stores the value, and then
 * VM_ONCE_DONE, for ever; where the evaluation is left by an exception, NULL.
 *
 * Part of vm_insnhelper.c.
 */

#define VM_ONCE_DONE ((rb_thread_t *)0x1)

struct vm_once {
    const rb_iseq_t *iseq; /* what is evaluated */
    const rb_iseq_t *owner; /* whose inline storage +is+ is */
    ISE is;
};

/* Any Ractor.  Synchronises with vm_once_exec_and_store: without the acquire the
 * value could be read before it was stored.  No fence on x86. */
static inline rb_thread_t *
vm_once_running_thread_load_acquire(ISE is)
{
    return __atomic_load_n(&is->once.running_thread, __ATOMIC_ACQUIRE);
}

/* Whether the running thread +th+ may evaluate it.  Any Ractor. */
static inline bool
vm_once_enter(ISE is, rb_thread_t *th)
{
    rb_thread_t *none = NULL;

    return __atomic_compare_exchange_n(&is->once.running_thread, &none, th, false,
                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* By who has entered. */
static VALUE
vm_once_exec_and_store(VALUE data)
{
    const struct vm_once *once = (const struct vm_once *)data;
    VALUE val = vm_once_exec((VALUE)once->iseq);

    RB_OBJ_WRITE(once->owner, &once->is->once.value, val);
    __atomic_store_n(&once->is->once.running_thread, VM_ONCE_DONE, __ATOMIC_RELEASE);
    return val;
}

/* By who has entered, whether it has stored a value or not. */
static VALUE
vm_once_leave(VALUE data)
{
    ISE is = ((const struct vm_once *)data)->is;

    if (__atomic_load_n(&is->once.running_thread, __ATOMIC_RELAXED) != VM_ONCE_DONE) {
        __atomic_store_n(&is->once.running_thread, NULL, __ATOMIC_RELEASE);
    }
    return Qnil;
}

#endif /* LOCKFREE_VM_ONCE_H */
