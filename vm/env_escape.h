#ifndef LOCKFREE_VM_ENV_ESCAPE_H
#define LOCKFREE_VM_ENV_ESCAPE_H
/**********************************************************************

  vm/env_escape.h - YJIT is told once that the frames of a method escape

  Licence: see LICENSE.

**********************************************************************/

/*
 * A Proc or a Binding takes its frame's variables to the heap.  YJIT must know:
 * it may have compiled the method for variables that stay on the stack, and
 * then throws that code away, with all other Ractors stopped at a barrier.
 * Upstream does so each time; with Ractors, a lambda then costs a barrier (Bug
 * #22224).  Once is enough: YJIT does not assume so again of a method that it
 * has once been told of.
 *
 * What YJIT has never looked at, as what `eval` compiles, has no code to be thrown
 * away, and is in no table of YJIT's: there it only has to be seen later.
 *
 * Order.  An ISEQ gets its payload, before the compiler asks whether its environment
 * escapes; or that escapes.  Then each side looks at what the other has written, with a
 * sequentially consistent fence between ([payload] of yjit/running_code.rs).  So who
 * escapes finds the payload, and tells YJIT, which waits until that has compiled; or the
 * compiler finds that it escapes, and does not assume the contrary.
 * test/model/env_escape.cc is this, with what goes wrong if a step is left out.
 */

#include "yjit.h"

#if USE_YJIT
enum env_escape {
    ENV_STAYS,   /* as far as is known */
    ENV_ESCAPES, /* YJIT assumes nothing any more, and may have code that does */
    ENV_ESCAPED  /* and has no such code */
};

/* Whether YJIT must not assume that frames of +iseq+ keep their variables on the stack.  VM lock; the payload is there, and a fence
 * has passed since. */
bool
rb_vm_env_escapes_p(const rb_iseq_t *iseq)
{
    return __atomic_load_n(&ISEQ_BODY(iseq)->env_escape, __ATOMIC_RELAXED) != ENV_STAYS;
}

/*
 * Tells YJIT that the environment of a frame of +iseq+ escapes.  Any Ractor,
 * before it makes the environment: it may wait for the VM lock, and be marked
 * there, when an inner frame must not yet point to one that is on its way.
 * ENV_ESCAPED is stored (release) when YJIT has forgotten the code, and is read (acquire)
 * here, so what follows comes after that.  Two Ractors may both tell; that one of them
 * stores ENV_ESCAPES last costs the next one a look.  YJIT does not listen before it is enabled.
 */
static inline void
vm_env_escaped(const rb_iseq_t *iseq)
{
    const struct rb_iseq_constant_body *body = ISEQ_BODY(iseq);
    uint8_t *escape = &ISEQ_BODY(iseq)->env_escape;

    if (__atomic_load_n(escape, __ATOMIC_ACQUIRE) == ENV_ESCAPED || !rb_yjit_enabled_p) return;

    __atomic_store_n(escape, ENV_ESCAPES, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&body->yjit_payload, __ATOMIC_RELAXED)) rb_yjit_invalidate_ep_is_bp(iseq);
    __atomic_store_n(escape, ENV_ESCAPED, __ATOMIC_RELEASE);
}
#else
# define vm_env_escaped(iseq) ((void)(iseq))
#endif

#endif /* LOCKFREE_VM_ENV_ESCAPE_H */
