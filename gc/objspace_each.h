#ifndef LOCKFREE_GC_OBJSPACE_EACH_H
#define LOCKFREE_GC_OBJSPACE_EACH_H
/**********************************************************************

  gc/objspace_each.h - ObjectSpace.each_object with several Ractors

  Licence: see LICENSE.

**********************************************************************/

/* What and why: gc/objspace_each.c. */

#include "ruby/internal/value.h"

VALUE rb_objspace_each_shareable(VALUE of);

#endif /* LOCKFREE_GC_OBJSPACE_EACH_H */
