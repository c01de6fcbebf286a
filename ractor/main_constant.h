#ifndef LOCKFREE_RACTOR_MAIN_CONSTANT_H
#define LOCKFREE_RACTOR_MAIN_CONSTANT_H
/**********************************************************************

  ractor/main_constant.h - what main has in a constant, copied for another Ractor

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  A library keeps its defaults in a constant whose object programs change:
 * OpenSSL::SSL::SSLContext::DEFAULT_PARAMS[:min_version] = :TLS1_2.  A Ractor may not
 * have that object.  Defaults of its own would ignore, in silence, what main has set.
 *
 * Solution.  C code of the library copies what it wants of it while all others
 * stand.  They stand where they could also collect garbage: an object is whole there.
 *
 * Limits.  It stops all Ractors: for what is done once for a connection, not for a line.
 * It does not autoload.
 */

#include "ruby/ruby.h"

RUBY_SYMBOL_EXPORT_BEGIN

/*
 * Calls +func+ with the value of the constant +name+ of +module+ itself, shareable or not, and with +arg+, while all other
 * Ractors stand, and says whether there is such a constant.  +func+ may make objects; it calls no Ruby, raises nothing
 * and keeps nothing of the value that is not shareable.  Any Ractor.
 */
bool rb_ractor_with_constant(VALUE module, ID name, void (*func)(VALUE value, void *arg), void *arg);

/*
 * The Hash that is the constant +name+ of +module+; for a Ractor other than main a copy: with its default value, Symbols
 * and Strings as keys, and values that are shareable, Strings, and Arrays and Hashes of such.  Any Ractor.  Where anything
 * else is in it, or where it is no Hash, raises what naming the constant there raises, Ractor::IsolationError.
 */
VALUE rb_ractor_constant_hash(VALUE module, ID name);

RUBY_SYMBOL_EXPORT_END

#endif /* LOCKFREE_RACTOR_MAIN_CONSTANT_H */
