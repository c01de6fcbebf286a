#ifndef LOCKFREE_GC_SWEEP_FIRST_H
#define LOCKFREE_GC_SWEEP_FIRST_H
/**********************************************************************

  gc/sweep_first.h - a collection leaves the sweep to those who make objects

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc/default/default.c.
 *
 * Problem.  The first step of the sweep belongs to the collection, while all
 * Ractors stand: some 20 pages of each heap, which is all of a small one, and more work than to
 * mark what lives in it.  Two processors sweep no faster than one then.
 *
 * Solution.  Where Ractors may claim pages (gc/sweep_claim.h), the step ends at the first page
 * with free slots, which is the collector's, or whoever's comes first.  The others
 * sweep what they fill, side by side.
 *
 * Not where more of malloc's has been taken since the last collection than the pages that were
 * filled have: what is freed late lies about, and is taken off what is counted for the
 * next collection, which then finds twice as much, as if it had become old.
 *
 * Cost.  A heap that nobody fills is swept when the next collection begins, while all stand, as before with
 * larger ones; until then is_lazy_sweeping is true, and whoever walks lists of classes asks
 * with the VM lock whether one is garbage.
 */

/* The first step for +heap+; all others stand.  Its last page is left: who sweeps it ends the sweep. */
static void
gc_sweep_first(rb_objspace_t *objspace, rb_heap_t *heap)
{
    struct heap_page *page, *next;

    if (objspace->sweeps_first_step || !gc_sweep_claims_p(objspace, heap)) {
        gc_sweep_step(objspace, heap);
        return;
    }

    gc_prof_sweep_timer_start(objspace);
    while ((page = heap->sweeping_page) && (next = ccan_list_next(&heap->pages, page, page_node))) {
        struct gc_sweep_context ctx = { .page = page };

        gc_sweep_page(objspace, heap, &ctx);
        heap->sweeping_page = next;
        heap->freed_slots += ctx.freed_slots;
        heap->empty_slots += ctx.empty_slots;
        if (ctx.freed_slots + ctx.empty_slots > 0) {
            heap_add_freepage(heap, page);
            break;
        }
        page->free_next = NULL;
    }
    gc_prof_sweep_timer_stop(objspace);
}

#endif /* LOCKFREE_GC_SWEEP_FIRST_H */
