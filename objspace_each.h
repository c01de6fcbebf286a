#ifndef LOCKFREE_OBJSPACE_EACH_H
#define LOCKFREE_OBJSPACE_EACH_H
/**********************************************************************

  objspace_each.h - ObjectSpace.each_object with several Ractors

  Licence: see LICENSE.

**********************************************************************/

/* What and why: objspace_each.c. */

#include "ruby/internal/value.h"

VALUE rb_objspace_each_shareable(VALUE of);

#endif /* LOCKFREE_OBJSPACE_EACH_H */
