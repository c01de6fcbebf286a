#ifndef LOCKFREE_VM_INSN_CALLS_H
#define LOCKFREE_VM_INSN_CALLS_H
/**********************************************************************

  vm/insn_calls.h - instructions that compiled code has the VM do

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of vm_insnhelper.c.
 *
 * Problem.  YJIT leaves for the interpreter at each `first, *rest = list`, each
 * `ENV["NAME"]` (and `h["name"]` where the Hash has a default block), and each
 * `h["name"] = value`; in a loop, at each turn of it.
 *
 * Solution.  Compiled code calls these, which do what the instruction does, and
 * goes on.  The instruction's operands are on the stack, cfp->sp is above them,
 * and cfp->pc is where the interpreter has it.  A method `[]` that is written in
 * Ruby is left to the interpreter, as before: it calls that without taking more of
 * the machine's stack, so that recursion through it is bounded by the VM's alone.
 *
 * All: any Ractor, its own GVL.  May run Ruby, raise, and collect.
 */

/* expandarray: +num+ values, and one more with the flag for a splat, take the place of the one on top. */
void
rb_vm_expandarray(rb_control_frame_t *cfp, rb_num_t num, rb_num_t flag)
{
    VALUE ary = *--cfp->sp;
    vm_expandarray(cfp, ary, num, (int)flag);
}

/* Whether the method that +recv+ has for that call of the frame on top is one in C. */
static inline bool
vm_insn_calls_cfunc_p(const rb_control_frame_t *cfp, CALL_DATA cd, VALUE recv)
{
    const rb_callable_method_entry_t *cme = vm_cc_cme(vm_search_method((VALUE)cfp->iseq, cd, recv));
    return cme && cme->def->type == VM_METHOD_TYPE_CFUNC;
}

/* opt_aref_with: the value of recv[key]; +cd+ is the call's, +key+ the literal.  Qundef: nothing is done, the code is to leave
 * for the interpreter. */
VALUE
rb_vm_opt_aref_with_or_send(rb_execution_context_t *ec, rb_control_frame_t *cfp, CALL_DATA cd, VALUE key)
{
    VALUE val = vm_opt_aref_with(cfp->sp[-1], key);
    if (!UNDEF_P(val) || !vm_insn_calls_cfunc_p(cfp, cd, cfp->sp[-1])) return val;

    VALUE str = rb_str_resurrect(key);
    *cfp->sp++ = str;
    return rb_vm_opt_send_without_block(ec, cfp, cd);
}

/* opt_aset_with: the value of recv[key] = val, as a call.  Qundef: as above. */
VALUE
rb_vm_opt_aset_with_or_send(rb_execution_context_t *ec, rb_control_frame_t *cfp, CALL_DATA cd, VALUE key)
{
    VALUE val = cfp->sp[-1], set = vm_opt_aset_with(cfp->sp[-2], key, val);
    if (!UNDEF_P(set) || !vm_insn_calls_cfunc_p(cfp, cd, cfp->sp[-2])) return set;

    VALUE str = rb_str_resurrect(key);
    cfp->sp[-1] = str;
    *cfp->sp++ = val;
    return rb_vm_opt_send_without_block(ec, cfp, cd);
}

#endif /* LOCKFREE_VM_INSN_CALLS_H */
