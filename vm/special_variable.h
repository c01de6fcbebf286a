#ifndef LOCKFREE_VM_SPECIAL_VARIABLE_H
#define LOCKFREE_VM_SPECIAL_VARIABLE_H
/**********************************************************************

  vm/special_variable.h - $~, $_ and flip-flops in Procs that Ractors share

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  $~, $_ and the state of flip-flops are kept in the frame of the
 * method that a block is written in, in the word of its ME_CREF.  That of a
 * shareable Proc is a copy, which all Ractors share that call it: one's $1 is
 * from another's match, and the MatchData of one is changed by the other.
 *
 * Solution.  Main uses the copy, as it always has.  In every other Ractor they
 * are kept in the frame of the call: the block's own, the last one before the
 * copy.  Blocks in the Proc share it, as those in a method share the method's.
 * What a Ractor's own block has goes to ec->root_svar, as in stock.
 *
 * So a flip-flop in a shareable Proc goes on from call to call in main, and in
 * a Ractor begins anew with each call.
 *
 * Invariants.
 *   [A] Main alone writes to the ME_CREF of an isolated environment.  Others read
 *       the method or the cref from it.
 *   [B] A copy that is not made by main has no svar: it would be another
 *       Ractor's, and main would write to it.
 *   [C] A frame that is not a method's may have an svar: who looks for its method
 *       or its cref must accept one.
 */

#include "internal/imemo.h"
#include "vm_core.h"

/* Any Ractor.  NULL: ec->root_svar. */
static const VALUE *
vm_svar_ep_of_shared_proc(const rb_execution_context_t *ec, const VALUE *ep, const VALUE *lep)
{
    if (ec->root_lep == lep || rb_ractor_main_p()) return lep;

    while (!VM_ENV_FLAGS(ep, VM_ENV_FLAG_ISOLATED)) {
        const VALUE *prev_ep = VM_ENV_PREV_EP(ep);
        if (VM_ENV_FLAGS(prev_ep, VM_ENV_FLAG_ISOLATED)) return ep;
        ep = prev_ep;
    }
    return NULL;
}

/* The environment whose ME_CREF keeps the special variables of a frame with +ep+.  Any Ractor. */
static inline const VALUE *
vm_svar_ep(const rb_execution_context_t *ec, const VALUE *ep)
{
    const VALUE *lep = ep;

    if (VM_ENV_LOCAL_P(lep)) return lep; /* a method's */
    do lep = VM_ENV_PREV_EP(lep); while (!VM_ENV_LOCAL_P(lep));
    if (UNLIKELY(VM_ENV_FLAGS(lep, VM_ENV_FLAG_ISOLATED))) return vm_svar_ep_of_shared_proc(ec, ep, lep);
    return lep;
}

/* What a copy of an environment has for +me_cref+: [B].  Any Ractor. */
static inline VALUE
vm_svar_me_cref_of_copy(VALUE me_cref)
{
    if (!me_cref || rb_ractor_main_p() || !imemo_type_p(me_cref, imemo_svar)) return me_cref;
    return ((const struct vm_svar *)me_cref)->cref_or_me;
}

/* Before an svar gets into an environment that others read: [A].  Without the
 * release they could read its cref_or_me before it was written; they load it
 * through the pointer to it.  No instruction on x86. */
static inline void
vm_svar_publish_release(void)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

#endif /* LOCKFREE_VM_SPECIAL_VARIABLE_H */
