#ifndef LOCKFREE_GC_ROOM_H
#define LOCKFREE_GC_ROOM_H
/**********************************************************************

  gc/room.h - room in the heap for each Ractor that makes objects

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc/default/default.c.
 *
 * Problem.  Where little lives the heap is small: some 20,000 slots, which 8
 * Ractors use up in no time.  Each collection stops them all, and most of their
 * pages are half used when it does.  So they collect more often for each object
 * than one thread does; and what upstream wants to be free grows with the number
 * of Ractors, though the heap does not, so that every fourth collection is a
 * major one.
 *
 * Solution.  A collection counts the pages that each Ractor has taken since the
 * last one.  Their number tells how many make objects: as many as would, in
 * equal parts, give the same sum of squares (the participation ratio: n equal
 * ones are n, a large one among small ones is one), but no more than can run at
 * once.  For each of them there are pages of free slots beyond what lives: as
 * many as have the next collection come GC_ROOM_APART after this one, or later where many
 * Ractors live, be they idle, since it goes through the stacks of all.  By the clock, as a
 * stop costs the same whatever they make: a page of MatchDatas takes long to fill, and memory
 * along that nobody counts.  The pages are shared out among the heaps as the pages taken were; pages are made as they are
 * wanted, before the heap collects.  What is wanted less is given up slowly, by a
 * quarter for each collection.  As many pages as were made, and are
 * neither wanted nor full of what lives, go back as they are found empty: by
 * major collections, and by each that finds main alone.  What upstream wants
 * free for each Ractor, 4,096 slots of whatever size, it wants once: else a heap of
 * 7 pages of Hashes, or one that malloc's bytes keep small, has every fourth
 * collection a major one all the same.  Not where more of malloc's bytes have become
 * old, since the last major one, than may be at first and may be taken between two:
 * there it finds what has died.
 *
 * Limits.  GC_ROOM_MOST pages for each Ractor that makes objects and can run, or
 * GC_ROOM_TIMES that, and a page for each heap that it uses.  What their objects have
 * of malloc's counts as pages do beyond as much as the pages have, and no page is made
 * when GC_ROOM_MALLOC has been taken.  Nothing with one Ractor.  No heap gets more than
 * RUBY_GC_HEAP_GROWTH_MAX_SLOTS, if that is set.  When the system has no memory, be it
 * for a page or for malloc, room is given up, and there is none for GC_ROOM_DENIED
 * collections.  More room takes no less time: doc/objects.md.
 *
 * All of this is read and written with the VM lock; taken_pages by its Ractor
 * alone, but for the survey, when all others stand; room_denied is written by
 * whoever finds no memory, and told to a collection that it then asks for.
 */

#include "lockfree/gc/time.h"

#define GC_ROOM_APART (3 * 1000 * 1000) /* from one collection to the next, in nanoseconds */
#define GC_ROOM_LEAST 4            /* pages for each Ractor: 256 kB, */
#define GC_ROOM_MOST 24            /* to 1.5 MB; */
#define GC_ROOM_LIVING 128.0       /* so many live, and there is that again of either, */
#define GC_ROOM_TIMES 2            /* but no more than so many times */
#define GC_ROOM_MALLOC (1024 * 1024) /* for each that can run, in bytes: what they may take from malloc meanwhile */
#define GC_ROOM_DENIED 16

struct gc_room_survey {
    double sum, squares;
    double held; /* of other memory, in bytes */
    double taken[HEAP_COUNT];
    unsigned int takers[HEAP_COUNT];
};

static void
gc_room_count_taken(void *c, void *data)
{
    rb_ractor_newobj_cache_t *cache = c;
    struct gc_room_survey *survey = data;
    double taken = 0;

    for (int i = 0; i < HEAP_COUNT; i++) {
        if (cache->heap_caches[i].taken_pages > 0) survey->takers[i]++;
        survey->taken[i] += cache->heap_caches[i].taken_pages;
        taken += cache->heap_caches[i].taken_pages;
        cache->heap_caches[i].taken_pages = 0;
    }
    survey->sum += taken;
    survey->squares += taken * taken;
}

/* The Ractors that make objects: less than their number where a page takes other memory along, none where it takes much. */
static double
gc_room_ractors(const struct gc_room_survey *survey)
{
    double bytes = survey->sum * HEAP_PAGE_SIZE;
    double held = survey->held > bytes ? survey->held - bytes : 0;
    double ractors = MIN(survey->sum * survey->sum / survey->squares, rb_ractor_max_running()) * bytes / (bytes + held);

    return ractors < 1 ? 0 : ractors;
}

/* How many slots the +i+th heap is to have free, if +ractors+ make objects. */
static size_t
gc_room_wanted_slots(const rb_objspace_t *objspace, const rb_heap_t *heap, int i, const struct gc_room_survey *survey, double ractors)
{
    if (ractors == 0) return 0;

    double pages = ractors * objspace->room_pages * survey->taken[i] / survey->sum + MIN(survey->takers[i], rb_ractor_max_running());
    size_t slots = (size_t)(pages * (HEAP_PAGE_OBJ_LIMIT * BASE_SLOT_SIZE / heap->slot_size));

    if (gc_params.growth_max_slots > 0 && slots > gc_params.growth_max_slots) slots = gc_params.growth_max_slots;
    return slots;
}

/* A collection begins, all others stand. */
static void
gc_room_survey(rb_objspace_t *objspace)
{
    struct gc_room_survey survey = { .held = (double)RUBY_ATOMIC_SIZE_EXCHANGE(objspace->malloc_taken, 0) };
    rb_gc_ractor_newobj_cache_foreach(gc_room_count_taken, &survey);
    gc_young_begins(objspace);
    objspace->sweeps_first_step = survey.held > survey.sum * HEAP_PAGE_SIZE; /* sweep_first.h */

    bool denied = RUBY_ATOMIC_LOAD(objspace->room_denied) > 0;
    if (denied) RUBY_ATOMIC_DEC(objspace->room_denied);
    if (denied || objspace->live_ractor_cache_count <= 1) {
        for (int i = 0; i < HEAP_COUNT; i++) heaps[i].room.slots = heaps[i].room.total_slots = 0;
        return;
    }
    if (survey.sum == 0) return;

    double ractors = gc_room_ractors(&survey);

    for (int i = 0; i < HEAP_COUNT; i++) {
        rb_heap_t *heap = &heaps[i];
        size_t wanted = gc_room_wanted_slots(objspace, heap, i, &survey, ractors);

        bool slowly = ractors > 0 && wanted < heap->room.slots;
        heap->room.slots = slowly ? heap->room.slots - (heap->room.slots - wanted + 3) / 4 : wanted;
    }
}

/* A collection is about to stop the others. */
static void
gc_room_begin(rb_objspace_t *objspace)
{
    if (objspace->live_ractor_cache_count <= 1) return;

    double times = MIN(1 + objspace->live_ractor_cache_count / GC_ROOM_LIVING, GC_ROOM_TIMES);
    uint64_t ran = gc_time(CLOCK_MONOTONIC) - objspace->room_ended;
    double pages = objspace->room_pages * MAX(MIN(times * GC_ROOM_APART / (double)MAX(ran, 1), 1.5), 0.67);
    objspace->room_pages = MAX(MIN(pages, times * GC_ROOM_MOST), GC_ROOM_LEAST);
}

/* It lets them go on. */
static void
gc_room_end(rb_objspace_t *objspace)
{
    if (objspace->live_ractor_cache_count > 1) objspace->room_ended = gc_time(CLOCK_MONOTONIC);
}

/* The marking, +full+ or not, has told what lives: how many pages may be given back, where upstream says +freeable+. */
static size_t
gc_room_freeable_pages(rb_objspace_t *objspace, bool full, size_t freeable)
{
    size_t wanted = 0, excess = 0;

    if (!full) gc_young_marked();
    for (int i = 0; i < HEAP_COUNT; i++) {
        rb_heap_t *heap = &heaps[i];
        size_t pages = CEILDIV(heap->room.slots * heap->slot_size, HEAP_PAGE_SIZE);

        heap->room.excess_pages = heap->room.made_pages > pages && (full || pages == 0) ? heap->room.made_pages - pages : 0;
        heap->room.marked_pages = heap->total_pages;
        wanted += pages;
        excess += heap->room.excess_pages;
    }
    freeable = freeable > wanted ? freeable - wanted : 0;
    return MAX(freeable, excess);
}

/* The marking ends.  How many slots are to be free, or soon a major collection looks for some; +ractors+: as upstream counts
 * them. */
static size_t
gc_room_min_free_slots(rb_objspace_t *objspace, size_t ractors)
{
#if RGENGC_ESTIMATE_OLDMALLOC
    /* it has what this collection is about to free as well */
    if (objspace->rgengc.oldmalloc_increase <= gc_params.oldmalloc_limit_min + malloc_limit) ractors = 1;
#endif
    return gc_params.heap_free_slots * ractors;
}

/* This collection gives back what was made, from the heaps that have it, and not to those that have few. */
static bool
gc_room_gives_back(rb_objspace_t *objspace)
{
    for (int i = 0; i < HEAP_COUNT; i++) {
        if (heaps[i].room.excess_pages > 0) return true;
    }
    return false;
}

static size_t
gc_room_given_pages(const rb_heap_t *heap)
{
    return heap->room.marked_pages > heap->total_pages ? heap->room.marked_pages - heap->total_pages : 0;
}

/* How many of the heap's pages may be given back in one step, where upstream says +limit+.  One stays: a heap without
 * any is one that upstream lets grow by all that it has at the start. */
static int
gc_room_unlink_limit(rb_objspace_t *objspace, const rb_heap_t *heap, int limit)
{
    if (!gc_room_gives_back(objspace)) return limit;

    size_t given = gc_room_given_pages(heap);
    return heap->room.excess_pages > given ? (int)MIN(heap->room.excess_pages - given, heap->total_pages - 1) : 0;
}

/* The heap has been swept, and has +free_slots+: returns how many more it may have before it collects. */
static size_t
gc_room_after_sweep(rb_heap_t *heap, size_t free_slots)
{
    size_t made = heap->room.made_pages, given = gc_room_given_pages(heap);
    size_t free_pages = CEILDIV(free_slots * heap->slot_size, HEAP_PAGE_SIZE);
    heap->room.made_pages = made > given ? MIN(made - given, free_pages) : 0;

    heap->room.total_slots = heap->room.slots > 0 ? heap->total_slots - free_slots + heap->room.slots : 0;
    return heap->room.total_slots > heap->total_slots ? heap->room.total_slots - heap->total_slots : 0;
}

/* There is no memory.  Any thread, before it has a collection look for some. */
static void
gc_room_deny(rb_objspace_t *objspace)
{
    RUBY_ATOMIC_SET(objspace->room_denied, GC_ROOM_DENIED);
}

/* Makes a page for the heap, which has none that is free, unless it is to collect. */
static bool
gc_room_make_page(rb_objspace_t *objspace, rb_heap_t *heap)
{
    if (heap->total_slots >= heap->room.total_slots || heap->sweeping_page) return false;
    if (__atomic_load_n(&objspace->malloc_taken, __ATOMIC_RELAXED) > GC_ROOM_MALLOC * (size_t)rb_ractor_max_running()) return false;

    struct heap_page *page = heap_page_resurrect(objspace);
    if (!page) page = heap_page_allocate(objspace);
    if (!page) {
        gc_room_deny(objspace);
        gc_needs_major_flags |= GPR_FLAG_MAJOR_BY_NOFREE;
        return false;
    }
    heap_add_page(objspace, heap, page);
    heap_add_freepage(heap, page);
    heap->room.made_pages++;
    return true;
}

static void heap_page_allocate_and_initialize_force(rb_objspace_t *objspace, rb_heap_t *heap);

/* The collection has left no page for the heap, and nothing that asks for a major one, or a major one has left none: others have
 * taken much of malloc's since, so that gc_room_make_page makes none, or the system has no memory, or GC.config no major ones.
 * False with one Ractor, where that is a fault of the collector's.  VM lock. */
static bool
gc_room_force_page(rb_objspace_t *objspace, rb_heap_t *heap)
{
    if (!rb_gc_multi_ractor_p()) return false;
    heap_page_allocate_and_initialize_force(objspace, heap);
    return true;
}

/* Whether to mark or to sweep before the heap gets a page: with several Ractors a step is a stop of all, and where there is
 * nothing to do a heap that grows would ask for one at each page.  With one, tools are told of it as in stock.  VM lock. */
static inline bool
gc_room_step_first(rb_objspace_t *objspace, const rb_heap_t *heap)
{
    return !rb_gc_multi_ractor_p() || is_incremental_marking(objspace) || (!heap->free_pages && is_lazy_sweeping(objspace));
}

#endif /* LOCKFREE_GC_ROOM_H */
