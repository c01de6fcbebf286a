#ifndef LOCKFREE_RACTOR_MAIN_CONSTANT_H
#define LOCKFREE_RACTOR_MAIN_CONSTANT_H
/**********************************************************************

  ractor/main_constant.h - what main has in a constant, copied for another Ractor

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  Ruby's own libraries keep what they work with in constants: the parsers of
 * OptionParser, the levels of Logger, the entities of REXML, RbConfig::CONFIG.  Most of
 * it is not frozen, so that a Ractor may not have it, and cannot use the library.  To
 * freeze it would be seen in main, and some of it is changed: by a program, which adds a
 * parser, or by itself, as a Gem::Version that notes its segments.
 *
 * Solution.  As a process that is forked has its own, so has a Ractor: when it first names
 * such a constant it gets a copy of what main has there at that moment, and has that from
 * then on.  What is shareable is not copied; what is met twice is copied once, also when
 * it is in two constants.  Main's objects stay as they are.
 *
 * Problem 2.  A library keeps its defaults in a constant whose object programs change:
 * OpenSSL::SSL::SSLContext::DEFAULT_PARAMS[:min_version] = :TLS1_2.  Defaults of its own
 * would ignore, in silence, what main sets later.
 *
 * Solution.  C code of the library copies what it wants of it each time.
 *
 * Both copy while all others stand.  They stand where they could also collect garbage: an
 * object is whole there.  No method of Ruby is called meanwhile, which might wait for one
 * who stands: objects have their variables copied, and their initialize_copy is not asked.
 * What may call one comes when the others go on: Hashes, which ask keys for their `hash`,
 * get their pairs, objects their variables, and Regexps are compiled.
 *
 * Limits.  It stops all Ractors: for what is done once, or once for a connection, not for
 * a line.  It does not autoload.  Only constants in the modules that main_constant.c names,
 * and what programs put there; all other constants raise what they raise upstream.  No copy
 * of what has a singleton class, of what C code made (but Mutexes, and Procs that refer to no
 * variables around them), or of much; and what could not be copied is not tried again.  What
 * main replaces a Ractor keeps, with its copy, as long as it lives.  A Ractor that is main,
 * since it has forked, names what main did.  Where a method is called that gives way to
 * another thread of the Ractor, what is in two constants may be copied twice; a key whose
 * `hash` names the constant has it copied again and again, until the stack ends; one whose
 * `hash` depends on a Hash that is filled later, through a cycle, is not found.
 *
 * The copies of a Ractor are in its local storage: it alone reads and writes them.
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
 * The Hash that is the constant +name+ of +module+; for a Ractor other than main a copy, another one each time: with its
 * default value, and what is shareable, Strings, Arrays and Hashes in it.  Any Ractor.  Where anything else is in it, or where
 * it is no Hash, raises what naming the constant there raises, Ractor::IsolationError.
 */
VALUE rb_ractor_constant_hash(VALUE module, ID name);

RUBY_SYMBOL_EXPORT_END

/*
 * What the current Ractor, another than main, has for +value+, which is unshareable, and which the constant +name+ is
 * where it is looked up in +module+.  Qundef: nothing, since that is a program's, or there is no copy.
 */
VALUE rb_ractor_library_constant(VALUE module, ID name, VALUE value);

void Init_ractor_main_constant(void);

#endif /* LOCKFREE_RACTOR_MAIN_CONSTANT_H */
