#ifndef LOCKFREE_VM_FREEOBJ_HOOKS_H
#define LOCKFREE_VM_FREEOBJ_HOOKS_H
/**********************************************************************

  vm/freeobj_hooks.h - hooks of objects that another Ractor sweeps

  Licence: see LICENSE.

**********************************************************************/

/*
 * The Ractor that sweeps frees the objects of all, but calls its own hooks only.
 * ObjectSpace.trace_object_allocations, which is main's, kept its records of
 * them then, and had them for what was made in their place.
 *
 * The sweep holds the VM lock, under which a list of hooks is linked
 * (hook_list_connect) and cleaned (clean_hooks).  It does not count itself in:
 * that, and to clean up after it, is for the list's own Ractor.  For
 * vm_trace.c, after exec_hooks_body.
 */

#include "ractor_core.h"

/* Calls the hooks that other Ractors have for the end of +obj+.  The Ractor that sweeps; VM lock. */
void
rb_exec_freeobj_hooks_of_others(rb_execution_context_t *ec, VALUE obj)
{
    rb_trace_arg_t *outer = ec->trace_arg, arg = {
        .event = RUBY_INTERNAL_EVENT_FREEOBJ, .ec = ec, .cfp = ec->cfp, .self = ec->cfp->self, .data = obj, .path = Qundef,
    };
    rb_ractor_t *ractor;

    if (outer && (outer->event & RUBY_INTERNAL_EVENT_MASK)) return;
    ec->trace_arg = &arg;
    ccan_list_for_each(&GET_VM()->ractor.set, ractor, vmlr_node) {
        rb_hook_list_t *list = &ractor->pub.hooks;
        if (list != rb_ec_ractor_hooks(ec) && (list->events & arg.event)) exec_hooks_body(ec, list, &arg);
    }
    ec->trace_arg = outer;
}

#endif /* LOCKFREE_VM_FREEOBJ_HOOKS_H */
