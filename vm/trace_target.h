#ifndef LOCKFREE_VM_TRACE_TARGET_H
#define LOCKFREE_VM_TRACE_TARGET_H
/**********************************************************************

  vm/trace_target.h - TracePoints of one method, in one Ractor

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  TracePoint#enable(target:) puts its hook into a list that hangs on
 * the ISEQ, or on the definition of a method made of a block, and so on what all
 * Ractors run: they walked it, counted themselves in and out of it, and freed it
 * under one another; and ran the block of a Proc of another Ractor.
 *
 * Representation.  As TracePoint#enable without a target, it is for the Ractor
 * that enables it.  On the ISEQ or definition hang as many lists as Ractors have
 * had a target there at a time, linked by next_ractor: that of a Ractor which is
 * no more is for the next one.  A TracePoint that outlives its Ractor, as what
 * take returns, has no list to be removed from.
 *
 * Invariants.
 *   [A] A list is changed, run and cleaned by its Ractor alone.  The GC marks it,
 *       all others stopped.
 *   [B] A list is linked in once, complete, under the VM lock, and freed with the
 *       ISEQ or definition.  An empty one is its Ractor's to use again.  Its
 *       ractor_id changes under the VM lock when no Ractor has that id.
 *   [C] Instructions are made to trace, and made not to, under the VM lock, by
 *       the events of all lists; these change under it too.
 *
 * And what is traced somewhere at all, which is what the interpreter asks first,
 * is what any Ractor traces: upstream has what the last one to say so traces,
 * or the last one that was collected.  It changes under the VM lock, with the
 * instructions.
 */

#include "vm_core.h"

/* The list of this Ractor among those at +place+, or NULL.  Any Ractor, no lock.
 * Synchronises with rb_local_hooks_own_or_new: without the acquire the list
 * could be read before it was written. */
static inline rb_hook_list_t *
rb_local_hooks_own(rb_hook_list_t *const *place)
{
    rb_hook_list_t *list = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (LIKELY(!list)) return NULL;

    const struct rb_ractor_struct *self = GET_RACTOR();
    const uint32_t id = ((const struct rb_ractor_pub *)self)->id;
    while (list && __atomic_load_n(&list->ractor_id, __ATOMIC_RELAXED) != id) list = list->next_ractor;
    return list;
}

/* vm/trace_target.c */
rb_hook_list_t *rb_local_hooks_own_or_new(rb_hook_list_t **place);
rb_event_flag_t rb_local_hooks_events(const rb_hook_list_t *list);
void rb_local_hooks_each(rb_hook_list_t *list, void (*func)(rb_hook_list_t *));
void rb_local_hooks_free(rb_hook_list_t *list);
rb_event_flag_t rb_ractor_hooks_events(rb_event_flag_t events);
void rb_ractor_hooks_free(rb_hook_list_t *list);

#endif /* LOCKFREE_VM_TRACE_TARGET_H */
