#ifndef LOCKFREE_GC_COLLECT_YOUNG_H
#define LOCKFREE_GC_COLLECT_YOUNG_H
/**********************************************************************

  gc/collect_young.h - a collection for want of something that is not the collector's

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc/default/default.c.
 *
 * Who asks for such collections, as fiber_pool.h does, may do so several times while the
 * system lets another Ractor wait for a processor.  What that one holds at the moment, be
 * it forgotten in the next, would have become old: an object does when three collections
 * have found it, and then only a major one frees it, and what it refers to.  So but one of
 * GC_YOUNG_TURNS of these lets what it finds become older.
 */

enum { GC_YOUNG_TURNS = 8 };

/* VM lock. */
static unsigned int gc_young_turn;
static bool gc_young_keeps_ages; /* of what is marked */

/* What is young and forgotten is freed; no finalizer is called yet, and nothing is done where the GC is disabled.  Any Ractor, with
 * or without the VM lock.  Runs no Ruby code. */
void
rb_gc_collect_young(void)
{
    unsigned int lev = rb_gc_vm_lock();
    gc_young_keeps_ages = ++gc_young_turn % GC_YOUNG_TURNS != 0;
    garbage_collect(rb_gc_get_objspace(), GPR_FLAG_IMMEDIATE_MARK | GPR_FLAG_IMMEDIATE_SWEEP | GPR_FLAG_MALLOC);
    gc_young_keeps_ages = false;
    rb_gc_vm_unlock(lev);
}

#endif /* LOCKFREE_GC_COLLECT_YOUNG_H */
