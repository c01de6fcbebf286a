#ifndef LOCKFREE_GC_WB_UNPROTECTED_H
#define LOCKFREE_GC_WB_UNPROTECTED_H
/**********************************************************************

  gc/wb_unprotected.h - objects without write barriers, made without the lock

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc/default/default.c.
 *
 * Problem.  An object that has no write barriers (a Fiber, a StringScanner, a
 * Random, most of what extensions make) has a bit of its own, in a word with those
 * of other objects of its page.  Upstream takes the VM lock for each such object, to
 * set it.
 *
 * So it does for each that loses them: C code looks into an Array (RARRAY_PTR).
 *
 * Solution.  The page that a Ractor allocates from is its own: nobody else makes
 * objects in it, nobody sweeps it.  What is left are objects of others that live
 * there and lose their barriers.  Both set their bit by an atomic or; with the VM lock only
 * where the object has been through a collection, and its age is to be set back as well.
 *
 *   sets a bit     gc_wb_unprotected_set: a new object, its Ractor, with no lock; an
 *                  object that loses its barriers, any Ractor, with no lock while its age is 0
 *   clears bits    the sweep, with the VM lock, of a page that nobody allocates from, while all
 *                  stand; compaction, likewise.  A Ractor that has swept a page without the
 *                  lock (gc/sweep_claim.h) clears those of dead objects, with it, by an
 *                  atomic and: another Ractor's object, that lives there, may lose its
 *                  barriers meanwhile
 *   reads          gc_wb_unprotected, any Ractor; the GC, while all stand, and who marks in
 *                  a write barrier, with the VM lock: each asks for the bit of an object
 *                  that it knows, which has been told before
 *
 * An object's age changes while all stand, by who takes its barriers with the VM lock, and, in
 * incremental marking, by who marks it in a write barrier: then the lock is taken.  There is no
 * safe point between the look at the age and the bit.  Its word has the ages of other objects, too:
 * the Ractor that has swept the page without the lock sets those of dead ones to 0, and one
 * that makes a class in its page sets that one's, plainly, as upstream does.
 *
 * Relaxed: no more is told by the bit than the bit, and the GC stops all before it
 * looks at a new object.
 */

static inline void
gc_wb_unprotected_set(VALUE obj)
{
    __atomic_fetch_or(&GET_HEAP_WB_UNPROTECTED_BITS(obj)[BITMAP_INDEX(obj)], BITMAP_BIT(obj), __ATOMIC_RELAXED);
}

/* Of the bits of a page's +word+ those of the objects +living+ stay.  Who has swept the page, VM lock. */
static inline void
gc_wb_unprotected_keep(bits_t *word, bits_t living)
{
    if (__atomic_load_n(word, __ATOMIC_RELAXED) & ~living) __atomic_fetch_and(word, living, __ATOMIC_RELAXED);
}

static inline bits_t
gc_wb_unprotected(VALUE obj)
{
    return __atomic_load_n(&GET_HEAP_WB_UNPROTECTED_BITS(obj)[BITMAP_INDEX(obj)], __ATOMIC_RELAXED) & BITMAP_BIT(obj);
}

/* Whether +obj+, which has its barriers, loses them now: it is new, and nothing but the bit is to change.  Any Ractor. */
static inline bool
gc_wb_unprotect_new(rb_objspace_t *objspace, VALUE obj)
{
    if (is_incremental_marking(objspace)) return false;

    bits_t ages = __atomic_load_n(&GET_HEAP_PAGE(obj)->age_bits[RVALUE_AGE_BITMAP_INDEX(obj)], __ATOMIC_RELAXED);

    if (ages >> RVALUE_AGE_BITMAP_OFFSET(obj) & RVALUE_AGE_BIT_MASK) return false;
    gc_wb_unprotected_set(obj);
    return true;
}

/* The age of +obj+, which is not old, is 0.  VM lock. */
static inline void
gc_wb_unprotect_age_reset(VALUE obj)
{
    bits_t age = (bits_t)RVALUE_AGE_BIT_MASK << RVALUE_AGE_BITMAP_OFFSET(obj);
    __atomic_fetch_and(&GET_HEAP_PAGE(obj)->age_bits[RVALUE_AGE_BITMAP_INDEX(obj)], ~age, __ATOMIC_RELAXED);
}

#endif /* LOCKFREE_GC_WB_UNPROTECTED_H */
