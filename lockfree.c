/**********************************************************************

  lockfree.c - RubyVM::Lockfree, the namespace of what this Ruby adds

  Licence: see LICENSE.

**********************************************************************/

/*
 * Whatever the project adds to Ruby for its users to call or to read is found
 * in this one module, now and later, so that they can ask for it in one way.
 */

#include "internal.h"
#include "lockfree.h"
#include "vm_core.h"

/*
 *  Document-module: RubyVM::Lockfree
 *
 *  This Ruby's Ractors read the instance variables of classes and modules,
 *  class variables and constants without a lock.  The module is there in such
 *  a Ruby only, and holds all that it adds to Ruby:
 *
 *    if defined?(RubyVM::Lockfree)
 *      puts "Ractors run in parallel: lockfree #{RubyVM::Lockfree::VERSION}"
 *    end
 *
 *  <tt>ruby -v</tt> and RUBY_DESCRIPTION have <tt>+LOCKFREE</tt> as well.
 *  RUBY_ENGINE, RUBY_VERSION and RUBY_PLATFORM are those of the Ruby that this
 *  one stands in for.
 */

void
Init_lockfree(void)
{
    VALUE lockfree = rb_define_module_under(rb_cRubyVM, "Lockfree");

    /* The version of what is added, as in "1.0.0"; RUBY_VERSION is that of Ruby. Any Ractor can read it. */
    rb_define_const(lockfree, "VERSION", rb_obj_freeze(rb_usascii_str_new_lit(RUBY_LOCKFREE_VERSION)));
}
