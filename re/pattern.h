#ifndef LOCKFREE_RE_PATTERN_H
#define LOCKFREE_RE_PATTERN_H
/**********************************************************************

  re/pattern.h - the compiled patterns of a Regexp that Ractors share

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  A Regexp is compiled for one encoding.  Matched against a String of
 * another one it is compiled anew, and the new pattern replaces the old in
 * place, unless a count in the Regexp says that a match is going on.  Ractors
 * share every literal: one frees the pattern that another is matching with, and
 * all of them write to the count at each match.
 *
 * Representation.  A Regexp that Ractors may share keeps the pattern that it has
 * for ever; those for further encodings are appended to the list that begins
 * with it (regex_t's chain), each published once, when it is complete.  One
 * that a single Ractor owns goes on as in stock.
 *
 * Invariants.
 *   [A] rb_reg_shared_p is asked by whoever has the Regexp, and once true stays
 *       so.  While it is false one Ractor alone has the Regexp.  One that is made at
 *       each turn (/#{x}/, frozen) is asked about for the first time by its match:
 *       without instance variables it is shareable, for which no walk with the VM
 *       lock is needed.  What was moved away is of another class, and is not.
 *   [B] A pattern of a shared Regexp is not changed, but for its chain, which is
 *       set once, from NULL.  All are freed with the Regexp.
 *   [C] Who matches with a shared Regexp does not write to it.  A match that
 *       began before it was shared is counted to its end: the count is its
 *       former owner's.
 *   [D] No two patterns of a list are of one encoding, so that it is no longer
 *       than there are encodings.
 */

#include "ruby/internal/config.h"
#include "internal.h"
#include "internal/class.h"
#include "ruby/ractor.h"
#include "ruby/re.h"
#include "vm_core.h"

/* Whether another Ractor may have +re+: [A].  With one Ractor, only what is
 * marked shareable is. */
static inline bool
rb_reg_shared_p(VALUE re)
{
    if (RB_OBJ_SHAREABLE_P(re)) return true;
    if (LIKELY(ruby_single_main_ractor) || !OBJ_FROZEN(re)) return false;
    if (RBASIC_CLASS(re) != rb_cRegexp || FL_TEST_RAW(re, FL_EXIVAR)) return rb_ractor_shareable_p(re);

    rb_obj_mark_shareable(re); /* as rb_ractor_shareable_p does */
    return true;
}

/* What a list is entered by, or goes on with.  Any Ractor, no lock.
 * Synchronises with rb_reg_pattern_publish: without the acquire the pattern
 * could be read before it was written. */
static inline regex_t *
rb_reg_pattern_load_acquire(regex_t *const *place)
{
    return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

/* re/pattern.c; any Ractor, no lock */
regex_t *rb_reg_pattern_find(regex_t *const *place, OnigEncoding enc);
regex_t *rb_reg_pattern_publish(regex_t **place, regex_t *made);

#endif /* LOCKFREE_RE_PATTERN_H */
