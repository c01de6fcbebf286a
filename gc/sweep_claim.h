#ifndef LOCKFREE_GC_SWEEP_CLAIM_H
#define LOCKFREE_GC_SWEEP_CLAIM_H
/**********************************************************************

  gc/sweep_claim.h - a Ractor sweeps the page that it is about to fill

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc/default/default.c.
 *
 * Problem.  The lazy sweep is made of steps, and each step has the VM lock and
 * stops all Ractors: with 8 that make objects, a third of their time.
 *
 * Solution.  A Ractor that has used up its page takes the next one that is to be
 * swept: it claims it with the VM lock held, frees what is dead in it without
 * the lock, and has the lock again to say that the page is swept and its own.
 *
 *   what is freed     what takes nothing with it but memory of malloc's, and its words beside
 *   without the lock  the page (gc/object_id.h, gc/generic_ivar.h): gc_sweep_claim_frees_p.
 *                     Strings and Symbols are in no table any more (gc/purge_strings.h).
 *                     A dead method is named by caches of its class alone, which is dead, too, or has
 *                     forgotten it: who looks there looks for the class first.
 *                     A class or a copy of a module comes off the lists of subclasses first, with the
 *                     lock, for which the page is gone through once more: who walks the lists has
 *                     the lock, and no cache of a Ractor's own has kept the class since it was marked.
 *                     Classes with call caches, which living call sites may have, compiled code, what
 *                     has a finalizer or an id that _id2ref knows, and T_DATA with data and a function of its own
 *                     that is not marked (gc/typed_free.h), or without a type, are left as they are; but a
 *                     Mutex that its thread has left is freed (thread/sync.h).  A
 *                     page with one of those is given back, and swept with all stopped; one with a
 *                     zombie, which is freed when its finalizer has been called, is not claimed.
 *   without the lock  the slots of dead objects, their words, and the list of free slots.  All
 *   are written       else of the page may be another Ractor's, whose write barrier knows
 *                     what lives in it: its bits are copied as it is claimed, and
 *                     written with the lock.
 *   a stop            finds nobody at work on a page, since there is no safe point in
 *                     it.  But it finds pages that are claimed, done, and not yet
 *                     said to be so: their owners wait for the lock.  A step gives
 *                     them all back before it begins (gc_sweep_claims_give_back),
 *                     and the owner, which finds that it has none, claims again.  So
 *                     each page from heap->sweeping_page on is to be swept, and no
 *                     other, whenever all stand.  gc_rest, whose steps stop nobody in
 *                     stock, stops all.
 *   is garbage?       (rb_gc_impl_garbage_object_p) is answered by before_sweep and the
 *                     mark bits, which change together, with the lock; and asked of such
 *                     objects only as are not freed without it; of a call cache with all
 *                     stopped; and of the second form of a method that lives, which that marks.
 *   an empty page     that is to go back to the system does, as in a step, and no more of them at a
 *                     time.
 *   claimed_freed     of a page: how many slots Ractors have freed that claimed it.  Who has it
 *                     claimed adds; who says that it is swept, that Ractor or a step, counts them.
 *   the last page     of a heap is not claimed, so that whoever sweeps it, in a step,
 *                     ends the sweep of the heap.
 *   the first step    is a part of the collection, and sweeps no more than gives each
 *                     heap a page with free slots: gc/sweep_first.h.
 *
 * Limits.  Where a page had more than GC_SWEEP_CLAIM_MALLOC bytes of malloc's, the
 * rest of the pages is swept in steps, and at once: garbage that lies about for
 * long costs three times the memory there, and the time goes by in malloc.
 * Not where the next collection marks by increments and wants pages put by, where
 * all are to be told of what is freed (RUBY_INTERNAL_EVENT_FREEOBJ), under GC.stress,
 * and not before there is a second Ractor.  Who makes an object with the VM lock held, as a look-up
 * of a method does, keeps it while he sweeps his page.
 */

#include "lockfree/class_fields.h"
#include "lockfree/gc/file_free.h"
#include "lockfree/gc/time.h"
#include "lockfree/gc/typed_free.h"

#define GC_SWEEP_CLAIM_LOOKS_AT 32           /* pages */
#define GC_SWEEP_CLAIM_MALLOC    (256 * 1024) /* bytes of malloc's in one page */

static int gc_sweep_step_scale(rb_heap_t *heap);
bool rb_mutex_left_p(VALUE obj); /* thread/sync.h */
bool rb_iseq_frees_alone_p(VALUE obj); /* gc/iseq_free.h */
bool rb_iseq_listed_p(VALUE obj);
void rb_iseq_unlist(VALUE obj);

/* What is still to be freed of a dead object, or of the dead in a claimed page: the most of any. */
enum gc_sweep_claim_left { GC_SWEEP_LEFT_NOTHING, GC_SWEEP_LEFT_LISTED, GC_SWEEP_LEFT_MORE };

static inline bool
gc_sweep_claim_class_p(VALUE obj)
{
    return BUILTIN_TYPE(obj) == T_CLASS || BUILTIN_TYPE(obj) == T_ICLASS || BUILTIN_TYPE(obj) == T_MODULE;
}

static inline bool
gc_sweep_claim_iseq_p(VALUE obj)
{
    return BUILTIN_TYPE(obj) == T_IMEMO && imemo_type(obj) == imemo_iseq;
}

/* Whether freeing +obj+, which is dead, is nobody else's business.  Any Ractor, no lock. */
static inline bool
gc_sweep_claim_frees_p(VALUE obj)
{
    if (FL_TEST_RAW(obj, FL_FINALIZE)) return false;

    switch (BUILTIN_TYPE(obj)) {
      case T_CLASS: case T_ICLASS: case T_MODULE:
        return !RCLASS_CC_TBL(obj);
      case T_OBJECT: case T_FLOAT: case T_ARRAY: case T_HASH: case T_STRUCT: case T_BIGNUM:
      case T_MATCH: case T_REGEXP: case T_COMPLEX: case T_RATIONAL: case T_STRING: case T_SYMBOL:
        return true;
      case T_FILE:
        return gc_file_closed_p(obj);
      case T_DATA:
        if (RTYPEDDATA_P(obj)) {
            if (!RTYPEDDATA_GET_DATA(obj)) return true;

            const rb_data_type_t *type = RTYPEDDATA_TYPE(obj);
            RUBY_DATA_FUNC dfree = type->function.dfree;
            return dfree == RUBY_DEFAULT_FREE || dfree == RUBY_NEVER_FREE || (type->flags & RUBY_TYPED_FREE_ANY_RACTOR) ||
                rb_mutex_left_p(obj);
        }
        return false;
      case T_IMEMO:
        switch (imemo_type(obj)) {
          case imemo_cref: case imemo_env: case imemo_svar: case imemo_ifunc: case imemo_memo: case imemo_throw_data:
          case imemo_tmpbuf: case imemo_callcache: case imemo_constcache: case imemo_cvar_cache: case imemo_fields:
            return true;
          case imemo_iseq:
            return rb_iseq_frees_alone_p(obj);
          case imemo_ment: {
            const rb_method_definition_t *def = ((const rb_method_entry_t *)obj)->def; /* its users are counted: class/method_definition.h */
            return !def || !(def->iseq_overload || (def->type == VM_METHOD_TYPE_BMETHOD && def->body.bmethod.hooks));
          }
          default:
            return false;
        }
      default:
        return false;
    }
}

/* Without the lock: frees what +obj+ has, unless that is to be left.  Who has claimed the page. */
static inline enum gc_sweep_claim_left
gc_sweep_claim_free(rb_objspace_t *objspace, VALUE obj)
{
    if (!gc_sweep_claim_frees_p(obj) || gc_object_id_in_table_p(objspace, obj)) return GC_SWEEP_LEFT_MORE;
    if (gc_sweep_claim_class_p(obj) && rb_class_listed_p(obj)) return GC_SWEEP_LEFT_LISTED;
    if (gc_sweep_claim_iseq_p(obj) && rb_iseq_listed_p(obj)) return GC_SWEEP_LEFT_LISTED;

    if (FL_TEST_RAW(obj, FL_EXIVAR)) rb_free_generic_ivar(obj);
    return rb_gc_obj_free(objspace, obj) ? GC_SWEEP_LEFT_NOTHING : GC_SWEEP_LEFT_MORE;
}

/* Without the lock: what heap_page_add_freeobj does, but for the age, whose bits others write. */
static inline void
gc_sweep_claim_add_freeobj(struct heap_page *page, VALUE obj)
{
    struct free_slot *slot = (struct free_slot *)obj;

    asan_unlock_freelist(page);
    slot->flags = 0;
    slot->next = page->freelist;
    page->freelist = slot;
    asan_lock_freelist(page);
    rb_asan_poison_object(obj);
}

/* With the VM lock: a page that +cache+ has filled, if there is one near: its memory of malloc's is in this thread's arena. */
static struct heap_page *
gc_sweep_claim_choose(const rb_ractor_newobj_cache_t *cache, rb_heap_t *heap)
{
    struct heap_page *page = heap->sweeping_page;

    for (int i = 0; page && i < GC_SWEEP_CLAIM_LOOKS_AT; i++, page = ccan_list_next(&heap->pages, page, page_node)) {
        if (page->filled_by == cache) return page;
    }
    return heap->sweeping_page;
}

/* Whether pages of +heap+ may be claimed in this sweep.  VM lock. */
static bool
gc_sweep_claims_p(rb_objspace_t *objspace, const rb_heap_t *heap)
{
    return rb_gc_multi_ractor_p() && objspace->claims_refused_at != objspace->profile.count &&
        !objspace->flags.immediate_sweep && !objspace->flags.during_compacting && !heap->compact_cursor &&
        !ruby_gc_stressful && !RGENGC_CHECK_MODE &&
        !will_be_incremental_marking(objspace) && !rb_gc_event_hook_required_p(RUBY_INTERNAL_EVENT_FREEOBJ);
}

/* With the VM lock: claims a page of +heap+ that is to be swept, and tells what is +dead+ in it.  False: it is to be swept in
 * a step, if at all. */
static bool
gc_sweep_claim(rb_objspace_t *objspace, rb_ractor_newobj_cache_t *cache, rb_heap_t *heap, bits_t *dead)
{
    struct heap_page *page = heap->sweeping_page;

    if (!page || !ccan_list_next(&heap->pages, page, page_node) || !gc_sweep_claims_p(objspace, heap)) return false;

    page = gc_sweep_claim_choose(cache, heap);
    if (page->final_slots > 0) return false; /* who has called a finalizer links its slot, with the lock */
    for (int i = 0; i < HEAP_PAGE_BITMAP_LIMIT; i++) dead[i] = ~page->mark_bits[i];

    if (page == heap->sweeping_page) {
        /* others ask without the lock whether anything is to be swept: is_lazy_sweeping */
        __atomic_store_n(&heap->sweeping_page, ccan_list_next(&heap->pages, page, page_node), __ATOMIC_RELAXED);
    }
    else {
        ccan_list_del(&page->page_node);
        ccan_list_add_before(&heap->pages, &heap->sweeping_page->page_node, &page->page_node);
    }
    cache->claimed_page = page;
    objspace->claimed_pages++;
    return true;
}

/* Without the lock: frees what is +dead+ in the claimed page, if it is not yet; counts +free_slots+. */
static enum gc_sweep_claim_left
gc_sweep_claimed_page(rb_objspace_t *objspace, rb_ractor_newobj_cache_t *cache, const bits_t *dead, unsigned short *free_slots)
{
    struct heap_page *page = cache->claimed_page;
    const int slot_size = page->slot_size;
    uintptr_t p = page->start, end = p + (uintptr_t)page->total_slots * slot_size;
    enum gc_sweep_claim_left left = GC_SWEEP_LEFT_NOTHING;

    *free_slots = 0;
    for (; p < end; p += slot_size) {
        VALUE obj = (VALUE)p;
        if (!(dead[BITMAP_INDEX(obj)] & BITMAP_BIT(obj))) continue;

        rb_asan_unpoison_object(obj, false);
        if (BUILTIN_TYPE(obj) == T_NONE) {
            rb_asan_poison_object(obj);
            (*free_slots)++;
            continue;
        }
        const enum gc_sweep_claim_left what = gc_sweep_claim_free(objspace, obj);
        if (what == GC_SWEEP_LEFT_NOTHING) {
            gc_object_id_free_claimed(page, obj);
            (void)VALGRIND_MAKE_MEM_UNDEFINED((void*)obj, BASE_SLOT_SIZE);
            gc_sweep_claim_add_freeobj(page, obj);
            page->claimed_freed++;
            (*free_slots)++;
        }
        else if (what > left) {
            left = what;
        }
    }
    return left;
}

/* With the VM lock: no list has the classes, and no inline cache of the iseqs, that are +dead+ in the claimed page. */
static void
gc_sweep_claim_unlist(const struct heap_page *page, const bits_t *dead)
{
    uintptr_t p = page->start, end = p + (uintptr_t)page->total_slots * page->slot_size;

    for (; p < end; p += page->slot_size) {
        VALUE obj = (VALUE)p;
        if (!(dead[BITMAP_INDEX(obj)] & BITMAP_BIT(obj))) continue;

        rb_asan_unpoison_object(obj, false);
        if (gc_sweep_claim_class_p(obj)) rb_class_unlist(obj);
        if (gc_sweep_claim_iseq_p(obj)) rb_iseq_unlist(obj);
        if (BUILTIN_TYPE(obj) == T_NONE) rb_asan_poison_object(obj);
    }
}

/* With the VM lock: what has been freed in the claimed page has no age any more, and its bits are clear. */
static struct heap_page *
gc_sweep_claim_end(rb_objspace_t *objspace, rb_ractor_newobj_cache_t *cache)
{
    enum { AGES = BITS_BITLENGTH / RVALUE_AGE_BIT_COUNT };
    struct heap_page *page = cache->claimed_page;

    for (size_t i = 0; i < HEAP_PAGE_BITMAP_LIMIT * RVALUE_AGE_BIT_COUNT; i++) {
        if (page->age_bits[i] == 0) continue;

        bits_t live = page->mark_bits[i / RVALUE_AGE_BIT_COUNT] >> (i % RVALUE_AGE_BIT_COUNT * AGES), dead_ages = 0;
        for (int k = 0; k < AGES; k++) {
            if (!(live >> k & 1)) dead_ages |= (bits_t)RVALUE_AGE_BIT_MASK << (k * RVALUE_AGE_BIT_COUNT);
        }
        __atomic_fetch_and(&page->age_bits[i], ~dead_ages, __ATOMIC_RELAXED); /* others look: gc_wb_unprotect_new */
    }
    for (int i = 0; i < HEAP_PAGE_BITMAP_LIMIT; i++) {
        gc_wb_unprotected_keep(&page->wb_unprotected_bits[i], page->mark_bits[i]);
    }
    cache->claimed_page = NULL;
    objspace->claimed_pages--;
    return page;
}

/* With the VM lock: the claimed page is to be swept in a step. */
static void
gc_sweep_claim_give_back(void *c, void *objspace_ptr)
{
    rb_ractor_newobj_cache_t *cache = c;
    if (!cache->claimed_page) return;

    struct heap_page *page = gc_sweep_claim_end(objspace_ptr, cache);
    rb_heap_t *heap = page->heap;

    ccan_list_del(&page->page_node);
    ccan_list_add_before(&heap->pages, &heap->sweeping_page->page_node, &page->page_node);
    heap->sweeping_page = page;
}

/* Of the slots that a step has found empty in +page+, those were freed which a Ractor had freed that claimed it.  All others
 * stand. */
static inline void
gc_sweep_claim_count(struct heap_page *page, int *freed_slots, int *empty_slots)
{
    *freed_slots += page->claimed_freed;
    *empty_slots -= page->claimed_freed;
    page->claimed_freed = 0;
}

/* All others stand, or have ended. */
static void
gc_sweep_claims_give_back(rb_objspace_t *objspace)
{
    if (objspace->claimed_pages > 0) rb_gc_ractor_newobj_cache_foreach(gc_sweep_claim_give_back, objspace);
}

/* Whether what is unmarked in a page that may be swept just now was unmarked before.  Any Ractor. */
static bool
gc_sweep_claim_garbage_p(rb_objspace_t *objspace, VALUE obj)
{
    unsigned int lev = rb_gc_cr_lock();
    bool garbage = GET_HEAP_PAGE(obj)->flags.before_sweep && !RVALUE_MARKED(objspace, obj);

    rb_gc_cr_unlock(lev);
    return garbage;
}

/* With the VM lock: +page+ of +heap+, swept, in which nothing lives, is one of the objspace's empty pages.  Nobody asks for a
 * word of it: it has none of an object, and gets new ones, of another size perhaps, with its next heap. */
static void
gc_sweep_empty_page(rb_objspace_t *objspace, rb_heap_t *heap, struct heap_page *page)
{
    heap_unlink_page(objspace, heap, page);
    gc_page_words_free(&page->object_ids);
    gc_page_words_free(&page->generic_ivars);
    page->heap = NULL;
    page->start = 0;
    page->slot_size = 0;
    page->total_slots = page->free_slots = 0;

    asan_unlock_freelist(page);
    page->freelist = NULL;
    asan_lock_freelist(page);
    asan_poison_memory_region(page->body, HEAP_PAGE_SIZE);

    page->free_next = objspace->empty_pages;
    objspace->empty_pages = page;
    objspace->empty_pages_count++;
}

/* With the VM lock: whether +page+, swept, and nobody's, is to go back to the system, as the +given+th since this Ractor looks for
 * one.  If so it does not belong to its heap any more, but is kept for whoever wants a page, until the collection ends. */
static bool
gc_sweep_gives_back(rb_objspace_t *objspace, struct heap_page *page, int given)
{
    if (page->free_slots < page->total_slots || heap_pages_freeable_pages == 0) return false;
    if (given >= GC_SWEEP_PAGES_FREEABLE_PER_STEP * gc_sweep_step_scale(page->heap)) return false;
    if (gc_room_unlink_limit(objspace, page->heap, 1) == 0) return false;

    heap_pages_freeable_pages--;
    gc_sweep_empty_page(objspace, page->heap, page);
    return true;
}

/* With the VM lock, which it gives away and takes again, unless +lev+ is NULL: gc_sweep_claimed_page, measured. */
static enum gc_sweep_claim_left
gc_sweep_claim_work(rb_objspace_t *objspace, rb_ractor_newobj_cache_t *cache, const bits_t *dead, unsigned short *free_slots,
                    unsigned int *lev)
{
    size_t collection = objspace->profile.count;

    if (lev) rb_gc_cr_unlock(*lev);
    bool measured = objspace->flags.measure_gc;
    uint64_t start = measured ? gc_thread_time() : 0;
    size_t malloc_freed = gc_malloc_freed;
    enum gc_sweep_claim_left left = gc_sweep_claimed_page(objspace, cache, dead, free_slots);
    malloc_freed = gc_malloc_freed - malloc_freed;
    uint64_t time = measured ? gc_thread_time() - start : 0;
    if (lev) *lev = rb_gc_cr_lock();

    objspace->profile.sweeping_time_ns += time;
    if (malloc_freed > GC_SWEEP_CLAIM_MALLOC) objspace->claims_refused_at = collection;
    return left;
}

/* With the VM lock, which it gives away and takes again, unless +lev+ is NULL, as where its caller has it for another reason: a
 * page with free slots that nobody else has, or NULL. */
static struct heap_page *
gc_sweep_page_of_own(rb_objspace_t *objspace, rb_ractor_newobj_cache_t *cache, rb_heap_t *heap, unsigned int *lev)
{
    bits_t dead[HEAP_PAGE_BITMAP_LIMIT];
    int given = 0;

    while (!heap->free_pages && gc_sweep_claim(objspace, cache, heap, dead)) {
        unsigned short free_slots;

        enum gc_sweep_claim_left left = gc_sweep_claim_work(objspace, cache, dead, &free_slots, lev);
        if (left == GC_SWEEP_LEFT_LISTED && cache->claimed_page) {
            gc_sweep_claim_unlist(cache->claimed_page, dead);
            left = gc_sweep_claim_work(objspace, cache, dead, &free_slots, lev);
        }
        if (!cache->claimed_page) continue; /* somebody swept in a step meanwhile */
        if (left != GC_SWEEP_LEFT_NOTHING) {
            gc_sweep_claim_give_back(cache, objspace);
            return NULL;
        }

        struct heap_page *page = gc_sweep_claim_end(objspace, cache);
        unsigned short freed = page->claimed_freed;
        page->claimed_freed = 0;
        heap->total_freed_objects += freed;
        page->flags.before_sweep = FALSE;
        page->free_slots = free_slots;
        page->free_next = NULL;
        gc_setup_mark_bits(page);
        if (gc_sweep_gives_back(objspace, page, given)) { given++; continue; }
        heap->freed_slots += freed;
        heap->empty_slots += free_slots - freed;
        if (page->free_slots > 0) {
            asan_unlock_freelist(page);
            return page;
        }
    }
    return NULL;
}

#endif /* LOCKFREE_GC_SWEEP_CLAIM_H */
