#ifndef LOCKFREE_GC_COLLECT_AT_ONCE_H
#define LOCKFREE_GC_COLLECT_AT_ONCE_H
/**********************************************************************

  gc/collect_at_once.h - a collection for want of something that is not the collector's

  Licence: see LICENSE.

**********************************************************************/

/* Part of gc/default/default.c. */

/* What is young and forgotten is freed; no finalizer is called yet, and nothing is done where the GC is disabled.  Any Ractor, with
 * or without the VM lock.  Runs no Ruby code. */
void
rb_gc_collect_at_once(void)
{
    garbage_collect(rb_gc_get_objspace(), GPR_FLAG_IMMEDIATE_MARK | GPR_FLAG_IMMEDIATE_SWEEP | GPR_FLAG_MALLOC);
}

#endif /* LOCKFREE_GC_COLLECT_AT_ONCE_H */
