#ifndef LOCKFREE_DTOA_MEMORY_H
#define LOCKFREE_DTOA_MEMORY_H
/**********************************************************************

  dtoa_memory.h - the numbers that Float#to_s and Float() compute with

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of util.c, before missing/dtoa.c.
 *
 * Problem.  To print or to parse a Float takes some five to twenty large integers, which
 * live for a microsecond.  Upstream keeps them in lists that all threads share, one
 * for each size: two compare-and-swaps to take one, two to give it back, of one word.
 * Eight Ractors that print Floats take four times as long as one thread.
 *
 * Solution.  A region for each native thread (Ross, The AED free storage package, 1967):
 * the next number begins where the last one ends.  The last one goes back at once, the
 * others with the last that lives; no Ruby runs while there are any.  What the region has
 * no room for comes from malloc.  A Kmax below all sizes leaves upstream's lists out.
 * What upstream kept for ever, the powers of 5, it still keeps, out of the region: they
 * are published once.
 */

#define Omit_Private_Memory
#define MALLOC dtoa_malloc

#ifdef RB_THREAD_LOCAL_SPECIFIER
# define DTOA_REGION_SIZE 2304 /* bytes, as upstream's private memory; 200,000 Floats at random were printed and parsed in 2,104 */

static RB_THREAD_LOCAL_SPECIFIER struct {
    uint32_t living, used;      /* numbers, bytes */
    uint32_t last;              /* where the last one begins, if it lives, or used */
    uint64_t numbers[DTOA_REGION_SIZE / sizeof(uint64_t)];
} dtoa_region;
#endif

/* Any Ractor, with its GVL.  Raises NoMemoryError, where upstream wrote to NULL: the numbers in hand are lost. */
static void *
dtoa_malloc(size_t size)
{
    void *memory = malloc(size);
    if (!memory) {
#ifdef DTOA_REGION_SIZE
        dtoa_region.living = dtoa_region.used = 0;
#endif
        rb_memerror();
    }
    return memory;
}

#ifdef DTOA_REGION_SIZE

/* Room for a number of +size+ bytes.  As dtoa_malloc. */
static inline void *
dtoa_number_alloc(size_t size)
{
    size = (size + 7) & ~(size_t)7;
    if (UNLIKELY(size > DTOA_REGION_SIZE - dtoa_region.used)) return dtoa_malloc(size);

    dtoa_region.living++;
    dtoa_region.last = dtoa_region.used;
    dtoa_region.used += (uint32_t)size;
    return (char *)dtoa_region.numbers + dtoa_region.last;
}

/* Whether +number+ lies in the region of this thread.  The thread that has it. */
static inline bool
dtoa_number_in_region_p(const void *number)
{
    return (uintptr_t)number - (uintptr_t)dtoa_region.numbers < DTOA_REGION_SIZE;
}

/* +number+ is not used any more.  The thread that has it. */
static inline void
dtoa_number_free(void *number)
{
    if (UNLIKELY(!dtoa_number_in_region_p(number))) {
        free(number);
    }
    else if (--dtoa_region.living == 0) {
        dtoa_region.used = 0;
    }
    else if (number == (char *)dtoa_region.numbers + dtoa_region.last) {
        dtoa_region.used = dtoa_region.last;
    }
}

/* +number+, of +size+ bytes, or a copy, that is there for ever.  As dtoa_malloc. */
static void *
dtoa_number_keep(void *number, size_t size)
{
    if (!dtoa_number_in_region_p(number)) return number;

    void *kept = memcpy(dtoa_malloc(size), number, size);
    dtoa_number_free(number);
    return kept;
}

#else
# define dtoa_number_alloc(size) dtoa_malloc(size)
# define dtoa_number_free(number) free(number)
# define dtoa_number_keep(number, size) (number)
#endif

/* The Bigint +power+, just made, to be published. */
#define dtoa_power_keep(power) dtoa_number_keep(power, sizeof(*(power)) + ((power)->maxwds - 1) * sizeof((power)->x[0]))

/* The power of 5 that +power+ refers to, a Bigint, or NULL.  Any Ractor.  Synchronises with the compare-and-swap by
 * which pow5mult publishes it: what it is made of is there. */
#define dtoa_power_load_acquire(power) __atomic_load_n(power, __ATOMIC_ACQUIRE)

#endif /* LOCKFREE_DTOA_MEMORY_H */
