#ifndef LOCKFREE_GC_MALLOC_CACHE_H
#define LOCKFREE_GC_MALLOC_CACHE_H
/**********************************************************************

  gc/malloc_cache.h - what a sweep has freed, for the thread that has

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc/default/default.c.
 *
 * Problem.  glibc keeps seven blocks of a size for the thread that has freed them.  A sweep frees
 * hundreds: the others go to an arena, with its lock and atomic operations, which a process of one
 * thread is spared, and come back by the same way.  Eight Ractors that flatten small Arrays have
 * 1.3 times the processor time of one thread.  glibc can be told to keep more (GLIBC_TUNABLES,
 * glibc.malloc.tcache_count) before the process starts only.
 *
 * Solution.  With the second Ractor, a native thread keeps up to GC_MALLOC_CACHE_BYTES of each size of
 * blocks that it frees with xfree, and gives them out again, last in, first out.  Blocks are malloc's
 * as before: free and realloc know them, and what is counted (gc/malloc_count.h) is the same.
 *
 *   size k    blocks of 16 * k + 8 bytes and up to 15 more, by malloc_usable_size: glibc's own sizes;
 *             another allocator's are rounded down
 *
 * A thread that ends gives back what it keeps.
 *
 * Limits.  Up to GC_MALLOC_CACHE_SIZES * GC_MALLOC_CACHE_BYTES lie with each of GC_MALLOC_CACHE_THREADS native threads,
 * as a rule a fifth of that; others, of which so many cannot run at once, keep nothing.  In the child of a fork those
 * of other threads are lost.  Not where the user
 * has set what malloc does (GLIBC_TUNABLES, MALLOC_CHECK_, MALLOC_PERTURB_) or has another or a tool loaded
 * in its place (LD_PRELOAD, which valgrind sets, too), and not with the sanitizers, which are to see each free.
 *
 * All is the thread's own, but gc_malloc_caches: who sees it late calls malloc meanwhile.  Who begins a cache
 * loads it with acquire, which synchronises with the release of gc_malloc_caches_begin, as it reads the key then.
 */

#define GC_MALLOC_CACHE_SIZES 16    /* the largest block has 279 bytes */
#define GC_MALLOC_CACHE_BYTES 65536 /* what a page of dead objects of 80 bytes has, one block each */

#define GC_MALLOC_CACHE_THREADS 64

#if defined(__SANITIZE_THREAD__) || defined(RUBY_ASAN_ENABLED) || defined(RUBY_MSAN_ENABLED)
#  define GC_MALLOC_SANITIZED 1
#elif defined(__has_feature)
#  define GC_MALLOC_SANITIZED __has_feature(thread_sanitizer)
#else
#  define GC_MALLOC_SANITIZED 0
#endif

#if defined(__GLIBC__) && defined(HAVE_MALLOC_USABLE_SIZE) && defined(RB_THREAD_LOCAL_SPECIFIER) && \
    SIZEOF_SIZE_T == 8 && !CALC_EXACT_MALLOC_SIZE && !GC_MALLOC_SANITIZED
#  include <pthread.h>

struct gc_malloc_block {
    struct gc_malloc_block *next;
};

struct gc_malloc_cache {
    bool begun;
    unsigned short room[GC_MALLOC_CACHE_SIZES + 1]; /* blocks of that size that may still come */
    struct gc_malloc_block *blocks[GC_MALLOC_CACHE_SIZES + 1];
};

static RB_THREAD_LOCAL_SPECIFIER struct gc_malloc_cache gc_malloc_cache;
static pthread_key_t gc_malloc_cache_key; /* written before gc_malloc_caches */
static bool gc_malloc_caches;
static rb_atomic_t gc_malloc_cache_threads; /* that have begun */

/* The thread ends. */
static void
gc_malloc_cache_end(void *c)
{
    struct gc_malloc_cache *cache = c;

    for (size_t k = 0; k <= GC_MALLOC_CACHE_SIZES; k++) {
        struct gc_malloc_block *block = cache->blocks[k], *next;

        cache->room[k] = 0;
        cache->blocks[k] = NULL;
        for (; block; block = next) {
            next = block->next;
            free(block);
        }
    }
    RUBY_ATOMIC_DEC(gc_malloc_cache_threads);
}

/* Whether there is room now: this thread had not begun. */
static bool
gc_malloc_cache_begin(struct gc_malloc_cache *cache)
{
    if (cache->begun || !__atomic_load_n(&gc_malloc_caches, __ATOMIC_ACQUIRE)) return false;

    cache->begun = true;
    if (RUBY_ATOMIC_FETCH_ADD(gc_malloc_cache_threads, 1) >= GC_MALLOC_CACHE_THREADS ||
        pthread_setspecific(gc_malloc_cache_key, cache) != 0) {
        RUBY_ATOMIC_DEC(gc_malloc_cache_threads);
        return false;
    }
    for (size_t k = 1; k <= GC_MALLOC_CACHE_SIZES; k++) cache->room[k] = GC_MALLOC_CACHE_BYTES / (16 * k + 16);
    return true;
}

/* Whether this thread keeps the block +ptr+ of +usable+ bytes. */
static inline bool
gc_malloc_cache_put(void *ptr, size_t usable)
{
    struct gc_malloc_cache *cache = &gc_malloc_cache;
    struct gc_malloc_block *block = ptr;
    size_t k = (usable - 8) / 16; /* fewer than 8: no size */

    if (!__atomic_load_n(&gc_malloc_caches, __ATOMIC_RELAXED) || k - 1 >= GC_MALLOC_CACHE_SIZES) return false;
    if (RB_UNLIKELY(cache->room[k] == 0) && !gc_malloc_cache_begin(cache)) return false;

    cache->room[k]--;
    block->next = cache->blocks[k];
    cache->blocks[k] = block;
    return true;
}

/* A block of +size+ bytes or more that this thread has kept, or NULL. */
static inline void *
gc_malloc_cache_take(size_t size)
{
    size_t k = size <= 24 ? 1 : (size + 7) / 16;
    if (!__atomic_load_n(&gc_malloc_caches, __ATOMIC_RELAXED) || k > GC_MALLOC_CACHE_SIZES) return NULL;

    struct gc_malloc_cache *cache = &gc_malloc_cache;
    struct gc_malloc_block *block = cache->blocks[k];
    if (block) {
        cache->blocks[k] = block->next;
        cache->room[k]++;
    }
    return block;
}

/* A Ractor is made besides main.  Any thread. */
static void
gc_malloc_caches_begin(void)
{
    static rb_atomic_t begun;

    if (RUBY_ATOMIC_EXCHANGE(begun, 1)) return;
    if (getenv("GLIBC_TUNABLES") || getenv("MALLOC_CHECK_") || getenv("MALLOC_PERTURB_") || getenv("LD_PRELOAD")) return;
    if (pthread_key_create(&gc_malloc_cache_key, gc_malloc_cache_end) == 0) {
        __atomic_store_n(&gc_malloc_caches, true, __ATOMIC_RELEASE);
    }
}
#else
#  define gc_malloc_cache_put(ptr, usable) (false)
#  define gc_malloc_cache_take(size) ((void *)NULL)
#  define gc_malloc_caches_begin() ((void)0)
#endif

static inline void *
gc_malloc(size_t size)
{
    void *mem = gc_malloc_cache_take(size);
    return mem ? mem : malloc(size);
}

static inline void *
gc_calloc(size_t size)
{
    void *mem = gc_malloc_cache_take(size);
    return mem ? memset(mem, 0, size) : calloc1(size);
}

/* +usable+: bytes of the block, by malloc_usable_size. */
static inline void
gc_free(void *ptr, size_t usable)
{
    if (!gc_malloc_cache_put(ptr, usable)) free(ptr);
}

#endif /* LOCKFREE_GC_MALLOC_CACHE_H */
