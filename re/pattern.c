/**********************************************************************

  re/pattern.c - the compiled patterns of a Regexp that Ractors share

  Licence: see LICENSE.

**********************************************************************/

/* What and why: re/pattern.h. */

#include "lockfree/re/pattern.h"

/* The pattern for +enc+ in the list that begins at +place+, or NULL. */
regex_t *
rb_reg_pattern_find(regex_t *const *place, OnigEncoding enc)
{
    regex_t *reg;
    while ((reg = rb_reg_pattern_load_acquire(place)) && reg->enc != enc) place = &reg->chain;
    return reg;
}

/*
 * Appends +made+, complete and nobody else's, to the list that begins at
 * +place+, and returns it; where the list has one for its encoding by now, frees
 * it, and returns that one.
 * Synchronises with rb_reg_pattern_load_acquire: nothing written to the pattern
 * may sink below the exchange.
 */
regex_t *
rb_reg_pattern_publish(regex_t **place, regex_t *made)
{
    for (;;) {
        regex_t *reg = NULL;
        if (__atomic_compare_exchange_n(place, &reg, made, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) return made;
        if (reg->enc == made->enc) {
            onig_free(made);
            return reg;
        }
        place = &reg->chain;
    }
}
