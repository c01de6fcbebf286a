/**********************************************************************

  variable.c - instance variables (and class variables) of classes and modules

  Licence: see LICENSE.

**********************************************************************/

/*
 * Readers take one snapshot of the fields object and answer from it; writers
 * hold the VM lock and publish.  The protocol is Note [FIELDS-PUBLISH] in
 * class_fields.h, and each function here says which of its lines it is.
 *
 * Class variables are kept as instance variables whose ids begin with @@, the
 * internal ones (autoload tables, __members__, ...) under ids without @.  The
 * isolation rules of ractor.c are about plain instance variables only.
 */

#include "internal.h"
#include "internal/class.h"
#include "internal/error.h"
#include "internal/gc.h"
#include "internal/imemo.h"
#include "internal/object.h"
#include "internal/variable.h"
#include "vm_sync.h"

/* =========================================================================
 * readers: any Ractor, no lock
 * ========================================================================= */

/* The shape of the snapshot +fields+: the root where there are no variables. */
static rb_shape_t *
fields_shape(VALUE fields)
{
    return rb_shape_at(fields ? rb_fields_shape_id_load_acquire(fields) : ROOT_SHAPE_ID);
}

static bool
shape_too_complex_p(const rb_shape_t *shape)
{
    return UNLIKELY(shape->type == SHAPE_OBJ_TOO_COMPLEX);
}

static struct rb_fields_table *
fields_table(VALUE fields)
{
    return IMEMO_FIELDS(fields)->as.table;
}

/* The value of +id+ in the snapshot +fields+ (0: no variables), or Qundef. */
static VALUE
fields_lookup(VALUE fields, ID id)
{
    if (!fields) return Qundef;
    rb_shape_t *shape = fields_shape(fields);
    if (shape_too_complex_p(shape)) return rb_fields_table_lookup(fields_table(fields), id);

    const rb_shape_t *set = rb_shape_iv_find(shape, id);
    if (!set) return Qundef;
    return rb_fields_value_load_acquire(&rb_fields_ptr(fields)[set->next_iv_index - 1]);
}

/*
 * The value of the variable +id+ of +klass+, or +undef+ if it is not set.  Any
 * Ractor.  Raises Ractor::IsolationError where a plain instance variable holds
 * an unshareable value and the Ractor is not main.
 */
VALUE
rb_class_ivar_lookup(VALUE klass, ID id, VALUE undef)
{
    VALUE val = fields_lookup(rb_class_fields_load_acquire(klass), id);

    if (UNDEF_P(val)) return undef;
    if (UNLIKELY(!rb_value_any_ractor_p(val))) rb_class_ivar_get_check_any_ractor(klass, id, val);
    return val;
}

/* Qtrue if the variable +id+ of +klass+ is set, else Qfalse.  Any Ractor. */
VALUE
rb_class_ivar_defined(VALUE klass, ID id)
{
    return RBOOL(!UNDEF_P(fields_lookup(rb_class_fields_load_acquire(klass), id)));
}

/* How many variables +klass+ has, internal ones and @@x included.  Any Ractor. */
uint32_t
rb_class_ivar_count(VALUE klass)
{
    VALUE fields = rb_class_fields_load_acquire(klass);
    rb_shape_t *shape = fields_shape(fields);

    return shape_too_complex_p(shape) ?
        rb_fields_table_count_load_acquire(fields_table(fields)) : shape->next_iv_index;
}

typedef int fields_foreach_func(ID id, VALUE val, st_data_t arg);

/* Calls +func+ for each variable of a shape, in the order of their setting. */
static void
fields_foreach_shape(VALUE fields, rb_shape_t *shape, fields_foreach_func *func, st_data_t arg)
{
    attr_index_t count = shape->next_iv_index;
    VALUE ids_buffer;
    ID *ids = ALLOCV_N(ID, ids_buffer, count);

    rb_shape_iv_ids(shape, 0, ids);
    for (attr_index_t i = 0; i < count; i++) {
        VALUE val = rb_fields_value_load_acquire(&rb_fields_ptr(fields)[i]);
        if (func(ids[i], val, arg) == ST_STOP) break;
    }
    ALLOCV_END(ids_buffer);
    RB_GC_GUARD(fields);
}

static void
fields_foreach_table(VALUE fields, fields_foreach_func *func, st_data_t arg)
{
    struct rb_fields_table *table = fields_table(fields);
    uint32_t count = rb_fields_table_count_load_acquire(table);

    for (uint32_t i = 0; i < count; i++) {
        struct rb_fields_entry *entry = &table->entries[i];
        if (func(entry->key, rb_fields_value_load_acquire(&entry->value), arg) == ST_STOP) break;
    }
    RB_GC_GUARD(fields);
}

static void
fields_foreach(VALUE fields, fields_foreach_func *func, st_data_t arg)
{
    rb_shape_t *shape = fields_shape(fields);

    if (shape_too_complex_p(shape)) {
        fields_foreach_table(fields, func, arg);
    }
    else {
        fields_foreach_shape(fields, shape, func, arg);
    }
}

/*
 * Calls +func+ with the id and the value of each variable of +klass+, in the
 * order of their setting, until it returns ST_STOP.  The variables are those of
 * the moment of the call; +func+ may set and remove.  Any Ractor: the values
 * are not asked whether they are shareable, as in upstream.
 */
void
rb_class_ivar_foreach(VALUE klass, int (*func)(ID, VALUE, st_data_t), st_data_t arg)
{
    fields_foreach(rb_class_fields_load_acquire(klass), func, arg);
}

/*
 * Where the variable +id+ of +klass+ lies at this moment, for code to be
 * compiled, which then guards on the shape id.  The caller holds the VM lock
 * (YJIT compiles under it).
 */
void
rb_class_ivar_locate(VALUE klass, ID id, struct rb_class_ivar_location *location)
{
    VALUE fields = rb_class_fields_load_acquire(klass);
    rb_shape_t *shape = fields_shape(fields);
    attr_index_t index = 0;

    MEMZERO(location, struct rb_class_ivar_location, 1);
    location->has_fields = fields != 0;
    location->fields_obj_offset = rb_class_fields_obj_offset(klass);
    if (!fields || shape_too_complex_p(shape)) return;

    location->has_shape = true;
    location->shape_id = rb_shape_id(shape);
    location->heap = rb_fields_heap_p(fields);
    location->shape_id_offset = offsetof(struct rb_imemo_fields, shape_id);
    location->values_offset = offsetof(struct rb_imemo_fields, as);

    if (!rb_shape_get_iv_index(shape, id, &index)) return;
    location->set = true;
    VALUE val = rb_fields_value_load_acquire(&rb_fields_ptr(fields)[index]);
    location->any_ractor = rb_value_any_ractor_p(val);
    location->fixnum = FIXNUM_P(val);
    location->value_offset = (int32_t)(index * sizeof(VALUE));
}

/* =========================================================================
 * writers: the VM lock
 * ========================================================================= */

/* W5: +fields+ holds all that the variables of +klass+ are from now on. */
static void
class_fields_publish_locked(VALUE klass, VALUE fields)
{
    ASSERT_vm_locking();
    RUBY_ASSERT(rb_imemo_fields_valid_p(fields));
#ifdef LOCKFREE_GC_CHECK
    rb_gc();
#endif

    rb_class_fields_store_release(klass, fields);
}

/* W4: a new object of the shape +shape_id+ with the first +count+ values of
 * +fields+ and room for +capacity+.  The caller fills the rest. */
static VALUE
fields_copy_locked(VALUE fields, attr_index_t count, shape_id_t shape_id, attr_index_t capacity)
{
    VALUE copy = rb_imemo_fields_new(shape_id, capacity);

    if (count > 0) MEMCPY(rb_fields_ptr(copy), rb_fields_ptr(fields), VALUE, count);
    /* the allocation of its memory may have let the GC see the object */
    rb_gc_writebarrier_remember(copy);
    RB_GC_GUARD(fields);
    return copy;
}

/* At which capacity to go on when +capacity+ is full: about +more+ more, and at
 * least one.  Half as much again for a copy; rb_imemo_fields_new rounds it up
 * to a slot.  An eighth where memory grows in place, which costs less. */
static attr_index_t
fields_grow_capa(attr_index_t capacity, attr_index_t more)
{
    more = CAPACITY_OR_TINY(more, 0);
    return more < MAX_IVARS - capacity ? capacity + more + 1 : MAX_IVARS;
}

struct complex_copy {
    VALUE to;
    ID except;
};

static int
complex_copy_i(ID id, VALUE val, st_data_t arg)
{
    const struct complex_copy *copy = (const struct complex_copy *)arg;

    if (id != copy->except) rb_fields_table_append(copy->to, id, val);
    return ST_CONTINUE;
}

/* W4: a new object with a table of all variables of +fields+ but +except+, and
 * room for +capacity+ in all. */
static VALUE
fields_copy_complex_locked(VALUE fields, ID except, uint32_t capacity)
{
    struct complex_copy copy = {
        .to = rb_imemo_fields_new_complex(capacity),
        .except = except,
    };

    fields_foreach(fields, complex_copy_i, (st_data_t)&copy);
    RB_GC_GUARD(copy.to);
    return copy.to;
}

/* Appends to, or starts, a table.  A full one is copied into one half as large
 * again, so that N variables cost O(N). */
static void
class_ivar_append_complex_locked(VALUE klass, VALUE fields, ID id, VALUE val)
{
    uint32_t count = rb_class_ivar_count(klass);

    if (shape_too_complex_p(fields_shape(fields)) && count < fields_table(fields)->capacity) {
        rb_fields_table_append(fields, id, val); /* T1 to T3 */
    }
    else {
        VALUE copy = fields_copy_complex_locked(fields, 0, count + CAPACITY_OR_TINY(count / 2, 0) + 1);
        rb_fields_table_append(copy, id, val);
        class_fields_publish_locked(klass, copy);
    }
}

/* Makes room for a value at +index+ in owned memory while nobody else can be
 * reading it. */
static void
class_fields_grow_single_ractor_locked(VALUE fields, attr_index_t index)
{
    if (index < IMEMO_FIELDS(fields)->capacity || !rb_fields_heap_p(fields) || rb_multi_ractor_p()) return;
    rb_imemo_fields_grow_single_ractor(fields, fields_grow_capa(index, index / 8));
}

/* W2 and W3, or W4 and W5. */
static void
class_ivar_append_shape_locked(VALUE klass, VALUE fields, rb_shape_t *next_shape, VALUE val)
{
    attr_index_t index = next_shape->next_iv_index - 1;

    if (fields) class_fields_grow_single_ractor_locked(fields, index);

    if (fields && index < IMEMO_FIELDS(fields)->capacity) {
        rb_fields_value_store_release(fields, &rb_fields_ptr(fields)[index], val);
        rb_fields_shape_id_store_release(fields, rb_shape_id(next_shape));
    }
    else {
        attr_index_t capacity = fields_grow_capa(index, index / 2);
        VALUE copy = fields_copy_locked(fields, index, rb_shape_id(next_shape), capacity);
        rb_fields_value_store_release(copy, &rb_fields_ptr(copy)[index], val);
        class_fields_publish_locked(klass, copy);
    }
}

/* Returns whether the variable was there. */
static bool
class_ivar_set_locked(VALUE klass, ID id, VALUE val)
{
    VALUE fields = rb_class_fields_load_acquire(klass);
    rb_shape_t *shape = fields_shape(fields);

    if (shape_too_complex_p(shape)) {
        struct rb_fields_entry *entry = rb_fields_table_find(fields_table(fields), id);
        if (!entry) goto too_complex;

        rb_fields_value_store_release(fields, &entry->value, val); /* W1 */
        return true;
    }

    attr_index_t index;
    if (rb_shape_get_iv_index(shape, id, &index)) {
        rb_fields_value_store_release(fields, &rb_fields_ptr(fields)[index], val); /* W1 */
        return true;
    }

    if (shape->next_iv_index >= MAX_IVARS) {
        rb_raise(rb_eArgError, "too many instance variables");
    }

    rb_shape_t *next_shape = rb_shape_get_next(shape, klass, id);
    if (shape_too_complex_p(next_shape)) goto too_complex;

    class_ivar_append_shape_locked(klass, fields, next_shape, val);
    return false;

  too_complex:
    class_ivar_append_complex_locked(klass, fields, id, val);
    return false;
}

/*
 * Sets the variable +id+ of +klass+ to +val+ and returns whether it was there.
 * The caller has checked the isolation rule.  Raises FrozenError, ArgumentError
 * (too many), NoMemoryError; then nothing has changed.
 */
int
rb_class_ivar_set(VALUE klass, ID id, VALUE val)
{
    RUBY_ASSERT(rb_class_or_module_p(klass));
    bool existing = false;
    rb_check_frozen(klass);

    RB_VM_LOCK_ENTER();
    {
        existing = class_ivar_set_locked(klass, id, val);
    }
    RB_VM_LOCK_LEAVE();

    RB_GC_GUARD(val);
    return existing;
}

/* W4: all variables of +fields+ but +id+, at +index+ of +shape+.  If none is
 * left, an object with none ([H]). */
static VALUE
fields_without_locked(VALUE fields, rb_shape_t *shape, ID id, attr_index_t index)
{
    rb_shape_t *new_shape = rb_shape_without_iv(shape, index);
    if (shape_too_complex_p(new_shape)) {
        return fields_copy_complex_locked(fields, id, shape->next_iv_index);
    }

    attr_index_t count = new_shape->next_iv_index;
    VALUE copy = fields_copy_locked(fields, index, rb_shape_id(new_shape), count);
    MEMCPY(rb_fields_ptr(copy) + index, rb_fields_ptr(fields) + index + 1, VALUE, count - index);
    rb_gc_writebarrier_remember(copy);
    return copy;
}

/* Returns the value that the variable had, or Qundef. */
static VALUE
class_ivar_delete_locked(VALUE klass, ID id)
{
    VALUE fields = rb_class_fields_load_acquire(klass);
    rb_shape_t *shape = fields_shape(fields);
    VALUE val, rest;

    if (shape_too_complex_p(shape)) {
        val = rb_fields_table_lookup(fields_table(fields), id);
        if (UNDEF_P(val)) return Qundef;
        rest = fields_copy_complex_locked(fields, id, fields_table(fields)->capacity);
    }
    else {
        attr_index_t index;
        if (!rb_shape_get_iv_index(shape, id, &index)) return Qundef;
        val = rb_fields_ptr(fields)[index];
        rest = fields_without_locked(fields, shape, id, index);
    }
    class_fields_publish_locked(klass, rest);
    return val;
}

/*
 * Removes the variable +id+ of +klass+ and returns its value, or +undef+ if it
 * was not set.  The caller has checked that +klass+ is not frozen.  Raises
 * Ractor::IsolationError for a plain instance variable or a class variable from
 * a Ractor other than main, NoMemoryError; then nothing has changed.
 */
VALUE
rb_class_ivar_delete(VALUE klass, ID id, VALUE undef)
{
    VALUE val = Qundef;
    rb_class_ivar_set_check_any_ractor(klass, id);

    RB_VM_LOCK_ENTER();
    {
        val = class_ivar_delete_locked(klass, id);
    }
    RB_VM_LOCK_LEAVE();

    if (UNDEF_P(val)) return undef;
    if (rb_is_class_id(id)) rb_cvar_state_advance_release(); /* C2 */
    return val;
}
