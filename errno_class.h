#ifndef LOCKFREE_ERRNO_CLASS_H
#define LOCKFREE_ERRNO_CLASS_H
/**********************************************************************

  errno_class.h - the classes of errnos, for every Ractor

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of error.c.  An errno that has no class gets one when a system call
 * returns it, and the table of them may move then: it is looked up, and added
 * to, with the VM lock held.  The class itself is made without: Ruby code may
 * hear of it (inherited).  Of two that Ractors make, the first in the table is
 * the one.
 */

#include "vm_sync.h"

/* Whether +n+ has a class, in +error+.  Any Ractor. */
static bool
syserr_lookup(long n, st_data_t *error)
{
    bool found;

    RB_VM_LOCK_ENTER();
    found = st_lookup(syserr_tbl, n, error);
    RB_VM_LOCK_LEAVE();
    return found;
}

/* The class of +n+: +made+, or one that was there first.  Any Ractor. */
static VALUE
syserr_add(int n, VALUE made)
{
    st_data_t error = (st_data_t)made;

    RB_VM_LOCK_ENTER();
    if (!st_lookup(syserr_tbl, n, &error)) st_add_direct(syserr_tbl, n, error);
    RB_VM_LOCK_LEAVE();
    return (VALUE)error;
}

#endif /* LOCKFREE_ERRNO_CLASS_H */
