#ifndef LOCKFREE_VM_KEEP_METHOD_H
#define LOCKFREE_VM_KEEP_METHOD_H
/**********************************************************************

  vm/keep_method.h - a method that is replaced while it is being called

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of vm_insnhelper.c.
 *
 * Problem.  A call cache does not keep its method alive: the class does, for as
 * long as it has it.  Between the look-up and the frame, which keeps it as well,
 * arguments are collected (`*`, `**`), and that may let the GC of another Ractor
 * run, which may have replaced the method before.  The frame is then pushed for
 * a method that is no more.
 *
 * Solution.  Who collects arguments has the method on the machine's stack,
 * where the GC finds it, until the frame is pushed, or for as long as it is
 * looked at: hooks of C calls run Ruby code, and finding out what is refined
 * waits for the VM lock.  The ways of calls that do none of these come to no safe
 * point; one that may (keywords over the 32nd make a Hash) has the method in a
 * variable that it needs afterwards.
 */

#include "lockfree/vm/forced_inline.h"

/* The method that is called.  The running Ractor's own call. */
#define VM_KEPT_METHOD(calling) ((VALUE)vm_cc_cme((calling)->cc))

/* Returns what +call+ gives, which pushes the frame. */
#define VM_RETURN_KEEPING(kept, call) do { \
    VALUE result = (call); \
    RB_GC_GUARD(kept); \
    return result; \
} while (0)

#endif /* LOCKFREE_VM_KEEP_METHOD_H */
