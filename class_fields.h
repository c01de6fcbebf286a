#ifndef LOCKFREE_CLASS_FIELDS_H
#define LOCKFREE_CLASS_FIELDS_H
/**********************************************************************

  class_fields.h - the fields object of a class or module

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  Every Ractor may read `@x` of a class; only main may set it.
 * Stock 3.4 keeps the values in a malloc'ed array beside a shape id in the
 * class's header, so a reader needs the VM lock to see the two agree.
 *
 * Representation.  rb_classext_t has one word, fields_obj: 0 until the class
 * has its first instance variable, then a T_IMEMO of type imemo_fields that
 * holds the shape id *and* the values.  One pointer publishes all.
 *
 * Invariants.
 *   [A] A fields object that has been published keeps its layout: index i
 *       means one variable for ever, and, once there are two Ractors, the
 *       array (or table) stays where it is.  Only three things change in it: a
 *       value is overwritten, a value is appended into unused capacity, the
 *       shape id moves to a descendant.
 *   [B] Slots at and above shape->next_iv_index hold Qundef (in the child of
 *       a fork that hit another Ractor between W2 and W3, one may not).
 *   [C] OBJ_TOO_COMPLEX_SHAPE_ID if and only if the object holds a table; an
 *       object never changes from one kind to the other.
 *   [D] Up to FIELDS_MAX_EMBEDDED values are embedded, and the capacity is then
 *       no more than that; more lie in owned memory.  So it follows from the
 *       shape alone, and compiled code that has guarded on the shape id knows
 *       where they are.
 *   [E] The shape id in the header of a T_CLASS or T_MODULE says nothing
 *       about its layout; rb_shape_get_shape_id() answers from here.
 *   [F] Nothing outside this file touches the word fields_obj (`make lint`).
 *   [G] Writers hold the VM lock.  Readers hold nothing, wait for nobody, and
 *       a read that hits its cache writes nothing.  What is written at all: an
 *       inline cache that misses is filled, and a value that is found to be
 *       deeply frozen is marked shareable, once.
 *   [H] The word fields_obj never becomes 0 again, also not when the last
 *       variable is removed: compiled code tests it once in a method.
 *
 * Who may do what (callers of the functions in variable.c):
 *
 *   operation           from           lock      how
 *   ------------------  -------------  --------  ---------------------------
 *   get, defined, list, any Ractor     none      one snapshot, [FIELDS-PUBLISH]
 *   count, foreach
 *   get, unshareable    main           none      IsolationError elsewhere
 *   set, remove `@x`    main           VM lock   IsolationError elsewhere
 *   set, remove others  any Ractor     VM lock   internal ids and @@x: no `@`
 *   freeze              main           none      FL_FREEZE only: the layout
 *                                                has nothing to do with it
 *   copy (dup, clone)   any Ractor     VM lock   of both classes
 *   mark, move, free    the GC         all stop
 *
 * Note [FIELDS-PUBLISH]
 * ~~~~~~~~~~~~~~~~~~~~~
 *   the writer (VM lock held)              | a reader (no lock)
 *   ---------------------------------------+--------------------------------
 *   overwrite                              | f = fields_obj        (acquire)
 *     W1  f->v[i] = new      (release)     | s = f->shape_id       (acquire)
 *   append, capacity left                  | i = index of @x in s
 *     W2  f->v[n] = val      (release)     |     none: @x is not set
 *     W3  f->shape_id = s+x  (release)     | v = f->v[i]           (acquire)
 *   append, none left; remove; to a table  |
 *     W4  g = new object, filled           | f, s and v come from one f: the
 *     W5  fields_obj = g     (release)     | class is not looked at again
 *
 *   W5 / load of f:        g's header, shape id and values are written before
 *                          g can be seen.
 *   W3 / load of s:        who sees the longer shape sees the value.
 *   W1, W2 / load of v:    who sees an object sees it initialised.
 *   An old f stays right for who holds it: after W5 nobody writes to it, and
 *   the GC, which stops every Ractor and scans stacks and registers
 *   conservatively, keeps it.  Removal never happens in place: in the old and
 *   the new layout index 1 may mean two variables.
 *   While main is the only Ractor there is no reader to be left behind: owned
 *   memory then grows where it is, and no old object is left for the GC.  Who
 *   starts the next Ractor has done so before (creating a thread orders it).
 *   On x86-64 all of these are plain loads and stores; arm64 has ldar, stlr.
 *
 * Note [FIELDS-TABLE]
 * ~~~~~~~~~~~~~~~~~~~
 * A too-complex class has a table of (ID, value) entries in insertion order,
 * and an index over it, open addressing, 0 or 1 + entry number per slot.
 *
 *   the writer (VM lock held)              | a reader (no lock)
 *   ---------------------------------------+--------------------------------
 *   append, capacity left                  | n = count           (acquire)
 *     T1  entry[n] = (id, val)             | look-up:
 *     T2  index[h] = n + 1   (release)     |   e = index[h], h = hash(id)...
 *     T3  count = n + 1      (release)     |                     (acquire)
 *   overwrite                              |   e > n: @x is not set
 *     W1                                   |   v = entry[e - 1]  (acquire)
 *   append, none left; remove              | list:
 *     W4, W5                               |   entry[0 ... n]    (acquire)
 *
 *   T3 / load of n:   who sees the count sees the entries and their slots.
 *   T2 / load of e:   a probe passes over a slot filled since; it must see
 *                     that entry's key whole to know that it is another's.
 *   The count alone says what is set, so that a look-up and a list of one
 *   Ractor, in either order, never disagree.
 */

#include "internal/gc.h"
#include "internal/imemo.h"
#include "internal/serial.h"
#include "ruby/internal/stdbool.h"
#include "ruby/ractor.h"
#include "ruby/ruby.h"
#include "shape.h"

#ifndef HAVE_GCC_ATOMIC_BUILTINS
# error "class_fields.h needs the __atomic builtins of GCC or Clang"
#endif

/* `make gc-check` builds with tiny capacities, so that all that grows is soon
 * full. */
#ifdef LOCKFREE_GC_CHECK
# define CAPACITY_OR_TINY(capacity, tiny) (tiny)
#else
# define CAPACITY_OR_TINY(capacity, tiny) (capacity)
#endif

/* One entry of the table of a too-complex class. */
struct rb_fields_entry {
    ID key;                     /* immutable once published */
    VALUE value;                /* W1 */
};

/* See Note [FIELDS-TABLE]; one block of memory: header, entries, index. */
struct rb_fields_table {
    /* immutable once published */
    uint32_t capacity;          /* entries that fit */
    uint32_t index_mask;        /* slots of the index - 1 */
    /* written under the VM lock */
    uint32_t count;             /* T3 */
    struct rb_fields_entry entries[1];
};

/* T_IMEMO, imemo_fields.  The flags word is the GC's alone, which writes to it
 * while Ractors run: what readers need lies beside it. */
struct rb_imemo_fields {
    VALUE flags;
    /* written under the VM lock */
    shape_id_t shape_id;        /* W3 */
    /* immutable once published, but for growth while there is one Ractor */
    attr_index_t capacity;      /* values that fit; 0 for a table */
    union {
        VALUE ary[1];           /* embedded */
        VALUE *ptr;             /* rb_fields_heap_p: owned memory */
        struct rb_fields_table *table; /* OBJ_TOO_COMPLEX_SHAPE_ID: owned */
    } as;
};

/* With the header, two words, 8 values fill a slot of 80 bytes where words have
 * 8.  A class that grows leaves its slots to the GC: with those of 160 bytes,
 * 10,000 classes of 19 variables take 5% more of the process's memory. */
#define FIELDS_MAX_EMBEDDED CAPACITY_OR_TINY(8, 3)

STATIC_ASSERT(imemo_fields_header, offsetof(struct rb_imemo_fields, as) == sizeof(struct RBasic));

#define IMEMO_FIELDS(obj) ((struct rb_imemo_fields *)(obj))

/* ---- accessors ---------------------------------------------------- */

/* Whether +obj+ keeps its instance variables in a fields object. */
static inline bool
rb_class_or_module_p(VALUE obj)
{
    return BUILTIN_TYPE(obj) == T_CLASS || BUILTIN_TYPE(obj) == T_MODULE;
}

/* The same, for who has a use for the shape id in the header ([E]): most objects' says that they do not. */
static inline bool
rb_shape_in_fields_p(VALUE obj)
{
#if SHAPE_IN_BASIC_FLAGS
    if (LIKELY(RBASIC_SHAPE_ID(obj) != OBJ_TOO_COMPLEX_SHAPE_ID)) return false;
#endif
    return rb_class_or_module_p(obj);
}

/* The fields object of +klass+, or 0.  Any Ractor, no lock.
 * Synchronises with rb_class_fields_store_release (W5): without the acquire
 * the object's shape and values could be read before they were written. */
static inline VALUE
rb_class_fields_load_acquire(VALUE klass)
{
    return __atomic_load_n(&RCLASS_EXT(klass)->fields_obj, __ATOMIC_ACQUIRE);
}

/* Makes a new class or module ready.  Its header's shape id is one that is no
 * layout's ([E]): compiled code that compares those never takes it for one.  It
 * is shareable from the start, so that no Ractor that is given it as a value
 * has to write so. */
static inline void
rb_class_fields_init(VALUE klass)
{
    if (!rb_class_or_module_p(klass)) return;
#if SHAPE_IN_BASIC_FLAGS
    RBASIC_SET_SHAPE_ID(klass, OBJ_TOO_COMPLEX_SHAPE_ID);
#endif
    FL_SET_RAW(klass, RUBY_FL_SHAREABLE);
}

/* Publishes +fields+, filled, as the fields object of +klass+.  VM lock.
 * Synchronises with rb_class_fields_load_acquire (W5): nothing written to the
 * object may sink below the store. */
static inline void
rb_class_fields_store_release(VALUE klass, VALUE fields)
{
    __atomic_store_n(&RCLASS_EXT(klass)->fields_obj, fields, __ATOMIC_RELEASE);
    RB_OBJ_WRITTEN(klass, Qundef, fields);
}

/* Where compiled code finds the word in a class. */
static inline int32_t
rb_class_fields_obj_offset(VALUE klass)
{
    return (int32_t)((uintptr_t)&RCLASS_EXT(klass)->fields_obj - (uintptr_t)klass);
}

/* Marks the fields object, or updates the reference to it.  The GC, all stop. */
static inline void
rb_class_fields_mark_and_move(VALUE klass)
{
    rb_gc_mark_and_move(&RCLASS_EXT(klass)->fields_obj);
}

/* The shape id of +fields+.  Any Ractor, no lock.
 * Synchronises with rb_fields_shape_id_store_release (W3): without the acquire
 * the slot of the last variable could be read before its value was stored. */
static inline shape_id_t
rb_fields_shape_id_load_acquire(VALUE fields)
{
    return __atomic_load_n(&IMEMO_FIELDS(fields)->shape_id, __ATOMIC_ACQUIRE);
}

/* VM lock.  Synchronises with rb_fields_shape_id_load_acquire (W3). */
static inline void
rb_fields_shape_id_store_release(VALUE fields, shape_id_t shape_id)
{
    __atomic_store_n(&IMEMO_FIELDS(fields)->shape_id, shape_id, __ATOMIC_RELEASE);
}

/* A value out of a slot or an entry.  Any Ractor, no lock.
 * Synchronises with rb_fields_value_store_release (W1, W2): without the acquire
 * the object itself could be seen uninitialised. */
static inline VALUE
rb_fields_value_load_acquire(const VALUE *slot)
{
    return __atomic_load_n(slot, __ATOMIC_ACQUIRE);
}

/* VM lock.  Synchronises with rb_fields_value_load_acquire (W1, W2). */
static inline void
rb_fields_value_store_release(VALUE fields, VALUE *slot, VALUE val)
{
    __atomic_store_n(slot, val, __ATOMIC_RELEASE);
    RB_OBJ_WRITTEN(fields, Qundef, val);
}

/* Whether the values of +fields+, which has no table, lie in memory that it owns:
 * [D].  Immutable. */
static inline bool
rb_fields_heap_p(VALUE fields)
{
    return IMEMO_FIELDS(fields)->capacity > FIELDS_MAX_EMBEDDED;
}

/* Where they lie.  Immutable. */
static inline VALUE *
rb_fields_ptr(VALUE fields)
{
    return UNLIKELY(rb_fields_heap_p(fields)) ? IMEMO_FIELDS(fields)->as.ptr : IMEMO_FIELDS(fields)->as.ary;
}

/* The shape with the id +shape_id+, as rb_shape_get_shape_by_id, but without a
 * call: look-ups do it at each step. */
static inline rb_shape_t *
rb_shape_at(shape_id_t shape_id)
{
    return &GET_SHAPE_TREE()->shape_list[shape_id];
}

/* The shape id that says where the variables of +klass+ lie.  Any Ractor. */
static inline shape_id_t
rb_class_fields_shape_id(VALUE klass)
{
    VALUE fields = rb_class_fields_load_acquire(klass);
    return fields ? rb_fields_shape_id_load_acquire(fields) : ROOT_SHAPE_ID;
}

/* ---- imemo.c: the object ------------------------------------------ */

VALUE rb_imemo_fields_new(shape_id_t shape_id, attr_index_t capacity);
VALUE rb_imemo_fields_new_complex(uint32_t capacity);
void rb_imemo_fields_grow_single_ractor(VALUE fields, attr_index_t capacity);
size_t rb_imemo_fields_memsize(VALUE fields);
void rb_imemo_fields_mark_and_move(VALUE fields);
void rb_imemo_fields_free(VALUE fields);
bool rb_imemo_fields_valid_p(VALUE fields);
size_t rb_class_fields_memsize(VALUE klass);

struct rb_fields_entry *rb_fields_table_find(struct rb_fields_table *table, ID id);
VALUE rb_fields_table_lookup(struct rb_fields_table *table, ID id);
void rb_fields_table_append(VALUE fields, ID id, VALUE val);
uint32_t rb_fields_table_count_load_acquire(const struct rb_fields_table *table);

/* ---- shape.c: layouts ---------------------------------------------- */

const rb_shape_t *rb_shape_iv_find(const rb_shape_t *shape, ID id);
void rb_shape_iv_ids(rb_shape_t *shape, attr_index_t from, ID *ids);
rb_shape_t *rb_shape_without_iv(rb_shape_t *shape, attr_index_t index);
bool rb_shape_tree_lock_enter(unsigned int *lev);
void rb_shape_edges_init(rb_shape_t *shape);
rb_shape_t *rb_shape_edges_find(rb_shape_t *shape, ID id);
bool rb_shape_edges_add(rb_shape_t *shape, rb_shape_t *child);
void rb_shape_edges_free(rb_shape_t *shape);
void rb_shape_edges_foreach(rb_shape_t *shape, rb_id_table_foreach_func_t *func, void *data);
void rb_shape_index_build(rb_shape_t *shape, unsigned int max_nodes);

/* The hash of an ID in the open-addressed indexes of shape.c and imemo.c, and of
 * a word of the kind in vm/method_cache.c, which takes its upper bits:
 * Fibonacci hashing (Knuth, TAOCP 3, 6.4). */
static inline uint32_t
rb_id_hash(ID id)
{
    return (uint32_t)(((uint64_t)id * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
}

/* ---- variable.c: the operations ----------------------------------- */

VALUE rb_class_ivar_lookup(VALUE klass, ID id, VALUE undef);
VALUE rb_class_ivar_defined(VALUE klass, ID id);
void rb_class_ivar_foreach(VALUE klass, int (*func)(ID, VALUE, st_data_t), st_data_t arg);
uint32_t rb_class_ivar_count(VALUE klass);
VALUE rb_class_ivar_delete(VALUE klass, ID id, VALUE undef);

/* What compiled code needs to read a variable of a class; see
 * yjit/class_ivar.rs, which has the same struct. */
struct rb_class_ivar_location {
    shape_id_t shape_id;
    bool has_fields;            /* a fields object, which never goes: [H] */
    bool has_shape;             /* which is not the too complex one */
    bool set;
    bool heap;
    bool any_ractor;            /* rb_value_any_ractor_p of the value now */
    bool fixnum;                /* what the value is now */
    int32_t fields_obj_offset;  /* in the class */
    int32_t shape_id_offset;    /* in the fields object */
    int32_t values_offset;      /* in the fields object; the pointer, if heap */
    int32_t value_offset;       /* among the values */
};

void rb_class_ivar_locate(VALUE klass, ID id, struct rb_class_ivar_location *location);

/* ---- vm/class_variable.h: the inline cache of @@x ------------------- */

/* T_IMEMO, imemo_cvar_cache: what a look-up of @@x has found.  Immutable once
 * published; Note [CVAR-CACHE]. */
struct rb_cvar_cache {
    VALUE flags;
    VALUE base;                 /* where the look-up began */
    VALUE owner;                /* the class or module that has the variable */
    rb_serial_t state;          /* rb_cvar_state_load_acquire() before it */
    shape_id_t shape_id;        /* of the owner's fields; INVALID_SHAPE_ID: a table */
    attr_index_t index;
};

RUBY_EXTERN rb_serial_t ruby_vm_global_cvar_state;

/* The number of changes to what a look-up of some @@x may find.  Any Ractor.
 * Synchronises with rb_cvar_state_advance_release (C2). */
static inline rb_serial_t
rb_cvar_state_load_acquire(void)
{
    return __atomic_load_n(&ruby_vm_global_cvar_state, __ATOMIC_ACQUIRE);
}

/* Invalidates all caches, after what has changed is published.  Any Ractor.
 * Synchronises with rb_cvar_state_load_acquire (C2). */
static inline void
rb_cvar_state_advance_release(void)
{
    __atomic_fetch_add(&ruby_vm_global_cvar_state, 1, __ATOMIC_RELEASE);
}

/* The next ancestor of +klass+, or 0.  Any Ractor, no lock.
 * Synchronises with rb_class_super_store_release: the copy of a module that is
 * being included is walked to only when it knows its module. */
static inline VALUE
rb_class_super_load_acquire(VALUE klass)
{
    return __atomic_load_n(&RCLASS(klass)->super, __ATOMIC_ACQUIRE);
}

/* class/list.h */
void rb_class_unlist(VALUE klass);

/* Whether a list of subclasses has +klass+, which is dead, or it has one.  Any Ractor: they change no more, but by rb_class_unlist. */
static inline bool
rb_class_listed_p(VALUE klass)
{
    const rb_classext_t *ext = RCLASS_EXT(klass);
    return ext->subclasses || ext->subclass_entry || ext->module_subclass_entry;
}

/* Any Ractor.  Synchronises with rb_class_super_load_acquire. */
static inline void
rb_class_super_store_release(VALUE klass, VALUE super)
{
    __atomic_store_n((VALUE *)&RCLASS(klass)->super, super, __ATOMIC_RELEASE);
    RB_OBJ_WRITTEN(klass, Qundef, super);
}

/* +origin+, a copy of +klass+ that has its methods, and is marked as one, is its origin.  Any Ractor, VM lock.
 * Synchronises with rb_const_search_from, which loads the origin, acquire. */
static inline void
rb_class_origin_store_release(VALUE klass, VALUE origin)
{
    __atomic_store_n((VALUE *)&RCLASS_ORIGIN(klass), origin, __ATOMIC_RELEASE);
    RB_OBJ_WRITTEN(klass, Qundef, origin);
}

/* The ancestors of +klass+ that are classes, with itself: filled before.  VM
 * lock.  Synchronises with who loads them to test a kind_of?, and what they
 * point to, which the machine keeps in order; what was there before stays: it
 * is the superclass's. */
static inline void
rb_class_superclasses_store_release(VALUE klass, VALUE *superclasses)
{
    __atomic_store_n(&RCLASS_SUPERCLASSES(klass), superclasses, __ATOMIC_RELEASE);
}

struct rb_cvar_cache *rb_cvar_cache_new(VALUE base, VALUE owner, ID id, rb_serial_t state);
void rb_cvar_cache_mark_and_move(VALUE cache);

/* ---- ractor.c: who may --------------------------------------------- */

void rb_class_ivar_get_check_any_ractor(VALUE klass, ID id, VALUE val);
void rb_class_ivar_set_check_any_ractor(VALUE klass, ID id);
void rb_cvar_get_check_any_ractor(VALUE klass, ID id, VALUE val);

/* Whether any Ractor may have +val+, as far as one look at it can tell: no
 * Ractor is asked for, nothing is walked.  false: ask again, slowly.
 * Synchronises with rb_obj_mark_shareable: an object may be filled and become
 * shareable when it is a variable's value already, which the release of that
 * store (W1, W2) does not cover. */
static inline bool
rb_value_any_ractor_p(VALUE val)
{
    return RB_SPECIAL_CONST_P(val) ||
        (__atomic_load_n(&RBASIC(val)->flags, __ATOMIC_ACQUIRE) & RUBY_FL_SHAREABLE);
}

/* Says that +obj+, and all that it refers to, is shareable.  The Ractor that
 * owns it, or, for what is deeply frozen or a class, the first that asks: hence
 * an atomic or.  Synchronises with rb_value_any_ractor_p. */
static inline void
rb_obj_mark_shareable(VALUE obj)
{
    __atomic_fetch_or(&RBASIC(obj)->flags, (VALUE)RUBY_FL_SHAREABLE, __ATOMIC_RELEASE);
}

#endif /* LOCKFREE_CLASS_FIELDS_H */
