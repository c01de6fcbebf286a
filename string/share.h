#ifndef LOCKFREE_STRING_SHARE_H
#define LOCKFREE_STRING_SHARE_H
/**********************************************************************

  string/share.h - frozen Strings whose content another one takes over

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  Upstream rewrites a frozen String in place when another one is to
 * have its content: -str makes it share the buffer of the one in the table of
 * Strings and frees its own, or gives it a buffer of its own; gsub on one of a
 * subclass hands its buffer to a new String and makes it share that.  A Ractor
 * that reads a shareable String meanwhile reads freed memory, and two that do
 * so at once free a buffer twice.
 *
 * Solution.  With several Ractors nobody writes to a frozen String, but for
 * flags (object_flags.h): -str returns one that is not to be in the table as
 * it is, a String in the table gets a copy, and who needs the content of a
 * frozen String shares it, which becomes a root as it stands.
 *
 * Part of string.c.
 */

#include "vm_sync.h"

static inline VALUE str_alloc_heap(VALUE klass);
static VALUE str_enc_new(VALUE klass, const char *ptr, long len, rb_encoding *enc);

/* Whether another Ractor may be reading +str+, so that only its flags may change.  Any Ractor. */
static inline bool
str_read_by_others_p(VALUE str)
{
    return rb_multi_ractor_p() && OBJ_FROZEN_RAW(str) && !CHILLED_STRING_P(str);
}

/* A String for the table with the content of +str+, whose buffer is another's.  Any Ractor. */
static VALUE
str_independent_copy(VALUE str)
{
    VALUE copy = str_enc_new(rb_cString, RSTRING_PTR(str), RSTRING_LEN(str), STR_ENC_GET(str));

    OBJ_FREEZE(copy);
    RB_GC_GUARD(str);
    return copy;
}

/* A new String that shares the buffer of +orig+, which is frozen, on the heap and its own.  Any Ractor. */
static VALUE
str_share_frozen(VALUE klass, VALUE orig)
{
    RUBY_ASSERT(!STR_EMBED_P(orig) && !STR_SHARED_P(orig));

    VALUE str = str_alloc_heap(klass);
    STR_SET_LEN(str, RSTRING_LEN(orig));
    RSTRING(str)->as.heap.ptr = RSTRING_PTR(orig);
    STR_SET_SHARED(str, orig);
    return str;
}

#endif /* LOCKFREE_STRING_SHARE_H */
