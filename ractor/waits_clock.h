#ifndef LOCKFREE_RACTOR_WAITS_CLOCK_H
#define LOCKFREE_RACTOR_WAITS_CLOCK_H
/**********************************************************************

  ractor/waits_clock.h - a clock that costs little: the processor's counter, where the system goes by it, too

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of ractor/waits.c.
 *
 * Problem.  A thread that blocks for a moment reads the clock twice, and CLOCK_MONOTONIC
 * is most of what counting costs it.
 *
 * Solution.  The counter that the system makes that clock of (x86-64: TSC, arm64:
 * cntvct), read without a call, and turned into nanoseconds of CLOCK_MONOTONIC.
 * Linux says which counter it has chosen: it does not choose one that changes its
 * pace, stands still, or differs between processors.  How fast it goes is measured
 * once, against CLOCK_MONOTONIC, when somebody first counts.  Where Linux has chosen
 * another one, or does not say, and elsewhere: clock_gettime.
 *
 * A counter that begins anew, as when the machine has slept, is less than it was:
 * then it is not used any more.  One that goes on while the machine sleeps counts
 * that sleep, which CLOCK_MONOTONIC does not.
 *
 *                          who                           needs
 *   waits_clock_calibrate  who is the first to count     all others stand
 *   waits_now              any Ractor, any thread        that is over
 *
 * Orders.  scale is relaxed: 0 and the one value that it has are both right at any
 * moment after the calibration, which a stop, or the lock of a scheduler, comes after.
 */

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define WAITS_CLOCK_MEASURED 500000 /* ns: its pace is right to some hundred-thousandths then */
#define WAITS_CLOCK_TRIES 8
#define WAITS_CLOCK_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

#if defined(__linux__) && defined(__x86_64__) && defined(__SIZEOF_INT128__)
# define WAITS_CLOCK_COUNTER "tsc"
static inline uint64_t
waits_clock_counter(void)
{
    return __builtin_ia32_rdtsc();
}
#elif defined(__linux__) && defined(__aarch64__) && defined(__SIZEOF_INT128__)
# define WAITS_CLOCK_COUNTER "arch_sys_counter"
static inline uint64_t
waits_clock_counter(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#endif

NOINLINE(static uint64_t waits_clock_system(void));

static uint64_t
waits_clock_system(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

#ifdef WAITS_CLOCK_COUNTER

struct waits_moment {
    uint64_t ticks, ns;
};

static struct {
    uint64_t scale; /* nanoseconds of 2 ** 32 ticks; 0: clock_gettime */
    struct waits_moment base;
} waits_clock;

/* The counter, and CLOCK_MONOTONIC at the same moment, as far as it can be told. */
static struct waits_moment
waits_clock_moment(void)
{
    struct waits_moment moment = {0};
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < WAITS_CLOCK_TRIES; i++) {
        uint64_t before = waits_clock_counter(), ns = waits_clock_system(), after = waits_clock_counter();
        if (after - before >= least) continue; /* somebody else had the processor in between */
        least = after - before;
        moment = (struct waits_moment){ .ticks = before + least / 2, .ns = ns };
    }
    return moment;
}

static bool
waits_clock_is_systems(void)
{
    char name[32] = "";
    FILE *file = fopen(WAITS_CLOCK_SOURCE, "re");

    if (file) {
        if (!fgets(name, sizeof(name), file)) *name = '\0';
        fclose(file);
    }
    return strcmp(name, WAITS_CLOCK_COUNTER "\n") == 0;
}

static void
waits_clock_calibrate(void)
{
    if (!waits_clock_is_systems()) return;
    struct waits_moment first = waits_clock_moment(), last;

    while (waits_clock_system() - first.ns < WAITS_CLOCK_MEASURED) continue;
    last = waits_clock_moment();
    if (last.ticks <= first.ticks) return;

    waits_clock.base = first;
    uint64_t scale = (uint64_t)(((unsigned __int128)(last.ns - first.ns) << 32) / (last.ticks - first.ticks));
    __atomic_store_n(&waits_clock.scale, scale, __ATOMIC_RELAXED);
}

/* Nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t
waits_now(void)
{
    uint64_t scale = __atomic_load_n(&waits_clock.scale, __ATOMIC_RELAXED);

    if (LIKELY(scale)) {
        uint64_t ticks = waits_clock_counter();
        if (LIKELY(ticks >= waits_clock.base.ticks)) {
            return waits_clock.base.ns + (uint64_t)(((unsigned __int128)(ticks - waits_clock.base.ticks) * scale) >> 32);
        }
        __atomic_store_n(&waits_clock.scale, 0, __ATOMIC_RELAXED); /* it has begun anew */
    }
    return waits_clock_system();
}

#else

static void
waits_clock_calibrate(void)
{
}

static inline uint64_t
waits_now(void)
{
    return waits_clock_system();
}

#endif
#endif /* LOCKFREE_RACTOR_WAITS_CLOCK_H */
