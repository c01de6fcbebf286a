#ifndef LOCKFREE_STRING_TABLE_H
#define LOCKFREE_STRING_TABLE_H
/**********************************************************************

  string/table.h - a table of Strings or Symbols by their content, found without a lock

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  The Strings that -str, literals and keys of Hashes share, and the
 * Symbols, are in two tables of the process, each under the VM lock.  Who asks
 * for one that exists takes it, and so does who sweeps one: a page that has one
 * is swept with all Ractors stopped.  And what is in a table may be dead, and
 * not swept yet: who finds it has to ask the collector, with the lock as well.
 *
 * Representation.  An array of entries, its size a power of two, at most three
 * quarters full; an object is in the first free entry from its home on, which
 * its hash says.  There is one table of Strings (rb_fstring_table), and one of
 * Symbols (rb_symbol_table).  An entry is
 *
 *   obj   0: free.  The String, or the Symbol.
 *   hash  of its content, with the lowest bit set; 0: not stored yet
 *
 * A table holds weakly what it holds.  What has died leaves it when marking
 * ends, while all stand (gc/purge_strings.h), before any of it is swept.
 *
 *                                 who                     needs
 *   rb_string_table_find          any Ractor              nothing; no safe point from
 *                                                         here on until the object is on
 *                                                         the stack
 *   rb_string_table_insert,       any Ractor              the same
 *   _insert_last
 *   rb_string_table_grow          any Ractor              takes the VM lock, stops all;
 *                                                         may raise NoMemoryError
 *   _remove, _trim, _update       the collector           all others stand
 *   rb_string_table_foreach       any Ractor              all others stand
 *   _init, _free, _memsize        main                    -
 *
 * Invariants.
 *   [1] While Ractors run, an entry changes once: from free to an object.  All else (an
 *       entry becomes free, or another's; the array grows, shrinks, goes away) happens
 *       while all others stand.
 *   [2] There is no safe point in a look-up or an insertion, so that a stop finds nobody
 *       in one: `entries` and `mask` are plain words, and an array is freed at once.
 *   [3] Of two that insert the same content one finds the other's: both come to the same
 *       first free entry, which one of them gets by a compare-and-swap; who does not looks
 *       what is there.
 *   [4] When all stand, each entry that is not free has its hash, each object in a table
 *       is one that the collector knows to be held weakly (rb_gc_hold_weakly), and none of
 *       them is dead but between the end of marking and the purge.
 *   [5] From an object's home to its entry no entry is free: who removes one moves the
 *       following ones up.  There are no tombstones.
 *
 * Orders.
 *   obj    compare-and-swap, release on success (string_table_put); acquire in
 *          string_entry_load_acquire, and of who loses.  What the object is made of is
 *          there before the object is: else a reader compares with what malloc left.
 *          No instruction on x86-64 but the swap, ldar on arm64.
 *   hash   relaxed, after obj.  It belongs to the object that was seen, or is 0: then
 *          the content is compared, which it only saves.
 *   count  relaxed: how many entries there are says nothing about other memory.
 *
 * Growth.  One count of all entries would be a word that every Ractor with a new
 * String writes.  There are STRING_TABLE_COUNTS, each of the objects whose hash
 * begins with the same bits, in a line of its own; when one has its share of three
 * quarters, the array is doubled.  That is a stop, but 1,000,000 Strings need seven.
 * Ractors that look at a count at the same time may all find that there is room,
 * so the array may come to hold a few more: each walk ends after one round.
 * Where there is no memory for a longer array, all is collected, which may make room
 * in the old one or give memory back; only if there is still neither, NoMemoryError
 * is raised.
 *
 * The array is the system's memory, not the collector's: malloc_increase does not
 * know it.  A major collection after which it is less than an eighth full halves it.
 *
 * test/model/string_table.cc is this, with what goes wrong if a step is left out.
 */

#include "internal.h"
#include "symbol.h"

#define STRING_TABLE_COUNTS 8 /* a power of two */
#define STRING_TABLE_LINE  64 /* bytes of a cache line */

struct rb_string_entry {
    VALUE obj;       /* atomic */
    st_index_t hash; /* atomic */
};

struct rb_string_table {
    /* changed while all others stand */
    struct rb_string_entry *entries;
    size_t mask;  /* their number, less 1 */
    size_t most;  /* that a count may come to */
    size_t least; /* entries, to which it shrinks */

    struct rb_string_count {
        size_t count; /* atomic */
        char line[STRING_TABLE_LINE - sizeof(size_t)];
    } counts[STRING_TABLE_COUNTS];
};

extern struct rb_string_table rb_fstring_table, rb_symbol_table;

/* Whether +obj+, of a table, is what goes by the content of +str+.  No safe point. */
typedef bool rb_string_table_same_func(VALUE obj, VALUE str);

/* Returns ST_CONTINUE, or ST_DELETE to have *+obj+ removed (while all stand).  May replace it by the same, moved. */
typedef int rb_string_table_foreach_func(VALUE *obj, void *data);

void rb_string_table_init(struct rb_string_table *table, size_t capacity);
void rb_string_table_free(struct rb_string_table *table);
size_t rb_string_table_memsize(const struct rb_string_table *table);
size_t rb_string_table_count(const struct rb_string_table *table);
bool rb_string_table_room_p(const struct rb_string_table *table);
VALUE rb_string_table_insert(struct rb_string_table *table, st_index_t hash, VALUE obj, VALUE str,
                             rb_string_table_same_func *same);
VALUE rb_string_table_insert_last(struct rb_string_table *table, st_index_t hash, VALUE obj, VALUE str,
                                  rb_string_table_same_func *same);
void rb_string_table_grow(struct rb_string_table *table);
void rb_string_table_foreach(struct rb_string_table *table, rb_string_table_foreach_func *func, void *data);
void rb_string_table_update(struct rb_string_table *table);

/* gc.c: the collector is to tell when +obj+, which has just come into a table, dies.  No safe point. */
void rb_gc_hold_weakly(VALUE obj);

static inline VALUE
string_entry_load_acquire(const struct rb_string_entry *entry)
{
    return __atomic_load_n(&entry->obj, __ATOMIC_ACQUIRE); /* string_table_put */
}

static inline st_index_t
string_entry_hash_load_relaxed(const struct rb_string_entry *entry)
{
    return __atomic_load_n(&entry->hash, __ATOMIC_RELAXED);
}

/* What an entry has of the hash of a content. */
static inline st_index_t
string_entry_hash(st_index_t hash)
{
    return hash | 1;
}

/* The hash of the name of +sym+, a dynamic Symbol, but for its last bit, which an entry does not have. */
static inline st_index_t
string_table_symbol_hash(VALUE sym)
{
    return (st_index_t)RSYMBOL(sym)->hashval << 1;
}

/* Where an object whose entry has +hash+ would best be. */
static inline size_t
string_table_home(const struct rb_string_table *table, st_index_t hash)
{
    return (size_t)(hash >> 1) & table->mask;
}

/* Whether +entry+, in which +obj+ was seen, is what goes by +str+, whose entry has +hash+. */
static inline bool
string_entry_same_p(const struct rb_string_entry *entry, VALUE obj, st_index_t hash, VALUE str, rb_string_table_same_func *same)
{
    st_index_t other = string_entry_hash_load_relaxed(entry);

    return (other == hash || other == 0) && same(obj, str);
}

/* What goes by the content of +str+, whose hash is +hash+; 0: nothing.  Any Ractor, no lock. */
static inline VALUE
rb_string_table_find(const struct rb_string_table *table, st_index_t hash, VALUE str, rb_string_table_same_func *same)
{
    const struct rb_string_entry *entries = table->entries;
    const size_t mask = table->mask;

    hash = string_entry_hash(hash);
    for (size_t i = string_table_home(table, hash), n = 0; n <= mask; i = (i + 1) & mask, n++) {
        VALUE obj = string_entry_load_acquire(&entries[i]);

        if (!obj) break;
        if (string_entry_same_p(&entries[i], obj, hash, str, same)) return obj;
    }
    return 0;
}

#endif /* LOCKFREE_STRING_TABLE_H */
