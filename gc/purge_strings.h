#ifndef LOCKFREE_GC_PURGE_STRINGS_H
#define LOCKFREE_GC_PURGE_STRINGS_H
/**********************************************************************

  gc/purge_strings.h - dead Strings and Symbols leave their tables when marking ends

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc/default/default.c.
 *
 * Problem.  A table that holds Strings or Symbols weakly (string/table.h) forgets
 * a dead one when it is swept, which is later, page by page: until then who finds
 * it has to ask whether it is dead, under the lock that the sweep has, and what
 * is in a table is not swept without stopping all.
 *
 * Solution.  All of them leave when marking ends, while all stand.  So nobody finds
 * what is dead, nobody brings it back, and it is swept as if it had never been in a
 * table: without a lock (gc/sweep_claim.h).
 *
 * Representation.  To walk the tables would cost a collection of little else a third
 * more.  A page has a bit for each slot, weak_bits, set for what a table holds:
 * the dead are those that have no mark.  And a byte, weak_strings, so that a page is
 * passed over by the line that the remembered set reads, too:
 *
 *   WEAK_NONE   no bit is set
 *   WEAK_OLD    all that have a bit are old: a minor collection frees none of them
 *   WEAK_YOUNG  any
 *
 * A minor collection notes those that are WEAK_YOUNG when it reads that line, as it
 * begins: it ends in the same stop.  Where the dead are as many as a GC_PURGE_WALKth of
 * the tables, these are walked after all: in order, and without a look at the dead.
 *
 *                                who                       needs
 *   rb_gc_impl_hold_weakly       any Ractor, of an object  no lock, and no safe point since it
 *                                that is in a table now    came into the table
 *   gc_purge_note                a minor one begins, a     all others stand
 *                                major one ends
 *   gc_purge_strings             the end of marking        the same
 *   gc_purge_move                compaction                the same
 *
 * Invariants, when all stand.
 *   [1] The bit of a slot is set if and only if its object is in a table.  A dead object
 *       has none from the purge on, so that the sweep, which may be another Ractor's,
 *       need not look at the bits, and a free slot has none.
 *   [2] weak_strings is at least what the bits say, but for a major one at work.  It is
 *       set to WEAK_YOUNG by who sets a bit, and to what is so by each purge of the page:
 *       a major one looks at each page that has any, as what was old may be so no more.
 *
 * Orders.  The bits and the byte are set atomically, relaxed: other Ractors' objects lie in
 * the same page.  Who reads them comes after a stop.
 *
 * While marking goes on step by step, who finds a String without a mark has it on the
 * stack, or stores it with a write barrier: it is marked before marking ends, as all
 * other objects are.
 */

enum { WEAK_NONE, WEAK_OLD, WEAK_YOUNG };

#define GC_PURGE_WALK 8

static inline void
gc_weak_strings_set_relaxed(struct heap_page *page)
{
    if (__atomic_load_n(&page->weak_strings, __ATOMIC_RELAXED) != WEAK_YOUNG) {
        __atomic_store_n(&page->weak_strings, WEAK_YOUNG, __ATOMIC_RELAXED);
    }
}

void
rb_gc_impl_hold_weakly(void *objspace_ptr, VALUE obj)
{
    struct heap_page *page = GET_HEAP_PAGE(obj);

    __atomic_fetch_or(&page->weak_bits[BITMAP_INDEX(obj)], BITMAP_BIT(obj), __ATOMIC_RELAXED);
    gc_weak_strings_set_relaxed(page);
}

/* Calls +func+ for each object of +page+ whose bit is in +bits+, the word +index+ of a bitmap. */
static inline void
gc_weak_bits_each(const struct heap_page *page, size_t index, bits_t bits, void (*func)(VALUE obj))
{
    /* of the slot that the first bit of the word would be; slots lie by page->start, not by the page */
    const uintptr_t first = page->start + (index * BITS_BITLENGTH - NUM_IN_PAGE(page->start)) * BASE_SLOT_SIZE;

    for (; bits; bits &= bits - 1) func((VALUE)(first + ntz_intptr(bits) * BASE_SLOT_SIZE));
}

/* How many of what tables hold in +page+ is dead. */
static size_t
gc_purge_count(const struct heap_page *page)
{
    size_t dead = 0;

    for (size_t i = 0; i < HEAP_PAGE_BITMAP_LIMIT; i++) dead += rb_popcount_intptr(page->weak_bits[i] & ~page->mark_bits[i]);
    return dead;
}

/* The dead of +page+ leave their tables, by +func+, or have done so, if it is NULL. */
static void
gc_purge_page(struct heap_page *page, void (*func)(VALUE obj))
{
    bits_t all = 0, young = 0;

    for (size_t i = 0; i < HEAP_PAGE_BITMAP_LIMIT; i++) {
        const bits_t weak = page->weak_bits[i], living = weak & page->mark_bits[i];

        if (weak != living) {
            if (func) gc_weak_bits_each(page, i, weak & ~living, func);
            page->weak_bits[i] = living;
        }
        all |= living;
        young |= living & ~page->uncollectible_bits[i];
    }
    page->weak_strings = young ? WEAK_YOUNG : all ? WEAK_OLD : WEAK_NONE;
}

/* All others stand, until marking has ended. */
static inline void
gc_purge_note(rb_objspace_t *objspace, struct heap_page *page)
{
    page->next_to_purge = objspace->first_to_purge;
    objspace->first_to_purge = page;
}

static void
gc_purge_note_all(rb_objspace_t *objspace)
{
    struct heap_page *page;

    for (int i = 0; i < HEAP_COUNT; i++) {
        ccan_list_for_each(&heaps[i].pages, page, page_node) {
            if (page->weak_strings != WEAK_NONE) gc_purge_note(objspace, page);
        }
    }
}

static bool
gc_purge_dead_p(VALUE obj)
{
    return !MARKED_IN_BITMAP(GET_HEAP_MARK_BITS(obj), obj);
}

/* Marking has ended.  All others stand. */
static void
gc_purge_strings(rb_objspace_t *objspace)
{
    struct heap_page *page;
    size_t dead = 0;

    if (is_full_marking(objspace)) gc_purge_note_all(objspace);
    for (page = objspace->first_to_purge; page; page = page->next_to_purge) dead += gc_purge_count(page);

    bool walk = dead > rb_gc_strings_capacity() / GC_PURGE_WALK;
    if (walk) rb_gc_purge_strings_if(gc_purge_dead_p);
    for (page = objspace->first_to_purge; page; page = page->next_to_purge) gc_purge_page(page, walk ? NULL : rb_gc_purge_string);
    objspace->first_to_purge = NULL;

    if (is_full_marking(objspace)) rb_gc_trim_strings();
}

/* +src+ is moved to +dest+.  All others stand. */
static void
gc_purge_move(VALUE src, VALUE dest)
{
    bits_t *bits = GET_HEAP_PAGE(src)->weak_bits;

    if (!MARKED_IN_BITMAP(bits, src)) return;
    CLEAR_IN_BITMAP(bits, src);
    MARK_IN_BITMAP(GET_HEAP_PAGE(dest)->weak_bits, dest);
    gc_weak_strings_set_relaxed(GET_HEAP_PAGE(dest));
}

/* ---- GC.verify_internal_consistency ------------------------------- */

static void
gc_purge_verify_one(VALUE obj)
{
    if (BUILTIN_TYPE(obj) != T_STRING && BUILTIN_TYPE(obj) != T_SYMBOL) {
        rb_bug("gc_purge_verify: %p, which is none, is held as a String or Symbol", (void *)obj);
    }
    if (!rb_gc_string_held_p(obj)) rb_bug("gc_purge_verify: %p is in no table", (void *)obj);
    if (BUILTIN_TYPE(obj) == T_SYMBOL) {
        VALUE name = rb_sym2str(obj);
        if (!is_pointer_to_heap(rb_gc_get_objspace(), (void *)name) || BUILTIN_TYPE(name) != T_STRING) {
            rb_bug("gc_purge_verify: %p is a Symbol whose name is gone", (void *)obj);
        }
    }
}

/* False: +obj+, which is in a table, stays there. */
static bool
gc_purge_verify_entry(VALUE obj)
{
    if (!MARKED_IN_BITMAP(GET_HEAP_PAGE(obj)->weak_bits, obj)) {
        rb_bug("gc_purge_verify: %p is in a table, and not held weakly", (void *)obj);
    }
    return false;
}

/* What was old may be so no more from the beginning of a major one on, until that looks at all pages. */
static void
gc_purge_verify_page(rb_objspace_t *objspace, const struct heap_page *page)
{
    bits_t all = 0, young = 0;

    for (size_t i = 0; i < HEAP_PAGE_BITMAP_LIMIT; i++) {
        gc_weak_bits_each(page, i, page->weak_bits[i], gc_purge_verify_one);
        all |= page->weak_bits[i];
        young |= page->weak_bits[i] & ~page->uncollectible_bits[i];
    }
    if (is_incremental_marking(objspace)) young = 0;
    if (page->weak_strings < (young ? WEAK_YOUNG : all ? WEAK_OLD : WEAK_NONE)) {
        rb_bug("gc_purge_verify: page %p is passed over", (void *)page);
    }
}

/* All others stand; no compaction is at work. */
static void
gc_purge_verify(rb_objspace_t *objspace)
{
    struct heap_page *page;

    rb_gc_purge_strings_if(gc_purge_verify_entry);

    for (int i = 0; i < HEAP_COUNT; i++) {
        ccan_list_for_each(&heaps[i].pages, page, page_node) {
            gc_purge_verify_page(objspace, page);
        }
    }
}

#endif /* LOCKFREE_GC_PURGE_STRINGS_H */
