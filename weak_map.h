#ifndef LOCKFREE_WEAK_MAP_H
#define LOCKFREE_WEAK_MAP_H
/**********************************************************************

  weak_map.h - who takes what has died out of an ObjectSpace::WeakMap

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  What has died in a WeakMap is taken out of its table when the next collection marks
 * the map: one Ractor goes through the tables of all, most of the time waiting for their memory,
 * and the others stand.
 *
 * Solution.  With several Ractors, the one that has the map takes out what has died before it adds
 * the first pair after a collection, and marking finds little.  Where less than a quarter
 * had died, as in a map whose objects live long, it waits for WEAK_MAP_RESTS collections more, for it
 * goes through the whole map.
 *
 * A dead pair is in no list of weak references: marking, which makes those, takes dead pairs
 * out, and pairs die when it ends.  So one may be freed at any time.
 *
 * A map is its Ractor's own; the GC looks at it with all stopped, and there is no safe point while
 * it is gone through.
 *
 * Part of weakmap.c.
 */

#include "vm_sync.h"

#define WEAK_MAP_RESTS 8

static void wmap_foreach(struct weakmap *w, int (*func)(struct weakmap_entry *, st_data_t), st_data_t arg);

static int
wmap_clean_i(struct weakmap_entry *entry, st_data_t arg)
{
    return ST_CONTINUE;
}

/* A pair is to be added.  The Ractor that has +w+. */
static inline void
wmap_clean(struct weakmap *w)
{
    if (!rb_multi_ractor_p()) return;

    size_t count = rb_gc_count();
    if (count - w->clean_at > SIZE_MAX / 2) return; /* before clean_at, which may wrap */

    size_t before = w->table->num_entries;
    wmap_foreach(w, wmap_clean_i, 0);
    w->clean_at = count + 1 + (before - w->table->num_entries < before / 4 ? WEAK_MAP_RESTS : 0);
}

#endif /* LOCKFREE_WEAK_MAP_H */
