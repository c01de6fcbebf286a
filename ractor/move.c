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
 * raise, and changes no object that Ruby code could tell, but that a MatchData may
 * get a copy of its Regexp.  The second (commit) does neither.
 *
 * Invariants.
 *   [A] No Ruby code of this Ractor runs between the first look at an object and
 *       the end.
 *   [B] All objects of a plan, and their partners, are pinned: the GC finds them on the
 *       stack, or by pairs_mark.
 *   [C] A slot keeps its GC bits and what hangs on its address: its finalizers
 *       and its object_id.  Generic instance variables go with the object.
 *   [D] Another Ractor may find the object meanwhile, as the value of a constant
 *       or of a class's variable, and walk it to see whether it is shareable
 *       (rb_ractor_shareable_p_continue).  No walk and no commit are under way at the
 *       same time, so it sees all that is moved before, or all of it after; nor is
 *       anything marked shareable in between.  What it finds is frozen, or the walk
 *       ends there: nothing but a move changes it.  No object of a plan becomes
 *       shareable before the commit: it, or what it refers to, would have to be frozen
 *       by Ruby code of its Ractor, which does not run: [A].  So the one look at class
 *       and flags before the walk, without a lock, may see half of a swap: the answer
 *       is no, or there is a walk.
 *   [E] Between rb_ractor_move_enter and _leave there is no safe point, and nobody waits
 *       for the VM lock: who walks has that, and waits for who commits.
 *
 * Commits and walks.  Moves are many, walks are few: what is found to be shareable is
 * marked, and not walked again.  So who commits takes no lock, and who walks pays
 * (Dekker's protocol, with the VM lock for the loser):
 *
 *   commit                                    walk, with the VM lock
 *   remember the partners                     walks.count++        seq_cst store
 *   moving = 1           seq_cst store        for each Ractor that has ever moved:
 *   walks.count == 0 ?   seq_cst load           until moving == 0  seq_cst load
 *     swap, relink                            walk, mark what is shareable
 *     moving = 0         release store        walks.count--        release store
 *   else
 *     moving = 0         release store
 *     take the VM lock, remember, swap, relink
 *
 * Each stores its own word and then loads the other's, all of it seq_cst, so that one of
 * the two sees the other: else both loads may come before both stores (x86: a store waits
 * in the store buffer), and a walk goes on in what is swapped.  The release of `moving',
 * read as 0, lets the walk see what was moved; that of walks.count, read as 0, keeps
 * the walk's loads before the swap.  `moving' is a word of the Ractor's own, which only
 * walks read; a Ractor's threads take turns.  The list of Ractors that have ever moved is
 * the VM lock's: one that is not in it takes that lock, and joins it, before its first
 * commit, and leaves it as it ends.  So a thousand that are idle cost a walk nothing.  Who waits for the VM lock in _enter has left, and
 * comes after the walk.  A stop finds nobody between _enter and _leave, by [E]: a walk that
 * collects, the copy of ObjectSpace.each_object, and the child of a fork, have no flag to
 * wait for that nobody takes back.  A walk that raises takes its announcement back; one that
 * a fork has held up (with its lock lent to a collection) is the parent's.
 *
 * The partners are remembered before `moving' is set, since that may take the VM lock,
 * and again where the VM lock was waited for, since a GC may have run.  What they are
 * remembered for is put in before the next one can.
 *
 * test/model/move.cc is this, with what goes wrong if a step is left out.
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

#include <time.h>

#include "internal.h"
#include "internal/array.h"
#include "internal/gc.h"
#include "internal/hash.h"
#include "internal/io.h"
#include "internal/object.h"
#include "internal/string.h"
#include "internal/struct.h"
#include "internal/variable.h"
#include "lockfree/re/match_regs.h"
#include "lockfree/ractor/move.h"
#include "ractor_core.h"
#include "ruby/encoding.h"
#include "ruby/io.h"
#include "ruby/ractor.h"
#include "ruby/re.h"
#include "variable.h"
#include "vm_sync.h"
#include "yjit.h"

typedef void reference_func(struct move_plan *plan, VALUE *slot);

/* =========================================================================
 * the plan
 * ========================================================================= */

/* The pairs of a plan that are not on the stack.  What is not used is zero. */
struct pair_buffer {
    size_t capacity;
    struct moved_pair pairs[];
};

static void
pairs_mark(void *ptr)
{
    const struct pair_buffer *buffer = ptr;
    for (size_t i = 0; buffer && i < buffer->capacity; i++) {
        rb_gc_mark(buffer->pairs[i].from);
        rb_gc_mark(buffer->pairs[i].to);
    }
}

/* An object that has no write barriers would be made with the VM lock: plan_remember. */
static const rb_data_type_t move_pairs_type = {
    "ractor/move_pairs",
    { pairs_mark, RUBY_DEFAULT_FREE },
    0, 0, RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED
};

/* After a pair was stored, before the next safe point. */
static void
plan_remember(const struct move_plan *plan)
{
    if (plan->holder) rb_gc_writebarrier_remember(plan->holder);
}

static void
plan_init(struct move_plan *plan)
{
    *plan = (struct move_plan){ .pairs = plan->few, .capacity = numberof(plan->few) };
}

/* Frees the plan; without commit all objects are as they were. */
static void
plan_free(struct move_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->pairs[i].table) st_free_table(plan->pairs[i].table);
    }
    if (plan->numbers) st_free_table(plan->numbers);
    if (plan->holder) {
        xfree(RTYPEDDATA_GET_DATA(plan->holder));
        RTYPEDDATA_DATA(plan->holder) = NULL;
    }
}

static struct moved_pair *
plan_find(struct move_plan *plan, VALUE obj)
{
    st_data_t number;
    if (RB_SPECIAL_CONST_P(obj)) return NULL;
    if (plan->numbers) return st_lookup(plan->numbers, (st_data_t)obj, &number) ? &plan->pairs[number] : NULL;

    for (size_t i = 0; i < plan->count; i++) {
        if (plan->pairs[i].from == obj) return &plan->pairs[i];
    }
    return NULL;
}

/* Makes room; from now on pairs are found by a table. */
static void
plan_grow(struct move_plan *plan)
{
    size_t count = plan->count, capacity = plan->capacity * 4;
    if (!plan->holder) plan->holder = TypedData_Wrap_Struct(0, &move_pairs_type, NULL);
    struct pair_buffer *buffer = rb_xcalloc_mul_add(capacity, sizeof(struct moved_pair), sizeof(struct pair_buffer));

    buffer->capacity = capacity;
    MEMCPY(buffer->pairs, plan->pairs, struct moved_pair, count);
    xfree(RTYPEDDATA_GET_DATA(plan->holder));
    RTYPEDDATA_DATA(plan->holder) = buffer;
    plan->pairs = buffer->pairs;
    plan->capacity = capacity;
    plan_remember(plan);

    if (plan->numbers) return;
    plan->numbers = st_init_numtable_with_size(capacity);
    for (size_t i = 0; i < count; i++) st_add_direct(plan->numbers, (st_data_t)plan->pairs[i].from, (st_data_t)i);
}

/* +obj+ is not in the plan. */
static void
plan_add(struct move_plan *plan, VALUE obj)
{
    if (plan->count == plan->capacity) plan_grow(plan);
    plan->pairs[plan->count] = (struct moved_pair){ .from = obj };
    plan_remember(plan);
    if (plan->numbers) st_add_direct(plan->numbers, (st_data_t)obj, (st_data_t)plan->count);
    plan->count++;
}

/* =========================================================================
 * what an object refers to
 * ========================================================================= */

struct reference_walk {
    struct move_plan *plan;
    reference_func *func;
    bool replaces;              /* else nothing is written: another Ractor may walk it, too */
};

static void
each_slot(const VALUE *slots, long len, const struct reference_walk *walk)
{
    for (long i = 0; i < len; i++) walk->func(walk->plan, (VALUE *)&slots[i]);
}

static int
look_at_value(st_data_t key, st_data_t val, st_data_t arg, int error)
{
    const struct reference_walk *walk = (const struct reference_walk *)arg;
    if (walk->replaces) return ST_REPLACE;

    each_slot((VALUE *)&val, 1, walk);
    return ST_CONTINUE;
}

static int
look_at_entry(st_data_t key, st_data_t val, st_data_t arg, int error)
{
    const struct reference_walk *walk = (const struct reference_walk *)arg;
    if (!walk->replaces) each_slot((VALUE *)&key, 1, walk);
    return look_at_value(key, val, arg, error);
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
    st_foreach_with_replace(table, look_at_value, each_value_i, (st_data_t)walk);
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
        rb_hash_stlike_foreach_with_replace(obj, look_at_entry, each_entry_i, (st_data_t)walk);
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
    if (RB_TYPE_P(obj, T_MATCH))  rb_match_own_regexp(obj);
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
    const struct reference_walk walk = { plan, plan_reference, false };

    for (size_t i = 0; i < plan->count; i++) {
        VALUE obj = plan->pairs[i].from;
        check_movable(obj);
        unshare_content(obj);
        each_reference(obj, &walk);
    }
}

/* Of a frozen object without variables, for each size of slots; 0: not looked up yet.  Relaxed: it is the same number each
 * time, of a shape that the first OBJ_FREEZE has published. */
static shape_id_t left_shapes[8];

/* A Ractor::MovedObject that fills its slot of +size+ bytes with zeros. */
static VALUE
moved_object_new(size_t size)
{
    size_t heap_id = rb_gc_heap_id_for_size(size);
    shape_id_t *left = heap_id < numberof(left_shapes) ? &left_shapes[heap_id] : NULL;
    shape_id_t frozen = left ? __atomic_load_n(left, __ATOMIC_RELAXED) : 0;
    NEWOBJ_OF(obj, struct RObject, rb_cRactorMovedObject, T_OBJECT | ROBJECT_EMBED | FL_WB_PROTECTED, size, 0);

    ROBJECT_SET_SHAPE_ID((VALUE)obj, frozen ? frozen : (shape_id_t)(heap_id + FIRST_T_OBJECT_SHAPE_ID));
    memset(&obj->as, 0, size - offsetof(struct RObject, as));
    if (frozen) {
        FL_SET_RAW((VALUE)obj, FL_FREEZE);
    }
    else {
        OBJ_FREEZE((VALUE)obj); /* C code that means to change the object that it was is told */
        if (left && !rb_shape_obj_too_complex((VALUE)obj)) {
            __atomic_store_n(left, rb_shape_get_shape_id((VALUE)obj), __ATOMIC_RELAXED);
        }
    }
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

    for (pair = plan->pairs; pair < end; pair++) {
        pair->to = partner_new(pair->from);
        plan_remember(plan);
    }

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
    if (BUILTIN_TYPE(to) == T_MATCH) match_regs_moved(to);
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
    /* most are found in the order in which they were planned */
    bool is_next = plan->next < plan->count && plan->pairs[plan->next].from == *slot;
    struct moved_pair *pair = is_next ? &plan->pairs[plan->next++] : plan_find(plan, *slot);

    if (pair) *slot = pair->to;
}

/* Lets the object in its new slot refer to the new slots. */
static void
relink(struct move_plan *plan, struct moved_pair *pair)
{
    const struct reference_walk walk = { plan, replace_reference, true };
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
        RFILE(obj)->fptr->wbuf_ractor = 0; /* fork.c */
        RFILE(obj)->fptr->write_lock = Qnil; /* threads that wait for it still will look whether they may write */
    }
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
    plan->next = 1;
    for (pair = plan->pairs; pair < end; pair++) relink(plan, pair);
    plan->committed = true;
}

/* =========================================================================
 * commits and walks: [D]
 * ========================================================================= */

/* How many walks are under way, or held up: one within another, or within a collection that one runs. */
static RBIMPL_ALIGNAS(64) struct { unsigned int count; char rest[60]; } walks;

/* Ractors that have ever moved something.  VM lock. */
static CCAN_LIST_HEAD(movers);

static void
join_movers(rb_ractor_t *cr)
{
    RB_VM_LOCK_ENTER();
    if (!cr->mover) ccan_list_add_tail(&movers, &cr->movers_node); /* another thread of it may have while this one waited */
    cr->mover = true;
    RB_VM_LOCK_LEAVE();
}

/* +cr+, the current one, ends.  VM lock. */
void
rb_ractor_move_ended(rb_ractor_t *cr)
{
    if (cr->mover) ccan_list_del(&cr->movers_node);
    cr->mover = false;
}

/* In the child of a fork, whose only Ractor is +cr+. */
void
rb_ractor_move_atfork(rb_ractor_t *cr)
{
    walks.count = 0;
    ccan_list_head_init(&movers);
    cr->mover = false;
}

/* A partner may have grown old, or black, since it was made; what it refers to is put in before the next safe point. */
static void
remember_partners(const struct move_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) rb_gc_writebarrier_remember(plan->pairs[i].to);
}

/*
 * From here to rb_ractor_move_leave nobody walks what is planned.  Before the lock of a Ractor; waits for the VM lock if
 * there is a walk, which is a safe point; after it there is none, and nobody may wait for that lock.
 */
void
rb_ractor_move_enter(struct move_plan *plan)
{
    rb_ractor_t *cr = GET_RACTOR();

    if (UNLIKELY(!cr->mover)) join_movers(cr); /* a safe point */
    remember_partners(plan); /* may wait for the VM lock, too, and be no safe point */
    __atomic_store_n(&cr->moving, 1, __ATOMIC_SEQ_CST);           /* before walks.count; pairs with await_commits */
    plan->locked = __atomic_load_n(&walks.count, __ATOMIC_SEQ_CST); /* 0: see rb_ractor_walk_unmoved */
    if (LIKELY(!plan->locked)) return;

    __atomic_store_n(&cr->moving, 0, __ATOMIC_RELEASE);
    RB_VM_LOCK_ENTER_LEV(&plan->lock_level);
    remember_partners(plan);
}

void
rb_ractor_move_leave(struct move_plan *plan)
{
    if (UNLIKELY(plan->locked)) RB_VM_LOCK_LEAVE_LEV(&plan->lock_level);
    else                        __atomic_store_n(&GET_RACTOR()->moving, 0, __ATOMIC_RELEASE); /* await_commits */
}

/* Waits until nobody is in the middle of a commit.  VM lock, so that the list is as it is. */
static void
await_commits(void)
{
    rb_ractor_t *r;

    ccan_list_for_each(&movers, r, movers_node) {
        /* after walks.count; pairs with rb_ractor_move_enter, and sees what was moved before rb_ractor_move_leave */
        for (unsigned int n = 0; __atomic_load_n(&r->moving, __ATOMIC_SEQ_CST); n++) {
            if (n >= 100) nanosleep(&(struct timespec){ .tv_nsec = 50 * 1000 }, NULL); /* it may want this processor */
        }
    }
}

/* Calls +func+, which may raise, while no Ractor commits a move.  Any Ractor. */
VALUE
rb_ractor_walk_unmoved(VALUE (*func)(VALUE), VALUE arg)
{
    VALUE result;
    int state;

    RB_VM_LOCK_ENTER();
    __atomic_store_n(&walks.count, walks.count + 1, __ATOMIC_SEQ_CST); /* before each moving; pairs with rb_ractor_move_enter */
    await_commits();
    result = rb_protect(func, arg, &state);
    __atomic_store_n(&walks.count, walks.count - 1, __ATOMIC_RELEASE); /* after the walk; rb_ractor_move_enter */
    RB_VM_LOCK_LEAVE();

    if (state) rb_jump_tag(state);
    return result;
}

/* =========================================================================
 * for ractor.c
 * ========================================================================= */

/* Compiled code takes for granted that what it knows to be an Array, a Hash or a String keeps its class until one of them gets
 * a singleton class; what is moved gets another class, too.  Told once, before the first move.  A safe point. */
static void
tell_compiled_code(void)
{
    static bool told;

    if (!rb_yjit_enabled_p || LIKELY(__atomic_load_n(&told, __ATOMIC_ACQUIRE))) return;
    rb_yjit_invalidate_no_singleton_class(rb_cArray);
    rb_yjit_invalidate_no_singleton_class(rb_cHash);
    rb_yjit_invalidate_no_singleton_class(rb_cString);
    __atomic_store_n(&told, true, __ATOMIC_RELEASE); /* pairs with the load above: who finds it has nobody to tell */
}

/*
 * Plans the move of +obj+, which is not shareable, and of what it refers to that
 * is not.  The plan is on the stack, and is ended by rb_ractor_move_end.  The
 * Ractor that owns them.  May run the GC; raises Ractor::Error, TypeError or
 * NoMemoryError, and then there is no plan.
 */
void
rb_ractor_move_prepare(struct move_plan *plan, VALUE obj)
{
    int state;

    plan_init(plan);
    plan_add(plan, obj);

    rb_protect(prepare, (VALUE)plan, &state);
    if (state) {
        rb_ractor_move_end(plan);
        rb_jump_tag(state);
    }
    tell_compiled_code();
}

/*
 * Moves what is planned, and returns the new object: for one other Ractor, and
 * nobody else.  What is left of the old ones are Ractor::MovedObjects.  The same
 * Ractor, after rb_ractor_move_enter, with no Ruby code run since the plan was made.
 */
VALUE
rb_ractor_move_commit(struct move_plan *plan)
{
    commit(plan);
    return plan->pairs[0].to;
}

/* Without commit all objects are as they were. */
void
rb_ractor_move_end(struct move_plan *plan)
{
    if (!plan->committed) abandon(plan);
    plan_free(plan);
}

/* All of it in one. */
VALUE
rb_ractor_move(VALUE obj)
{
    struct move_plan plan;
    VALUE result;

    rb_ractor_move_prepare(&plan, obj);
    rb_ractor_move_enter(&plan);
    result = rb_ractor_move_commit(&plan);
    rb_ractor_move_leave(&plan);
    rb_ractor_move_end(&plan);
    return result;
}

/* Raises what a method of a Ractor::MovedObject raises.  Any Ractor. */
void
rb_ractor_raise_moved(void)
{
    rb_raise(rb_eRactorMovedError, "can not send any methods to a moved object");
}
