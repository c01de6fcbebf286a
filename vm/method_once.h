#ifndef LOCKFREE_VM_METHOD_ONCE_H
#define LOCKFREE_VM_METHOD_ONCE_H
/**********************************************************************

  vm/method_once.h - the first call of a method on a class, without the lock

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
 * (class/id_table_filter.h).  Neither takes a lock.  A method that the class has by itself is
 * mostly called by the Ractor that has put it there (`def o.a = 1; o.a`), which remembers
 * that, too; and so it does what it has found in the table of a module, which all copies of the
 * module have (`o.extend(M).a`): the call is that of an entry that is made for this copy, as it
 * has to be, and belongs to no table.  The call is made with a cache that lies on the stack, as
 * upstream makes others, and nothing is filed.
 *
 * The second time it is looked up and filed as ever.  That there was a first one the class
 * knows by a bit for each name, of 32: two names that have the same are taken
 * for one, and of seven the first half dozen are first ones.  The bits stay, until the class
 * gets another method of that name: `def o.a = 1; o.a; o.singleton_class.remove_method(:a)`,
 * over and over, files nothing either.  Hooks, which each definition of a method calls, are not known so:
 * each call of one is a first one.  Else a class that dies with two methods has filed the hook with its
 * metaclass, and is swept with all others stopped (gc/sweep_claim.h).
 *
 * The cache is not there before the call begins: a search comes to vm_cc_once, whose
 * function makes it.  So no frame of the VM's grows by it.
 *
 * Invariants.
 *   [A] The method was the right one at one moment of the call.  Three things are
 *       asked, in this order: the ancestors up to the next class, or to a module that may have one;
 *       that class's method, or the module's; and, of each before it, whether it has ever had
 *       one, in the table that is now its
 *       own, and is followed by the same as before.  That bit does not go, and who is
 *       an ancestor stays one, from when the class is whole; so while the method of the
 *       next class, or of the module, was asked for, none of these had one.  A metaclass may be seen
 *       before it has a superclass, Qundef: then it is looked up as ever, under the
 *       lock that who makes it holds.
 *   [B] To prepend gives a class, or the copy of a module, another table, which has
 *       nothing: but what follows is its origin before that, and is asked for after the table.
 *       A method of the class's own was in its table at that moment, and the table the class's,
 *       [E] of vm/method_cache.h: nothing comes before it.
 *   [C] Refined methods, those that are undefined, and those of Ruby's own that have a
 *       second form for fewer arguments, are looked up as ever.
 *   [D] Nothing stands on such a call: no site, no cache.  Code that is compiled while it runs
 *       looks up, and files, what it stands on.
 *
 * With several Ractors only: with one the lock is none.
 *
 * Orders.
 *   super       acquire          rb_class_super_store_release
 *   m_tbl       acquire          RCLASS_M_TBL_INIT, class_origin_store_release: an origin is there before it
 *   the filter  acquire          hash_table_raw_insert: class/id_table_filter.h
 *   met_names   relaxed          itself: if two Ractors are both first, nothing is wrong
 */

#include "internal/class.h"
#include "lockfree/class/method_table.h"

static VALUE vm_call_general(rb_execution_context_t *ec, rb_control_frame_t *reg_cfp, struct rb_calling_info *calling);

#define VM_METHOD_ONCE_ANCESTORS 4 /* copies of modules, and origins, to the next class */

/* Whether +mid+ is a hook that a definition calls, of which nothing is filed. */
static inline bool
vm_method_hook_p(ID mid)
{
    return mid == idMethod_added || mid == idSingleton_method_added;
}

/* The method that a first call of +ci+ on an instance of +klass+ has, or NULL: it is to be looked up as ever.  Any Ractor, its
 * own GVL.  May take the VM lock and run the GC, once for a superclass or a module. */
static const rb_callable_method_entry_t *
vm_method_once(const struct rb_callinfo *ci, VALUE klass)
{
    const ID mid = vm_ci_mid(ci);
    VALUE ancestors[VM_METHOD_ONCE_ANCESTORS + 2] = { klass };
    int last = 0;

    if (!RB_TYPE_P(klass, T_CLASS) || !(vm_method_hook_p(mid) || rb_vm_method_unmet_p(klass, mid))) return NULL;
    const rb_callable_method_entry_t *cme = rb_vm_method_own_lookup(klass, mid);
    if (cme) return cme;
    do {
        if (last > VM_METHOD_ONCE_ANCESTORS) return NULL;
        ancestors[last + 1] = rb_class_super_load_acquire(ancestors[last]);
        if (RB_SPECIAL_CONST_P(ancestors[++last])) return NULL;
    } while (!RB_TYPE_P(ancestors[last], T_CLASS) && rb_method_table_lacks(ancestors[last], mid));

    if (RB_TYPE_P(ancestors[last], T_CLASS)) {
        cme = rb_callable_method_entry_or_negative(ancestors[last], mid);
        if (UNDEFINED_METHOD_ENTRY_P(cme) || cme->def->type == VM_METHOD_TYPE_REFINED || cme->def->iseq_overload) return NULL;
    }
    else {
        const rb_method_entry_t *me = rb_vm_method_own_of_module(ancestors[last], mid);
        if (!me) return NULL;
        cme = rb_method_entry_complement_defined_class(me, mid, ancestors[last]);
    }

    for (int i = 0; i < last; i++) { /* [A] */
        if (!rb_method_table_lacks(ancestors[i], mid) || rb_class_super_load_acquire(ancestors[i]) != ancestors[i + 1]) return NULL;
    }
    return cme;
}

/* The method that was found just now. */
static inline const rb_callable_method_entry_t *
vm_method_once_found(const rb_execution_context_t *ec)
{
    return rb_ec_ractor_ptr(ec)->method_cache->once;
}

/* The function of vm_cc_once. */
static VALUE
vm_call_once(rb_execution_context_t *ec, rb_control_frame_t *reg_cfp, struct rb_calling_info *calling)
{
    const VALUE klass = CLASS_OF(calling->recv);
    struct rb_callcache once = VM_CC_ON_STACK(klass, vm_call_general, {{ 0 }}, vm_method_once_found(ec));

    calling->cc = &once;
    return vm_call_general(ec, reg_cfp, calling);
}

static const struct rb_callcache vm_cc_once = VM_CC_ON_STACK(Qfalse, vm_call_once, {{ 0 }}, NULL);

/* vm_cc_once, if that is a first call, which is to begin at once; or NULL.  As vm_method_once. */
static inline const struct rb_callcache *
vm_search_method_once(const struct rb_callinfo *ci, VALUE klass)
{
    if (!rb_multi_ractor_p()) return NULL;

    const rb_callable_method_entry_t *cme = vm_method_once(ci, klass);
    return cme && rb_vm_method_cache_once(cme) ? &vm_cc_once : NULL;
}

#endif /* LOCKFREE_VM_METHOD_ONCE_H */
