#ifndef LOCKFREE_VM_SUPER_SITE_H
#define LOCKFREE_VM_SUPER_SITE_H
/**********************************************************************

  vm/super_site.h - the name that a `super` calls

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of vm_insnhelper.c.
 *
 * Problem.  What `super` calls has the name of the running method, which is one
 * for a site, unless a block has been made a method under several names.  Stock
 * writes the name into the site at each call: with keywords that is an object,
 * found under the VM lock.  And a Ractor that went on with the site, to call
 * method_missing or to find what is refined, read the name of another one's.
 *
 * Solution.  The site is given a name when it has none.  With several Ractors it
 * keeps it; a method of another name calls from a copy of the site on the stack,
 * and finds its method in the Ractor's table (vm/method_cache.h).  With one
 * Ractor the site takes the new name, as in stock.
 *
 * A site that forwards (`f(...)`, `super(...)`) always calls from a copy on the
 * stack, and keeps what the copy found.
 */

static const struct rb_callcache *vm_search_super_method(const rb_control_frame_t *, struct rb_call_data *, VALUE);

/* The call info of the site, with another name. */
static inline const struct rb_callinfo *
vm_super_site_renamed(const struct rb_callinfo *ci, ID mid)
{
    return vm_ci_new_runtime(mid, vm_ci_flag(ci), vm_ci_argc(ci), vm_ci_kwarg(ci));
}

NOINLINE(static bool vm_super_site_set_name(const rb_iseq_t *iseq, struct rb_call_data *cd, ID mid));

/* Any Ractor.  The store releases the call info to who loads cd->ci and what it
 * points to, which the machine keeps in order. */
static bool
vm_super_site_set_name(const rb_iseq_t *iseq, struct rb_call_data *cd, ID mid)
{
    const struct rb_callinfo *ci = __atomic_load_n(&cd->ci, VM_CALL_SITE_ORDER);
    const bool shared = rb_multi_ractor_p();
    if (shared && vm_ci_mid(ci)) return false;

    const struct rb_callinfo *named = vm_super_site_renamed(ci, mid);
    if (!shared) {
        cd->ci = named;
    }
    else if (!__atomic_compare_exchange_n(&cd->ci, &ci, named, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
        return vm_ci_mid(ci) == mid;
    }
    RB_OBJ_WRITTEN(iseq, Qundef, named);
    return true;
}

/* Whether the site has that name, or could be given it.  Any Ractor. */
static inline bool
vm_super_site_named(const rb_iseq_t *iseq, struct rb_call_data *cd, ID mid)
{
    return LIKELY(vm_ci_mid(cd->ci) == mid) || vm_super_site_set_name(iseq, cd, mid);
}

NOINLINE(static VALUE vm_super_beside_site(rb_execution_context_t *, rb_control_frame_t *, struct rb_calling_info *));

/* Calls what `super` of the running method calls, whose name is not the site's. */
static VALUE
vm_super_beside_site(rb_execution_context_t *ec, rb_control_frame_t *reg_cfp, struct rb_calling_info *calling)
{
    struct rb_call_data cd = {
        .ci = vm_super_site_renamed(calling->cd->ci, rb_vm_frame_method_entry(reg_cfp)->def->original_id),
        .cc = vm_cc_empty(),
    };
    calling->cd = &cd;
    calling->cc = vm_search_super_method(reg_cfp, &cd, calling->recv);
    return vm_cc_call(calling->cc)(ec, reg_cfp, calling);
}

/* The site keeps +cc+, which a copy of it has found.  Any Ractor.  The store releases
 * the call cache to who loads cd->cc: vm_search_method_fastpath. */
static inline void
vm_call_site_keep(const rb_iseq_t *iseq, struct rb_call_data *cd, const struct rb_callcache *cc)
{
    if (__atomic_load_n(&cd->cc, __ATOMIC_RELAXED) == cc || !vm_cc_markable(cc)) return;

    __atomic_store_n(&cd->cc, cc, __ATOMIC_RELEASE);
    RB_OBJ_WRITTEN(iseq, Qundef, cc);
}

#endif /* LOCKFREE_VM_SUPER_SITE_H */
