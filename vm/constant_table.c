/**********************************************************************

  vm/constant_table.c - a Ractor's own table of constants

  Licence: see LICENSE.

**********************************************************************/

/* What and why: vm/constant_table.h. */

#include "internal.h"
#include "constant.h"
#include "id_table.h"
#include "internal/class.h"
#include "internal/gc.h"
#include "ractor_core.h"
#include "vm_core.h"
#include "vm_sync.h"
#include "lockfree/class_fields.h"
#include "lockfree/vm/cache_ways.h"
#include "lockfree/vm/constant_table.h"

rb_serial_t rb_vm_constant_state;

static inline struct vm_constant_table_entry *
set_of(struct vm_constant_table *table, VALUE klass, ID id)
{
    return CACHE_SET(table->entries, VM_CONSTANT_TABLE_BITS, rb_id_hash((id << 4) + klass));
}

static inline bool
entry_is(const struct vm_constant_table_entry *entry, VALUE klass, ID id)
{
    return entry->klass == klass && entry->id == id;
}

static inline bool
entry_valid_p(const struct vm_constant_table_entry *entry)
{
    return entry->klass && entry->state == vm_constant_state_load_relaxed();
}

/* Whether this Ractor has looked +id+ up in +klass+ before, and the answer is still
 * so; then *const_entry is it.  Any Ractor, its own table. */
static bool
lookup(VALUE klass, ID id, rb_const_entry_t **const_entry)
{
    struct vm_constant_table *table = GET_RACTOR()->constant_table;
    if (!table) return false;

    const struct vm_constant_table_entry *set = set_of(table, klass, id);
    for (int way = 0; way < CACHE_WAYS; way++) {
        if (!entry_is(&set[way], klass, id)) continue;

        *const_entry = set[way].const_entry;
        return entry_valid_p(&set[way]);
    }
    return false;
}

/* Where +id+ of +klass+ is to be filed. */
static struct vm_constant_table_entry *
place_of(struct vm_constant_table *table, VALUE klass, ID id)
{
    struct vm_constant_table_entry *set = set_of(table, klass, id), *unused = NULL;

    for (int way = 0; way < CACHE_WAYS; way++) {
        if (entry_is(&set[way], klass, id)) return &set[way];
        if (!unused && !entry_valid_p(&set[way])) unused = &set[way];
    }
    if (unused) return unused;

    CACHE_SET_SHIFT(set, struct vm_constant_table_entry);
    return set;
}

/* Files what +klass+ has for +id+.  Any Ractor, its own table; VM lock, since the
 * look-up.  Does not run the GC; without memory nothing is filed. */
static void
store_locked(VALUE klass, ID id, rb_const_entry_t *const_entry)
{
    rb_ractor_t *r = GET_RACTOR();
    ASSERT_vm_locking();

    if (!r->constant_table) r->constant_table = ruby_mimcalloc(1, sizeof(struct vm_constant_table));
    if (!r->constant_table) return;

    r->constant_table->filled = true;
    *place_of(r->constant_table, klass, id) =
        (struct vm_constant_table_entry){ klass, id, const_entry, vm_constant_state_load_relaxed() };
}

/* The entry of +id+ that +klass+ itself has, or NULL.  Any Ractor, with several.  Raises
 * nothing and does not run the GC; the VM lock, of who does not know it yet, is a safe point. */
rb_const_entry_t *
rb_vm_constant_table_find(VALUE klass, ID id)
{
    rb_const_entry_t *const_entry;
    VALUE found;

    if (lookup(klass, id, &const_entry)) return const_entry;

    RB_VM_LOCK_ENTER();
    struct rb_id_table *constants = RCLASS_CONST_TBL(klass); // initialize_copy takes it away
    const_entry = constants && rb_id_table_lookup(constants, id, &found) ? (rb_const_entry_t *)found : NULL;
    store_locked(klass, id, const_entry);
    RB_VM_LOCK_LEAVE();
    return const_entry;
}

/* The GC, all stop: [3]. */
void
rb_vm_constant_table_clear(rb_ractor_t *r)
{
    if (!r->constant_table || !r->constant_table->filled) return;

    MEMZERO(r->constant_table->entries, struct vm_constant_table_entry, 1 << VM_CONSTANT_TABLE_BITS);
    r->constant_table->filled = false;
}

/* The Ractor ends, and calls no method any more, or never began. */
void
rb_vm_constant_table_free(rb_ractor_t *r)
{
    if (r->constant_table) ruby_mimfree(r->constant_table);
    r->constant_table = NULL;
}
