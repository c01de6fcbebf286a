#ifndef LOCKFREE_GC_TIME_H
#define LOCKFREE_GC_TIME_H
/**********************************************************************

  gc/time.h - the clock, and the time of what a thread does for the collector

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc/default/default.c.
 *
 * GC.stat's times are of the processor, as upstream's: of the process where all stand.
 * Beside Ractors that run it is the thread's: the process's has theirs in it, and the
 * time of the clock that of a thread that the system lets wait.
 */

/* Nanoseconds of +clock+; 0 where the system does not tell. */
static inline uint64_t
gc_time(clockid_t clock)
{
    struct timespec now;

    if (clock_gettime(clock, &now) != 0) return 0;
    return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

/* Those of the processor that the calling thread has had. */
static inline uint64_t
gc_thread_time(void)
{
    return gc_time(CLOCK_THREAD_CPUTIME_ID);
}

#endif /* LOCKFREE_GC_TIME_H */
