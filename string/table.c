/**********************************************************************

  string/table.c - what changes a table of Strings or Symbols; see string/table.h

  Licence: see LICENSE.

**********************************************************************/

#include "gc/gc.h"
#include "internal.h"
#include "internal/gc.h"
#include "internal/static_assert.h"
#include "internal/string.h"
#include "internal/symbol.h"
#include "ruby/st.h"
#include "vm_sync.h"
#include "lockfree/string/table.h"

struct rb_string_table rb_fstring_table, rb_symbol_table;

/* ---- how full ----------------------------------------------------- */

/* The count that an object with +hash+ is in: by the bits that no home is made of. */
static inline size_t *
string_table_count_of(struct rb_string_table *table, st_index_t hash)
{
    STATIC_ASSERT(counts_by_three_bits, STRING_TABLE_COUNTS == 1 << 3);
    return &table->counts[hash >> (sizeof(hash) * CHAR_BIT - 3)].count;
}

static inline size_t
string_count_load_relaxed(const size_t *count)
{
    return __atomic_load_n(count, __ATOMIC_RELAXED);
}

static inline void
string_count_add_relaxed(size_t *count)
{
    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

/* Any Ractor; others may be inserting. */
size_t
rb_string_table_count(const struct rb_string_table *table)
{
    size_t count = 0;

    for (int i = 0; i < STRING_TABLE_COUNTS; i++) count += string_count_load_relaxed(&table->counts[i].count);
    return count;
}

/* Whether there is for one more, whatever its hash.  Any Ractor; it may be gone if others insert. */
bool
rb_string_table_room_p(const struct rb_string_table *table)
{
    for (int i = 0; i < STRING_TABLE_COUNTS; i++) {
        if (string_count_load_relaxed(&table->counts[i].count) >= table->most) return false;
    }
    return true;
}

/* ---- the array: while all others stand ---------------------------- */

/* A table of +capacity+ free entries.  False: there is no memory, the table is what it was. */
static bool
string_table_allocate(struct rb_string_table *table, size_t capacity)
{
    struct rb_string_entry *entries = calloc(capacity, sizeof(*entries));
    if (!entries) return false;

    table->entries = entries;
    table->mask = capacity - 1;
    table->most = capacity / 4 * 3 / STRING_TABLE_COUNTS;
    for (int i = 0; i < STRING_TABLE_COUNTS; i++) table->counts[i].count = 0;
    return true;
}

/* As rb_string_table_insert, of what is not there. */
static void
string_table_add(struct rb_string_table *table, const struct rb_string_entry *entry)
{
    size_t i = string_table_home(table, entry->hash);

    while (table->entries[i].obj) i = (i + 1) & table->mask;
    table->entries[i] = *entry;
    ++*string_table_count_of(table, entry->hash);
}

/* Puts all into an array of +capacity+.  False: there is no memory for it. */
static bool
string_table_resize(struct rb_string_table *table, size_t capacity)
{
    struct rb_string_entry *old = table->entries;
    const size_t old_mask = table->mask;

    if (!string_table_allocate(table, capacity)) return false;
    for (size_t i = 0; i <= old_mask; i++) {
        if (old[i].obj) string_table_add(table, &old[i]);
    }
    free(old);
    return true;
}

void
rb_string_table_init(struct rb_string_table *table, size_t capacity)
{
    table->least = capacity;
    if (!string_table_allocate(table, capacity)) rb_memerror();
}

void
rb_string_table_free(struct rb_string_table *table)
{
    free(table->entries);
    table->entries = NULL;
}

size_t
rb_string_table_memsize(const struct rb_string_table *table)
{
    return (table->mask + 1) * sizeof(struct rb_string_entry);
}

/* Makes room, unless somebody else has; false: there is no memory.  Any Ractor; a safe point. */
static bool
string_table_try_grow(struct rb_string_table *table)
{
    bool grown = true;

    RB_VM_LOCK_ENTER();
    {
        rb_vm_barrier();
        if (!rb_string_table_room_p(table)) grown = string_table_resize(table, (table->mask + 1) * 2);
    }
    RB_VM_LOCK_LEAVE();
    return grown;
}

/* Makes room, if it must by a collection.  Any Ractor; a safe point.  Raises NoMemoryError. */
void
rb_string_table_grow(struct rb_string_table *table)
{
    if (string_table_try_grow(table)) return;

    rb_gc();
    if (!string_table_try_grow(table)) rb_memerror();
}

/* After a major collection.  Not all the way at once: what has died may come again. */
static void
string_table_trim(struct rb_string_table *table)
{
    const size_t capacity = table->mask + 1;

    if (capacity > table->least && rb_string_table_count(table) < capacity / 8) {
        (void)string_table_resize(table, capacity / 2); /* no memory for it: it stays */
    }
}

/* ---- entries ------------------------------------------------------ */

/* As rb_string_table_insert, whose +hash+ is that of the entry, if there is room.  0: each entry is another one's. */
static inline VALUE
string_table_put(struct rb_string_table *table, st_index_t hash, VALUE obj, VALUE str, rb_string_table_same_func *same)
{
    const size_t mask = table->mask;

    for (size_t i = string_table_home(table, hash), n = 0; n <= mask; i = (i + 1) & mask, n++) {
        struct rb_string_entry *entry = &table->entries[i];
        VALUE other = string_entry_load_acquire(entry);

        /* Synchronises with string_entry_load_acquire. */
        if (!other && __atomic_compare_exchange_n(&entry->obj, &other, obj, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            __atomic_store_n(&entry->hash, hash, __ATOMIC_RELAXED);
            string_count_add_relaxed(string_table_count_of(table, hash));
            if (!SPECIAL_CONST_P(obj)) rb_gc_hold_weakly(obj);
            return obj;
        }
        if (string_entry_same_p(entry, other, hash, str, same)) return other;
    }
    return 0;
}

/*
 * What goes by the content of +str+, whose hash is +hash+: +obj+, which is now in the table, or what was there before.
 * 0: there is no room; rb_string_table_grow, and look again.  Any Ractor, no lock.
 */
VALUE
rb_string_table_insert(struct rb_string_table *table, st_index_t hash, VALUE obj, VALUE str, rb_string_table_same_func *same)
{
    hash = string_entry_hash(hash);
    if (string_count_load_relaxed(string_table_count_of(table, hash)) >= table->most) return 0;
    return string_table_put(table, hash, obj, str, same);
}

/*
 * The same, of who saw with the VM lock that there is room (rb_string_table_room_p), which others may have taken since: it
 * is never 0.  Once for each time: it comes to one more than three quarters.
 */
VALUE
rb_string_table_insert_last(struct rb_string_table *table, st_index_t hash, VALUE obj, VALUE str, rb_string_table_same_func *same)
{
    VALUE found = string_table_put(table, string_entry_hash(hash), obj, str, same);

    if (!found) rb_bug("rb_string_table_insert_last: all %"PRIuSIZE" entries are taken", table->mask + 1);
    return found;
}

/* The entry at +hole+ goes.  What follows, up to a free one, and would rather be nearer to its home, moves up. */
static void
string_table_remove_at(struct rb_string_table *table, size_t hole)
{
    struct rb_string_entry *entries = table->entries;
    const size_t mask = table->mask;

    --*string_table_count_of(table, entries[hole].hash);
    for (size_t i = (hole + 1) & mask; entries[i].obj; i = (i + 1) & mask) {
        size_t home = string_table_home(table, entries[i].hash);

        if (((i - home) & mask) < ((i - hole) & mask)) continue; /* its home is after the hole */
        entries[hole] = entries[i];
        hole = i;
    }
    entries[hole].obj = 0;
    entries[hole].hash = 0;
}

static void
string_table_remove(struct rb_string_table *table, st_index_t hash, VALUE obj)
{
    size_t i = string_table_home(table, string_entry_hash(hash));

    for (; table->entries[i].obj != obj; i = (i + 1) & table->mask) {
        if (!table->entries[i].obj) rb_bug("string_table_remove: %p is not in the table", (void *)obj);
    }
    string_table_remove_at(table, i);
}

/* What moves up round the end of the array may be met twice. */
void
rb_string_table_foreach(struct rb_string_table *table, rb_string_table_foreach_func *func, void *data)
{
    for (size_t i = 0; i <= table->mask; ) {
        struct rb_string_entry *entry = &table->entries[i];

        if (entry->obj && func(&entry->obj, data) == ST_DELETE) string_table_remove_at(table, i);
        else i++;
    }
}

static int
string_table_update_i(VALUE *obj, void *data)
{
    if (!SPECIAL_CONST_P(*obj)) *obj = rb_gc_location(*obj);
    return ST_CONTINUE;
}

/* Objects have been moved.  All others stand. */
void
rb_string_table_update(struct rb_string_table *table)
{
    rb_string_table_foreach(table, string_table_update_i, NULL);
}

/* ---- what the collector tells ------------------------------------- */

/* +obj+, which rb_gc_hold_weakly was told of, is dead, and whole yet.  All others stand. */
void
rb_gc_purge_string(VALUE obj)
{
    if (BUILTIN_TYPE(obj) == T_STRING) {
        string_table_remove(&rb_fstring_table, rb_str_hash(obj), obj);
    }
    else {
        string_table_remove(&rb_symbol_table, string_table_symbol_hash(obj), obj);
    }
}

static int
string_table_purge_i(VALUE *obj, void *dead)
{
    return !SPECIAL_CONST_P(*obj) && (*(bool (**)(VALUE))dead)(*obj) ? ST_DELETE : ST_CONTINUE;
}

/* What is +dead+ leaves both tables.  All others stand. */
void
rb_gc_purge_strings_if(bool (*dead)(VALUE obj))
{
    rb_string_table_foreach(&rb_fstring_table, string_table_purge_i, &dead);
    rb_string_table_foreach(&rb_symbol_table, string_table_purge_i, &dead);
}

size_t
rb_gc_strings_capacity(void)
{
    return rb_fstring_table.mask + rb_symbol_table.mask + 2;
}

/* A major collection has purged all.  All others stand. */
void
rb_gc_trim_strings(void)
{
    string_table_trim(&rb_fstring_table);
    string_table_trim(&rb_symbol_table);
}

/* Whether +obj+ is in the table that it belongs to: GC.verify_internal_consistency.  All others stand. */
bool
rb_gc_string_held_p(VALUE obj)
{
    bool string = BUILTIN_TYPE(obj) == T_STRING;
    const struct rb_string_table *table = string ? &rb_fstring_table : &rb_symbol_table;
    st_index_t hash = string ? rb_str_hash(obj) : string_table_symbol_hash(obj);
    size_t i = string_table_home(table, string_entry_hash(hash));

    while (table->entries[i].obj && table->entries[i].obj != obj) i = (i + 1) & table->mask;
    return table->entries[i].obj == obj;
}
