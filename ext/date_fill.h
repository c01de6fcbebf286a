#ifndef LOCKFREE_EXT_DATE_FILL_H
#define LOCKFREE_EXT_DATE_FILL_H
/**********************************************************************

  ext/date_fill.h - the fields of a DateTime that Ractors share, and what date keeps

  Licence: see LICENSE.

**********************************************************************/

/*
 * A DateTime works out its month and day when they are asked for, its hour,
 * minute and second when these are, and keeps them in one word with a flag for
 * each half.  Upstream reads the word, changes its half and stores both: of two
 * Ractors that fill a half each, one undid the other's, and the flags said that
 * it was there, for ever.
 *
 * Here each half goes in by one atomic step, and its flag after it, with a
 * release [A]; who has found the flag reads after an acquire [B].
 *
 * Regexps and a table, made at their first use, lie in statics.  Upstream stores
 * them before they are whole, frozen and known to the GC; of two Ractors that
 * make one each, the first keeps its own here [C].
 */

/* Has the C library read TZ, or the system's zone, once more, under the lock of ENV.  Any Ractor.  In time.c. */
void rb_time_update_zone(void);

/* [C] The object that +word+ keeps, or nil.  Any Ractor.  Synchronises with date_keep. */
static inline VALUE
date_kept(const VALUE *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* [C] The object for +word+: +made+, which is whole and frozen, or that of a Ractor that was first.  Any Ractor. */
static inline VALUE
date_keep(VALUE *word, VALUE made)
{
    VALUE first = Qnil;

    rb_gc_register_mark_object(made);
    return __atomic_compare_exchange_n(word, &first, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ? made : first;
}

/* [A] +flag+ goes into +flags+, when all it stands for is stored.  Any Ractor. */
static inline void
date_fill_flag(unsigned *flags, unsigned flag)
{
    __atomic_fetch_or(flags, flag, __ATOMIC_RELEASE);
}

/* [A] +half+ goes into those bits of +word+ that are in +mask+, then +flag+ into +flags+.  Any Ractor. */
static inline void
date_fill(unsigned *word, unsigned mask, unsigned half, unsigned *flags, unsigned flag)
{
    unsigned old = __atomic_load_n(word, __ATOMIC_RELAXED);

    while (!__atomic_compare_exchange_n(word, &old, (old & ~mask) | half, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    date_fill_flag(flags, flag);
}

/* [B] Whether +flag+ is in +flags+.  Any Ractor. */
static inline int
date_filled_p(const unsigned *flags, unsigned flag)
{
    return (__atomic_load_n(flags, __ATOMIC_ACQUIRE) & flag) != 0;
}

#endif /* LOCKFREE_EXT_DATE_FILL_H */
