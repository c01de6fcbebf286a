#ifndef LOCKFREE_METHOD_TABLE_H
#define LOCKFREE_METHOD_TABLE_H
/**********************************************************************

  method_table.h - the methods of a class, one by one

  Licence: see LICENSE.

**********************************************************************/

/* What and why: method_table.c. */

#include "id_table.h"

struct rb_method_entry_struct;

void rb_method_table_foreach(VALUE klass, rb_id_table_foreach_func_t *func, void *data);
void rb_method_table_foreach_after(VALUE klass, void (*first)(VALUE klass, void *data),
                                   rb_id_table_foreach_func_t *func, void *data);

/* method_refined.h */
void rb_method_table_split_refined(VALUE klass, ID mid, const struct rb_method_entry_struct *me);

#endif /* LOCKFREE_METHOD_TABLE_H */
