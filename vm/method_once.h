#ifndef LOCKFREE_VM_METHOD_ONCE_H
#define LOCKFREE_VM_METHOD_ONCE_H
/**********************************************************************

  vm/method_once.h - the first call of a method on a class, by the method of its superclass

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of vm_insnhelper.c.
 *
 * Problem.  The first time that a call site meets a class it takes the VM lock, makes a
 * call cache, and files that with the class, in a table made for it.  A program that
 * makes a class for each thing it does (`Class.new(Form).new(i)`, a singleton class)
 * does this for each call, and drops it with the class: eight times of nine that
 * it takes the lock.
 *
 * Solution.  A class that has no method of that name by itself has its superclass's.
 * What the Ractor has found for the superclass it remembers (vm/method_cache.h), and
 * a bit of the class's table says that the name has never been there
 * (id_table_filter.h).  Neither takes a lock.  The call is made with a cache that
 * lies on the stack, as upstream makes others, and nothing is filed.  The second time
 * that the Ractor has that call on that class, it is looked up and filed as ever.
 *
 * Invariants.
 *   [A] The method was the right one at one moment of the call.  Three things are
 *       asked, in this order: the ancestors up to the next class, that class's method,
 *       and, of each before it, whether it has ever had one, in the table that is now its
 *       own, and is followed by the same as before.  That bit does not go, and who
 *       is an ancestor stays one; so while the class's method was asked for, none of
 *       these had one.
 *   [B] To prepend gives a class, or the copy of a module, another table, which has
 *       nothing: but what follows is its origin before that, and is asked for after the table.
 *   [C] Refined methods, those that are undefined, and those of Ruby's own that have a
 *       second form for fewer arguments, are looked up as ever.
 *   [D] Nothing stands on such a call: no site, no cache.  Code that is compiled while it runs
 *       looks up, and files, what it stands on.
 *
 * With several Ractors only: with one the lock is none.
 *
 * Orders.
 *   super       acquire          rb_class_super_store_release
 *   m_tbl       acquire          RCLASS_M_TBL_INIT, rb_prepend_module, release: an origin is there before it
 *   the filter  acquire          hash_table_raw_insert: id_table_filter.h
 */

#include "id_table.h"
#include "internal/class.h"

static VALUE vm_call_general(rb_execution_context_t *ec, rb_control_frame_t *reg_cfp, struct rb_calling_info *calling);

#define VM_METHOD_ONCE_ANCESTORS 4 /* copies of modules, and origins, to the next class */

/* Whether +klass+, which +super+ follows, has no method +mid+: [A]. */
static inline bool
vm_method_once_lacks(VALUE klass, ID mid, VALUE super)
{
    const struct rb_id_table *m_tbl = __atomic_load_n(&RCLASS_M_TBL(klass), __ATOMIC_ACQUIRE);

    return m_tbl && rb_id_table_lacks(m_tbl, mid) && rb_class_super_load_acquire(klass) == super;
}

/* The method that a first call of +ci+ on an instance of +klass+ has, or NULL: it is to be looked up as ever.  Any Ractor, its
 * own GVL.  May take the VM lock and run the GC, once for a superclass. */
static const rb_callable_method_entry_t *
vm_method_once(const struct rb_callinfo *ci, VALUE klass)
{
    const ID mid = vm_ci_mid(ci);
    VALUE ancestors[VM_METHOD_ONCE_ANCESTORS + 2] = { klass };
    int last = 0;

    if (!RB_TYPE_P(klass, T_CLASS)) return NULL;
    do {
        if (last > VM_METHOD_ONCE_ANCESTORS) return NULL;
        ancestors[last + 1] = rb_class_super_load_acquire(ancestors[last]);
        if (!ancestors[++last]) return NULL;
    } while (!RB_TYPE_P(ancestors[last], T_CLASS));

    if (!rb_vm_method_cache_meet(ci, klass)) return NULL;

    const rb_callable_method_entry_t *cme = rb_callable_method_entry_or_negative(ancestors[last], mid);
    if (UNDEFINED_METHOD_ENTRY_P(cme) || cme->def->type == VM_METHOD_TYPE_REFINED || cme->def->iseq_overload) return NULL;

    for (int i = 0; i < last; i++) {
        if (!vm_method_once_lacks(ancestors[i], mid, ancestors[i + 1])) return NULL;
    }
    return cme;
}

/* The same as the call cache +once+, which lies on the stack for as long as the call is being made. */
static inline const struct rb_callcache *
vm_search_method_once(const struct rb_callinfo *ci, VALUE klass, struct rb_callcache *once)
{
    if (!once || !rb_multi_ractor_p()) return NULL;

    const rb_callable_method_entry_t *cme = vm_method_once(ci, klass);
    if (!cme) return NULL;
    return memcpy(once, &VM_CC_ON_STACK(klass, vm_call_general, {{ 0 }}, cme), sizeof(*once)); /* its members are const */
}

#endif /* LOCKFREE_VM_METHOD_ONCE_H */
