#ifndef LOCKFREE_VM_CATCH_STACK_H
#define LOCKFREE_VM_CATCH_STACK_H
/**********************************************************************

  vm/catch_stack.h - what lies on the stack where an exception is caught

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of vm.c.
 *
 * Problem.  An `ensure` whose value is used is entered with the slot of that value
 * on the stack.  It is the one that `break` has popped: the interpreter has
 * written it, compiled code has kept the value in a register.  What lies there is
 * left over from frames that are gone, and the GC marked it: a freed object, or
 * no object, with one thread as well.
 *
 * Solution.  Slots between where the stack ended and where it begins again have no
 * value, and get one.
 */

/* The frame +cfp+, that of the running thread, goes on with +depth+ slots of its
 * stack in use.  Any Ractor. */
static inline void
vm_catch_set_sp(rb_control_frame_t *cfp, unsigned long depth)
{
    VALUE *const sp = vm_base_ptr(cfp) + depth;

    while (cfp->sp < sp) *cfp->sp++ = Qnil;
    cfp->sp = sp;
}

#endif /* LOCKFREE_VM_CATCH_STACK_H */
