#ifndef LOCKFREE_GC_TYPED_FREE_H
#define LOCKFREE_GC_TYPED_FREE_H
/**********************************************************************

  gc/typed_free.h - types whose objects are freed beside other Ractors

  Licence: see LICENSE.

**********************************************************************/

/*
 * A flag of rb_data_type_t, for types of CRuby's own that have a dfree: that a Ractor may
 * call it without the VM lock, for an object that another has made, while others run Ruby
 * (gc/sweep_claim.h).  Such a dfree changes nothing but what the object alone had, and what
 * has a lock that is a leaf; it raises nothing, makes no object, and comes to no safe point.
 * With RUBY_TYPED_FREE_IMMEDIATELY only.  RUBY_DEFAULT_FREE needs no flag.
 */

#define RUBY_TYPED_FREE_ANY_RACTOR ((VALUE)1 << (RUBY_FL_USHIFT + 19)) /* RUBY_FL_USER19 is negative: a VALUE of it has all bits above */

#endif /* LOCKFREE_GC_TYPED_FREE_H */
