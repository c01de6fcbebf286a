#ifndef LOCKFREE_VM_INVOKEBLOCK_H
#define LOCKFREE_VM_INVOKEBLOCK_H
/**********************************************************************

  vm/invokeblock.h - yield to a block that is found at run time

  Licence: see LICENSE.

**********************************************************************/

/* Part of vm.c. */

/* =========================================================================
 * the interpreter, and C code
 * ========================================================================= */

/* Whether +argc+ arguments, yielded without splat, keywords or block, are where
 * +iseq+, a block and no lambda, wants them: it has required parameters only,
 * not more of them, and takes no array apart. */
static inline bool
vm_block_plain_p(const rb_iseq_t *iseq, int argc)
{
    const struct rb_iseq_constant_body *body = ISEQ_BODY(iseq);

    if (!rb_simple_iseq_p(iseq) || argc < body->param.lead_num) return false;
    /* not |a,|; the block of `for` has a parameter, but not has_lead */
    return argc != 1 || !body->param.flags.has_lead || body->param.flags.ambiguous_param0;
}

ALWAYS_INLINE(static bool vm_invokeblock_simple(rb_execution_context_t *ec, rb_control_frame_t *reg_cfp, const struct rb_callinfo *ci));

/* Yields where nothing is to be done but to push a frame.  false: nothing is
 * done, the way of all yields must be gone.  Any Ractor. */
static bool
vm_invokeblock_simple(rb_execution_context_t *ec, rb_control_frame_t *reg_cfp, const struct rb_callinfo *ci)
{
    VALUE block_handler = VM_CF_BLOCK_HANDLER(GET_CFP());
    if (!VM_BH_ISEQ_BLOCK_P(block_handler) || !(vm_ci_flag(ci) & VM_CALL_ARGS_SIMPLE)) return false;

    const struct rb_captured_block *captured = VM_BH_TO_ISEQ_BLOCK(block_handler);
    const rb_iseq_t *iseq = rb_iseq_check(captured->code.iseq);
    const int argc = vm_ci_argc(ci);
    if (!vm_block_plain_p(iseq, argc)) return false;

    const struct rb_iseq_constant_body *body = ISEQ_BODY(iseq);
    VALUE *const argv = GET_SP() - argc;
    SET_SP(argv);
    vm_push_frame(ec, iseq, VM_FRAME_MAGIC_BLOCK, captured->self, VM_GUARDED_PREV_EP(captured->ep), 0,
                  body->iseq_encoded, argv + body->param.size,
                  body->local_table_size - body->param.size, body->stack_max);
    return true;
}

/* =========================================================================
 * compiled code
 * ========================================================================= */

/*
 * Where compiled code yields to too many blocks to know them, it calls the VM.
 * Upstream then runs the block by vm_exec, which sets up a tag for exceptions
 * each time.  A block that has compiled code needs none: the code is called
 * from here, as JIT_EXEC does from the interpreter.
 *
 * The block's frame is without FINISH.  When its code leaves for the interpreter
 * (Qundef), the code that called us does so too, and the interpreter goes on
 * with the block and then, when that has returned, after the yield: just as if
 * the block had been called from one piece of compiled code to the other.
 * Only a throw differs: there is no one to hand it to, so it jumps.
 */

#if USE_YJIT

/* +val+ is what the code of the frame on top returned. */
static inline VALUE
vm_invokeblock_returned(rb_execution_context_t *ec, VALUE val)
{
    if (UNLIKELY(ec->tag->state)) {
        ec->errinfo = val;
        EC_JUMP_TAG(ec, ec->tag->state);
    }
    return val;
}

/*
 * Yields from compiled code, which was made for +any_block+ or for the one that
 * the frame was given.  Qundef: return to the interpreter.
 */
VALUE
rb_vm_invokeblock_from_jit(rb_execution_context_t *ec, rb_control_frame_t *reg_cfp, CALL_DATA cd, bool any_block)
{
    stack_check(ec);

    VALUE val = vm_sendish(ec, GET_CFP(), cd, VM_BLOCK_HANDLER_NONE, mexp_search_invokeblock);
    if (!UNDEF_P(val)) return val;
    if (any_block && vm_loop_leaves_p(reg_cfp)) return Qundef;

    rb_jit_func_t func = ISEQ_BODY(ec->cfp->iseq)->jit_entry;
    if (func) {
        val = vm_invokeblock_returned(ec, func(ec, ec->cfp));
        if (!UNDEF_P(val)) VM_CLASS_NEW_RETURNED(ec, reg_cfp, val); /* yield to &:new */
        return val;
    }

    VM_EXEC(ec, val); /* counts the call, and compiles the block when it has been called often enough */
    return val;
}

#endif /* USE_YJIT */

#endif /* LOCKFREE_VM_INVOKEBLOCK_H */
