#ifndef LOCKFREE_THREAD_FIBER_POOL_H
#define LOCKFREE_THREAD_FIBER_POOL_H
/**********************************************************************

  thread/fiber_pool.h - stacks of Fibers, for every Ractor

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
 * (gc/collect_young.h) is asked for when FIBER_POOL_YOUNG more stacks have come into use than
 * have ended, since the last one began, or, where it is a stop of other Ractors, four times as
 * many for each that has a processor.  Much that lives makes it take longer: it may mark
 * for FIBER_POOL_NANOSECONDS for each.  When it finds less than half as many, as they live on, or
 * end later, the next one is asked for at twice as many.
 *
 * The pool is empty until the first Fiber: to make 32 stacks takes 35 system calls and a page of memory for each, which
 * programs without Fibers need not pay.
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
       FIBER_POOL_YOUNG = 128, FIBER_POOL_YOUNG_SHARED = 512, FIBER_POOL_YOUNG_MAX = 4096,
       FIBER_POOL_MISSES_MAX = 5, FIBER_POOL_NANOSECONDS = 350 };

static rb_nativethread_lock_t fiber_pool_lock;

/* Stacks of the shared pool that keep their memory. */
static struct {
    struct fiber_pool_vacancy *vacancies;
    size_t count;
    size_t taken;  /* from both lists since the last collection began */
    size_t wanted; /* before that, between the two before: so many may lie here */
    size_t least;  /* of count, since the last collection began */
    unsigned int turn;
    size_t used;       /* the pool's, and found, when the last collection began, or was asked for */
    size_t found;      /* by its sweep, as far as caches have told */
    size_t young;      /* so many more than used, and one is asked for */
    size_t asks_at;    /* young, when one was asked for that has not begun */
    size_t asked_at;   /* where the last one was, or 0 */
    uint64_t took;     /* for so many nanoseconds one that was asked for has marked */
    unsigned int misses; /* of those that found less than half as many; those that find count back */
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
    if (pool != &shared_fiber_pool || pool->used + fiber_pool_warm.found < fiber_pool_warm.used + fiber_pool_warm.young) return false;

    fiber_pool_warm.used = pool->used + fiber_pool_warm.found;
    fiber_pool_warm.asks_at = fiber_pool_warm.young;
    return true;
}

/* How many more stacks may be in use before a collection is asked for. */
static size_t
fiber_pool_young_locked(void)
{
    size_t young = FIBER_POOL_YOUNG, worth = (size_t)(fiber_pool_warm.took / FIBER_POOL_NANOSECONDS);

    if (rb_multi_ractor_p()) {
        if (!fiber_pool_warm.processors) fiber_pool_warm.processors = rb_ractor_processors();
        young = FIBER_POOL_YOUNG_SHARED * MIN(GET_VM()->ractor.cnt, fiber_pool_warm.processors);
    }
    young <<= fiber_pool_warm.misses;
    return MIN(MAX(young, worth), FIBER_POOL_YOUNG_MAX);
}

/* A collection that was asked for has marked for +took+ nanoseconds.  The GC, when all others stand. */
void
rb_fiber_pool_marked(uint64_t took)
{
    rb_native_mutex_lock(&fiber_pool_lock);
    fiber_pool_warm.took = took;
    fiber_pool_warm.young = fiber_pool_young_locked();
    rb_native_mutex_unlock(&fiber_pool_lock);
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
    fiber_pool_warm.found += cache->found;
    cache->found = 0;
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

/* The last collection has been swept: whether it was worth its time. */
static void
fiber_pool_learn_locked(void)
{
    if (fiber_pool_warm.found < fiber_pool_warm.asked_at / 2) {
        if (fiber_pool_warm.misses < FIBER_POOL_MISSES_MAX) fiber_pool_warm.misses++;
    }
    else if (fiber_pool_warm.found >= FIBER_POOL_YOUNG / 2 && fiber_pool_warm.misses > 0) {
        fiber_pool_warm.misses--;
    }
}

/* A collection begins, which was +asked+ for or not: what it will find of stacks is what has been taken since the last one.  The
 * GC, when all others stand. */
void
rb_fiber_pool_collection_begins(bool asked)
{
    struct fiber_pool_vacancy *cold = NULL;

    if (!fiber_pool_warm.taken && !fiber_pool_warm.wanted && !fiber_pool_warm.count) return; /* and perhaps no lock yet */

    rb_native_mutex_lock(&fiber_pool_lock);
    fiber_pool_warm.wanted = fiber_pool_warm.taken;
    fiber_pool_warm.taken = 0;
    fiber_pool_learn_locked();
    if (!asked) fiber_pool_warm.took -= fiber_pool_warm.took / 4; // an interrupt, perhaps: it is tried again
    fiber_pool_warm.asked_at = asked ? fiber_pool_warm.asks_at : 0;
    fiber_pool_warm.young = fiber_pool_young_locked();
    fiber_pool_warm.used = shared_fiber_pool.used;
    fiber_pool_warm.found = 0;
    fiber_pool_warm.making = false;
    for (size_t left = fiber_pool_surplus_locked(); left > 0; left--) {
        struct fiber_pool_vacancy *vacancy = fiber_pool_warm.vacancies;
        fiber_pool_warm.vacancies = vacancy->next;
        fiber_pool_warm.count--;
        cold = fiber_pool_vacancy_push(vacancy, cold);
    }
    fiber_pool_warm.least = fiber_pool_warm.count;
    rb_native_mutex_unlock(&fiber_pool_lock);
    fiber_pool_cool(&shared_fiber_pool, cold);
}

#ifdef FIBER_POOL_ALLOCATION_FREE
static void fiber_pool_allocation_free(struct fiber_pool_allocation *allocation);
#endif

/* The GC has found that nobody refers to the Fiber of +stack+, which it is about to give back. */
static void
fiber_pool_found(const struct fiber_pool_stack *stack)
{
    if (!stack->base || stack->pool != &shared_fiber_pool) return;

    struct fiber_pool_cache *cache = fiber_pool_cache(stack->pool);
    if (cache) {
        cache->found++;
        return;
    }
    rb_native_mutex_lock(&fiber_pool_lock);
    fiber_pool_warm.found++;
    rb_native_mutex_unlock(&fiber_pool_lock);
}

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
    if (r->fiber_pool_cache.count || r->fiber_pool_cache.found) fiber_pool_cache_shrink(&shared_fiber_pool, &r->fiber_pool_cache, 0);
}

#endif /* LOCKFREE_THREAD_FIBER_POOL_H */
