#ifndef LOCKFREE_RE_MATCH_H
#define LOCKFREE_RE_MATCH_H
/**********************************************************************

  re/match.h - what a MatchData that Ractors share finds out later

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  A MatchData counts its offsets in characters when the first of them
 * is asked for, and makes a Regexp of a String that it was searched with when
 * that is asked for; a frozen one does so too.  Upstream says that the offsets
 * are there before they are written, so that another Ractor reads what malloc
 * left; and the Regexp was not frozen, so that Ractors changed its pattern.
 *
 * Solution.  Each is made in full, and published by one compare-and-swap; who
 * comes second takes the first one's.  The Regexp of a shareable MatchData is
 * frozen: by who makes it, or by Ractor.make_shareable, which visits it.
 *
 * A Regexp that is not shareable may be that of several MatchDatas, and a variable's: one that
 * is moved takes a copy along, without variables.  If the Regexp itself is moved, they have none
 * (stock: crash).
 *
 * Part of re.c.
 */

#include "internal/gc.h"
#include "ruby/ractor.h"
#include "ruby/re.h"

/* Whether the offsets in characters are there.  Any Ractor.  Synchronises with
 * match_char_offset_publish: without the acquire they could be read before they
 * were written.  No fence on x86. */
static inline bool
match_char_offset_load_acquire(rb_matchext_t *rm)
{
    return __atomic_load_n(&rm->char_offset_num_allocated, __ATOMIC_ACQUIRE) != 0;
}

/* +made+ has +num+ offsets.  Any Ractor. */
static void
match_char_offset_publish(rb_matchext_t *rm, struct rmatch_offset *made, int num)
{
    struct rmatch_offset *first = NULL;

    if (!__atomic_compare_exchange_n(&rm->char_offset, &first, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        xfree(made);
    }
    __atomic_store_n(&rm->char_offset_num_allocated, num, __ATOMIC_RELEASE);
}

/* Gives +match+ the +regexp+ that the running Ractor has made for it; the one that it has then.  Any Ractor. */
static VALUE
match_regexp_publish(VALUE match, VALUE regexp)
{
    VALUE first = Qnil;

    if (!RB_OBJ_SHAREABLE_P(match)) {
        RB_OBJ_WRITE(match, &RMATCH(match)->regexp, regexp);
        return regexp;
    }
    rb_ractor_make_shareable(regexp);
    if (!__atomic_compare_exchange_n((VALUE *)&RMATCH(match)->regexp, &first, regexp, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        return first;
    }
    RB_OBJ_WRITTEN(match, Qnil, regexp);
    return regexp;
}

static VALUE reg_copy(VALUE copy, VALUE orig);
static void rb_reg_check(VALUE re);

#define MATCH_REGEXP_PTR(regexp) (rb_reg_check(regexp), RREGEXP_PTR(regexp)) /* raises TypeError where it was moved */

/* As re/match_regs.h. */
void
rb_match_own_regexp(VALUE match)
{
    VALUE regexp = RMATCH(match)->regexp;
    if (!RTEST(regexp) || !RREGEXP_PTR(regexp) || rb_ractor_shareable_p(regexp)) return;

    VALUE own = reg_copy(rb_obj_alloc(rb_obj_class(regexp)), regexp);
    if (OBJ_FROZEN(regexp)) OBJ_FREEZE(own);
    RB_OBJ_WRITE(match, &RMATCH(match)->regexp, own);
}

#endif /* LOCKFREE_RE_MATCH_H */
