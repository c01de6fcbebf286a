#ifndef LOCKFREE_VM_CLASS_VARIABLE_H
#define LOCKFREE_VM_CLASS_VARIABLE_H
/**********************************************************************

  vm/class_variable.h - the inline cache of @@x, for every Ractor

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of vm_insnhelper.c.  The value of @@x lies in the fields object of the
 * class or module that has it, its owner; which one that is says a walk over
 * the ancestors, which the cache saves.
 *
 * Note [CVAR-CACHE]
 * ~~~~~~~~~~~~~~~~~
 * What a look-up has found is one object, struct rb_cvar_cache, filled before
 * it is published and never changed: nobody sees one look-up's owner beside
 * another's class, as with stock's entries, which the sites share and refill
 * in place.  The GC keeps it for whoever still reads it.
 *
 *   who changes what a look-up finds       | a reader (no lock)
 *   ---------------------------------------+--------------------------------
 *   C1  a variable, or an ancestor, is     | c = ic->entry        (acquire)
 *       published                          | c->state == state    (acquire)
 *   C2  state += 1            (release)    |     hit: the value out of the
 *                                          |     owner's fields, as
 *   a look-up that missed                  |     [FIELDS-PUBLISH]; gone: miss
 *     C3  s = state           (acquire)    |
 *     C4  walk over the ancestors          |
 *     C5  ic->entry = (s, ...) (release)   |
 *
 *   C5 / load of c:      the whole of c is seen.
 *   C2 / C3:             a walk that is filed under the new state has seen
 *                        the change.  Hence the state is read before the walk,
 *                        and advanced after the change.
 *   C2 / load of state:  who has been told of the change, by whatever means,
 *                        does not hit what was found before it.
 *   Removal is a change like any other; a reader that comes between C1 and C2
 *   finds no value, and looks again.
 */

#include "lockfree/class_fields.h"

/* The cache at a site, or NULL.  Synchronises with vm_cvar_cache_store_release
 * (C5). */
static inline const struct rb_cvar_cache *
vm_cvar_cache_load_acquire(ICVARC ic)
{
    return __atomic_load_n(&ic->entry, __ATOMIC_ACQUIRE);
}

/* Synchronises with vm_cvar_cache_load_acquire (C5). */
static inline void
vm_cvar_cache_store_release(const rb_iseq_t *iseq, ICVARC ic, const struct rb_cvar_cache *cache)
{
    __atomic_store_n(&ic->entry, cache, __ATOMIC_RELEASE);
    RB_OBJ_WRITTEN(iseq, Qundef, cache);
}

static inline bool
vm_cvar_cache_hit_p(const struct rb_cvar_cache *cache, VALUE base)
{
    return cache && cache->base == base && cache->state == rb_cvar_state_load_acquire();
}

/* Finds the variable, fills the cache.  Any Ractor.  Raises NameError,
 * RuntimeError (overtaken), Ractor::IsolationError. */
NOINLINE(static VALUE vm_cvar_find(const rb_iseq_t *iseq, VALUE base, ID id, ICVARC ic));
static VALUE
vm_cvar_find(const rb_iseq_t *iseq, VALUE base, ID id, ICVARC ic)
{
    VALUE owner = 0;
    rb_serial_t state = rb_cvar_state_load_acquire();
    VALUE val = rb_cvar_find(base, id, &owner);

    if (RB_TYPE_P(owner, T_ICLASS)) owner = RBASIC(owner)->klass;
    vm_cvar_cache_store_release(iseq, ic, rb_cvar_cache_new(base, owner, id, state));
    return val;
}

/* The value of a variable that the cache hits, or Qundef if it is gone or lies
 * elsewhere now. */
static inline VALUE
vm_cvar_cached_value(const struct rb_cvar_cache *cache, ID id)
{
    VALUE fields = rb_class_fields_load_acquire(cache->owner);

    if (LIKELY(fields && rb_fields_shape_id_load_acquire(fields) == cache->shape_id)) {
        return rb_fields_value_load_acquire(&rb_fields_ptr(fields)[cache->index]);
    }
    /* a table has no index to cache */
    return cache->shape_id == INVALID_SHAPE_ID ? rb_ivar_lookup(cache->owner, id, Qundef) : Qundef;
}

/*
 * The value of @@x.  Any Ractor; no lock when the cache hits.  Raises as
 * vm_cvar_find does, and RuntimeError at the top level.
 */
static inline VALUE
vm_getclassvariable(const rb_iseq_t *iseq, const rb_control_frame_t *reg_cfp, ID id, ICVARC ic)
{
    VALUE base = vm_get_cvar_base(vm_get_cref(GET_EP()), reg_cfp, 1);
    const struct rb_cvar_cache *cache = vm_cvar_cache_load_acquire(ic);
    VALUE val = LIKELY(vm_cvar_cache_hit_p(cache, base)) ? vm_cvar_cached_value(cache, id) : Qundef;

    if (UNLIKELY(UNDEF_P(val))) return vm_cvar_find(iseq, base, id, ic);

    RB_DEBUG_COUNTER_INC(cvar_read_inline_hit);
    if (UNLIKELY(!rb_value_any_ractor_p(val))) rb_cvar_get_check_any_ractor(cache->owner, id, val);
    return val;
}

/*
 * Sets @@x.  The main Ractor; raises Ractor::IsolationError in another,
 * otherwise as rb_cvar_set does.
 */
static inline void
vm_setclassvariable(const rb_iseq_t *iseq, const rb_control_frame_t *reg_cfp, ID id, VALUE val, ICVARC ic)
{
    VALUE base = vm_get_cvar_base(vm_get_cref(GET_EP()), reg_cfp, 1);
    const struct rb_cvar_cache *cache = vm_cvar_cache_load_acquire(ic);

    if (LIKELY(vm_cvar_cache_hit_p(cache, base)) && LIKELY(rb_ractor_main_p())) {
        RB_DEBUG_COUNTER_INC(cvar_write_inline_hit);
        if (UNDEF_P(vm_setivar_class(cache->owner, val, cache->shape_id, cache->index))) {
            rb_class_ivar_set(cache->owner, id, val);
        }
        return;
    }

    rb_cvar_set(base, id, val);
    vm_cvar_find(iseq, base, id, ic);
}

#endif /* LOCKFREE_VM_CLASS_VARIABLE_H */
