#ifndef LOCKFREE_DTOA_MEMORY_H
#define LOCKFREE_DTOA_MEMORY_H
/**********************************************************************

  dtoa_memory.h - the numbers that Float#to_s and Float() compute with

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of util.c, before missing/dtoa.c.
 *
 * Problem.  To print or to parse a Float takes some five to ten large integers, which
 * live for a microsecond.  Upstream keeps them in lists that all threads share, one
 * for each size: two compare-and-swaps to take one, two to give it back, of one word.
 * Eight Ractors that print Floats take four times as long as one thread.
 *
 * Solution.  malloc and free: the C library keeps such blocks by thread.  A Kmax
 * below all sizes leaves the lists out.  What upstream kept for ever, the powers of
 * 5, it still keeps: they are published once.
 */

#define Omit_Private_Memory
#define MALLOC dtoa_malloc

/* Any Ractor, with its GVL.  Raises NoMemoryError, where upstream wrote to NULL. */
static void *
dtoa_malloc(size_t size)
{
    void *memory = malloc(size);
    if (!memory) rb_memerror();
    return memory;
}

/* The power of 5 that +power+ refers to, a Bigint, or NULL.  Any Ractor.  Synchronises with the compare-and-swap by
 * which pow5mult publishes it: what it is made of is there. */
#define dtoa_power_load_acquire(power) __atomic_load_n(power, __ATOMIC_ACQUIRE)

#endif /* LOCKFREE_DTOA_MEMORY_H */
