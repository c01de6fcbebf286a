#ifndef LOCKFREE_GC_OBJECT_ID_H
#define LOCKFREE_GC_OBJECT_ID_H
/**********************************************************************

  gc/object_id.h - Object#object_id, kept beside the page of the object

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc/default/default.c.
 *
 * Problem.  Which object has which id is in two tables of the process, each
 * under the VM lock: 8 Ractors that ask for ids, or call Object#hash, which is
 * made of it, take twice as long as one thread.  The object is marked as one
 * that is in the tables by a bit of its header, which others may be writing to,
 * and what is in a table is not freed without stopping all.
 *
 * Representation.  heap_page.object_ids, as gc/page_words.h says: a word is 0, or
 * the number of an id; the id is the number times OBJ_ID_INCREMENT.  Nothing is
 * written to the object, FL_SEEN_OBJ_ID is never set.
 *
 * Numbers come from next_object_id.  As long as there is one Ractor, it takes
 * one at a time, so that ids are what they are in stock.  With several, each
 * takes GC_OBJECT_ID_RANGE at once, and hands them out by itself: ids are unique
 * and grow in each Ractor, but not from one to another.
 *
 *                              who                    needs
 *   rb_gc_impl_object_id       any Ractor             the object; no lock
 *   .._to_ref (_id2ref)        any Ractor             takes the VM lock; the first stops all
 *   gc_object_id_forget        a step of the sweep    all others stopped
 *                              a finalizer's end      the VM lock
 *   gc_object_id_free_claimed  who claimed the page   no lock
 *   gc_object_id_move          compaction             all others stopped
 *
 * Invariants, beside those of gc/page_words.h.
 *   [1] A word is written from 0 to a number once for each object, by compare-and-swap
 *       (take); who loses it has the winner's number.  As long as there is one Ractor,
 *       a store does.
 *   [2] A zombie keeps its word until its finalizer, which is given the id, has been called.
 *   [3] id_to_obj_tbl, number => object, is NULL until somebody calls _id2ref.  It is
 *       made of all words with all others stopped.  From then on a number is stored with
 *       the lock, which adds it to the table, and freed by a step, which takes it
 *       away: the claimed sweep leaves such objects to the step.  Between a look whether
 *       there is a table, and the store or the free, there is no safe point: no
 *       number is missed by whoever makes it.
 *
 * Orders.
 *   a word      relaxed: the number says nothing about other memory.  Who finds a dead
 *               object's number, and clears it, comes after the stop that found it dead.
 *               Who has a new object in that slot comes after the clearing: it is the one
 *               that cleared it, or has got the slot or the object from it.
 *   a range     its Ractor's alone, but that _id2ref looks whether a number is in it, for
 *               the wording of an error: relaxed.
 *
 * test/model/object_id.cc is this, with what goes wrong if a step is left out.
 *
 * Cost.  Of an object that has been asked before: four loads.  Of a new one a
 * compare-and-swap in a line that its own Ractor fills.  (The tables took some 90
 * bytes an object.)
 *
 * Limits.  Who calls _id2ref has the lock for each new id from then on.  To have no
 * memory for its table there is fatal, as in stock.
 * Where a word has 32 bits, there are 4,294,967,295 ids.
 */

#define OBJ_ID_INCREMENT (RUBY_IMMEDIATE_MASK + 1)
#define GC_OBJECT_ID_RANGE 256

/* ---- words -------------------------------------------------------- */

static inline size_t
gc_object_id_load_relaxed(const size_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline void
gc_object_id_store_relaxed(size_t *word, size_t number)
{
    __atomic_store_n(word, number, __ATOMIC_RELAXED);
}

/* The word of +obj+, NULL if its +page+ has none.  Any Ractor. */
static inline size_t *
gc_object_id_word(const struct heap_page *page, VALUE obj)
{
    return gc_page_words_find(page, &page->object_ids, obj);
}

/* The number of +obj+, 0 if it was never asked.  Any Ractor. */
static inline size_t
gc_object_id_find(VALUE obj)
{
    const size_t *word = gc_object_id_word(GET_HEAP_PAGE(obj), obj);

    return word ? gc_object_id_load_relaxed(word) : 0;
}

/* ---- object_id ---------------------------------------------------- */

static inline VALUE
gc_object_id_value(size_t number)
{
    return ULL2NUM((unsigned long long)number * OBJ_ID_INCREMENT);
}

/* The next number of the running Ractor, which +cache+ is of. */
static size_t
gc_object_id_next(rb_objspace_t *objspace, rb_ractor_newobj_cache_t *cache)
{
    size_t number = cache->next_object_id;

    if (number == cache->end_of_object_ids) {
        if (!rb_gc_multi_ractor_p()) return objspace->next_object_id++;

        number = __atomic_fetch_add(&objspace->next_object_id, GC_OBJECT_ID_RANGE, __ATOMIC_RELAXED);
        gc_object_id_store_relaxed(&cache->end_of_object_ids, number + GC_OBJECT_ID_RANGE);
    }
    gc_object_id_store_relaxed(&cache->next_object_id, number + 1);
    return number;
}

/* As gc_object_id_take, when there is a table: the object is found by its id as soon as it has one. */
static size_t
gc_object_id_take_into_table(rb_objspace_t *objspace, rb_ractor_newobj_cache_t *cache, struct heap_page *page, VALUE obj)
{
    unsigned int lev = rb_gc_vm_lock();
    size_t *word = gc_page_words_make(page, &page->object_ids, obj); /* the lock was a safe point */
    size_t number = gc_object_id_load_relaxed(word);

    if (number == 0) {
        number = gc_object_id_next(objspace, cache);
        gc_object_id_store_relaxed(word, number); /* first: who collects in st_insert keeps the words */
        st_insert(objspace->id_to_obj_tbl, (st_data_t)number, (st_data_t)obj);
    }
    rb_gc_vm_unlock(lev);
    return number;
}

/* Gives +obj+ a number, unless somebody else has. */
NOINLINE(static size_t gc_object_id_take(rb_objspace_t *objspace, VALUE obj));
static size_t
gc_object_id_take(rb_objspace_t *objspace, VALUE obj)
{
    rb_ractor_newobj_cache_t *cache = rb_gc_get_ractor_newobj_cache();
    struct heap_page *page = GET_HEAP_PAGE(obj);
    size_t *word = gc_page_words_make(page, &page->object_ids, obj);

    if (RB_UNLIKELY(objspace->id_to_obj_tbl)) return gc_object_id_take_into_table(objspace, cache, page, obj);

    size_t number = gc_object_id_next(objspace, cache), other = 0;
    if (!rb_gc_multi_ractor_p()) {
        gc_object_id_store_relaxed(word, number);
        return number;
    }
    if (__atomic_compare_exchange_n(word, &other, number, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return number;

    gc_object_id_store_relaxed(&cache->next_object_id, number); /* for the next object */
    return other;
}

VALUE
rb_gc_impl_object_id(void *objspace_ptr, VALUE obj)
{
    size_t number = gc_object_id_find(obj);

    if (RB_UNLIKELY(number == 0)) number = gc_object_id_take(objspace_ptr, obj);
    return gc_object_id_value(number);
}

/* What the finalizers of +zombie+ are given.  An object that was never asked has a number for them alone. */
static VALUE
get_object_id_in_finalizer(rb_objspace_t *objspace, VALUE zombie)
{
    size_t number = gc_object_id_find(zombie);

    if (number == 0) number = gc_object_id_next(objspace, rb_gc_get_ractor_newobj_cache());
    return gc_object_id_value(number);
}

/* ---- what the collector does -------------------------------------- */

/* +obj+ is freed.  With all others stopped; of a zombie, with the VM lock. */
static inline void
gc_object_id_forget(rb_objspace_t *objspace, struct heap_page *page, VALUE obj)
{
    size_t *word = gc_object_id_word(page, obj);
    st_data_t number = word ? (st_data_t)gc_object_id_load_relaxed(word) : 0;
    if (number == 0) return;

    gc_object_id_store_relaxed(word, 0);
    if (objspace->id_to_obj_tbl) st_delete(objspace->id_to_obj_tbl, &number, NULL);
}

/* Whether +obj+, which is dead, is to be left to a step of the sweep.  Who has claimed the page. */
static inline bool
gc_object_id_in_table_p(rb_objspace_t *objspace, VALUE obj)
{
    return RB_UNLIKELY(objspace->id_to_obj_tbl) && gc_object_id_find(obj) > 0;
}

/* +obj+ is freed without a lock, and not in the table.  Who has claimed the page; the words may be another's, made just now
 * for what lives there. */
static inline void
gc_object_id_free_claimed(struct heap_page *page, VALUE obj)
{
    size_t *word = gc_object_id_word(page, obj);

    if (word && gc_object_id_load_relaxed(word) > 0) gc_object_id_store_relaxed(word, 0);
}

/* +src+ is moved to +dest+.  All others stand; that the table has another object is gc_update_references' work. */
static void
gc_object_id_move(VALUE src, VALUE dest)
{
    struct heap_page *to = GET_HEAP_PAGE(dest);
    size_t number = gc_object_id_find(src);
    if (number == 0) return;

    gc_object_id_store_relaxed(gc_page_words_make(to, &to->object_ids, dest), number);
    gc_object_id_store_relaxed(gc_object_id_word(GET_HEAP_PAGE(src), src), 0);
}

/* ---- ObjectSpace._id2ref ------------------------------------------ */

/* Calls +func+ for each object that has a number, and may be dead.  All others stand. */
static void
gc_object_ids_each(rb_objspace_t *objspace, void (*func)(rb_objspace_t *, VALUE obj, size_t number, void *data), void *data)
{
    gc_page_words_each(objspace, offsetof(struct heap_page, object_ids), func, data);
}

static void
gc_object_id_count(rb_objspace_t *objspace, VALUE obj, size_t number, void *count)
{
    ++*(size_t *)count;
}

static void
gc_object_id_add(rb_objspace_t *objspace, VALUE obj, size_t number, void *table)
{
    st_insert(table, (st_data_t)number, (st_data_t)obj);
}

/* With the VM lock, which upstream's barrier gives away for a while.  A collection in the first allocation makes what there
 * is to add less, and there is no second one. */
static void
gc_object_ids_make_table(rb_objspace_t *objspace)
{
    size_t count = 0;

    rb_gc_vm_barrier();
    if (objspace->id_to_obj_tbl) return;
    gc_object_ids_each(objspace, gc_object_id_count, &count);
    st_table *table = st_init_numtable_with_size(count);
    gc_object_ids_each(objspace, gc_object_id_add, table);
    objspace->id_to_obj_tbl = table;
}

struct gc_object_id_search {
    size_t number;
    bool unused;
};

static void
gc_object_id_in_range(void *c, void *data)
{
    const rb_ractor_newobj_cache_t *cache = c;
    struct gc_object_id_search *search = data;

    if (search->number >= gc_object_id_load_relaxed(&cache->next_object_id) &&
        search->number < gc_object_id_load_relaxed(&cache->end_of_object_ids)) search->unused = true;
}

/* Whether nobody has been given +number+ yet.  With the VM lock, and a table: without one, others' ranges change meanwhile. */
static bool
gc_object_id_unused_p(rb_objspace_t *objspace, size_t number)
{
    struct gc_object_id_search search = { number, number >= gc_object_id_load_relaxed(&objspace->next_object_id) };

    rb_gc_ractor_newobj_cache_foreach(gc_object_id_in_range, &search);
    return search.unused;
}

/* The number that +id+ may be the id of, or 0. */
static size_t
gc_object_id_number(VALUE id)
{
    unsigned long long value;
    int sign = rb_integer_pack(id, &value, 1, sizeof(value), 0, INTEGER_PACK_NATIVE_BYTE_ORDER);

    if (sign != 1 || value % OBJ_ID_INCREMENT != 0 || value / OBJ_ID_INCREMENT > SIZE_MAX) return 0;
    return (size_t)(value / OBJ_ID_INCREMENT);
}

VALUE
rb_gc_impl_object_id_to_ref(void *objspace_ptr, VALUE object_id)
{
    rb_objspace_t *objspace = objspace_ptr;
    size_t number = gc_object_id_number(object_id);
    st_data_t obj = 0;
    bool found = false, unused = false;

    if (number > 0) {
        unsigned int lev = rb_gc_vm_lock();

        if (!objspace->id_to_obj_tbl) gc_object_ids_make_table(objspace);
        found = st_lookup(objspace->id_to_obj_tbl, (st_data_t)number, &obj) && !rb_gc_impl_garbage_object_p(objspace, obj);
        unused = !found && gc_object_id_unused_p(objspace, number);
        rb_gc_vm_unlock(lev);
    }
    if (found) return (VALUE)obj;

    VALUE next = gc_object_id_value(gc_object_id_load_relaxed(&objspace->next_object_id));
    VALUE text = rb_funcall(object_id, rb_intern("to_s"), 1, INT2FIX(10));
    if (unused || RTEST(rb_funcall(object_id, rb_intern(">="), 1, next))) {
        rb_raise(rb_eRangeError, "%+"PRIsVALUE" is not id value", text);
    }
    rb_raise(rb_eRangeError, "%+"PRIsVALUE" is recycled object", text);
}

/* ---- GC.verify_internal_consistency ------------------------------- */

static void
gc_object_id_verify_one(rb_objspace_t *objspace, VALUE obj, size_t number, void *count)
{
    st_data_t found = 0;
    bool is_free = false;

    ++*(size_t *)count;
    asan_unpoisoning_object(obj) {
        is_free = BUILTIN_TYPE(obj) == T_NONE || BUILTIN_TYPE(obj) == T_MOVED;
    }
    if (is_free) rb_bug("gc_object_id_verify: free slot %p has the number %"PRIuSIZE, (void *)obj, number);
    if (objspace->id_to_obj_tbl && !(st_lookup(objspace->id_to_obj_tbl, (st_data_t)number, &found) && found == obj)) {
        rb_bug("gc_object_id_verify: number %"PRIuSIZE" of %p is not in the table", number, (void *)obj);
    }
}

/* All others stand. */
static void
gc_object_id_verify(rb_objspace_t *objspace)
{
    size_t count = 0;

    gc_object_ids_each(objspace, gc_object_id_verify_one, &count);
    if (objspace->id_to_obj_tbl && objspace->id_to_obj_tbl->num_entries != count) {
        rb_bug("gc_object_id_verify: %"PRIuSIZE" numbers, but %"PRIuSIZE" in the table", count,
               (size_t)objspace->id_to_obj_tbl->num_entries);
    }
}

#endif /* LOCKFREE_GC_OBJECT_ID_H */
