#ifndef LOCKFREE_FIBER_POOL_H
#define LOCKFREE_FIBER_POOL_H
/**********************************************************************

  fiber_pool.h - stacks of Fibers, for every Ractor

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of cont.c.
 *
 * Problem.  The stacks of ended Fibers wait in one list, from which the next
 * Fiber takes one.  Upstream changes the list without a lock: two Ractors that
 * resume a new Fiber at the same time, or call Enumerator#next, run on one stack.
 *
 * Solution.  A lock for the list, and for each Ractor a few stacks of its own,
 * which it takes from the list and gives back by the half dozen, so that most
 * Fibers begin and end without the lock.  A stack that a Ractor keeps for its next
 * Fiber keeps its memory as well: to tell the system that it is free is a call that
 * interrupts the processors of all other Ractors.  So is it with as many as were
 * taken from the list between the last two collections: where Enumerators are made,
 * asked for their #next and forgotten, the GC finds that many stacks at a time, and
 * they will be wanted until it comes again.  They lie in a second list, of which
 * the first ones are taken first.  When the GC comes, stacks that are not wanted lose
 * their memory: as many as have lain there since it came last, and what is more than
 * were taken, of these an eighth and FIBER_POOL_COOLED at a time, as all stand, up to
 * FIBER_POOL_COOLED_MAX.  One of FIBER_POOL_TURNS that come back loses it at once, as
 * a stack that has been deep has much.  Without collections all stays: so do objects.
 *
 * The collector knows nothing of what stacks take, and comes when the heap is full.  Where
 * Enumerators are forgotten that is when more stacks have been written than the processor's
 * caches hold, or its TLB: a turn takes twice as long as with a few hundred.  A heap that has
 * room for many Ractors (gc/room.h), or much that lives, may have more of them than a process
 * may have mappings, 65,530 by default, of which a stack takes two.  So a minor collection
 * (gc/collect_young.h) is asked for when FIBER_POOL_YOUNG more stacks are in use than there
 * were at least since the last one began, or, where it is a stop of other Ractors, four times
 * as many for each that has a processor: more where much is to be gone through, as other
 * stacks, pages and Ractors.  Fibers that end count for nothing.  When minor ones leave twice
 * as many as the last major one did, and as many as they are asked for at, so that there are
 * old ones that nobody may refer to, the next one is a major one.
 *
 * Ractors that find the pool empty at once do not each double it: one makes many stacks, the
 * others a few.  Where it could not, all make a few until the GC comes.
 *
 *   struct fiber_pool_cache   its Ractor only, whose threads take turns; the GC
 *                             gives stacks to the Ractor that it runs in
 *   fiber_pool.vacancies,     with fiber_pool_lock held
 *   fiber_pool_warm,
 *   allocations, used
 *   fiber_pool.count          changed with the lock, read without: how many to
 *                             make next, which may be out of date
 *
 * The lock is a leaf: nobody who holds it allocates, raises, waits or comes to a
 * safe point, so that the GC, and fork, which stop all Ractors, find it free.
 *
 * What is done to a stack is done before it is in a list: from then on it may be
 * another Ractor's.  A stack that lies in a cache counts as used.
 */

#include "lockfree/gc/typed_free.h"

void rb_gc_collect_young(void); /* gc/collect_young.h */
unsigned int rb_ractor_processors(void); /* ractor/native_threads.h */

#ifdef FIBER_POOL_ALLOCATION_FREE
#define FIBER_POOL_CACHE_MAX 0  /* an allocation wants to know when all its stacks are back */
#else
#define FIBER_POOL_CACHE_MAX 12
#endif

enum { FIBER_POOL_COOLED = 32, FIBER_POOL_COOLED_MAX = 64, FIBER_POOL_TURNS = 64, FIBER_POOL_FEW = 64,
       FIBER_POOL_YOUNG = 128, FIBER_POOL_YOUNG_SHARED = 512, FIBER_POOL_YOUNG_MAX = 4096 };

static rb_nativethread_lock_t fiber_pool_lock;

/* Stacks of the shared pool that keep their memory. */
static struct {
    struct fiber_pool_vacancy *vacancies;
    size_t count;
    size_t taken;  /* from both lists since the last collection began */
    size_t wanted; /* before that, between the two before: so many may lie here */
    size_t least;  /* of count, since the last collection began */
    unsigned int turn;
    size_t least_used; /* of the pool's used, since the last collection began */
    size_t young;      /* so many more in use, and one is asked for */
    bool asked;        /* and it has not begun */
    bool full;         /* the last collection was a major one, */
    size_t least_full; /* and after the last major one so many were in use */
    unsigned int processors; /* or 0 */
    bool making;       /* somebody makes more than FIBER_POOL_FEW, or could not */
} fiber_pool_warm = { .young = FIBER_POOL_YOUNG };

/* The current Ractor's cache for +pool+, or NULL. */
static struct fiber_pool_cache *
fiber_pool_cache(const struct fiber_pool *pool)
{
    if (!FIBER_POOL_CACHE_MAX || pool != &shared_fiber_pool) return NULL;

    rb_ractor_t *cr = rb_current_ractor_raw(false);
    return cr ? &cr->fiber_pool_cache : NULL;
}

/* The stack that +pool+ gives next, or NULL.  With the lock. */
static struct fiber_pool_vacancy *
fiber_pool_pop_locked(struct fiber_pool *pool)
{
    struct fiber_pool_vacancy *vacancy = pool == &shared_fiber_pool ? fiber_pool_warm.vacancies : NULL;

    if (vacancy) {
        fiber_pool_warm.vacancies = vacancy->next;
        fiber_pool_warm.count--;
        if (fiber_pool_warm.least > fiber_pool_warm.count) fiber_pool_warm.least = fiber_pool_warm.count;
    }
    else {
        vacancy = fiber_pool_vacancy_pop(pool);
    }
    if (vacancy) {
        pool->used++;
        if (pool == &shared_fiber_pool) fiber_pool_warm.taken++;
    }
    return vacancy;
}

/* Whether to look for forgotten Fibers first: of Ractors that come at once one is told so.  With the lock. */
static bool
fiber_pool_wants_collection_locked(const struct fiber_pool *pool)
{
    if (pool != &shared_fiber_pool || fiber_pool_warm.asked) return false;

    fiber_pool_warm.asked = pool->used >= fiber_pool_warm.least_used + fiber_pool_warm.young;
    return fiber_pool_warm.asked;
}

/* A vacant stack, or NULL: the pool must be expanded, and asked again.  Runs no Ruby code, but may collect. */
static struct fiber_pool_vacancy *
fiber_pool_take(struct fiber_pool *pool)
{
    struct fiber_pool_cache *cache = fiber_pool_cache(pool);
    struct fiber_pool_vacancy *vacancy = cache ? cache->vacancies : NULL;

    if (!vacancy) {
        rb_native_mutex_lock(&fiber_pool_lock);
        if (fiber_pool_wants_collection_locked(pool)) {
            rb_native_mutex_unlock(&fiber_pool_lock);
            rb_gc_collect_young();
            return fiber_pool_take(pool);
        }
        vacancy = fiber_pool_pop_locked(pool);
#ifdef FIBER_POOL_ALLOCATION_FREE
        if (vacancy) vacancy->stack.allocation->used++;
#endif
        while (cache && cache->count < FIBER_POOL_CACHE_MAX / 2) {
            struct fiber_pool_vacancy *next = fiber_pool_pop_locked(pool);
            if (!next) break;
            cache->vacancies = fiber_pool_vacancy_push(next, cache->vacancies);
            cache->count++;
        }
        rb_native_mutex_unlock(&fiber_pool_lock);
    }
    else {
        cache->vacancies = vacancy->next;
        cache->count--;
    }
    return vacancy;
}

static void fiber_pool_stack_free(struct fiber_pool_stack *stack);

/* Whether the stack of a Fiber that ends keeps its memory, until it leaves the cache.  AddressSanitizer is to see that it is
 * nobody's. */
static bool
fiber_pool_keeps_memory(const struct fiber_pool *pool)
{
#ifdef COROUTINE_SANITIZE_ADDRESS
    return false;
#else
    return fiber_pool_cache(pool) != NULL;
#endif
}

/* The stacks that begin with +cold+ lose their memory, and go to the list.  Without the lock. */
static void
fiber_pool_cool(struct fiber_pool *pool, struct fiber_pool_vacancy *cold)
{
    struct fiber_pool_vacancy *last = NULL;

    for (struct fiber_pool_vacancy *vacancy = cold; vacancy; last = vacancy, vacancy = vacancy->next) {
        if (pool->free_stacks) fiber_pool_stack_free(&vacancy->stack);
    }
    if (!last) return;

    rb_native_mutex_lock(&fiber_pool_lock);
    last->next = pool->vacancies;
    pool->vacancies = cold;
    rb_native_mutex_unlock(&fiber_pool_lock);
}

/* Gives back what the cache holds beyond +count+. */
static void
fiber_pool_cache_shrink(struct fiber_pool *pool, struct fiber_pool_cache *cache, unsigned int count)
{
    struct fiber_pool_vacancy *cold = NULL;

    rb_native_mutex_lock(&fiber_pool_lock);
    while (cache->count > count) {
        struct fiber_pool_vacancy *vacancy = cache->vacancies;
        bool warm = fiber_pool_warm.count < fiber_pool_warm.wanted && ++fiber_pool_warm.turn % FIBER_POOL_TURNS != 0;
        struct fiber_pool_vacancy **list = warm ? &fiber_pool_warm.vacancies : &cold;

        cache->vacancies = vacancy->next;
        cache->count--;
        pool->used--;
        *list = fiber_pool_vacancy_push(vacancy, *list);
        if (warm) fiber_pool_warm.count++;
    }
    if (fiber_pool_warm.least_used > pool->used) fiber_pool_warm.least_used = pool->used;
    rb_native_mutex_unlock(&fiber_pool_lock);
    fiber_pool_cool(pool, cold);
}

/* How many stacks are to lose their memory now.  Not all at once, as everybody stands. */
static size_t
fiber_pool_surplus_locked(void)
{
    size_t beyond = fiber_pool_warm.count > fiber_pool_warm.wanted ? fiber_pool_warm.count - fiber_pool_warm.wanted : 0;
    size_t surplus = beyond > fiber_pool_warm.least ? beyond : fiber_pool_warm.least;
    size_t now = FIBER_POOL_COOLED + surplus / 8;

    if (now > FIBER_POOL_COOLED_MAX) now = FIBER_POOL_COOLED_MAX;
    return now < surplus ? now : surplus;
}

/* How many more stacks may be in use before a collection that takes as long as +work+ of them is asked for. */
static size_t
fiber_pool_young_locked(size_t work)
{
    size_t young = FIBER_POOL_YOUNG;

    if (rb_multi_ractor_p()) {
        if (!fiber_pool_warm.processors) fiber_pool_warm.processors = rb_ractor_processors();
        young = FIBER_POOL_YOUNG_SHARED * MIN(GET_VM()->ractor.cnt, fiber_pool_warm.processors);
    }
    return MIN(MAX(young, work), FIBER_POOL_YOUNG_MAX);
}

/* Whether more stacks are in use that no minor collection finds than a major one left, and a good deal more. */
static bool
fiber_pool_wants_full_locked(size_t work)
{
    if (fiber_pool_warm.full) fiber_pool_warm.least_full = fiber_pool_warm.least_used;
    return fiber_pool_warm.least_used > 2 * fiber_pool_warm.least_full + fiber_pool_young_locked(work);
}

/* A collection begins, a major one if +full+, which takes as long as it takes to make +work+ Fibers, those that live left out:
 * what it will find of stacks is what has been taken since the last one.  Returns whether the next one is to be a major one.
 * The GC, when all others stand. */
bool
rb_fiber_pool_collection_begins(size_t work, bool full)
{
    struct fiber_pool_vacancy *cold = NULL;

    if (!fiber_pool_warm.taken && !fiber_pool_warm.wanted && !fiber_pool_warm.count) return false; /* and perhaps no lock yet */

    rb_native_mutex_lock(&fiber_pool_lock);
    fiber_pool_warm.wanted = fiber_pool_warm.taken;
    fiber_pool_warm.taken = 0;
    bool wants_full = fiber_pool_wants_full_locked(work);
    fiber_pool_warm.young = fiber_pool_young_locked(MAX(work, fiber_pool_warm.least_used / 2));
    fiber_pool_warm.full = full;
    fiber_pool_warm.least_used = shared_fiber_pool.used;
    fiber_pool_warm.asked = fiber_pool_warm.making = false;
    for (size_t left = fiber_pool_surplus_locked(); left > 0; left--) {
        struct fiber_pool_vacancy *vacancy = fiber_pool_warm.vacancies;
        fiber_pool_warm.vacancies = vacancy->next;
        fiber_pool_warm.count--;
        cold = fiber_pool_vacancy_push(vacancy, cold);
    }
    fiber_pool_warm.least = fiber_pool_warm.count;
    rb_native_mutex_unlock(&fiber_pool_lock);
    fiber_pool_cool(&shared_fiber_pool, cold);
    return wants_full;
}

#ifdef FIBER_POOL_ALLOCATION_FREE
static void fiber_pool_allocation_free(struct fiber_pool_allocation *allocation);
#endif

/* The stack of +vacancy+ is nobody's any more.  Also in the GC. */
static void
fiber_pool_give(struct fiber_pool *pool, struct fiber_pool_vacancy *vacancy)
{
    struct fiber_pool_cache *cache = fiber_pool_cache(pool);

    if (cache) {
        cache->vacancies = fiber_pool_vacancy_push(vacancy, cache->vacancies);
        cache->count++;
        if (cache->count > FIBER_POOL_CACHE_MAX) fiber_pool_cache_shrink(pool, cache, FIBER_POOL_CACHE_MAX / 2);
        return;
    }

    rb_native_mutex_lock(&fiber_pool_lock);
    pool->vacancies = fiber_pool_vacancy_push(vacancy, pool->vacancies);
    pool->used--;
#ifdef FIBER_POOL_ALLOCATION_FREE
    if (--vacancy->stack.allocation->used == 0) fiber_pool_allocation_free(vacancy->stack.allocation);
#endif
    rb_native_mutex_unlock(&fiber_pool_lock);
}

/* How many stacks of +pool+, which has none, are to be made where upstream says +count+: a few, while another Ractor makes many. */
static size_t
fiber_pool_count_to_make(const struct fiber_pool *pool, size_t count)
{
    if (pool != &shared_fiber_pool || count <= FIBER_POOL_FEW) return count;

    rb_native_mutex_lock(&fiber_pool_lock);
    if (fiber_pool_warm.making) count = FIBER_POOL_FEW;
    fiber_pool_warm.making = true;
    rb_native_mutex_unlock(&fiber_pool_lock);
    return count;
}

/* Puts the stacks of a new allocation, linked from +vacancies+ to the one that was linked first, into the pool. */
static void
fiber_pool_publish(struct fiber_pool *pool, struct fiber_pool_allocation *allocation,
                   struct fiber_pool_vacancy *vacancies, struct fiber_pool_vacancy *last)
{
    rb_native_mutex_lock(&fiber_pool_lock);
    last->next = pool->vacancies;
#ifdef FIBER_POOL_ALLOCATION_FREE
    if (last->next) last->next->previous = last;
#endif
    pool->vacancies = vacancies;

    allocation->next = pool->allocations;
#ifdef FIBER_POOL_ALLOCATION_FREE
    if (allocation->next) allocation->next->previous = allocation;
    allocation->previous = NULL;
#endif
    pool->allocations = allocation;
    pool->count += allocation->count;
    if (pool == &shared_fiber_pool && allocation->count > FIBER_POOL_FEW) fiber_pool_warm.making = false;
    rb_native_mutex_unlock(&fiber_pool_lock);
}

/* The Ractor +r+ starts no Fiber any more.  Itself at its end, or main after a fork. */
void
rb_fiber_pool_ractor_ended(rb_ractor_t *r)
{
    if (r->fiber_pool_cache.count) fiber_pool_cache_shrink(&shared_fiber_pool, &r->fiber_pool_cache, 0);
}

#endif /* LOCKFREE_FIBER_POOL_H */
