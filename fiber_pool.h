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
 * The collector knows nothing of what stacks take, and comes when the heap is full: one
 * that has room for many Ractors (gc/room.h) may have more forgotten Fibers than a process
 * may have mappings, 65,530 by default, of which a stack takes two.  So, with several
 * Ractors, it is called before there are more than FIBER_POOL_MANY stacks, and more again,
 * if half of that were taken since it came last, or an eighth of all.  It looks at what is
 * young: Fibers that have become old and are forgotten wait for a major collection.
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

void rb_gc_collect_at_once(void); /* gc/collect_at_once.h */

#ifdef FIBER_POOL_ALLOCATION_FREE
#define FIBER_POOL_CACHE_MAX 0  /* an allocation wants to know when all its stacks are back */
#else
#define FIBER_POOL_CACHE_MAX 12
#endif

enum { FIBER_POOL_COOLED = 32, FIBER_POOL_COOLED_MAX = 64, FIBER_POOL_TURNS = 16, FIBER_POOL_MANY = 8192 };

static rb_nativethread_lock_t fiber_pool_lock;

/* Stacks of the shared pool that keep their memory. */
static struct {
    struct fiber_pool_vacancy *vacancies;
    size_t count;
    size_t taken;  /* from both lists since the last collection began */
    size_t wanted; /* before that, between the two before: so many may lie here */
    size_t least;  /* of count, since the last collection began */
    unsigned int turn;
} fiber_pool_warm;

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

/* A vacant stack, or NULL: the pool must be expanded, and asked again. */
static struct fiber_pool_vacancy *
fiber_pool_take(struct fiber_pool *pool)
{
    struct fiber_pool_cache *cache = fiber_pool_cache(pool);
    struct fiber_pool_vacancy *vacancy = cache ? cache->vacancies : NULL;

    if (!vacancy) {
        rb_native_mutex_lock(&fiber_pool_lock);
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

/* What the stacks in use take of memory, in bytes, about; those that lie in caches left out.  The GC, when all others stand. */
size_t
rb_fiber_pool_used_bytes(void)
{
    const size_t touched = 12 * 1024; /* of a Fiber's stacks, by one that runs a block */
    size_t cached = (size_t)MIN(GET_VM()->ractor.cnt, rb_ractor_max_running()) * FIBER_POOL_CACHE_MAX;

    return shared_fiber_pool.used > cached ? (shared_fiber_pool.used - cached) * touched : 0;
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

/* A collection begins: what it will find of stacks is what has been taken since the last one.  The GC, when all others stand. */
void
rb_fiber_pool_collection_begins(void)
{
    struct fiber_pool_vacancy *cold = NULL;

    if (!fiber_pool_warm.taken && !fiber_pool_warm.wanted && !fiber_pool_warm.count) return; /* and perhaps no lock yet */

    rb_native_mutex_lock(&fiber_pool_lock);
    fiber_pool_warm.wanted = fiber_pool_warm.taken;
    fiber_pool_warm.taken = 0;
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
    rb_native_mutex_unlock(&fiber_pool_lock);
}

/* A stack of +pool+, which had none, after a collection if many were taken since the last one began; or NULL: more are to be
 * made.  Of Ractors that come at once one collects.  Any Ractor, without the lock; runs no Ruby code. */
static struct fiber_pool_vacancy *
fiber_pool_take_forgotten(struct fiber_pool *pool)
{
    if (pool != &shared_fiber_pool || pool->count < FIBER_POOL_MANY || !rb_multi_ractor_p()) return NULL;

    RB_VM_LOCK_ENTER();
    rb_native_mutex_lock(&fiber_pool_lock);
    bool many = fiber_pool_warm.taken >= MAX(FIBER_POOL_MANY / 2, pool->count / 8);
    rb_native_mutex_unlock(&fiber_pool_lock);
    if (many) rb_gc_collect_at_once();
    RB_VM_LOCK_LEAVE();

    return fiber_pool_take(pool);
}

/* The Ractor +r+ starts no Fiber any more.  Itself at its end, or main after a fork. */
void
rb_fiber_pool_ractor_ended(rb_ractor_t *r)
{
    if (r->fiber_pool_cache.count) fiber_pool_cache_shrink(&shared_fiber_pool, &r->fiber_pool_cache, 0);
}

#endif /* LOCKFREE_FIBER_POOL_H */
