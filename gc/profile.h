#ifndef LOCKFREE_GC_PROFILE_H
#define LOCKFREE_GC_PROFILE_H
/**********************************************************************

  gc/profile.h - GC::Profiler, for every Ractor

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc/default/default.c.
 *
 * Problem.  A collection appends its record to an array that grows, while
 * GC::Profiler's methods walk that array, or free it, in whichever Ractor calls
 * them.  With one Ractor, too: what they make of a record can set off a
 * collection, which moves the array.
 *
 * Solution.  A collection writes with the VM lock held; so do the methods that
 * switch or clear, and those that walk take a copy with it.
 */

/* GC::Profiler.enable, .disable (+run+) and .clear.  Any Ractor. */
static void
gc_profile_restart(rb_objspace_t *objspace, int run, bool clear)
{
    void *records = NULL;
    unsigned int lev = rb_gc_vm_lock();

    objspace->profile.run = run;
    objspace->profile.current_record = 0;
    if (clear) {
        records = objspace->profile.records;
        objspace->profile.records = NULL;
        objspace->profile.size = 0;
        objspace->profile.next_index = 0;
    }
    rb_gc_vm_unlock(lev);
    free(records);
}

/* A copy of the records there are, for as long as +buffer+ is on the stack, and in +count+ how many; none while the
 * profiler does not run.  Any Ractor. */
static const gc_profile_record *
gc_profile_copy(rb_objspace_t *objspace, size_t *count, volatile VALUE *buffer)
{
    unsigned int lev = rb_gc_vm_lock();
    size_t records = objspace->profile.run ? objspace->profile.next_index : 0;
    rb_gc_vm_unlock(lev);

    gc_profile_record *copy = rb_alloc_tmp_buffer(buffer, (long)(sizeof(*copy) * records)); /* may collect */

    lev = rb_gc_vm_lock();
    *count = records < objspace->profile.next_index ? records : objspace->profile.next_index;
    if (*count > 0) memcpy(copy, objspace->profile.records, sizeof(*copy) * *count);
    rb_gc_vm_unlock(lev);
    return copy;
}

#endif /* LOCKFREE_GC_PROFILE_H */
