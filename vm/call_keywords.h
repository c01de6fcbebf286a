#ifndef LOCKFREE_VM_CALL_KEYWORDS_H
#define LOCKFREE_VM_CALL_KEYWORDS_H
/**********************************************************************

  vm/call_keywords.h - who uses the keywords of a call

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  The keywords that a call names (`f(k: v)`) lie in memory of their
 * own, which call infos share: that of the site, and those made while the
 * program runs, for `super` and `...`.  They count it, and the last one to be
 * swept frees it.  Ractors that made call infos of one site at once lost
 * increments, as did one that met the sweep, and the keywords were freed while
 * the site still had them.
 *
 * Invariants.
 *   [A] Who adds a use has a call info with these keywords, which is marked: the
 *       count does not rise from 0, but for the first.
 *   [B] Who takes the last use frees: the collector.
 */

#include "vm_callinfo.h"

/* One more call info has +keywords+.  Any Ractor, [A].  Relaxed: the keywords
 * were seen through the call info that has them already. */
static inline void
call_keywords_count_add_relaxed(const struct rb_callinfo_kwarg *keywords)
{
    __atomic_fetch_add(&((struct rb_callinfo_kwarg *)keywords)->references, 1, __ATOMIC_RELAXED);
}

/* One call info less.  Whether it was the last.  The collector.  Releases what
 * was done with them; the last one acquires it, and frees. */
static inline bool
call_keywords_count_sub_acq_rel(const struct rb_callinfo_kwarg *keywords)
{
    return __atomic_sub_fetch(&((struct rb_callinfo_kwarg *)keywords)->references, 1, __ATOMIC_ACQ_REL) == 0;
}

#endif /* LOCKFREE_VM_CALL_KEYWORDS_H */
