#ifndef LOCKFREE_VM_CONSTANT_CACHE_H
#define LOCKFREE_VM_CONSTANT_CACHE_H
/**********************************************************************

  vm_constant_cache.h - the inline cache of constants, in memory order

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of vm_insnhelper.c.  Upstream's cache of a constant is an object that is
 * filled, published in one word, and never changed: any Ractor may hit it, if
 * the value is shareable, and a hit takes no lock.  Two things lacked.  The
 * publication was a plain store: on arm64 a Ractor could see the object before
 * what is in it.  And compiled code loaded the word twice, once to test it and
 * once for the value; between the two, a Ractor that sets a constant clears it.
 */

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
