#ifndef LOCKFREE_CLASS_METHOD_TABLE_H
#define LOCKFREE_CLASS_METHOD_TABLE_H
/**********************************************************************

  class/method_table.h - the methods of a class, one by one

  Licence: see LICENSE.

**********************************************************************/

/* What and why: class/method_table.c. */

#include "id_table.h"
#include "internal/class.h"
#include "internal/gc.h"

struct rb_method_entry_struct;

void rb_method_table_foreach(VALUE klass, rb_id_table_foreach_func_t *func, void *data);
void rb_method_table_foreach_after(VALUE klass, void (*first)(VALUE klass, void *data),
                                   rb_id_table_foreach_func_t *func, void *data);
const struct rb_method_entry_struct *rb_method_table_remove(VALUE klass, ID mid);

/* The table of +klass+.  Any Ractor.  Synchronises with who gives it another one: RCLASS_M_TBL_INIT, class_origin_store_release. */
static inline const struct rb_id_table *
rb_method_table_load_acquire(VALUE klass)
{
    return __atomic_load_n(&RCLASS_M_TBL(klass), __ATOMIC_ACQUIRE);
}

/* Whether +klass+ has never had a method +mid+ by itself, in the table that is now its own, as far as that tells without the
 * lock.  Any Ractor. */
static inline bool
rb_method_table_lacks(VALUE klass, ID mid)
{
    const struct rb_id_table *table = rb_method_table_load_acquire(klass);

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

/* Puts +origin+, the copy of +klass+ that has its methods, above it; +m_tbl+ is the table of what +klass+ itself has from now on.
 * NoMemoryError is raised before anything but the lists has changed; the copy is marked as an origin before walks without the
 * lock find it; and it is the super of +klass+ before it is its origin: whoever sees the two so looks at the class's own twice,
 * and the other way round not at all.  From the mark to the table there is no safe point: in the child of a fork two would own
 * one table.  Any Ractor, with the VM lock where others know +klass+.  Synchronises with rb_class_super_load_acquire; with
 * rb_const_search_from, which loads the origin, acquire, and then the super; and with vm_method_once, which loads the table,
 * acquire, and then the super. */
static inline void
class_origin_store_release(VALUE klass, VALUE origin, struct rb_id_table *m_tbl)
{
    rb_class_remove_from_super_subclasses(klass);
    rb_class_subclass_add(origin, klass);
    FL_SET(origin, RICLASS_IS_ORIGIN);
    rb_gc_writebarrier_remember(origin); // marked before, it was without the methods, as 3.4.10 says
    rb_class_super_store_release(klass, origin);
    rb_class_origin_store_release(klass, origin);
    __atomic_store_n(&RCLASS_M_TBL(klass), m_tbl, __ATOMIC_RELEASE);
    rb_class_update_superclasses(klass);
}

struct callable_method_move {
    VALUE origin;
    struct rb_id_table *m_tbl, *stay;
};

static enum rb_id_table_iterator_result
callable_method_move_i(ID mid, VALUE cme, void *data)
{
    const struct callable_method_move *move = data;
    VALUE me;

    if (rb_id_table_lookup(move->m_tbl, mid, &me)) {
        rb_id_table_insert(move->stay, mid, cme);
        return ID_TABLE_DELETE;
    }
    RB_OBJ_WRITE(cme, &((rb_callable_method_entry_t *)cme)->defined_class, move->origin);
    RB_OBJ_WRITTEN(move->origin, Qundef, cme);
    return ID_TABLE_CONTINUE;
}

/* The same for +iclass+, the copy of a module that has had no origin until now: +origin+ is a copy of the module's.  What has been
 * found in +iclass+ is from now on what would be found in +origin+, so that no cache and no compiled code need be told.  What the
 * module itself keeps, which is refined, stays that of +iclass+.  With all others stopped. */
static inline void
iclass_origin_insert(VALUE iclass, VALUE origin, struct rb_id_table *m_tbl)
{
    struct rb_id_table *callable = RCLASS_CALLABLE_M_TBL(iclass);
    struct callable_method_move move = { origin, m_tbl };

    if (callable && rb_id_table_size(m_tbl) > 0) move.stay = rb_id_table_create(rb_id_table_size(m_tbl)); /* before anything changes */
    RICLASS_SET_ORIGIN_SHARED_MTBL(origin);
    RCLASS_SET_INCLUDER(origin, RCLASS_INCLUDER(iclass));
    class_origin_store_release(iclass, origin, m_tbl);
    if (!callable) return;
    RCLASS_CALLABLE_M_TBL(iclass) = move.stay;
    RCLASS_CALLABLE_M_TBL(origin) = callable;
    rb_id_table_foreach(callable, callable_method_move_i, &move);
}

/* class/method_refined.h */
void rb_method_table_split_refined(VALUE klass, ID mid, const struct rb_method_entry_struct *me);

#endif /* LOCKFREE_CLASS_METHOD_TABLE_H */
