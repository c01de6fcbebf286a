#ifndef LOCKFREE_OBJECT_FLAGS_H
#define LOCKFREE_OBJECT_FLAGS_H
/**********************************************************************

  object_flags.h - bits in the flags of objects that Ractors share

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  A frozen object that all Ractors may have is still written to: the
 * flags in its header keep what has been found out about it, such as a String's
 * code range, that others share its content, that the GC has promoted it.  Each
 * is set by `flags |= bit`, which is a load and a store.  Of two Ractors that do
 * so at once, one takes the other's bit away: an old object counts as young, and
 * what only it refers to is freed.  (In stock an object gets a second object_id,
 * too; ours is not in the header: gc/object_id.h.)
 *
 * Solution.  Where the object may be another Ractor's as well, the bit is set
 * by one atomic read-modify-write, and not at all where it is set already, so
 * that the header of an object that is in use everywhere is only read.
 *
 * Which objects.  Those with the shareable bit; those that are frozen, since
 * the name of a Symbol is a String that all have and that nobody has called
 * shareable; and every String when it is not the running Ractor's own but what
 * that one's content belongs to, since the root of a shared String may have many
 * users.
 *
 * Order.  None (relaxed): a bit says nothing about other words.  Promotion is
 * read by the GC when all Ractors stand still or under the VM lock, code ranges
 * are computed anew by who does not see them.
 */

#include "vm_sync.h"

/* Sets +bits+ in the flags of +obj+, which other Ractors may have.  Any Ractor. */
static inline void
rb_flags_set_any_ractor(VALUE obj, VALUE bits)
{
    VALUE *flags = &RBASIC(obj)->flags;

    if ((__atomic_load_n(flags, __ATOMIC_RELAXED) & bits) == bits) return;
    if (rb_multi_ractor_p()) {
        __atomic_fetch_or(flags, bits, __ATOMIC_RELAXED);
    }
    else {
        *flags |= bits;
    }
}

/* Clears +bits+ in the flags of +obj+, which other Ractors may have.  Any Ractor. */
static inline void
rb_flags_clear_any_ractor(VALUE obj, VALUE bits)
{
    VALUE *flags = &RBASIC(obj)->flags;

    if (__atomic_load_n(flags, __ATOMIC_RELAXED) & bits) __atomic_fetch_and(flags, ~bits, __ATOMIC_RELAXED);
}

/* Sets +bits+ in the flags of +obj+, which is shareable, frozen or the running Ractor's own.  Any Ractor. */
static inline void
rb_flags_set(VALUE obj, VALUE bits)
{
    if (RB_FL_ANY_RAW(obj, RUBY_FL_SHAREABLE | RUBY_FL_FREEZE)) {
        rb_flags_set_any_ractor(obj, bits);
    }
    else {
        RB_FL_SET_RAW(obj, bits);
    }
}

/* Puts +bits+ in the place of those in +mask+, which only the running Ractor changes; +obj+ may have become shareable. */
static inline void
rb_flags_replace(VALUE obj, VALUE mask, VALUE bits)
{
    VALUE *flags = &RBASIC(obj)->flags, old = __atomic_load_n(flags, __ATOMIC_RELAXED);

    if (UNLIKELY(old & RUBY_FL_SHAREABLE)) {
        while (!__atomic_compare_exchange_n(flags, &old, (old & ~mask) | bits, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    }
    else {
        *flags = (old & ~mask) | bits;
    }
}

/* The GC has found that +obj+ is old or that it is not: under the VM lock, not always with all Ractors stopped. */
static inline void
rb_flags_promote(VALUE obj, bool old)
{
    const VALUE flags = RBASIC(obj)->flags;
    const bool is_old = flags & RUBY_FL_PROMOTED;

    if (is_old == old) return;
    if (flags & RUBY_FL_SHAREABLE || (flags & RUBY_T_MASK) == RUBY_T_STRING) {
        if (old) rb_flags_set_any_ractor(obj, RUBY_FL_PROMOTED);
        else rb_flags_clear_any_ractor(obj, RUBY_FL_PROMOTED);
    }
    else {
        RBASIC(obj)->flags = flags ^ RUBY_FL_PROMOTED;
    }
}

#endif /* LOCKFREE_OBJECT_FLAGS_H */
