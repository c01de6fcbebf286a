#ifndef LOCKFREE_METHOD_TABLE_H
#define LOCKFREE_METHOD_TABLE_H
/**********************************************************************

  method_table.h - the methods of a class, one by one

  Licence: see LICENSE.

**********************************************************************/

/* What and why: method_table.c. */

#include "id_table.h"

void rb_method_table_foreach(VALUE klass, rb_id_table_foreach_func_t *func, void *data);

#endif /* LOCKFREE_METHOD_TABLE_H */
