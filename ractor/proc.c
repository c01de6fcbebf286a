/**********************************************************************

  ractor/proc.c - which Procs may be shared by Ractors, and left to main

  Licence: see LICENSE.

**********************************************************************/

/*
 * Ractor.make_shareable looks at the self of a block of Ruby code, and at what
 * it takes from outside.  Upstream accepts every other Proc as it is: that of a
 * Method whatever its receiver (Bug #19765), a composed or curried one whatever
 * it calls.  Such a Proc is C code and one value; the value decides.
 *
 * Finalizers and the blocks of at_exit are called in main, whoever gave them.
 * Upstream takes them as they are, so that main and the Ractor write to what
 * they have captured at the same time.  Here main gets a shareable copy.
 */

#include "id.h"
#include "internal.h"
#include "internal/gc.h"
#include "internal/imemo.h"
#include "internal/object.h"
#include "ractor_core.h"
#include "vm_core.h"
#include "vm_sync.h"

static void
find_unshareable(VALUE obj, void *found)
{
    if (!RB_TYPE_P(obj, T_IMEMO) && !rb_ractor_shareable_p(obj)) *(bool *)found = true;
}

/* Whether the receiver of a Method, and all else it refers to, is shareable;
 * its entry in the method table, which all Ractors use, is not asked. */
static bool
method_shareable_p(VALUE method)
{
    bool found = false;
    RB_VM_LOCK_ENTER();
    rb_objspace_reachable_objects_from(method, find_unshareable, &found);
    RB_VM_LOCK_LEAVE();
    return !found;
}

/* Whether +value+ is an object and no pointer of C code's. */
static bool
object_p(VALUE value)
{
    if (RB_SPECIAL_CONST_P(value)) return false;

    bool found;
    RB_VM_LOCK_ENTER(); /* another Ractor may be adding a page */
    found = rb_gc_pointer_to_heap_p(value);
    RB_VM_LOCK_LEAVE();
    return found;
}

/* Makes a Proc shareable, and asks whether anything else is. */
static bool
make_shareable_p(VALUE obj)
{
    if (RB_SPECIAL_CONST_P(obj)) return true;
    if (!object_p(obj) || RB_TYPE_P(obj, T_IMEMO)) return false; /* C code's */
    if (RTEST(rb_obj_is_method(obj))) return method_shareable_p(obj);
    if (RTEST(rb_obj_is_proc(obj))) {
        rb_ractor_make_shareable(obj);
        return true;
    }
    return rb_ractor_shareable_p(obj);
}

/* Whether +value+ is an Array that nobody else has: that of a composed Proc is
 * hidden and has two elements, that of a curried one is frozen. */
static bool
own_array_p(VALUE value)
{
    if (!object_p(value) || !RB_TYPE_P(value, T_ARRAY)) return false;
    return OBJ_FROZEN(value) || (!RBASIC_CLASS(value) && RARRAY_LEN(value) == 2);
}

static bool
value_shareable_p(VALUE value)
{
    if (!own_array_p(value)) return make_shareable_p(value);

    for (long i = 0; i < RARRAY_LEN(value); i++) {
        if (!make_shareable_p(RARRAY_AREF(value, i))) return false;
    }
    return true;
}

/*
 * Called before +self+, a Proc without Ruby code, is marked shareable.  The
 * Ractor that owns it.  Raises Ractor::IsolationError where it must not be.
 */
void
rb_proc_ractor_check_c_code(VALUE self)
{
    const struct rb_block *block = vm_proc_block(self);
    while (block->type == block_type_proc) {
        block = vm_proc_block(block->as.proc);
    }
    if (block->type != block_type_ifunc) return; /* a Symbol's */
    if (value_shareable_p((VALUE)block->as.captured.code.ifunc->data)) return;

    rb_raise(rb_eRactorIsolationError, "Proc's self is not shareable: %"PRIsVALUE, self);
}

/*
 * What main is to call later for +callable+: itself, or a copy of a Proc that is
 * shareable.  Any Ractor.  Raises where there is none; what cannot be called is
 * for the caller to refuse.
 */
VALUE
rb_ractor_callable_for_main(VALUE callable)
{
    if (rb_ractor_main_p() || rb_ractor_shareable_p(callable)) return callable;
    if (!rb_obj_respond_to(callable, idCall, TRUE)) return callable;
    if (RTEST(rb_obj_is_proc(callable))) return rb_proc_ractor_make_shareable(rb_proc_dup(callable));

    rb_raise(rb_eRactorIsolationError, "main can not call what is not shareable: %"PRIsVALUE, rb_obj_class(callable));
}
