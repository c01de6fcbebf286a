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
 *   the finalizers    of main, if main has defined any of them: it is told.  What other Ractors
 *                     define is shareable: anyone's.
 *   what is freed     of a file: anyone's.  By a function of an extension: one at a time, as
 *                     upstream, for two of them may share what has no lock.  Who finds somebody
 *                     at it leaves it to him, and he looks again when he is done.
 *
 *   finalizes                 of a Ractor's cache, with its GVL: it does, and does not begin again
 *                             within a finalizer
 *   finalizing                how many Ractors do: the checks of the GC ask whether it is 0
 *   deferred_final_of_main    what is left to main
 *   main_is_told              that it is: main has not come yet to take the list
 *   deferred_free_alone       what has been finalized, and is to be freed by one at a time
 *   frees_alone               the cache of who is at it, or NULL
 *
 * An object is in one list, or in the hands of who took it.  Lists are taken whole, by an
 * exchange, and filled by compare and swap, as upstream's.  All is seq_cst: who fills
 * deferred_free_alone looks at frees_alone then, and who leaves frees_alone looks at the list
 * then, so one of the two sees the other.  Main sets main_is_told to 0 before it takes its list;
 * who finds it 0, having filled the list, tells main.
 *
 * In the child of a fork the lists are what they were; what others had taken stays a zombie.
 */

/* Of a hidden Array of finalizers: no finalizer of it is main's. */
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
    return gc_finalize_cache()->finalizes;
}

/* False: it is at it.  The current Ractor. */
static bool
gc_finalize_begin(rb_objspace_t *objspace)
{
    if (gc_finalizes_p()) return false;

    gc_finalize_cache()->finalizes = true;
    RUBY_ATOMIC_INC(finalizing);
    return true;
}

static void
gc_finalize_end(rb_objspace_t *objspace)
{
    gc_finalize_cache()->finalizes = false;
    RUBY_ATOMIC_DEC(finalizing);
}

/* +finalizers+ get one more, of the current Ractor; +first+: the first one.  With the VM lock. */
static void
gc_finalizers_defined(VALUE finalizers, bool first)
{
    if (rb_gc_main_ractor_p()) FL_UNSET_RAW(finalizers, GC_FINALIZERS_ANYONES);
    else if (first) FL_SET_RAW(finalizers, GC_FINALIZERS_ANYONES);
}

static void
gc_zombie_push(VALUE *list, VALUE zombie)
{
    VALUE head = __atomic_load_n(list, __ATOMIC_RELAXED);
    do {
        RZOMBIE(zombie)->next = head;
    } while (!__atomic_compare_exchange_n(list, &head, zombie, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

/* Whether +zombie+'s finalizers, which are +finalizers+, are left to main.  With the VM lock. */
static bool
gc_leave_to_main(rb_objspace_t *objspace, VALUE zombie, VALUE finalizers)
{
    if (FL_TEST_RAW(finalizers, GC_FINALIZERS_ANYONES) || rb_gc_main_ractor_p()) return false;

    gc_zombie_push(&objspace->deferred_final_of_main, zombie);
    return true;
}

/* Frees what the sweep did not free of +zombie+, whose finalizers have been called.
 * False: that is left to who does so alone, and +zombie+ with it. */
static bool
gc_zombie_free_data(rb_objspace_t *objspace, VALUE zombie)
{
    void (*dfree)(void *) = RZOMBIE(zombie)->dfree;
    if (!dfree) return true;

    if (!rb_gc_freed_by_anyone_p(dfree) && __atomic_load_n(&objspace->frees_alone, __ATOMIC_SEQ_CST) != gc_finalize_cache()) {
        gc_zombie_push(&objspace->deferred_free_alone, zombie);
        return false;
    }
    dfree(RZOMBIE(zombie)->data);
    return true;
}

/* The next list that the current Ractor is to finalize, or 0.  It has finalized what it took before. */
static VALUE
gc_finalize_take(rb_objspace_t *objspace)
{
    rb_ractor_newobj_cache_t *self = gc_finalize_cache();
    if (__atomic_load_n(&objspace->frees_alone, __ATOMIC_SEQ_CST) == self) __atomic_store_n(&objspace->frees_alone, NULL, __ATOMIC_SEQ_CST);

    VALUE list = RUBY_ATOMIC_VALUE_EXCHANGE(heap_pages_deferred_final, 0);
    if (!list && rb_gc_main_ractor_p()) {
        RUBY_ATOMIC_SET(objspace->main_is_told, 0);
        list = RUBY_ATOMIC_VALUE_EXCHANGE(objspace->deferred_final_of_main, 0);
    }
    while (!list && __atomic_load_n(&objspace->deferred_free_alone, __ATOMIC_SEQ_CST) &&
           !RUBY_ATOMIC_PTR_CAS(objspace->frees_alone, NULL, self)) {
        list = RUBY_ATOMIC_VALUE_EXCHANGE(objspace->deferred_free_alone, 0);
        if (!list) __atomic_store_n(&objspace->frees_alone, NULL, __ATOMIC_SEQ_CST);
    }
    return list;
}

static void gc_finalize_deferred(void *objspace);

static VALUE
gc_finalize_when_told(void *objspace)
{
    gc_finalize_deferred(objspace);
    return Qnil;
}

/* Main is told, once, if anything is left to it.  If it was told within a finalizer, that came to nothing, so it tells itself.
 * The current Ractor does not finalize any more. */
NOINLINE(static void gc_tell_main_what_is_left(rb_objspace_t *objspace));

static void
gc_tell_main_what_is_left(rb_objspace_t *objspace)
{
    if (!__atomic_load_n(&objspace->deferred_final_of_main, __ATOMIC_SEQ_CST)) return;

    if (!RUBY_ATOMIC_EXCHANGE(objspace->main_is_told, 1) || rb_gc_main_ractor_p()) rb_gc_have_main_call(gc_finalize_when_told, objspace);
}

static size_t
gc_zombie_count(VALUE zombie)
{
    size_t count = 0;
    for (; zombie; zombie = RZOMBIE(zombie)->next) count++;
    return count;
}

/* In the child of a fork: who does what the current Ractor does not is no more. */
static void
gc_finalize_in_child(rb_objspace_t *objspace)
{
    RUBY_ATOMIC_SET(finalizing, gc_finalizes_p());
    RUBY_ATOMIC_SET(objspace->main_is_told, 0);
    if (objspace->frees_alone != gc_finalize_cache()) objspace->frees_alone = NULL;
}

#endif /* LOCKFREE_GC_FINALIZE_H */
