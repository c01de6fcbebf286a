#ifndef LOCKFREE_GC_PAGE_WORDS_H
#define LOCKFREE_GC_PAGE_WORDS_H
/**********************************************************************

  gc/page_words.h - a word for each slot of a page, kept beside the page

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc/default/default.c.
 *
 * Problem.  What few objects have, an id or instance variables that they have no
 * room for, is found by the address of the object in a table of the process, under
 * the VM lock.
 *
 * Representation.  A field of struct heap_page: NULL, or a word for each slot of
 * the page, made when the first object of the page needs one.  What a word says,
 * and who may write it, is the affair of who has the field: gc/object_id.h,
 * gc/generic_ivar.h.  0 says nothing.
 *
 * Invariants.
 *   [1] From a look at the field to the last use of its words there is no safe point.
 *       So a stop finds nobody in them, and they are freed by a stop alone: when the
 *       sweep of a page leaves nothing in them (trim), or with the page.  Or when a page in
 *       which nothing lives leaves its heap (gc_sweep_empty_page): nobody has an object of
 *       it to ask for.
 *   [2] The word of a free slot is 0: it is cleared before the slot goes to a list.
 *
 * Order.  The field is set by compare-and-swap, release on success (gc_page_words_make);
 * acquire in gc_page_words_load_acquire, and of who loses.  The zeros of calloc are
 * there before the pointer is: else a reader has what malloc left for a word.  No
 * instruction on x86-64, ldar on arm64.
 *
 * Cost.  8 bytes a slot more, at most a fifth of the page.  It is the system's memory,
 * not the collector's: malloc_increase does not know it.  The words of a page that has
 * none in use any more go back when a step sweeps it, not when a Ractor does
 * (gc/sweep_claim.h).
 */

STATIC_ASSERT(env_is_known_by_its_page, HEAP_PAGE_ALIGN_LOG == 16 && HEAP_PAGE_SIZE == HEAP_PAGE_ALIGN); /* vm/proc_memory.h */

static inline size_t *
gc_page_words_load_acquire(size_t *const *field)
{
    return __atomic_load_n(field, __ATOMIC_ACQUIRE); /* gc_page_words_make */
}

/* Where the word of +obj+ is among those of its +page+.  A slot is BASE_SLOT_SIZE times a power of two. */
static inline size_t
gc_page_words_index(const struct heap_page *page, VALUE obj)
{
    return NUM_IN_PAGE(obj) >> (ntz_int32(page->slot_size) - ntz_int32((uint32_t)BASE_SLOT_SIZE));
}

static inline size_t
gc_page_words_count(const struct heap_page *page)
{
    return gc_page_words_index(page, page->start + (page->total_slots - 1) * page->slot_size) + 1;
}

/* The word of +obj+, NULL if there is none.  +field+ is of its +page+.  Any Ractor. */
static inline size_t *
gc_page_words_find(const struct heap_page *page, size_t *const *field, VALUE obj)
{
    size_t *words = gc_page_words_load_acquire(field);

    return words ? &words[gc_page_words_index(page, obj)] : NULL;
}

/* The word of +obj+, made if need be.  Any Ractor.  Raises NoMemoryError; no safe point. */
static size_t *
gc_page_words_make(const struct heap_page *page, size_t **field, VALUE obj)
{
    size_t *words = gc_page_words_load_acquire(field);

    if (!words) {
        size_t *made = calloc(gc_page_words_count(page), sizeof(size_t));
        if (!made) rb_memerror();

        /* Synchronises with gc_page_words_load_acquire. */
        if (__atomic_compare_exchange_n(field, &words, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) words = made;
        else                                                                                             free(made);
    }
    return &words[gc_page_words_index(page, obj)];
}

static void
gc_page_words_free(size_t **field)
{
    free(*field);
    *field = NULL;
}

/* A page has been swept: its words go unless they are in use.  All others stand. */
static void
gc_page_words_trim(const struct heap_page *page, size_t **field)
{
    size_t *words = *field;
    if (!words) return;

    for (size_t i = 0, count = gc_page_words_count(page); i < count; i++) {
        if (words[i] > 0) return;
    }
    gc_page_words_free(field);
}

/* Calls +func+ for each object that has a word, and may be dead.  The field is at +offset+ of a page.  All others stand. */
static void
gc_page_words_each(rb_objspace_t *objspace, size_t offset,
                   void (*func)(rb_objspace_t *, VALUE obj, size_t word, void *data), void *data)
{
    for (size_t i = 0; i < rb_darray_size(objspace->heap_pages.sorted); i++) {
        struct heap_page *page = rb_darray_get(objspace->heap_pages.sorted, i);
        const size_t *words = *(size_t **)((char *)page + offset);
        if (!words) continue;

        uintptr_t p = page->start, end = p + (uintptr_t)page->total_slots * page->slot_size;
        for (; p < end; p += page->slot_size) {
            size_t word = words[gc_page_words_index(page, p)];
            if (word > 0) func(objspace, (VALUE)p, word, data);
        }
    }
}

#endif /* LOCKFREE_GC_PAGE_WORDS_H */
