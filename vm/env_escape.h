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
 */

#include "yjit.h"

/*
 * Tells YJIT that the environment of a frame of +iseq+ escapes.  Any Ractor,
 * before it makes the environment: it may wait for the VM lock, and be marked
 * there, when an inner frame must not yet point to one that is on its way.
 * The flag is set when YJIT has forgotten the code.  It is read (acquire) where
 * it was stored (release) by whoever told YJIT, so what follows here comes
 * after that.  Two Ractors may both tell.  YJIT does not listen before it is
 * enabled; then the flag is not set.
 */
static inline void
vm_env_escaped(const rb_iseq_t *iseq)
{
    bool *escaped = &ISEQ_BODY(iseq)->ep_escaped;
    if (__atomic_load_n(escaped, __ATOMIC_ACQUIRE)) return;

    bool listens = rb_yjit_enabled_p;
    rb_yjit_invalidate_ep_is_bp(iseq);
    if (listens) __atomic_store_n(escaped, true, __ATOMIC_RELEASE);
}

#endif /* LOCKFREE_VM_ENV_ESCAPE_H */
