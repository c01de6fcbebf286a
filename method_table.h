#ifndef LOCKFREE_METHOD_TABLE_H
#define LOCKFREE_METHOD_TABLE_H
/**********************************************************************

  method_table.h - the methods of a class, one by one

  Licence: see LICENSE.

**********************************************************************/

/* What and why: method_table.c. */

#include "id_table.h"
#include "internal/class.h"

struct rb_method_entry_struct;

void rb_method_table_foreach(VALUE klass, rb_id_table_foreach_func_t *func, void *data);
void rb_method_table_foreach_after(VALUE klass, void (*first)(VALUE klass, void *data),
                                   rb_id_table_foreach_func_t *func, void *data);

/* Whether +klass+ has never had a method +mid+ by itself, in the table that is now its own, as far as that tells without the
 * lock.  Any Ractor.  Synchronises with who gives it another table: RCLASS_M_TBL_INIT, rb_prepend_module. */
static inline bool
rb_method_table_lacks(VALUE klass, ID mid)
{
    const struct rb_id_table *table = __atomic_load_n(&RCLASS_M_TBL(klass), __ATOMIC_ACQUIRE);

    return table && rb_id_table_lacks(table, mid);
}

/* Whether nobody has looked for a method of an instance of +klass+, on which a cache or compiled code could stand, and no method
 * of its own can have called super: who includes a module into it need not tell anybody, as in a class that has just been made.
 * `c` is where the module comes: right after it.  VM lock. */
static inline bool
rb_class_unmet_p(VALUE klass, VALUE c)
{
    return c == klass && RB_TYPE_P(klass, T_CLASS) && RCLASS_ORIGIN(klass) == klass && !RCLASS_SUBCLASSES(klass) &&
        !RCLASS_CC_TBL(klass) && rb_id_table_unused_p(RCLASS_M_TBL(klass));
}

/* As RCLASS_SET_SUPER, for +origin+, which is marked as one before walks without the lock find it above +klass+, and when nothing
 * is raised any more.  Whoever sees it there before it is the origin of +klass+ looks at the class's own twice; not at all, if
 * the two were told the other way round: rb_const_search_from.  Any Ractor, VM lock. */
static inline void
class_set_super_to_origin(VALUE klass, VALUE origin)
{
    rb_class_remove_from_super_subclasses(klass);
    rb_class_subclass_add(origin, klass);
    FL_SET(origin, RICLASS_IS_ORIGIN);
    rb_class_super_store_release(klass, origin);
    rb_class_update_superclasses(klass);
}

/* method_refined.h */
void rb_method_table_split_refined(VALUE klass, ID mid, const struct rb_method_entry_struct *me);

#endif /* LOCKFREE_METHOD_TABLE_H */
