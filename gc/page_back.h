#ifndef LOCKFREE_GC_PAGE_BACK_H
#define LOCKFREE_GC_PAGE_BACK_H
/**********************************************************************

  gc/page_back.h - the pages of a Ractor that ends go to the next one

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc/default/default.c.
 *
 * Problem.  A Ractor takes a page of each size of objects that it makes, and what it
 * has not filled when it ends is nobody's until the next sweep.  Who starts a Ractor
 * for each job, which makes a dozen objects, collects after each sixteenth.
 *
 * Solution.  The rest of its pages joins the free pages of the heap.  How much is left
 * is known without a walk: `page_ends_at` is what allocated_objects will be when the
 * page is full.
 *
 * The pages are swept, since a sweep that begins clears the cache.  VM lock.
 */

/* +page+ is being taken. */
static inline void
gc_page_back_taken(rb_ractor_newobj_heap_cache_t *cache, const struct heap_page *page)
{
    cache->page_ends_at = cache->allocated_objects + page->free_slots;
#if RGENGC_CHECK_MODE
    unsigned int free_slots = 0;
    for (const struct free_slot *slot = page->freelist; slot; slot = slot->next) free_slots++;
    if (free_slots != page->free_slots) rb_bug("page %p has %u free slots, not %u", (void *)page, free_slots, page->free_slots);
#endif
}

/* What was allocated is counted elsewhere from now on.  Its Ractor, or all others stand. */
static inline void
gc_page_back_count(rb_ractor_newobj_heap_cache_t *cache)
{
    cache->page_ends_at -= cache->allocated_objects;
    cache->allocated_objects = 0;
}

/* The Ractor of +cache+ ends. */
static void
gc_page_back_all(rb_ractor_newobj_cache_t *cache)
{
    for (int i = 0; i < HEAP_COUNT; i++) {
        rb_ractor_newobj_heap_cache_t *heap_cache = &cache->heap_caches[i];
        struct heap_page *page = heap_cache->using_page;
        if (!page || !heap_cache->freelist) continue;

        page->free_slots += (unsigned short)(heap_cache->page_ends_at - heap_cache->allocated_objects);
        heap_page_freelist_append(page, heap_cache->freelist);
        heap_cache->using_page = NULL;
        heap_cache->freelist = NULL;
        heap_add_freepage(page->heap, page);
    }
}

#endif /* LOCKFREE_GC_PAGE_BACK_H */
