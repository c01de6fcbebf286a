/**********************************************************************

  gc/malloc_cache.c - what a sweep has freed, for the thread that has

  Licence: see LICENSE.

**********************************************************************/

#include "internal/sanitizers.h"
#include "lockfree/gc/malloc_cache.h"
#include "ruby_atomic.h"

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
    SIZEOF_SIZE_T == 8 && !GC_MALLOC_SANITIZED
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
static pthread_key_t gc_malloc_cache_key; /* written before rb_malloc_caches */
bool rb_malloc_caches;
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
    if (cache->begun || !__atomic_load_n(&rb_malloc_caches, __ATOMIC_ACQUIRE)) return false;

    cache->begun = true;
    if (RUBY_ATOMIC_FETCH_ADD(gc_malloc_cache_threads, 1) >= GC_MALLOC_CACHE_THREADS ||
        pthread_setspecific(gc_malloc_cache_key, cache) != 0) {
        RUBY_ATOMIC_DEC(gc_malloc_cache_threads);
        return false;
    }
    for (size_t k = 1; k <= GC_MALLOC_CACHE_SIZES; k++) cache->room[k] = GC_MALLOC_CACHE_BYTES / (16 * k + 16);
    return true;
}

bool
rb_malloc_cache_put(void *ptr, size_t usable)
{
    struct gc_malloc_cache *cache = &gc_malloc_cache;
    struct gc_malloc_block *block = ptr;
    size_t k = (usable - 8) / 16; /* fewer than 8: no size */

    if (k - 1 >= GC_MALLOC_CACHE_SIZES) return false;
    if (RB_UNLIKELY(cache->room[k] == 0) && !gc_malloc_cache_begin(cache)) return false;

    cache->room[k]--;
    block->next = cache->blocks[k];
    cache->blocks[k] = block;
    return true;
}

void *
rb_malloc_cache_take(size_t size)
{
    size_t k = size <= 24 ? 1 : (size + 7) / 16;
    if (k > GC_MALLOC_CACHE_SIZES) return NULL;

    struct gc_malloc_cache *cache = &gc_malloc_cache;
    struct gc_malloc_block *block = cache->blocks[k];
    if (block) {
        cache->blocks[k] = block->next;
        cache->room[k]++;
    }
    return block;
}

void
rb_malloc_caches_begin(void)
{
    if (getenv("GLIBC_TUNABLES") || getenv("MALLOC_CHECK_") || getenv("MALLOC_PERTURB_") || getenv("LD_PRELOAD")) return;
    if (pthread_key_create(&gc_malloc_cache_key, gc_malloc_cache_end) == 0) {
        __atomic_store_n(&rb_malloc_caches, true, __ATOMIC_RELEASE);
    }
}
#else
bool rb_malloc_caches;
bool rb_malloc_cache_put(void *ptr, size_t usable) { return false; }
void *rb_malloc_cache_take(size_t size) { return NULL; }
void rb_malloc_caches_begin(void) {}
#endif
