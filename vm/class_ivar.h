#ifndef LOCKFREE_VM_CLASS_IVAR_H
#define LOCKFREE_VM_CLASS_IVAR_H
/**********************************************************************

  vm/class_ivar.h - the interpreter's inline cache for variables of classes

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of vm_insnhelper.c, included before vm_getivar and vm_setivar_slowpath,
 * whose case for classes and modules this is.  The cache (shape id, index) is one
 * word, says a thing that is true for ever, and is read and filled by every
 * Ractor.  A site that meets several layouts in several Ractors is filled again
 * and again.
 */

#include "lockfree/class_fields.h"

/* What the cache of @x or of an attr_ method knows: fill_ivar_cache's counterpart. */
static inline void
load_ivar_cache(IVC ic, const struct rb_callcache *cc, int is_attr, shape_id_t *shape_id, attr_index_t *index)
{
    if (is_attr) {
        vm_cc_atomic_shape_and_index(cc, shape_id, index);
    }
    else {
        vm_ic_atomic_shape_and_index(ic, shape_id, index);
    }
}

/* Misses: looks the variable up, fills the cache.  Qundef: not set. */
NOINLINE(static VALUE vm_getivar_class_miss(VALUE fields, shape_id_t shape_id, ID id, const rb_iseq_t *iseq, IVC ic, const struct rb_callcache *cc, int is_attr, attr_index_t index, shape_id_t cached_id));
static VALUE
vm_getivar_class_miss(VALUE fields, shape_id_t shape_id, ID id, const rb_iseq_t *iseq, IVC ic, const struct rb_callcache *cc, int is_attr, attr_index_t index, shape_id_t cached_id)
{
    RB_DEBUG_COUNTER_INC(ivar_get_ic_miss);

    if (shape_id == OBJ_TOO_COMPLEX_SHAPE_ID) {
        return rb_fields_table_lookup(IMEMO_FIELDS(fields)->as.table, id);
    }

    shape_id_t previous_cached_id = cached_id;
    if (!rb_shape_get_iv_index_with_hint(shape_id, id, &index, &cached_id)) {
        if (is_attr) {
            vm_cc_attr_index_initialize(cc, shape_id);
        }
        else {
            vm_ic_attr_index_initialize(ic, shape_id);
        }
        return Qundef;
    }
    if (cached_id != previous_cached_id) fill_ivar_cache(iseq, ic, cc, is_attr, index, cached_id);
    return index == ATTR_INDEX_NOT_SET ? Qundef : rb_fields_value_load_acquire(&rb_fields_ptr(fields)[index]);
}

/*
 * The value of +id+ of +klass+, or +default_value+ if it is not set; Qundef for
 * the latter asks defined?(@x), which no Ractor is denied.  Any Ractor, no lock.
 * Raises Ractor::IsolationError as rb_class_ivar_lookup does.
 */
ALWAYS_INLINE(static VALUE vm_getivar_class(VALUE klass, ID id, const rb_iseq_t *iseq, IVC ic, const struct rb_callcache *cc, int is_attr, VALUE default_value));
static inline VALUE
vm_getivar_class(VALUE klass, ID id, const rb_iseq_t *iseq, IVC ic, const struct rb_callcache *cc, int is_attr, VALUE default_value)
{
    VALUE fields = rb_class_fields_load_acquire(klass);
    if (UNLIKELY(!fields)) return default_value;

    shape_id_t shape_id = rb_fields_shape_id_load_acquire(fields);
    shape_id_t cached_id;
    attr_index_t index;
    VALUE val;

    load_ivar_cache(ic, cc, is_attr, &cached_id, &index);

    if (LIKELY(cached_id == shape_id)) {
        RB_DEBUG_COUNTER_INC(ivar_get_ic_hit);
        if (index == ATTR_INDEX_NOT_SET) return default_value;
        val = rb_fields_value_load_acquire(&rb_fields_ptr(fields)[index]);
    }
    else {
        val = vm_getivar_class_miss(fields, shape_id, id, iseq, ic, cc, is_attr, index, cached_id);
        if (UNDEF_P(val)) return default_value;
    }

    if (UNLIKELY(!rb_value_any_ractor_p(val)) && !UNDEF_P(default_value)) {
        rb_class_ivar_get_check_any_ractor(klass, id, val);
    }
    return val;
}

/*
 * The variable of +obj+, an object, class or module, that the cache +ic+ knows
 * the place of, nil if it knows that there is none; Qundef where it does not, or
 * where somebody must be asked whether this Ractor may have it.  Calls nothing,
 * so that a hit of @x pays for no stack frame.  Any Ractor.
 */
ALWAYS_INLINE(static VALUE vm_getivar_cached(VALUE obj, IVC ic));
static inline VALUE
vm_getivar_cached(VALUE obj, IVC ic)
{
    if (UNLIKELY(RB_SPECIAL_CONST_P(obj))) return Qundef;

    shape_id_t cached_id;
    attr_index_t index;
    vm_ic_atomic_shape_and_index(ic, &cached_id, &index);

    if (LIKELY(BUILTIN_TYPE(obj) == T_OBJECT)) {
        if (UNLIKELY(ROBJECT_SHAPE_ID(obj) != cached_id)) return Qundef;
        if (UNLIKELY(index == ATTR_INDEX_NOT_SET)) return Qnil;

        RB_DEBUG_COUNTER_INC(ivar_get_ic_hit);
        RB_DEBUG_COUNTER_INC(ivar_get_obj_hit);
        return ROBJECT_IVPTR(obj)[index];
    }
    if (LIKELY(rb_class_or_module_p(obj))) {
        VALUE fields = rb_class_fields_load_acquire(obj);
        if (UNLIKELY(!fields || rb_fields_shape_id_load_acquire(fields) != cached_id)) return Qundef;
        if (UNLIKELY(index == ATTR_INDEX_NOT_SET)) return Qnil;

        RB_DEBUG_COUNTER_INC(ivar_get_ic_hit);
        VALUE val = rb_fields_value_load_acquire(&rb_fields_ptr(fields)[index]);
        return LIKELY(rb_value_any_ractor_p(val)) ? val : Qundef;
    }
    return Qundef;
}

/* ---- writes: main alone ------------------------------------------- */

/*
 * Overwrites the variable at +index+ of +klass+, whose shape was +shape_id+, and
 * returns +val+; or Qundef, with nothing changed, where the cache does not hit:
 * another shape, a frozen class, or a Ractor that is not main.
 */
static inline VALUE
vm_setivar_class(VALUE klass, VALUE val, shape_id_t shape_id, attr_index_t index)
{
    if (UNLIKELY(OBJ_FROZEN_RAW(klass) || !rb_ractor_main_p())) return Qundef;
    VALUE result = Qundef;

    /* another writer may be copying the fields at this moment */
    RB_VM_LOCK_ENTER();
    {
        VALUE fields = rb_class_fields_load_acquire(klass);
        if (LIKELY(fields && rb_fields_shape_id_load_acquire(fields) == shape_id)) {
            RB_DEBUG_COUNTER_INC(ivar_set_ic_hit);
            rb_fields_value_store_release(fields, &rb_fields_ptr(fields)[index], val); /* W1 */
            result = val;
        }
    }
    RB_VM_LOCK_LEAVE();
    return result;
}

/*
 * Sets the variable, and returns +val+: overwrites it where the cache hits, or
 * sets it and fills the cache.  Called from upstream's slow path for both, so
 * that vm_setivar remains what it is in stock, code for objects.  Raises as
 * rb_ivar_set does.
 */
NOINLINE(static VALUE vm_setivar_class_slowpath(VALUE klass, ID id, VALUE val, const rb_iseq_t *iseq, IVC ic, const struct rb_callcache *cc, int is_attr));
static VALUE
vm_setivar_class_slowpath(VALUE klass, ID id, VALUE val, const rb_iseq_t *iseq, IVC ic, const struct rb_callcache *cc, int is_attr)
{
    shape_id_t shape_id;
    attr_index_t index;
    load_ivar_cache(ic, cc, is_attr, &shape_id, &index);
    if (LIKELY(!UNDEF_P(vm_setivar_class(klass, val, shape_id, index)))) return val;

    RB_DEBUG_COUNTER_INC(ivar_set_ic_miss);
    rb_ivar_set(klass, id, val);

    shape_id = rb_class_fields_shape_id(klass);
    if (shape_id != OBJ_TOO_COMPLEX_SHAPE_ID && rb_shape_get_iv_index(rb_shape_at(shape_id), id, &index)) {
        fill_ivar_cache(iseq, ic, cc, is_attr, index, shape_id);
    }
    return val;
}

#endif /* LOCKFREE_VM_CLASS_IVAR_H */
