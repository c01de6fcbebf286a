#ifndef LOCKFREE_EXT_DIGEST_CLASS_H
#define LOCKFREE_EXT_DIGEST_CLASS_H
/**********************************************************************

  ext/digest_class.h - classes of digests that several Ractors meet first

  Licence: see LICENSE.

**********************************************************************/

/*
 * Digest::MD5 and its like are loaded when they are first named.  Upstream names
 * the class and then says how it computes; a Ractor that looked in between had
 * "Digest::Base cannot be directly inherited in Ruby".  Here it has its name last.
 */

#include "ruby/ruby.h"

/* Defines +under+::+name+, a class of +base+ with that +metadata+.  Main, while it loads an extension. */
static inline VALUE
digest_define_class(VALUE under, const char *name, VALUE base, VALUE metadata)
{
    ID id = rb_intern(name);
    bool named = rb_const_defined_at(under, id);
    VALUE klass = named ? rb_define_class_under(under, name, base) : rb_class_new_instance(1, &base, rb_cClass);

    rb_iv_set(klass, "metadata", metadata);
    if (!named) rb_const_set(under, id, klass);
    return klass;
}

#endif /* LOCKFREE_EXT_DIGEST_CLASS_H */
