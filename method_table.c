/**********************************************************************

  method_table.c - the methods of a class, one by one

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  Copying a class walks its table of methods and defines each in the
 * copy, which calls method_added: Ruby code, that no lock may be held across.
 * Meanwhile another Ractor defines a method of the class, the table grows, and
 * the walk goes on in freed memory.
 *
 * Mechanism.  With several Ractors the table is copied under the VM lock, which
 * who changes it holds, and the copy is walked: the methods as of one moment.
 * The copy lies on the stack, or in a buffer that the GC scans like the stack,
 * so that entries that are replaced meanwhile stay.
 */

#include "internal.h"
#include "internal/class.h"
#include "internal/gc.h"
#include "id_table.h"
#include "method_table.h"
#include "ractor_core.h"
#include "vm_sync.h"

static enum rb_id_table_iterator_result
append_i(ID mid, VALUE me, void *data)
{
    VALUE **end = data;
    *(*end)++ = (VALUE)mid;
    *(*end)++ = me;
    return ID_TABLE_CONTINUE;
}

/* Calls +func+ for each method of +klass+; what it returns does not matter.  Any
 * Ractor, VM lock not held.  +func+ may run Ruby code. */
void
rb_method_table_foreach(VALUE klass, rb_id_table_foreach_func_t *func, void *data)
{
    if (!rb_multi_ractor_p()) {
        if (RCLASS_M_TBL(klass)) rb_id_table_foreach(RCLASS_M_TBL(klass), func, data);
        return;
    }

    VALUE buffer = 0, *entries = NULL, *end = NULL;

    RB_VM_LOCK_ENTER();
    struct rb_id_table *table = RCLASS_M_TBL(klass);
    if (table) {
        end = entries = ALLOCV_N(VALUE, buffer, 2 * rb_id_table_size(table) + 1);
        rb_id_table_foreach(table, append_i, &end);
    }
    RB_VM_LOCK_LEAVE();

    for (VALUE *entry = entries; entry < end; entry += 2) {
        func((ID)entry[0], entry[1], data);
    }
    ALLOCV_END(buffer);
}
