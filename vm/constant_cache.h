#ifndef LOCKFREE_VM_CONSTANT_CACHE_H
#define LOCKFREE_VM_CONSTANT_CACHE_H
/**********************************************************************

  vm/constant_cache.h - the inline cache of constants, in memory order

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of vm_insnhelper.c.  Upstream's cache of a constant is an object that is
 * filled, published in one word, and never changed: any Ractor may hit it, if
 * the value is shareable, and a hit takes no lock.  Three things lacked.  The
 * publication was a plain store: on arm64 a Ractor could see the object before
 * what is in it.  Compiled code loaded the word twice, once to test it and once
 * for the value; between the two, a Ractor that sets a constant clears it.  And
 * a Ractor that had looked a constant up before it was set, and filled the
 * cache after it was cleared, kept the old value for ever.  So a state advances
 * with each clearing (rb_vm_constant_state, vm/constant_table.h); who misses reads it
 * before the look-up, and fills the cache, under the VM lock, only if it has not
 * moved.  Clearing holds that lock as well, and comes after the change, or, when a
 * constant is set, with it.
 */

#include "lockfree/vm/constant_table.h"

/* Whether what was found after +state+ was read may be cached.  VM lock.  With
 * one Ractor always: what the look-up itself has set (autoload, const_missing)
 * counts. */
static inline bool
vm_constant_state_same_p(rb_serial_t state)
{
    return !rb_multi_ractor_p() || state == vm_constant_state_load_acquire();
}

/* The cache at a site, or NULL.  Any Ractor; one load for test and value.
 * Synchronises with vm_ic_entry_store_release. */
static inline const struct iseq_inline_constant_cache_entry *
vm_ic_entry_load_acquire(IC ic)
{
    return __atomic_load_n(&ic->entry, __ATOMIC_ACQUIRE);
}

/* Any Ractor.  Synchronises with vm_ic_entry_load_acquire. */
static inline void
vm_ic_entry_store_release(const rb_iseq_t *iseq, IC ic, struct iseq_inline_constant_cache_entry *entry)
{
    __atomic_store_n(&ic->entry, entry, __ATOMIC_RELEASE);
    RB_OBJ_WRITTEN(iseq, Qundef, entry);
}

static bool vm_ic_hit_p(const struct iseq_inline_constant_cache_entry *ice, const VALUE *reg_ep);

/* The value of a cache that hits in the frame of +reg_ep+, or Qundef.  Any
 * Ractor.  For compiled code: allocates and raises nothing. */
VALUE
rb_vm_ic_hit_value(IC ic, const VALUE *reg_ep)
{
    const struct iseq_inline_constant_cache_entry *entry = vm_ic_entry_load_acquire(ic);
    return entry && vm_ic_hit_p(entry, reg_ep) ? entry->value : Qundef;
}

#endif /* LOCKFREE_VM_CONSTANT_CACHE_H */
