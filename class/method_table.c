/**********************************************************************

  class/method_table.c - the methods of a class, one by one

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  Copying a class walks its table of methods and defines each in the
 * copy, which calls method_added: Ruby code, that no lock may be held across.
 * Meanwhile another Ractor defines a method of the class, the table grows, and
 * the walk goes on in freed memory.
 *
 * Mechanism.  The table is copied under the VM lock, which who changes it holds,
 * and the copy is walked: the methods as of one moment.  With one Ractor too:
 * method_added may start another, or change the class itself.  The copy lies on
 * the stack, or in a buffer that the GC scans like the stack, so that entries
 * that are replaced meanwhile stay.
 *
 * What is prepended to a class takes the table from it, and is its superclass
 * then: who copies both reads them in one go.
 */

#include "internal.h"
#include "internal/class.h"
#include "internal/gc.h"
#include "id_table.h"
#include "method.h"
#include "lockfree/class/method_table.h"
#include "lockfree/vm/method_cache.h"
#include "vm_sync.h"

static enum rb_id_table_iterator_result
append_i(ID mid, VALUE me, void *data)
{
    VALUE **end = data;
    *(*end)++ = (VALUE)mid;
    *(*end)++ = me;
    return ID_TABLE_CONTINUE;
}

/* Calls +func+ for each method of +klass+; what it returns does not matter.  And
 * +first+, if given, at the moment as of which these are, with the VM lock held.
 * Any Ractor, VM lock not held.  +func+ may run Ruby code. */
void
rb_method_table_foreach_after(VALUE klass, void (*first)(VALUE klass, void *data),
                              rb_id_table_foreach_func_t *func, void *data)
{
    VALUE buffer = 0, *entries = NULL, *end = NULL;

    RB_VM_LOCK_ENTER();
    struct rb_id_table *table = RCLASS_M_TBL(klass);
    if (table) {
        end = entries = ALLOCV_N(VALUE, buffer, 2 * rb_id_table_size(table) + 1);
        rb_id_table_foreach(table, append_i, &end);
    }
    if (first) first(klass, data);
    RB_VM_LOCK_LEAVE();

    for (VALUE *entry = entries; entry < end; entry += 2) {
        func((ID)entry[0], entry[1], data);
    }
    ALLOCV_END(buffer);
}

/* The same without +first+. */
void
rb_method_table_foreach(VALUE klass, rb_id_table_foreach_func_t *func, void *data)
{
    rb_method_table_foreach_after(klass, NULL, func, data);
}

/* The method +mid+ of +klass+ itself, which has it no more, and which no cache knows any more; or NULL, if there is none, or only
 * what says that it is undefined.  Any Ractor. */
const rb_method_entry_t *
rb_method_table_remove(VALUE klass, ID mid)
{
    const rb_method_entry_t *me;

    RB_VM_LOCK_ENTER();
    const VALUE origin = RCLASS_ORIGIN(klass);

    me = rb_method_entry_at(origin, mid);
    if (UNDEFINED_METHOD_ENTRY_P(me) || UNDEFINED_REFINED_METHOD_P(me->def)) me = NULL;
    if (me) {
        if (origin != klass) rb_clear_method_cache(klass, mid);
        rb_clear_method_cache(origin, mid);
        me = rb_method_entry_at(origin, mid); /* another one, if it was called */
        rb_id_table_delete(RCLASS_M_TBL(origin), mid);
        rb_vm_method_own_forget(me);
    }
    RB_VM_LOCK_LEAVE();
    return me;
}
