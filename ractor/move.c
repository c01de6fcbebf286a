/**********************************************************************

  ractor/move.c - move an object, and what it refers to, to another Ractor

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  The receiver must get objects that the sender cannot touch.  Stock
 * 3.4 makes each anew with its allocator and copies five words, whatever the
 * size: a longer String, Array, Hash or Struct, embedded in a larger slot, is
 * cut off.  It does so without write barriers, while it still walks the rest,
 * so a minor GC may free what is new, and an error half-way leaves the objects
 * dead that came before it.
 *
 * Representation.  A move is a swap of two slots of one size.  The sender's
 * object gets a partner, a Ractor::MovedObject, in a new slot; swapping all but
 * the bits that belong to the slot makes the new one the object, embedded
 * content included, and the old one the Ractor::MovedObject.  The old is a
 * frozen T_OBJECT without variables then, in which C code that still takes it
 * for something else finds zeros.
 *
 * Two passes.  The first (plan, prepare) finds all objects, asks of each whether
 * it can be moved and makes ready all that needs memory.  It may run the GC and
 * raise, and changes no object that Ruby code could tell.  The second (commit)
 * does neither.
 *
 * Invariants.
 *   [A] No Ruby code of this Ractor runs between the first look at an object and
 *       the end.
 *   [B] All objects of a plan, and their partners, are pinned: plan_mark.
 *   [C] A slot keeps its GC bits and what hangs on its address: its finalizers
 *       and its object_id.  Generic instance variables go with the object.
 *   [D] Another Ractor may find the object meanwhile, as the value of a constant
 *       or of a class's variable, and walk it to see whether it is shareable.
 *       It walks under the VM lock (rb_ractor_shareable_p_continue), and so sees
 *       all that is moved before, or all of it after; nor is anything marked
 *       shareable in between.  What it finds is frozen, or the walk ends there:
 *       nothing but a move changes it.  No object of a plan becomes shareable
 *       before the commit: it, or what it refers to, would have to be frozen by
 *       Ruby code of its Ractor, which does not run: [A].
 *
 * C code may have an object in its hands while it runs Ruby code, in which a
 * thread of the same Ractor moves the object: a look-up in a Hash whose key has
 * an #eql? of its own, String#[] with an argument that has a #to_str, an #inspect
 * of what a variable has.  What is then left is so made that it ends in an error
 * (Ractor::MovedError, FrozenError, NoMethodError), or early, with what there was
 * so far, but not in a crash; and it costs next to nothing where nothing is moved.
 * Who goes by the size that the object had asks after each call:
 * rb_ractor_check_moved.  A Hash that was moved has no entries, so nothing is found
 * in it, and no room, so that the slow path, which raises, is taken by who adds to
 * it: hash_left_full.
 *
 * What is frozen, but not deeply, and has its content elsewhere may be what
 * others share it with.  Such a String or Array leaves its content there, and
 * the partner is a copy.
 */

#include "internal.h"
#include "internal/array.h"
#include "internal/gc.h"
#include "internal/hash.h"
#include "internal/io.h"
#include "internal/object.h"
#include "internal/string.h"
#include "internal/struct.h"
#include "internal/variable.h"
#include "lockfree/ractor/move.h"
#include "ruby/encoding.h"
#include "ruby/io.h"
#include "ruby/ractor.h"
#include "ruby/re.h"
#include "variable.h"
#include "vm_sync.h"

struct moved_pair {
    VALUE from;                 /* the sender's */
    VALUE to;                   /* its partner; 0 before prepare */
    st_table *table;            /* a Hash that compares by identity: its entries, with their new keys */
};

struct move_plan {
    st_table *numbers;          /* object => index of its pair */
    struct moved_pair *pairs;
    size_t count;
    size_t capacity;
    bool committed;
};

typedef void reference_func(struct move_plan *plan, VALUE *slot);

/* =========================================================================
 * the plan, which the GC knows
 * ========================================================================= */

static void
plan_mark(void *ptr)
{
    struct move_plan *plan = ptr;
    for (size_t i = 0; i < plan->count; i++) {
        rb_gc_mark(plan->pairs[i].from);
        rb_gc_mark(plan->pairs[i].to);
    }
}

static void
plan_free(void *ptr)
{
    struct move_plan *plan = ptr;
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->pairs[i].table) st_free_table(plan->pairs[i].table);
    }
    if (plan->numbers) st_free_table(plan->numbers);
    xfree(plan->pairs);
    xfree(plan);
}

static const rb_data_type_t move_plan_type = {
    "ractor/move_plan",
    { plan_mark, plan_free },
    0, 0, RUBY_TYPED_FREE_IMMEDIATELY
};

static struct moved_pair *
plan_find(struct move_plan *plan, VALUE obj)
{
    st_data_t number;
    if (RB_SPECIAL_CONST_P(obj) || !st_lookup(plan->numbers, (st_data_t)obj, &number)) return NULL;
    return &plan->pairs[number];
}

static void
plan_add(struct move_plan *plan, VALUE obj)
{
    if (plan->count == plan->capacity) {
        size_t capacity = plan->capacity ? plan->capacity * 2 : 4;
        REALLOC_N(plan->pairs, struct moved_pair, capacity);
        plan->capacity = capacity;
    }
    plan->pairs[plan->count] = (struct moved_pair){ .from = obj };
    st_insert(plan->numbers, (st_data_t)obj, (st_data_t)plan->count);
    plan->count++;
}

/* =========================================================================
 * what an object refers to
 * ========================================================================= */

struct reference_walk {
    struct move_plan *plan;
    reference_func *func;
};

static void
each_slot(const VALUE *slots, long len, const struct reference_walk *walk)
{
    for (long i = 0; i < len; i++) walk->func(walk->plan, (VALUE *)&slots[i]);
}

static int
replace_entry(st_data_t key, st_data_t val, st_data_t arg, int error)
{
    return ST_REPLACE;
}

static int
each_value_i(st_data_t *key, st_data_t *val, st_data_t arg, int existing)
{
    each_slot((VALUE *)val, 1, (const struct reference_walk *)arg);
    return ST_CONTINUE;
}

static int
each_entry_i(st_data_t *key, st_data_t *val, st_data_t arg, int existing)
{
    each_slot((VALUE *)key, 1, (const struct reference_walk *)arg);
    return each_value_i(key, val, arg, existing);
}

static void
each_value(st_table *table, const struct reference_walk *walk)
{
    st_foreach_with_replace(table, replace_entry, each_value_i, (st_data_t)walk);
}

static void
each_variable(VALUE obj, const struct reference_walk *walk)
{
    bool too_complex = rb_shape_obj_too_complex(obj);
    struct gen_ivtbl *generic;

    if (RB_TYPE_P(obj, T_OBJECT)) {
        if (too_complex) each_value(ROBJECT_IV_HASH(obj), walk);
        else             each_slot(ROBJECT_IVPTR(obj), ROBJECT_IV_COUNT(obj), walk);
    }
    else if (FL_TEST_RAW(obj, FL_EXIVAR) && rb_gen_ivtbl_get(obj, 0, &generic)) {
        if (too_complex) each_value(generic->as.complex.table, walk);
        else             each_slot(generic->as.shape.ivptr, generic->as.shape.numiv, walk);
    }
}

/* Calls +func+ with each place where +obj+ refers to what may have to move. */
static void
each_reference(VALUE obj, const struct reference_walk *walk)
{
    each_variable(obj, walk);

    switch (BUILTIN_TYPE(obj)) {
      case T_ARRAY:
        each_slot(RARRAY_CONST_PTR(obj), RARRAY_LEN(obj), walk);
        break;
      case T_STRUCT:
        each_slot(RSTRUCT_CONST_PTR(obj), RSTRUCT_LEN(obj), walk);
        break;
      case T_HASH:
        each_slot(&RHASH(obj)->ifnone, 1, walk);
        rb_hash_stlike_foreach_with_replace(obj, replace_entry, each_entry_i, (st_data_t)walk);
        break;
      case T_REGEXP:
        each_slot(&RREGEXP(obj)->src, 1, walk);
        break;
      case T_MATCH:
        each_slot(&RMATCH(obj)->str, 1, walk);
        each_slot(&RMATCH(obj)->regexp, 1, walk);
        break;
      case T_FILE:
        if (RFILE(obj)->fptr) each_slot(&RFILE(obj)->fptr->tied_io_for_writing, 1, walk);
        break;
      default:
        break;
    }
}

/* =========================================================================
 * the first pass: may raise
 * ========================================================================= */

#define STR_TMPLOCK FL_USER7    /* string.c's: C code has the content in its hands */

/* Raises what stock raises where it cannot make another +klass+. */
static void
check_class(VALUE klass)
{
    if (!klass) return;         /* internal */
    if (FL_TEST_RAW(klass, FL_SINGLETON)) rb_raise(rb_eTypeError, "can't create instance of singleton class");
    if (!rb_get_alloc_func(klass)) rb_raise(rb_eTypeError, "allocator undefined for %"PRIsVALUE, klass);
}

/* Whether another thread of this Ractor waits for the file, or has begun to write to it. */
static bool
file_in_use_p(const rb_io_t *fptr)
{
    if (!fptr || fptr->fd < 0) return false;
    return rb_thread_fd_waited_p(fptr->fd) || (!NIL_P(fptr->write_lock) && RTEST(rb_mutex_locked_p(fptr->write_lock)));
}

/* Raises where +obj+ cannot leave this Ractor, or not now. */
static void
check_movable(VALUE obj)
{
    if (RB_TYPE_P(obj, T_IMEMO)) rb_raise(rb_eRactorError, "can not move the object");
    check_class(RBASIC_CLASS(obj));

    switch (BUILTIN_TYPE(obj)) {
      case T_OBJECT: case T_STRUCT: case T_ARRAY: case T_MATCH:
        break;
      case T_FILE:
        if (file_in_use_p(RFILE(obj)->fptr)) rb_raise(rb_eRactorError, "can not move an IO that is in use");
        break;
      case T_STRING:
        if (FL_TEST_RAW(obj, STR_TMPLOCK)) rb_raise(rb_eRactorError, "can not move a String that is in use");
        break;
      case T_HASH:
        if (FL_TEST_RAW(obj, RHASH_LEV_MASK)) rb_raise(rb_eRactorError, "can not move a Hash during iteration");
        break;
      case T_REGEXP:
        if (RREGEXP(obj)->usecnt) rb_raise(rb_eRactorError, "can not move a Regexp that is in use");
        break;
      default:
        rb_raise(rb_eRactorError, "can not move %"PRIsVALUE" object.", rb_class_of(obj));
    }
}

/* Whether others may share the content of +obj+ without its knowing. */
static bool
leaves_content_p(VALUE obj)
{
    return OBJ_FROZEN_RAW(obj) && (RB_TYPE_P(obj, T_STRING) || RB_TYPE_P(obj, T_ARRAY));
}

/* Gives +obj+ content of its own. */
static void
unshare_content(VALUE obj)
{
    if (leaves_content_p(obj)) return;
    if (RB_TYPE_P(obj, T_STRING)) rb_str_make_independent(obj);
    if (RB_TYPE_P(obj, T_ARRAY))  rb_ary_cancel_sharing(obj);
}

static void
plan_reference(struct move_plan *plan, VALUE *slot)
{
    VALUE obj = *slot;
    if (plan_find(plan, obj) || rb_ractor_shareable_p(obj)) return;
    plan_add(plan, obj);
}

/* Finds what moves with the object that is in the plan already. */
static void
plan_all(struct move_plan *plan)
{
    const struct reference_walk walk = { plan, plan_reference };

    for (size_t i = 0; i < plan->count; i++) {
        VALUE obj = plan->pairs[i].from;
        check_movable(obj);
        unshare_content(obj);
        each_reference(obj, &walk);
    }
}

/* A Ractor::MovedObject that fills its slot of +size+ bytes with zeros. */
static VALUE
moved_object_new(size_t size)
{
    NEWOBJ_OF(obj, struct RObject, rb_cRactorMovedObject, T_OBJECT | ROBJECT_EMBED | FL_WB_PROTECTED, size, 0);

    ROBJECT_SET_SHAPE_ID((VALUE)obj, (shape_id_t)(rb_gc_heap_id_for_size(size) + FIRST_T_OBJECT_SHAPE_ID));
    memset(&obj->as, 0, size - offsetof(struct RObject, as));
    OBJ_FREEZE((VALUE)obj); /* C code that means to change the object that it was is told */
    return (VALUE)obj;
}

/* A String or Array like +obj+, hidden, without its variables. */
static VALUE
content_copy(VALUE obj)
{
    VALUE copy;
    if (RB_TYPE_P(obj, T_ARRAY)) {
        copy = rb_ary_new_from_values(RARRAY_LEN(obj), RARRAY_CONST_PTR(obj));
    }
    else {
        copy = rb_enc_str_new(RSTRING_PTR(obj), RSTRING_LEN(obj), rb_enc_get(obj));
        ENC_CODERANGE_SET(copy, ENC_CODERANGE(obj));
    }
    return rb_obj_hide(copy);
}

/* What is left of a Hash like +obj+: ar_force_convert_table and st.c's rebuild_table raise. */
static void
hash_left_full(VALUE left, VALUE obj)
{
    FL_SET_RAW(left, (VALUE)RHASH_AR_TABLE_MAX_SIZE << RHASH_AR_TABLE_SIZE_SHIFT);

    if (RHASH_ST_TABLE_P(obj)) {
        st_table *table = RHASH_ST_TABLE(left);
        table->rebuilds_num = RHASH_ST_TABLE(obj)->rebuilds_num + 1; /* st.c looks again, and no key up in its entries */
        table->entries_start = table->entries_bound = 1;             /* no entry, and no room: 1 << entry_power is 1 */
    }
}

static VALUE
partner_new(VALUE obj)
{
    if (leaves_content_p(obj)) return content_copy(obj);

    VALUE partner = moved_object_new(rb_gc_obj_slot_size(obj));
    switch (BUILTIN_TYPE(obj)) {
      case T_HASH:
        hash_left_full(partner, obj);
        break;
      case T_FILE:
        rb_gc_writebarrier_unprotect(partner); /* io.c knows no barriers */
        break;
      case T_MATCH:
        FL_SET_RAW(partner, FL_USER2); /* MATCH_BUSY: re.c fills $~ again if it can */
        break;
      case T_STRING:
        RSTRING(partner)->as.heap.ptr = (char *)""; /* RSTRING_PTR; no variable is there, so nobody marks it */
        break;
      default:
        break;
    }
    return partner;
}

static st_data_t
moved(struct move_plan *plan, st_data_t obj)
{
    struct moved_pair *pair = plan_find(plan, (VALUE)obj);
    return pair ? (st_data_t)pair->to : obj;
}

struct identity_fill {
    struct move_plan *plan;
    st_table *table;
};

static int
fill_identity_i(st_data_t key, st_data_t val, st_data_t arg)
{
    const struct identity_fill *fill = (const struct identity_fill *)arg;
    st_insert(fill->table, moved(fill->plan, key), moved(fill->plan, val));
    return ST_CONTINUE;
}

/* Fills the new table of a Hash that compares by identity; the second time takes
 * no memory, and is for values that compaction has moved since the first. */
static void
fill_identity(struct move_plan *plan, VALUE hash, st_table *table)
{
    struct identity_fill fill = { plan, table };
    st_foreach(RHASH_ST_TABLE(hash), fill_identity_i, (st_data_t)&fill);
}

/* Generic variables: both have them, until commit or abandon deletes one. */
static void
share_variables(const struct moved_pair *pair)
{
    rb_gc_set_generic_ivar(pair->to, rb_gc_generic_ivar(pair->from));
}

/* Makes ready all that commit needs. */
static VALUE
prepare(VALUE arg)
{
    struct move_plan *plan = (struct move_plan *)arg;
    struct moved_pair *pair, *end;

    plan_all(plan);
    end = plan->pairs + plan->count;

    for (pair = plan->pairs; pair < end; pair++) pair->to = partner_new(pair->from);

    for (pair = plan->pairs; pair < end; pair++) {
        if (FL_TEST_RAW(pair->from, FL_EXIVAR)) share_variables(pair);
        if (RB_TYPE_P(pair->from, T_HASH) && RTEST(rb_hash_compare_by_id_p(pair->from))) {
            pair->table = st_init_table_with_size(RHASH_ST_TABLE(pair->from)->type, RHASH_SIZE(pair->from));
            fill_identity(plan, pair->from, pair->table);
        }
    }
    return Qnil;
}

static void
abandon(struct move_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct moved_pair *pair = &plan->pairs[i];
        if (pair->to && FL_TEST_RAW(pair->from, FL_EXIVAR)) rb_gc_set_generic_ivar(pair->to, NULL);
    }
}

/* =========================================================================
 * the second pass: allocates nothing, runs no GC, raises nothing
 * ========================================================================= */

#define SLOT_FLAGS (FL_PROMOTED | FL_FINALIZE | FL_SEEN_OBJ_ID) /* the GC's: [C] */

static void
swap_slots(VALUE from, VALUE to)
{
    VALUE *a = (VALUE *)from, *b = (VALUE *)to;
    VALUE slot_flags = (a[0] ^ b[0]) & SLOT_FLAGS;

    for (size_t i = rb_gc_obj_slot_size(from) / sizeof(VALUE); i-- > 0; ) {
        VALUE word = a[i];
        a[i] = b[i];
        b[i] = word;
    }
    a[0] ^= slot_flags;
    b[0] ^= slot_flags;
}

/* +from+ stays what it is for those that share its content, and nobody else. */
static void
leave_content(VALUE from, VALUE to)
{
    RBASIC_SET_CLASS_RAW(to, RBASIC_CLASS(from));
    FL_SET_RAW(to, FL_FREEZE | FL_TEST_RAW(from, FL_EXIVAR));
    rb_shape_set_shape_id(to, rb_shape_get_shape_id(from));

    RBASIC_SET_CLASS_RAW(from, rb_cRactorMovedObject);
    FL_UNSET_RAW(from, FL_EXIVAR);
    rb_shape_set_shape_id(from, ROOT_SHAPE_ID);
}

static void
replace_reference(struct move_plan *plan, VALUE *slot)
{
    struct moved_pair *pair = plan_find(plan, *slot);
    if (pair) *slot = pair->to;
}

/* Lets the object in its new slot refer to the new slots. */
static void
relink(struct move_plan *plan, struct moved_pair *pair)
{
    const struct reference_walk walk = { plan, replace_reference };
    VALUE obj = pair->to;

    if (pair->table) {
        fill_identity(plan, obj, pair->table);
        rb_hash_free(obj);
        rb_hash_st_table_set(obj, pair->table);
        xfree(pair->table);
        pair->table = NULL;
    }
    each_reference(obj, &walk);
    if (RB_TYPE_P(obj, T_FILE) && RFILE(obj)->fptr) {
        RFILE(obj)->fptr->self = obj;
        RFILE(obj)->fptr->write_lock = Qnil; /* threads that wait for it still will look whether they may write */
    }
    rb_gc_writebarrier_remember(obj);
}

static void
commit(struct move_plan *plan)
{
    struct moved_pair *pair, *end = plan->pairs + plan->count;

    for (pair = plan->pairs; pair < end; pair++) {
        if (FL_TEST_RAW(pair->from, FL_EXIVAR)) rb_gc_set_generic_ivar(pair->from, NULL);
        if (leaves_content_p(pair->from)) leave_content(pair->from, pair->to);
        else                              swap_slots(pair->from, pair->to);
    }
    for (pair = plan->pairs; pair < end; pair++) relink(plan, pair);
    plan->committed = true;
}

/* =========================================================================
 * for ractor.c
 * ========================================================================= */

/*
 * Plans the move of +obj+, which is not shareable, and of what it refers to that
 * is not; returns the plan, to be kept on the stack.  The Ractor that owns them.
 * May run the GC; raises Ractor::Error, TypeError or NoMemoryError.
 */
VALUE
rb_ractor_move_prepare(VALUE obj)
{
    struct move_plan *plan;
    VALUE holder = TypedData_Make_Struct(0, struct move_plan, &move_plan_type, plan);
    int state;

    plan->numbers = st_init_numtable();
    plan_add(plan, obj);

    rb_protect(prepare, (VALUE)plan, &state);
    if (state) {
        abandon(plan);
        RB_GC_GUARD(holder);
        rb_jump_tag(state);
    }
    return holder;
}

/*
 * Moves what is planned, and returns the new object: for one other Ractor, and
 * nobody else.  What is left of the old ones are Ractor::MovedObjects.  The same
 * Ractor, VM lock, with no Ruby code run since the plan was made.
 */
VALUE
rb_ractor_move_commit(VALUE holder)
{
    struct move_plan *plan = DATA_PTR(holder);
    commit(plan);
    return plan->pairs[0].to;
}

/* Frees the plan; without commit all objects are as they were. */
void
rb_ractor_move_end(VALUE holder)
{
    struct move_plan *plan = DATA_PTR(holder);
    if (!plan->committed) abandon(plan);
    DATA_PTR(holder) = NULL;
    plan_free(plan);
}

/* All three in one. */
VALUE
rb_ractor_move(VALUE obj)
{
    VALUE holder = rb_ractor_move_prepare(obj), result;

    RB_VM_LOCK_ENTER();
    result = rb_ractor_move_commit(holder);
    RB_VM_LOCK_LEAVE();

    rb_ractor_move_end(holder);
    return result;
}

/* Raises what a method of a Ractor::MovedObject raises.  Any Ractor. */
void
rb_ractor_raise_moved(void)
{
    rb_raise(rb_eRactorMovedError, "can not send any methods to a moved object");
}
