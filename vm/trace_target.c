/**********************************************************************

  vm/trace_target.c - TracePoints of one method, in one Ractor

  Licence: see LICENSE.

**********************************************************************/

/* What and why: vm/trace_target.h. */

#include "internal.h"
#include "internal/gc.h"
#include "ractor_core.h"
#include "vm_sync.h"
#include "lockfree/vm/trace_target.h"

void rb_hook_list_free_hooks(rb_hook_list_t *list); /* vm_trace.c */

/* Whether there is a Ractor of that id.  VM lock. */
static bool
ractor_lives_p(uint32_t id)
{
    rb_ractor_t *r;
    ccan_list_for_each(&GET_VM()->ractor.set, r, vmlr_node) {
        if (rb_ractor_id(r) == id) return true;
    }
    return false;
}

/* The list of a Ractor that is no more, empty, for this one; or NULL.  VM lock.
 * Those who walk the lists meanwhile look for neither. */
static rb_hook_list_t *
local_hooks_inherit(rb_hook_list_t *list)
{
    while (list && ractor_lives_p(list->ractor_id)) list = list->next_ractor;
    if (!list) return NULL;

    rb_hook_list_free_hooks(list);
    list->events = 0;
    list->need_clean = false;
    list->running = 0;
    __atomic_store_n(&list->ractor_id, rb_ractor_id(GET_RACTOR()), __ATOMIC_RELAXED);
    return list;
}

/* The list of this Ractor among those at +place+.  VM lock.
 * Synchronises with rb_local_hooks_own: nothing written to the list may sink
 * below the store. */
rb_hook_list_t *
rb_local_hooks_own_or_new(rb_hook_list_t **place)
{
    rb_hook_list_t *list = rb_local_hooks_own(place);
    if (list || (list = local_hooks_inherit(*place))) return list;

    list = ZALLOC(rb_hook_list_t);
    list->is_local = true;
    list->ractor_id = rb_ractor_id(GET_RACTOR());
    list->next_ractor = *place;
    __atomic_store_n(place, list, __ATOMIC_RELEASE);
    return list;
}

/* What any Ractor traces there.  VM lock. */
rb_event_flag_t
rb_local_hooks_events(const rb_hook_list_t *list)
{
    rb_event_flag_t events = 0;
    for (; list; list = list->next_ractor) events |= list->events;
    return events;
}

/* The GC, all stop. */
void
rb_local_hooks_each(rb_hook_list_t *list, void (*func)(rb_hook_list_t *))
{
    for (; list; list = list->next_ractor) func(list);
}

/* The ISEQ or the definition is no more: nobody runs it. */
void
rb_local_hooks_free(rb_hook_list_t *list)
{
    while (list) {
        rb_hook_list_t *next = list->next_ractor;
        rb_hook_list_free_hooks(list);
        xfree(list);
        list = next;
    }
}

/* What any Ractor traces in all that it runs: +events+, of one that may not be
 * listed, and those of all that are.  VM lock. */
rb_event_flag_t
rb_ractor_hooks_events(rb_event_flag_t events)
{
    rb_ractor_t *r;
    ccan_list_for_each(&GET_VM()->ractor.set, r, vmlr_node) events |= r->pub.hooks.events;
    return events;
}

/* The Ractor is no more: nobody runs them, and what it alone traced is not traced.  The GC, and the end of the VM
 * (RUBY_FREE_AT_EXIT), when main's execution context may be freed, so that it cannot take the VM lock. */
void
rb_ractor_hooks_free(rb_hook_list_t *list)
{
    rb_hook_list_free_hooks(list);
    if (GET_VM()->ractor.main_thread->status != THREAD_KILLED) rb_hook_list_free(list);
}
