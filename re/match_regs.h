#ifndef LOCKFREE_RE_MATCH_REGS_H
#define LOCKFREE_RE_MATCH_REGS_H
/**********************************************************************

  re/match_regs.h - the positions of a MatchData lie in its slot

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  A match that is found takes two blocks of malloc's, for where its groups begin and
 * where they end: a quarter of the time of `string =~ /b(.)/` in one thread, four tenths in
 * eight Ractors, whose sweep frees what another thread's arena has.  A search that finds nothing
 * takes them, too, and gives them back.
 *
 * Solution.  Up to MATCH_REGS_IN_SLOT groups, the whole match included, lie in the slot, behind
 * what upstream has there.  A search writes to its caller's stack (struct match_positions), and
 * they are copied when something is found.
 *
 *   regs.allocated > 0    what malloc gave, as upstream
 *   regs.allocated == 0   nothing of malloc's: onig_region_free frees nothing, onig_region_resize
 *                         takes new blocks.  With num_regs > 0, regs.beg and regs.end point into
 *                         the slot, and who moves a MatchData calls match_regs_moved.
 *
 * A MatchData is filled before another Ractor can have it; who moves it has it alone, or stops all.
 *
 * Part of re.c; gc.c and ractor/move.c move.
 */

#include "ruby/onigmo.h"
#include "ruby/re.h"

enum { MATCH_REGS_IN_SLOT = 5 }; /* the slot has 160 bytes then, where a position has 64 bits */
STATIC_ASSERT(match_regs_in_slot, MATCH_REGS_IN_SLOT >= ONIG_NREGION); /* or onig_region_resize makes them more */

struct match_positions {
    OnigPosition beg[MATCH_REGS_IN_SLOT], end[MATCH_REGS_IN_SLOT];
};

struct match_slot {
    struct RMatch match;
    rb_matchext_t ext;
    struct match_positions positions;
};

/* Whether +regs+, of a MatchData or of a search, point to a struct match_positions. */
static inline bool
match_regs_borrowed_p(const struct re_registers *regs)
{
    return regs->allocated == 0 && regs->num_regs > 0;
}

static inline void
match_regs_borrow(struct re_registers *regs, struct match_positions *positions)
{
    regs->beg = positions->beg;
    regs->end = positions->end;
}

/* +match+ lies elsewhere than before. */
static inline void
match_regs_moved(VALUE match)
{
    struct re_registers *regs = RMATCH_REGS(match);
    if (match_regs_borrowed_p(regs)) match_regs_borrow(regs, &((struct match_slot *)match)->positions);
}

/* onig_region_resize, to no more than are there if they are borrowed. */
static inline int
match_regs_resize(struct re_registers *regs, int num_regs)
{
    if (!match_regs_borrowed_p(regs) || num_regs > MATCH_REGS_IN_SLOT) return onig_region_resize(regs, num_regs);
    regs->num_regs = num_regs;
    return 0;
}

/* onig_search, which writes to +positions+ if they have room for the groups of +reg+; +regs+ may be NULL. */
static inline OnigPosition
match_regs_search(regex_t *reg, const UChar *str, const UChar *end, const UChar *start, const UChar *range,
                  struct re_registers *regs, struct match_positions *positions)
{
    bool borrows = regs && reg->num_mem < MATCH_REGS_IN_SLOT;

    if (borrows) {
        match_regs_borrow(regs, positions);
        regs->allocated = MATCH_REGS_IN_SLOT;
    }
    OnigPosition result = onig_search(reg, str, end, start, range, regs, ONIG_OPTION_NONE);
    if (borrows) regs->allocated = 0;
    return result;
}

/* +match+, which is new, gets what a search has found; its slot is a struct match_slot, if that is borrowed. */
static inline void
match_regs_fill(VALUE match, const struct re_registers *regs)
{
    struct re_registers *own = RMATCH_REGS(match);

    *own = *regs;
    if (!match_regs_borrowed_p(regs)) return;

    match_regs_moved(match);
    MEMCPY(own->beg, regs->beg, OnigPosition, regs->num_regs);
    MEMCPY(own->end, regs->end, OnigPosition, regs->num_regs);
}

/* Gives +match+ a copy of its Regexp, unless that is shareable.  The Ractor that has it.  May raise. */
void rb_match_own_regexp(VALUE match);

#endif /* LOCKFREE_RE_MATCH_REGS_H */
