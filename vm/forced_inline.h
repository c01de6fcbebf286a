#ifndef LOCKFREE_VM_FORCED_INLINE_H
#define LOCKFREE_VM_FORCED_INLINE_H
/**********************************************************************

  vm/forced_inline.h - small functions that stay where they are called

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of vm_insnhelper.c.
 *
 * Problem.  GCC lets a file grow by so much when it puts functions in the place
 * of their calls, then leaves the others out.  vm.c is all of the interpreter,
 * and what was added to it took the room of what every program runs: the store
 * of `@x = v` became a call, 5 instructions more of 45, and so did the body of an
 * attr_writer, and the way from C code to a method (`new` to `initialize`).
 *
 * Solution.  These are declared once more, as functions that are always put in
 * place.  What they call is not.
 */

#include "ruby/internal/attr/forceinline.h"

/* RB_OBJ_WRITE: a store, and two tests before the write barrier. */
static RBIMPL_ATTR_FORCEINLINE() VALUE rb_obj_write(VALUE a, VALUE *slot, VALUE b, const char *filename, int line);

/* obj.x = v where attr_writer or attr_accessor defined it. */
static RBIMPL_ATTR_FORCEINLINE() VALUE vm_call_attrset_direct(rb_execution_context_t *ec, rb_control_frame_t *cfp, const struct rb_callcache *cc, VALUE obj);

/* A call from C code, whose body keeps the method and is larger for it (vm/keep_method.h). */
static RBIMPL_ATTR_FORCEINLINE() VALUE vm_call0_cc(rb_execution_context_t *ec, VALUE recv, ID id, int argc, const VALUE *argv, const struct rb_callcache *cc, int kw_splat);

/* Whether a call site may keep how it called. */
static RBIMPL_ATTR_FORCEINLINE() bool vm_call_cacheable(const struct rb_callinfo *ci, const struct rb_callcache *cc);

#endif /* LOCKFREE_VM_FORCED_INLINE_H */
