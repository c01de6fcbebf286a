/**********************************************************************

  imemo.c - the fields object: allocate, fill, mark, move, free, measure

  Licence: see LICENSE.

**********************************************************************/

/*
 * The type, its invariants and the protocol are in class_fields.h.  Here is
 * what the GC and the writers do with one object that nobody else sees yet,
 * or that all others have stopped looking at; rb_fields_table_append and
 * rb_fields_table_find alone meet other Ractors.
 */

#include "internal.h"
#include "internal/class.h"
#include "internal/gc.h"
#include "internal/imemo.h"
#include "internal/variable.h"
#include "vm_sync.h"

/* =========================================================================
 * allocation
 * ========================================================================= */

#define FIELDS_HEADER_SIZE offsetof(struct rb_imemo_fields, as)

static VALUE
fields_alloc(size_t size)
{
    VALUE flags = T_IMEMO | FL_WB_PROTECTED | ((VALUE)imemo_fields << FL_USHIFT);
    NEWOBJ_OF(obj, struct rb_imemo_fields, 0, flags, size, 0);

    obj->shape_id = ROOT_SHAPE_ID;
    obj->capacity = 0;
    return (VALUE)obj;
}

/* Fills the slots from +from+ on: nothing is set there ([B]). */
static void
fields_set_capacity(VALUE fields, VALUE *ptr, attr_index_t from, attr_index_t capacity)
{
    for (attr_index_t i = from; i < capacity; i++) ptr[i] = Qundef;
    IMEMO_FIELDS(fields)->capacity = capacity;
}

/* How many values to embed where +capacity+ are asked for: a whole slot. */
static attr_index_t
fields_embedded_capacity(attr_index_t capacity)
{
    if (capacity >= FIELDS_MAX_EMBEDDED) return FIELDS_MAX_EMBEDDED;

    size_t heap_id = rb_gc_heap_id_for_size(FIELDS_HEADER_SIZE + capacity * sizeof(VALUE));
    size_t slot = (rb_gc_heap_sizes()[heap_id] - FIELDS_HEADER_SIZE) / sizeof(VALUE);
    return slot < FIELDS_MAX_EMBEDDED ? (attr_index_t)slot : FIELDS_MAX_EMBEDDED;
}

/*
 * A fields object of the given shape, with all values Qundef: embedded in the
 * smallest slot that takes +capacity+ of them, or FIELDS_MAX_EMBEDDED, or with
 * room for +capacity+ in memory of its own ([D]).  Any Ractor.  May run
 * the GC; raises NoMemoryError.  Nobody sees the object before
 * rb_class_fields_store_release.
 */
VALUE
rb_imemo_fields_new(shape_id_t shape_id, attr_index_t capacity)
{
    RUBY_ASSERT(shape_id != OBJ_TOO_COMPLEX_SHAPE_ID);
    RUBY_ASSERT(capacity >= rb_shape_at(shape_id)->next_iv_index);

    VALUE fields, *ptr;

    if (rb_shape_at(shape_id)->next_iv_index <= FIELDS_MAX_EMBEDDED) {
        capacity = fields_embedded_capacity(capacity);
        fields = fields_alloc(FIELDS_HEADER_SIZE + capacity * sizeof(VALUE));
        ptr = IMEMO_FIELDS(fields)->as.ary;
    }
    else {
        fields = fields_alloc(sizeof(struct rb_imemo_fields));
        ptr = ALLOC_N(VALUE, capacity);
        IMEMO_FIELDS(fields)->as.ptr = ptr;
    }

    fields_set_capacity(fields, ptr, 0, capacity);
    IMEMO_FIELDS(fields)->shape_id = shape_id;
    return fields;
}

/*
 * Makes the memory that +fields+ owns take +capacity+ values.  VM lock, and only
 * while main is the one Ractor: there is no reader to be left with the old
 * memory.  May run the GC; raises NoMemoryError, then nothing has changed.
 */
void
rb_imemo_fields_grow_single_ractor(VALUE fields, attr_index_t capacity)
{
    RUBY_ASSERT(!rb_multi_ractor_p());
    RUBY_ASSERT(rb_fields_heap_p(fields));

    attr_index_t old_capacity = IMEMO_FIELDS(fields)->capacity;
    REALLOC_N(IMEMO_FIELDS(fields)->as.ptr, VALUE, capacity);
    fields_set_capacity(fields, IMEMO_FIELDS(fields)->as.ptr, old_capacity, capacity);
}

static size_t
table_bytes(size_t capacity, size_t index_slots)
{
    return offsetof(struct rb_fields_table, entries) +
        capacity * sizeof(struct rb_fields_entry) + index_slots * sizeof(uint32_t);
}

static uint32_t *
table_index(const struct rb_fields_table *table)
{
    return (uint32_t *)&table->entries[table->capacity];
}

/*
 * An empty fields object with a table for +capacity+ variables of a class that
 * is too complex for a shape.  Any Ractor.  May run the GC; raises
 * NoMemoryError.
 */
VALUE
rb_imemo_fields_new_complex(uint32_t capacity)
{
    VALUE fields = fields_alloc(sizeof(struct rb_imemo_fields));

    size_t index_slots = 8;
    while (index_slots < (size_t)capacity * 2) index_slots *= 2;

    struct rb_fields_table *table = ruby_xmalloc(table_bytes(capacity, index_slots));
    table->capacity = capacity;
    table->index_mask = (uint32_t)(index_slots - 1);
    table->count = 0;
    MEMZERO(table_index(table), uint32_t, index_slots);

    IMEMO_FIELDS(fields)->as.table = table;
    IMEMO_FIELDS(fields)->shape_id = OBJ_TOO_COMPLEX_SHAPE_ID;
    return fields;
}

/* =========================================================================
 * the table of a too-complex class: Note [FIELDS-TABLE]
 * ========================================================================= */

/* How many entries are set.  Any Ractor.
 * Synchronises with rb_fields_table_append (T3). */
uint32_t
rb_fields_table_count_load_acquire(const struct rb_fields_table *table)
{
    return __atomic_load_n(&table->count, __ATOMIC_ACQUIRE);
}

/* Finds the slot of +id+, or the empty one where the probe for it ends.  The
 * index is never full, so there is one.
 * Synchronises with rb_fields_table_append (T2). */
static uint32_t *
table_probe(const struct rb_fields_table *table, ID id, uint32_t *entry_number)
{
    uint32_t *index = table_index(table);
    uint32_t i = rb_id_hash(id);

    for (;; i++) {
        uint32_t *slot = &index[i & table->index_mask];
        uint32_t n = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (n == 0 || table->entries[n - 1].key == id) {
            *entry_number = n;
            return slot;
        }
    }
}

/* The entry of +id+, or NULL.  Any Ractor, no lock. */
struct rb_fields_entry *
rb_fields_table_find(struct rb_fields_table *table, ID id)
{
    uint32_t count = rb_fields_table_count_load_acquire(table);
    uint32_t n;

    table_probe(table, id, &n);
    return n != 0 && n <= count ? &table->entries[n - 1] : NULL;
}

/* The value of +id+, or Qundef.  Any Ractor, no lock. */
VALUE
rb_fields_table_lookup(struct rb_fields_table *table, ID id)
{
    struct rb_fields_entry *entry = rb_fields_table_find(table, id);
    return entry ? rb_fields_value_load_acquire(&entry->value) : Qundef;
}

/* Appends a variable that is not there, into capacity that is.  VM lock, or an
 * object that nobody else sees. */
void
rb_fields_table_append(VALUE fields, ID id, VALUE val)
{
    struct rb_fields_table *table = IMEMO_FIELDS(fields)->as.table;
    uint32_t count = table->count, n;
    uint32_t *slot = table_probe(table, id, &n);

    /* or between T2 and T3 another Ractor was cut off by a fork */
    RUBY_ASSERT(n == 0 || n == count + 1);
    RUBY_ASSERT(count < table->capacity);

    table->entries[count].key = id;
    table->entries[count].value = val;
    __atomic_store_n(slot, count + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&table->count, count + 1, __ATOMIC_RELEASE);
    RB_OBJ_WRITTEN(fields, Qundef, val);
}

/* =========================================================================
 * what a look-up of @@x has found: Note [CVAR-CACHE]
 * ========================================================================= */

/*
 * Says that @@x, looked up from +base+, is the variable +id+ of +owner+; +state+
 * is the state before the look-up.  Any Ractor.  May run the GC; raises
 * NoMemoryError.
 */
struct rb_cvar_cache *
rb_cvar_cache_new(VALUE base, VALUE owner, ID id, rb_serial_t state)
{
    VALUE flags = T_IMEMO | FL_WB_PROTECTED | ((VALUE)imemo_cvar_cache << FL_USHIFT);
    NEWOBJ_OF(cache, struct rb_cvar_cache, 0, flags, sizeof(struct rb_cvar_cache), 0);

    RB_OBJ_WRITE(cache, &cache->base, base);
    RB_OBJ_WRITE(cache, &cache->owner, owner);
    cache->state = state;
    cache->index = 0;
    cache->shape_id = rb_class_fields_shape_id(owner);
    if (cache->shape_id == OBJ_TOO_COMPLEX_SHAPE_ID ||
        !rb_shape_get_iv_index(rb_shape_at(cache->shape_id), id, &cache->index)) {
        cache->shape_id = INVALID_SHAPE_ID;
    }
    return cache;
}

/* Marks the classes, or updates the references to them.  The GC, all stop. */
void
rb_cvar_cache_mark_and_move(VALUE obj)
{
    struct rb_cvar_cache *cache = (struct rb_cvar_cache *)obj;

    rb_gc_mark_and_move(&cache->base);
    rb_gc_mark_and_move(&cache->owner);
}

/* =========================================================================
 * what the GC asks
 * ========================================================================= */

static bool
fields_complex_p(VALUE fields)
{
    return IMEMO_FIELDS(fields)->shape_id == OBJ_TOO_COMPLEX_SHAPE_ID;
}

/* Marks the values, or updates the references to them.  The GC, all stop. */
void
rb_imemo_fields_mark_and_move(VALUE fields)
{
    RUBY_ASSERT(rb_imemo_fields_valid_p(fields));

    if (fields_complex_p(fields)) {
        struct rb_fields_table *table = IMEMO_FIELDS(fields)->as.table;
        for (uint32_t i = 0; i < table->count; i++) {
            rb_gc_mark_and_move(&table->entries[i].value);
        }
    }
    else {
        VALUE *ptr = rb_fields_ptr(fields);
        for (attr_index_t i = 0; i < IMEMO_FIELDS(fields)->capacity; i++) {
            rb_gc_mark_and_move(&ptr[i]);
        }
    }
}

/* Gives back the memory that the object owns.  The GC. */
void
rb_imemo_fields_free(VALUE fields)
{
    if (fields_complex_p(fields)) {
        xfree(IMEMO_FIELDS(fields)->as.table);
    }
    else if (rb_fields_heap_p(fields)) {
        xfree(IMEMO_FIELDS(fields)->as.ptr);
    }
}

/* Bytes that the object owns beside its slot.  Any Ractor. */
size_t
rb_imemo_fields_memsize(VALUE fields)
{
    if (rb_fields_shape_id_load_acquire(fields) == OBJ_TOO_COMPLEX_SHAPE_ID) {
        struct rb_fields_table *table = IMEMO_FIELDS(fields)->as.table;
        return table_bytes(table->capacity, (size_t)table->index_mask + 1);
    }
    else if (rb_fields_heap_p(fields)) {
        return IMEMO_FIELDS(fields)->capacity * sizeof(VALUE);
    }
    return 0;
}

/* Bytes that the instance variables of +klass+ take: slot and owned memory of
 * its fields object.  Any Ractor. */
size_t
rb_class_fields_memsize(VALUE klass)
{
    VALUE fields = rb_class_fields_load_acquire(klass);
    return fields ? rb_gc_obj_slot_size(fields) + rb_imemo_fields_memsize(fields) : 0;
}

/* =========================================================================
 * the checker
 * ========================================================================= */

static bool
table_valid_p(struct rb_fields_table *table)
{
    if (table->count > table->capacity) return false;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct rb_fields_entry *entry = &table->entries[i];
        if (UNDEF_P(entry->value) || rb_fields_table_find(table, entry->key) != entry) return false;
    }
    return true;
}

/* Whether the invariants of class_fields.h hold for +fields+.  Called in debug
 * builds at each publication and each mark; the VM lock or all stop. */
bool
rb_imemo_fields_valid_p(VALUE fields)
{
    const struct rb_imemo_fields *f = IMEMO_FIELDS(fields);

    if (!imemo_type_p(fields, imemo_fields)) return false;
    if (fields_complex_p(fields)) return f->capacity == 0 && table_valid_p(f->as.table);

    attr_index_t used = rb_shape_at(f->shape_id)->next_iv_index;
    if (used > f->capacity) return false;
    if ((used > FIELDS_MAX_EMBEDDED) != rb_fields_heap_p(fields)) return false; /* [D] */

    const VALUE *ptr = rb_fields_ptr(fields);
    for (attr_index_t i = used; i < f->capacity; i++) {
        if (i > used && !UNDEF_P(ptr[i])) return false; /* [B] */
    }
    return true;
}
