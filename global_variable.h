#ifndef LOCKFREE_GLOBAL_VARIABLE_H
#define LOCKFREE_GLOBAL_VARIABLE_H
/**********************************************************************

  global_variable.h - the global variables that every Ractor may use

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of variable.c.
 *
 * Problem.  When main makes a global variable, the table of all of them may
 * grow; a Ractor that looks $stdout or $~ up at that time reads freed memory, or
 * does not find it.
 *
 * Solution.  Ractors other than main look in a table of their own, of those that
 * they may use: what C code says at the start, and aliases of these (English).
 * While main is alone it is filled in place.  With several Ractors a copy that
 * has one more is published instead, and the old one stays for whoever looks in
 * it: there are some thirty such aliases.  The entry of a name that they may use
 * is left as it is, with its variable, when main makes the name another alias.
 */

/* Whether +id+ is one, in +entry+.  Any Ractor.  Synchronises with ractor_local_gvar_add. */
static inline int
ractor_local_gvar_lookup(ID id, VALUE *entry)
{
    return rb_id_table_lookup(__atomic_load_n(&ractor_local_gvar_tbl, __ATOMIC_ACQUIRE), id, entry);
}

static enum rb_id_table_iterator_result
ractor_local_gvar_copy_i(ID id, VALUE entry, void *table)
{
    rb_id_table_insert(table, id, entry);
    return ID_TABLE_CONTINUE;
}

/* All Ractors may use the variable of +entry+, which is whole.  Main.
 * Synchronises with ractor_local_gvar_lookup. */
static void
ractor_local_gvar_add(ID id, struct rb_global_entry *entry)
{
    struct rb_id_table *table = ractor_local_gvar_tbl;

    if (rb_multi_ractor_p()) {
        table = rb_id_table_create(rb_id_table_size(table) + 1);
        rb_id_table_foreach(ractor_local_gvar_tbl, ractor_local_gvar_copy_i, table);
    }
    rb_id_table_insert(table, id, (VALUE)entry);
    __atomic_store_n(&ractor_local_gvar_tbl, table, __ATOMIC_RELEASE);
}

#endif /* LOCKFREE_GLOBAL_VARIABLE_H */
