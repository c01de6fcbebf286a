#ifndef LOCKFREE_STRING_FSTRING_FIND_H
#define LOCKFREE_STRING_FSTRING_FIND_H
/**********************************************************************

  string/fstring_find.h - the one String of a content, found without a lock

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of string.c: upstream's st_table is retired, string/table.h is in its
 * place.  Who does not find a content makes a String for it, which may collect,
 * and inserts it: if somebody else has been faster, the other one's is taken, and
 * the new one is garbage.
 *
 * RSTRING_FSTR says that a String is in the table, so that rb_fstring returns it as
 * it is.  It is set when it is there: before, the String may turn out to be one
 * too many, while other Ractors that have it, too, ask for the one of its content.
 * Who finds a String before who inserted it has set the bit sets it.
 */

#include "lockfree/string/table.h"

/* Two Strings in the table may be == and have encodings of their own. */
static bool
fstring_same_p(VALUE fstr, VALUE str)
{
    return !fstring_cmp(fstr, str);
}

static inline VALUE
fstring_found(VALUE fstr)
{
    if (!FL_TEST_RAW(fstr, RSTRING_FSTR)) rb_flags_set_any_ractor(fstr, RSTRING_FSTR);
    return fstr;
}

/* The String in the table that has the content of +str+, whose hash is +hash+; 0: none.  Any Ractor. */
static inline VALUE
fstring_find(st_index_t hash, VALUE str)
{
    VALUE fstr = rb_string_table_find(&rb_fstring_table, hash, str, fstring_same_p);

    return fstr ? fstring_found(fstr) : 0;
}

/* +str+, frozen, or another one with its content, which is in the table now.  Any Ractor. */
static VALUE
fstring_insert(st_index_t hash, VALUE str)
{
    VALUE fstr;

    while (!(fstr = rb_string_table_insert(&rb_fstring_table, hash, str, str, fstring_same_p))) {
        rb_string_table_grow(&rb_fstring_table);
    }
    RB_GC_GUARD(str);
    return fstring_found(fstr);
}

#endif /* LOCKFREE_STRING_FSTRING_FIND_H */
