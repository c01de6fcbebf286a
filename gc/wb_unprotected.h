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
 * Solution.  The page that a Ractor allocates from is its own: nobody else makes
 * objects in it, nobody sweeps it.  What is left are objects of others that live
 * there and lose their barriers, with the VM lock.  Both set their bit by an atomic or.
 *
 *   sets a bit     gc_wb_unprotected_set: a new object, its Ractor, with no lock; an
 *                  object that loses its barriers, any Ractor, VM lock
 *   clears bits    the sweep, with the VM lock, of a page that nobody allocates
 *                  from; compaction, while all stand.  A Ractor that sweeps a page
 *                  without the lock refuses one with dead objects that have the
 *                  bit (gc/sweep_claim.h), and so clears none; another Ractor's
 *                  object may lose its barriers in the page that is being swept: with
 *                  the lock that the sweep of such a page has, or while nothing
 *                  is cleared
 *   reads          gc_wb_unprotected, any Ractor; the GC, while all stand, and who marks in
 *                  a write barrier, with the VM lock: each asks for the bit of an object
 *                  that it knows, which has been told before
 *
 * Relaxed: no more is told by the bit than the bit, and the GC stops all before it
 * looks at a new object.
 */

static inline void
gc_wb_unprotected_set(VALUE obj)
{
    __atomic_fetch_or(&GET_HEAP_WB_UNPROTECTED_BITS(obj)[BITMAP_INDEX(obj)], BITMAP_BIT(obj), __ATOMIC_RELAXED);
}

static inline bits_t
gc_wb_unprotected(VALUE obj)
{
    return __atomic_load_n(&GET_HEAP_WB_UNPROTECTED_BITS(obj)[BITMAP_INDEX(obj)], __ATOMIC_RELAXED) & BITMAP_BIT(obj);
}

#endif /* LOCKFREE_GC_WB_UNPROTECTED_H */
