#ifndef LOCKFREE_CLASS_INCLUDE_H
#define LOCKFREE_CLASS_INCLUDE_H
/**********************************************************************

  class/include.h - include a module into a class that has just been made

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of class.c.
 *
 * Problem.  `Class.new { include Comparable }` and `object.extend(Comparable)` held the
 * VM lock while the copy of the module was allocated, for which a page may have to be
 * swept, and while entries for three lists were, one of them instead of another that
 * was freed.  Other Ractors that make classes wait for it.
 *
 * Solution.  All that is needed is allocated before; with the lock the class, and the
 * lists, are told of it.  What the class had in the list of its superclass it has now in
 * the copy's.
 *
 * Where there is anything else to do all is left to upstream's code: the class has had a
 * method, or somebody has asked it for one; it has subclasses or something is prepended;
 * the module is there already, includes others, has something prepended, or is included for
 * the first time.  So what is done here cannot change what any cache knows, but those of
 * class variables, which are told, and of constants.
 */

#include "lockfree/class/list.h"
#include "lockfree/class/method_table.h"

static enum rb_id_table_iterator_result clear_constant_cache_i(ID id, VALUE value, void *data);

/* Whether +klass+ has +module+ among its ancestors: upstream's module_in_super_chain, which wants the VM lock.  Any Ractor; for
 * certain with the lock. */
static bool
class_includes_p(VALUE klass, VALUE module)
{
    const struct rb_id_table *m_tbl = rb_method_table_load_acquire(module);

    for (VALUE c = rb_class_super_load_acquire(klass); c; c = rb_class_super_load_acquire(c)) {
        if (rb_method_table_load_acquire(c) == m_tbl) return true;
    }
    return false;
}

/* Whether it may be, as far as that tells without the lock.  Any Ractor. */
static bool
class_include_perhaps_simple_p(VALUE klass, VALUE module)
{
    const struct rb_id_table *m_tbl = rb_method_table_load_acquire(klass);

    return RB_TYPE_P(klass, T_CLASS) && m_tbl && rb_id_table_unused_p(m_tbl) && !rb_class_super_load_acquire(module) &&
        !class_includes_p(klass, module);
}

/* Whether that is all there is to include +module+ into +klass+.  Any Ractor, VM lock. */
static bool
class_include_simple_p(VALUE klass, VALUE module)
{
    if (!rb_class_unmet_p(klass, klass) || !RCLASS_SUPERCLASSES(klass) || !RCLASS_SUBCLASS_ENTRY(klass)) return false;
    if (RCLASS_ORIGIN(module) != module || RCLASS_SUPER(module)) return false;
    return RCLASS_CONST_TBL(module) && RCLASS_SUBCLASSES(module) && !class_includes_p(klass, module);
}

/* Includes +module+ into +klass+, if that is simple; otherwise does nothing and returns false.  Any Ractor. */
static bool
class_include_simple(VALUE klass, VALUE module)
{
    if (!class_include_perhaps_simple_p(klass, module)) return false;

    rb_subclass_entry_t *of_super = class_list_entry_new(), *of_module = class_list_entry_new(), *head = class_list_entry_new();
    VALUE iclass = class_alloc(T_ICLASS, rb_cClass);

    RB_VM_LOCK_ENTER();
    if (class_include_simple_p(klass, module)) {
        rb_subclass_entry_t *of_klass = RCLASS_SUBCLASS_ENTRY(klass);
        VALUE super = RCLASS_SUPER(klass);

        RCLASS_SET_M_TBL(iclass, RCLASS_M_TBL(module));
        RCLASS_CVC_TBL(iclass) = RCLASS_CVC_TBL(module);
        RCLASS_CONST_TBL(iclass) = RCLASS_CONST_TBL(module);
        RBASIC_SET_CLASS(iclass, module);
        RCLASS_SET_INCLUDER(iclass, klass);
        rb_class_super_store_release(iclass, super);

        of_super->klass = of_module->klass = iclass;
        class_list_leave(of_klass);
        class_list_insert(class_list_place(RCLASS_SUBCLASSES(super), of_super), of_super);
        class_list_insert(class_list_place(RCLASS_SUBCLASSES(module), of_module), of_module);
        class_list_insert(head, of_klass);
        RCLASS_SUBCLASS_ENTRY(iclass) = of_super;
        RCLASS_MODULE_SUBCLASS_ENTRY(iclass) = of_module;
        RCLASS_SUBCLASSES(iclass) = head;

        rb_class_super_store_release(klass, iclass);
        rb_cvar_state_advance_release();
        if (rb_id_table_size(RCLASS_CONST_TBL(module)) > 0) {
            rb_id_table_foreach(RCLASS_CONST_TBL(module), clear_constant_cache_i, NULL);
        }
        head = NULL;
    }
    RB_VM_LOCK_LEAVE();

    if (!head) return true;
    class_list_entry_free(of_super);
    class_list_entry_free(of_module);
    class_list_entry_free(head);
    return false;
}

#endif /* LOCKFREE_CLASS_INCLUDE_H */
