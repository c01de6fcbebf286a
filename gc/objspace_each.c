/**********************************************************************

  gc/objspace_each.c - ObjectSpace.each_object with several Ractors

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  The heap was walked while other Ractors fill and free it: the list
 * of pages was counted and then copied, pages went away, and blocks were called
 * with classes that had no superclass or table of methods yet.
 *
 * Mechanism.  With several Ractors a walk of the heap (objspace_each_exec,
 * rb_gc_impl_each_object) holds the VM lock and has stopped the others where
 * they wait for it: what they are making is whole then, or has no lock around
 * it and is looked for here.  No block may be called there, so each_object
 * notes what it finds, as of one moment, and calls the block afterwards.  With
 * one Ractor nothing is different.
 */

#include "internal.h"
#include "internal/array.h"
#include "internal/class.h"
#include "internal/gc.h"
#include "lockfree/gc/objspace_each.h"
#include "ractor_core.h"

struct each_shareable {
    VALUE of;       /* class or module, or 0 for all */
    VALUE found;
};

/* A class that has no superclass yet, or while it is copied no methods. */
static bool
half_built_p(VALUE obj)
{
    return rb_class_or_module_p(obj) &&
        (!RCLASS_M_TBL(obj) || (RB_TYPE_P(obj, T_CLASS) && !RCLASS_SUPER(obj) && obj != rb_cBasicObject));
}

/* The others stand still.  Runs no Ruby code; the array may grow, and the GC
 * run: what lies on the page that is walked is on the stack meanwhile. */
static int
note_i(void *start, void *end, size_t stride, void *data)
{
    struct each_shareable *each = data;

    for (VALUE obj = (VALUE)start; obj != (VALUE)end; obj += stride) {
        if (rb_objspace_internal_object_p(obj) || rb_objspace_garbage_object_p(obj) || half_built_p(obj)) continue;
        if (each->of && !rb_obj_is_kind_of(obj, each->of)) continue;
        if (rb_ractor_shareable_p(obj)) rb_ary_push(each->found, obj);
    }
    return 0;
}

/* Calls the block for each shareable object that is an +of+, and returns how
 * many there were.  Any Ractor, VM lock not held. */
VALUE
rb_objspace_each_shareable(VALUE of)
{
    struct each_shareable each = { .of = of, .found = rb_ary_hidden_new(0) };

    rb_objspace_each_objects(note_i, &each);

    long count = RARRAY_LEN(each.found);
    for (long i = 0; i < count; i++) rb_yield(RARRAY_AREF(each.found, i));
    RB_GC_GUARD(each.found);
    return LONG2NUM(count);
}
