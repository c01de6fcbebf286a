#ifndef LOCKFREE_GC_FINALIZE_H
#define LOCKFREE_GC_FINALIZE_H
/**********************************************************************

  gc/finalize.h - who calls finalizers, and frees what is not freed by the sweep

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc/default/default.c.
 *
 * Problem.  Who has swept takes the list of what is to be finalized (heap_pages_deferred_final),
 * when it looks for interrupts, calls the finalizers, and takes the list again as long as there
 * is one.  Upstream has one flag, for all, that somebody does so.  Others that leave objects come
 * to nothing meanwhile, and go on to leave more: where they leave more than it can call there is
 * no end; main, say, sleeps for ever, and memory grows by 2 GB a minute.  And what main has
 * defined is called in any Ractor: beside main, whose objects it changes, or to IsolationError,
 * which nobody sees.
 *
 * Solution.  Each Ractor finalizes what it finds, before it goes on, in two steps, each of which
 * it may have to leave to another:
 *
 *   what is freed     of a file: anyone's.  By a function of an extension: one at a time, as
 *                     upstream, for two of them may share what has no lock.  Who finds somebody
 *                     at it leaves it to him, and he looks again when he is done with his list.
 *   the finalizers    of main, if main has defined any of them, unless that is shareable and no
 *                     module, whose variables may be main's: it looks when it takes a page to
 *                     fill, and at the end.  It is not woken: nothing of what waits there would
 *                     expect that.  What other Ractors define is shareable: anyone's.  A copy of an
 *                     object that another Ractor makes gets only such ones.
 *
 *   finalizes                 of a Ractor's cache, with its GVL: the thread that does, or NULL; no other
 *                             begins, nor that one again within a finalizer
 *   finalizing                how many Ractors do: the checks of the GC ask whether it is 0
 *   deferred_free_alone       what is to be freed by one at a time
 *   frees_alone               the cache of who is at it, or NULL
 *   deferred_final_of_main    what has been freed, and is left to main
 *   main_finalizes_last       the process ends: main has the table of finalizers for itself
 *   lost_zombies              what a thread has taken that was not forked along, or that left by a jump, stays a
 *                             zombie, which no list has
 *
 * An object is in one list, or in the hands of who took it.  Lists are taken whole, by an
 * exchange, and filled by compare and swap, as upstream's.  All is seq_cst: who fills
 * deferred_free_alone looks at frees_alone then, and who leaves frees_alone looks at the list
 * then, so one of the two sees the other.
 */

/* Of a hidden Array of finalizers: all of it are anyone's. */
#define GC_FINALIZERS_ANYONES FL_USER18

static inline rb_ractor_newobj_cache_t *
gc_finalize_cache(void)
{
    return rb_gc_get_ractor_newobj_cache();
}

/* Whether the current Ractor is at it. */
static bool
gc_finalizes_p(void)
{
    return gc_finalize_cache()->finalizes != NULL;
}

/* False: it is at it, or the process ends and it is not main.  The current Ractor. */
static bool
gc_finalize_begin(rb_objspace_t *objspace)
{
    if (gc_finalizes_p()) return false;
    if (__atomic_load_n(&objspace->main_finalizes_last, __ATOMIC_RELAXED) && !rb_gc_main_ractor_p()) return false;

    gc_finalize_cache()->finalizes = rb_gc_current_thread();
    RUBY_ATOMIC_INC(finalizing);
    return true;
}

static void
gc_finalize_end(rb_objspace_t *objspace)
{
    gc_finalize_cache()->finalizes = NULL;
    RUBY_ATOMIC_DEC(finalizing);
}

static bool
gc_finalizer_shareable_p(VALUE finalizer)
{
    return RB_SPECIAL_CONST_P(finalizer) || RB_OBJ_SHAREABLE_P(finalizer);
}

/* +finalizers+ get one more, +block+, of the current Ractor, as the +first+ or not.  VM lock. */
static void
gc_finalizers_defined(VALUE finalizers, VALUE block, bool first)
{
    bool module = RB_TYPE_P(block, T_CLASS) || RB_TYPE_P(block, T_MODULE);

    if (rb_gc_main_ractor_p() && (module || !gc_finalizer_shareable_p(block))) FL_UNSET_RAW(finalizers, GC_FINALIZERS_ANYONES);
    else if (first) FL_SET_RAW(finalizers, GC_FINALIZERS_ANYONES);
}

/* Those of +finalizers+ that a copy of their object gets from the current Ractor, or 0: there are none.  VM lock. */
static VALUE
gc_finalizers_of_copy(VALUE finalizers)
{
    if (rb_gc_main_ractor_p()) return finalizers;

    VALUE copy = rb_ary_hidden_new(RARRAY_LEN(finalizers));
    for (long i = 0; i < RARRAY_LEN(finalizers); i++) {
        VALUE finalizer = RARRAY_AREF(finalizers, i);
        if (gc_finalizer_shareable_p(finalizer)) rb_ary_push(copy, finalizer);
    }
    FL_SET_RAW(copy, GC_FINALIZERS_ANYONES);
    return RARRAY_LEN(copy) > 0 ? copy : 0;
}

static void
gc_zombie_push(VALUE *list, VALUE zombie)
{
    VALUE head = __atomic_load_n(list, __ATOMIC_RELAXED);
    do {
        RZOMBIE(zombie)->next = head;
    } while (!__atomic_compare_exchange_n(list, &head, zombie, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

/* Whether +zombie+'s finalizers are left to main.  With the VM lock. */
static bool
gc_leave_to_main(rb_objspace_t *objspace, VALUE zombie)
{
    st_data_t finalizers;

    if (rb_gc_main_ractor_p() || !st_lookup(finalizer_table, zombie, &finalizers)) return false;
    if (FL_TEST_RAW((VALUE)finalizers, GC_FINALIZERS_ANYONES)) return false;

    gc_zombie_push(&objspace->deferred_final_of_main, zombie);
    return true;
}

/* Whether the current Ractor frees what one at a time may, until it takes its next list. */
static bool
gc_frees_alone(rb_objspace_t *objspace)
{
    void *self = gc_finalize_cache(), *other = NULL;

    return __atomic_load_n(&objspace->frees_alone, __ATOMIC_RELAXED) == self ||
        __atomic_compare_exchange_n(&objspace->frees_alone, &other, self, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static void
gc_frees_alone_end(rb_objspace_t *objspace, void *cache)
{
    if (__atomic_load_n(&objspace->frees_alone, __ATOMIC_RELAXED) == cache) __atomic_store_n(&objspace->frees_alone, NULL, __ATOMIC_SEQ_CST);
}

/* Frees what the sweep did not free of +zombie+, if it is not yet.  False: that is left to who does so alone, and +zombie+ with it. */
static bool
gc_zombie_free_data(rb_objspace_t *objspace, VALUE zombie)
{
    void (*dfree)(void *) = RZOMBIE(zombie)->dfree;
    if (!dfree) return true;

    if (!rb_gc_freed_by_anyone_p(dfree) && !gc_frees_alone(objspace)) {
        gc_zombie_push(&objspace->deferred_free_alone, zombie);
        return false;
    }
    RZOMBIE(zombie)->dfree = NULL;
    dfree(RZOMBIE(zombie)->data);
    return true;
}

/* The next list that the current Ractor is to finalize, or 0.  It has finalized what it took before. */
static VALUE
gc_finalize_take(rb_objspace_t *objspace)
{
    gc_frees_alone_end(objspace, gc_finalize_cache());

    VALUE list = RUBY_ATOMIC_VALUE_EXCHANGE(heap_pages_deferred_final, 0);
    if (!list && rb_gc_main_ractor_p()) list = RUBY_ATOMIC_VALUE_EXCHANGE(objspace->deferred_final_of_main, 0);
    while (!list && __atomic_load_n(&objspace->deferred_free_alone, __ATOMIC_SEQ_CST) && gc_frees_alone(objspace)) {
        list = RUBY_ATOMIC_VALUE_EXCHANGE(objspace->deferred_free_alone, 0);
        if (!list) gc_frees_alone_end(objspace, gc_finalize_cache());
    }
    return list;
}

static void gc_finalize_deferred_register(rb_objspace_t *objspace);

/* The current Ractor takes a page to fill. */
static inline void
gc_finalize_look(rb_objspace_t *objspace)
{
    if (RB_LIKELY(!__atomic_load_n(&objspace->deferred_final_of_main, __ATOMIC_RELAXED))) return;
    if (rb_gc_main_ractor_p() && !gc_finalizes_p()) gc_finalize_deferred_register(objspace);
}

static size_t
gc_zombie_count(VALUE zombie)
{
    size_t count = 0;
    for (; zombie; zombie = RZOMBIE(zombie)->next) count++;
    return count;
}

/* The thread of +cache+ that finalizes, if there is one, is no more, or has left that by a jump. */
static void
gc_finalizes_no_more(rb_objspace_t *objspace, rb_ractor_newobj_cache_t *cache)
{
    gc_frees_alone_end(objspace, cache);
    if (!cache->finalizes) return;

    cache->finalizes = NULL;
    objspace->lost_zombies = true;
    RUBY_ATOMIC_DEC(finalizing);
}

static void
gc_finalize_in_child_i(void *c, void *objspace)
{
    rb_ractor_newobj_cache_t *cache = c;
    if (cache->finalizes != rb_gc_current_thread()) gc_finalizes_no_more(objspace, cache);
}

/* In the child of a fork, of the current thread. */
static void
gc_finalize_in_child(rb_objspace_t *objspace)
{
    rb_gc_ractor_newobj_cache_foreach(gc_finalize_in_child_i, objspace);
}

#endif /* LOCKFREE_GC_FINALIZE_H */
