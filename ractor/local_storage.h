#ifndef LOCKFREE_RACTOR_LOCAL_STORAGE_H
#define LOCKFREE_RACTOR_LOCAL_STORAGE_H
/**********************************************************************

  ractor/local_storage.h - what a Ractor has found last in its local storage

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of ractor.c.
 *
 * Problem.  Kernel#rand, and extensions, keep what is each Ractor's own under a
 * key.  Main finds it beside the key; all others look in a table, 182 instructions
 * of the 1,050 that rand(100) takes.
 *
 * Solution.  Each Ractor remembers one key and its value.  A program that uses two
 * by turns has what it had before.
 *
 * In a forked child the Ractor that has forked is main: what is beside the keys is
 * its own from then on.  Upstream leaves that of the former main there, which is freed
 * with it.
 *
 * `local_found` of rb_ractor_t is written by its Ractor, holding that Ractor's
 * GVL, and by the collector while all stand.  Its key is one that is in the table
 * with this value, or NULL: whoever changes or takes an entry there does so here.
 */

/* Looks it up in the table, and remembers it.  Any Ractor but main, its own storage. */
NOINLINE(static bool ractor_local_remember(rb_ractor_t *cr, rb_ractor_local_key_t key));
static bool
ractor_local_remember(rb_ractor_t *cr, rb_ractor_local_key_t key)
{
    st_data_t value;

    if (!cr->local_storage || !st_lookup(cr->local_storage, (st_data_t)key, &value)) return false;
    cr->local_found.key = key;
    cr->local_found.value = (void *)value;
    return true;
}

/* Whether there is a value for +key+.  Any Ractor but main, its own storage. */
static inline bool
ractor_local_find(rb_ractor_t *cr, rb_ractor_local_key_t key, void **value)
{
    if (cr->local_found.key != key && !ractor_local_remember(cr, key)) return false;
    *value = cr->local_found.value;
    return true;
}

/* +key+ has another value, or none any more.  The Ractor itself, or the collector. */
static inline void
ractor_local_forget(rb_ractor_t *r, rb_ractor_local_key_t key)
{
    if (r->local_found.key == key) r->local_found.key = NULL;
}

static int
ractor_local_leave_main_i(st_data_t key, st_data_t value, st_data_t arg)
{
    ((rb_ractor_local_key_t)key)->main_cache = (void *)Qundef;
    return ST_CONTINUE;
}

static int
ractor_local_become_main_i(st_data_t key, st_data_t value, st_data_t arg)
{
    ((rb_ractor_local_key_t)key)->main_cache = (void *)value;
    return ST_CONTINUE;
}

/* In a forked child, where +cr+, which has forked, takes the place of +main_r+.  No other thread runs. */
void
rb_ractor_local_storage_atfork(rb_ractor_t *main_r, rb_ractor_t *cr)
{
    if (main_r == cr) return;
    if (main_r->local_storage) st_foreach(main_r->local_storage, ractor_local_leave_main_i, 0);
    if (cr->local_storage) st_foreach(cr->local_storage, ractor_local_become_main_i, 0);
}

#endif /* LOCKFREE_RACTOR_LOCAL_STORAGE_H */
