#ifndef LOCKFREE_GC_COLLECT_YOUNG_H
#define LOCKFREE_GC_COLLECT_YOUNG_H
/**********************************************************************

  gc/collect_young.h - a collection for want of something that is not the collector's

  Licence: see LICENSE.

**********************************************************************/

/* Part of gc/default/default.c. */

/* What is young and forgotten is found, and freed as pages are swept, as where malloc has given much: no finalizer is called yet,
 * and nothing is done where the GC is disabled.  Any Ractor, with or without the VM lock.  Runs no Ruby code. */
void
rb_gc_collect_young(void)
{
    garbage_collect(rb_gc_get_objspace(), GPR_FLAG_MALLOC);
}

#endif /* LOCKFREE_GC_COLLECT_YOUNG_H */
