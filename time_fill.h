#ifndef LOCKFREE_TIME_FILL_H
#define LOCKFREE_TIME_FILL_H
/**********************************************************************

  time_fill.h - the fields of a Time that Ractors share

  Licence: see LICENSE.

**********************************************************************/

/*
 * A Time is a number until somebody asks for its year, month, hour: then all
 * are worked out and kept, in a frozen one as well.  Upstream stores them
 * first, and then says in which mode they are and that they are there; another
 * Ractor saw what the stack had held before as the mode ("can't modify frozen
 * Time"), or fields that were not there.
 *
 * Here mode and fields come together.  All that is no VALUE lies in the last
 * eight bytes, and is stored with one release [A]; who has found the flag reads
 * the rest after an acquire [B].  Several Ractors that work it out store the
 * same.  A zone that is an object of the user's own is asked for its fields in
 * Ruby, and stores them one by one as before.
 *
 * tzset() reads TZ: it holds the lock of ENV, and the word that says that it
 * has been called is stored after it, with a release [C] that the acquire there
 * reads.  Date.today asks each time, since the system's zone may have changed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <time.h>
#include "internal/static_assert.h"
#include "timev.h"
#include "vm_sync.h"
#include "lockfree/time_local.h"

typedef uint64_t __attribute__((may_alias)) time_word;

/* All that is no VALUE. */
static inline time_word *
time_vtm_word(const struct vtm *vtm)
{
    enum { at = offsetof(struct vtm, zone) + sizeof(VALUE) };

    STATIC_ASSERT(fields_are_one_word, sizeof(struct vtm) - at == sizeof(time_word));
    return (time_word *)((char *)vtm + at);
}

static inline void
time_copy_values(struct vtm *to, const struct vtm *from)
{
    to->year = from->year;
    to->subsecx = from->subsecx;
    to->utc_offset = from->utc_offset;
    to->zone = from->zone;
}

/* [A] Any Ractor.  +to+ is within a Time. */
static inline void
time_publish_vtm(struct vtm *to, const struct vtm *from)
{
    __atomic_thread_fence(__ATOMIC_RELEASE); /* of what is equal, but its own: another's word may be there already */
    time_copy_values(to, from);
    __atomic_store_n(time_vtm_word(to), *time_vtm_word(from), __ATOMIC_RELEASE);
}

/* [B] +to+ is nobody else's yet.  Any Ractor.  What is stored after the word was read may come with it: all of that is
 * worked out again if the word says that nothing is there, and the same if it is. */
static inline void
time_copy_vtm(struct vtm *to, const struct vtm *from)
{
    *time_vtm_word(to) = __atomic_load_n(time_vtm_word(from), __ATOMIC_ACQUIRE);
    time_copy_values(to, from);
}

/* [B] Whether the fields are there, and may be read.  Any Ractor. */
static inline bool
time_vtm_there_p(const struct vtm *vtm)
{
    bool there = vtm->tm_got;

    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return there;
}

/* Tells the GC that +vtm+ of +time+ has been stored, right after that.  Any Ractor.  3.4.5 does not, and
 * 3.4.10 in part, where a zone that is an object, or a copy, stores one by one: +time+ may be old by then, and what was
 * stored was freed. */
static inline void
time_written_vtm(VALUE time, const struct vtm *vtm)
{
    RB_OBJ_WRITTEN(time, Qundef, vtm->year);
    RB_OBJ_WRITTEN(time, Qundef, vtm->subsecx);
    RB_OBJ_WRITTEN(time, Qundef, vtm->utc_offset);
    RB_OBJ_WRITTEN(time, Qundef, vtm->zone);
}

/* [C] Has the C library read TZ, and the system's zone.  VM lock. */
static inline void
time_zone_read(bool *up_to_date)
{
    tzset();
    time_zone_changed();
    __atomic_store_n(up_to_date, true, __ATOMIC_RELEASE);
}

/* [C] Has the C library read TZ, unless it has since TZ was changed.  Any Ractor. */
static inline void
time_zone_up_to_date(bool *up_to_date)
{
    if (__atomic_load_n(up_to_date, __ATOMIC_ACQUIRE)) return;
    RB_VM_LOCK_ENTER();
    if (!*up_to_date) time_zone_read(up_to_date);
    RB_VM_LOCK_LEAVE();
}

#endif /* LOCKFREE_TIME_FILL_H */
