#ifndef LOCKFREE_CLASS_CONSTANT_SET_H
#define LOCKFREE_CLASS_CONSTANT_SET_H
/**********************************************************************

  class/constant_set.h - constants, classes and modules that several Ractors define at the same time

  Licence: see LICENSE.

**********************************************************************/

/*
 * `class A` looks for the constant, makes a class and sets the constant to it.
 * Two Ractors that come to it at the same time both made one, and what the first
 * then defined in its class was gone.  The constant is set under the VM lock:
 * there the second learns that it is set, and goes on with the class of the
 * first.
 *
 * Struct.new("A") is to replace what is there.  It says so and removes it, and
 * another Ractor may do the same in between.
 *
 * What is set already is warned about before the lock is taken: Warning.warn is
 * Ruby, and may wait for a Ractor that waits for the lock.
 */

#include "constant.h"
#include "id_table.h"
#include "internal/class.h"
#include "internal/error.h"
#include "internal/variable.h"
#include "vm_core.h"
#include "vm_sync.h"

/* Sets a constant to a new class or module, unless it is set to something: then false.  Any Ractor.  In variable.c. */
bool rb_const_set_new(VALUE klass, ID id, VALUE val);

/* Warns of a constant that is set, and not to be autoloaded.  Any Ractor, without the VM lock. */
static inline void
const_warn_if_set(VALUE klass, ID id)
{
    bool set;
    VALUE file = Qnil;
    int line = 0;

    RB_VM_LOCK_ENTER(); // another Ractor may be setting it
    const rb_const_entry_t *ce = rb_const_lookup(klass, id);
    set = ce && !UNDEF_P(ce->value);
    if (set) {
        file = ce->file;
        line = ce->line;
    }
    RB_VM_LOCK_LEAVE();

    if (!set) return;
    if (klass == rb_cObject) {
        rb_warn("already initialized constant %"PRIsVALUE"", QUOTE_ID(id));
    }
    else {
        rb_warn("already initialized constant %"PRIsVALUE"::%"PRIsVALUE"", rb_class_name(klass), QUOTE_ID(id));
    }
    if (!NIL_P(file) && line) {
        rb_compile_warn(RSTRING_PTR(file), line, "previous definition of %"PRIsVALUE" was here", QUOTE_ID(id));
    }
    RB_GC_GUARD(file); // the constant may be another one's by now
}

/* The class or module that a constant is set to, found in one look: another Ractor may remove it before a second one.
 * 0 if it is none, or there is more to see to: an autoload, a warning, an error.  Any Ractor. */
static inline VALUE
const_opened(VALUE cbase, ID id, bool scoped)
{
    const rb_const_entry_t *ce = rb_const_lookup(cbase, id);
    VALUE value;

    if (!ce || RB_CONST_DEPRECATED_P(ce) || (scoped && RB_CONST_PRIVATE_P(ce))) return 0;
    value = __atomic_load_n(&ce->value, __ATOMIC_ACQUIRE); // setup_const_entry
    return RB_TYPE_P(value, T_CLASS) || RB_TYPE_P(value, T_MODULE) ? value : 0; // not Qundef, an autoload's
}

/* Removes the class of a Struct's name, unless another Ractor has.  Any Ractor. */
static inline void
struct_remove_name(VALUE super, ID id)
{
    bool removed = false;

    if (!rb_multi_ractor_p()) {
        rb_const_remove(super, id);
        return;
    }
    rb_check_frozen(super);
    RB_VM_LOCK_ENTER();
    if (rb_const_lookup(super, id)) removed = rb_id_table_delete(RCLASS_CONST_TBL(super), id); // its entry may be read
    if (removed) rb_clear_constant_cache_for_id(id);
    RB_VM_LOCK_LEAVE();
}

/* The class of a Struct's name, whatever another Ractor has set it to.  Any Ractor. */
static inline VALUE
struct_define_name(VALUE super, ID id)
{
    VALUE klass = rb_define_class_id(id, super);

    rb_set_class_path_string(klass, super, rb_id2str(id));
    rb_const_set(super, id, klass);
    rb_class_inherited(super, klass);
    return klass;
}

#endif /* LOCKFREE_CLASS_CONSTANT_SET_H */
