#ifndef LOCKFREE_TIME_LOCAL_H
#define LOCKFREE_TIME_LOCAL_H
/**********************************************************************

  time_local.h - local time, asked of the C library once for a second

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of time.c.
 *
 * Problem.  glibc's localtime_r holds one lock for the whole process, without a
 * look whether the zone has changed: Ractors that write logs (Time.now.to_s) or
 * read dates (Time.new) sleep on it, and 8 of them are half as fast as one.
 *
 * Solution.  A Ractor remembers what it was told, by spans of 1,024 seconds: the
 * fields of one second of it, and between which seconds the same offset held.
 * A second between those has the fields of the first, but for minute and second.
 *
 *   [1] Only what was seen is taken for granted: of two seconds of one span with the
 *       same offset and name, in one hour, those between have them as well.  No zone of the
 *       tz database changes twice in so short a time.  If the seconds between the two
 *       are more or less than their minutes say, the hour has changed, or there was a leap
 *       second ("right/" zones), and what was seen last is all that is kept.  A leap second
 *       itself is not.
 *   [2] What is remembered belongs to a state of the zone, which time_zone_read
 *       advances, with the VM lock, when TZ was changed or the system's zone is asked
 *       for anew.  The state is read (acquire) before the C library is asked: the
 *       fields are as new as that, or newer, and whoever sees a later state forgets
 *       them.  Pairs with the release of time_zone_read.
 *   [3] C code may set TZ by itself, and call tzset(): what was seen counts as long as
 *       `timezone` and `daylight`, which the C library then sets, are as they were.  They
 *       are read plainly, a word each, before the C library is asked and after.  Two zones that agree in both, and differ otherwise, may
 *       be taken for each other, for seconds that were asked for under the first.
 *
 * Its Ractor alone reads and fills the table, holding that Ractor's GVL, with no safe
 * point between look-up and use.
 *
 * With glibc only: others' lock may be none, and their names of zones may not stay where they are.
 */

#include <time.h>
#include "internal/serial.h"
#include "ractor_core.h"

static rb_serial_t time_zone_state; /* [2]; VM lock */

/* The C library has read TZ.  VM lock. */
static inline void
time_zone_changed(void)
{
    __atomic_store_n(&time_zone_state, time_zone_state + 1, __ATOMIC_RELEASE);
}

#if defined(__GLIBC__) && defined(HAVE_STRUCT_TM_TM_GMTOFF) && defined(HAVE_TM_ZONE)

#define TIME_LOCAL_SPAN_BITS 10
#define TIME_LOCAL_SEEN_BITS 7       /* some 11 kB, of a Ractor that asks */

struct time_local_seen {
    time_t at, first, last; /* seconds: of +fields+, and between which they hold */
    rb_serial_t state;      /* 0: nothing seen */
    long timezone;          /* [3] */
    int daylight;
    struct tm fields;
};

/*
 * Where the current Ractor remembers +span+, in a direct-mapped table; NULL without memory.  By Fibonacci hashing, since
 * dates are apart by multiples of a day.  Does not run the GC.
 */
static inline struct time_local_seen *
time_local_seen_of(time_t span)
{
    rb_ractor_t *r = GET_RACTOR();

    if (UNLIKELY(!r->time_local)) r->time_local = ruby_mimcalloc(1 << TIME_LOCAL_SEEN_BITS, sizeof(struct time_local_seen));
    return !r->time_local ? NULL : &r->time_local[(uint64_t)span * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TIME_LOCAL_SEEN_BITS)];
}

static inline int
time_local_second_of_hour(const struct tm *fields)
{
    return fields->tm_min * 60 + fields->tm_sec;
}

/* Whether +one+, of second +t+, is an hour's second that +other+ leads to, of second +u+ of the same span: [1]. */
static inline bool
time_local_same_p(const struct tm *one, time_t t, const struct tm *other, time_t u)
{
    return one->tm_gmtoff == other->tm_gmtoff && one->tm_zone == other->tm_zone && one->tm_isdst == other->tm_isdst &&
        one->tm_sec < 60 &&
        time_local_second_of_hour(one) - time_local_second_of_hour(other) == t - u;
}

/* As localtime_r.  Any Ractor. */
static struct tm *
time_localtime_r(const time_t *t, struct tm *result)
{
    const time_t at = *t, span = at >> TIME_LOCAL_SPAN_BITS;
    struct time_local_seen *seen = time_local_seen_of(span);
    rb_serial_t state = __atomic_load_n(&time_zone_state, __ATOMIC_ACQUIRE);
    bool known = seen && seen->at >> TIME_LOCAL_SPAN_BITS == span && seen->state == state &&
        seen->timezone == timezone && seen->daylight == daylight;

    if (known && seen->first <= at && at <= seen->last) {
        int second = time_local_second_of_hour(&seen->fields) + (int)(at - seen->at);
        *result = seen->fields;
        result->tm_min = second / 60;
        result->tm_sec = second % 60;
        return result;
    }

    const long zone = timezone;
    const int has_daylight = daylight;
    if (!localtime_r(t, result)) return NULL;
    if (timezone != zone || daylight != has_daylight) return result;
    if (known && time_local_same_p(result, at, &seen->fields, seen->at)) {
        if (at < seen->first) seen->first = at;
        if (at > seen->last) seen->last = at;
    }
    else if (seen && result->tm_sec < 60) {
        *seen = (struct time_local_seen){ at, at, at, state, zone, has_daylight, *result };
    }
    return result;
}

#else
#  define time_localtime_r(t, result) localtime_r((t), (result))
#endif
#endif /* LOCKFREE_TIME_LOCAL_H */
