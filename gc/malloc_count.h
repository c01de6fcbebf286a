#ifndef LOCKFREE_GC_MALLOC_COUNT_H
#define LOCKFREE_GC_MALLOC_COUNT_H
/**********************************************************************

  gc/malloc_count.h - malloc's bytes, counted by each thread and told in bulk

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc/default/default.c.
 *
 * Problem.  Each xmalloc and each xfree adds to two words of the heap's, which tell
 * when to collect.  8 Ractors that make lambdas spend two fifths of their time on
 * fetching that cache line.
 *
 * Solution.  A native thread adds up what it takes and gives back, and tells it
 * when it comes to GC_MALLOC_UNTOLD bytes, or to a 64th of the limit at which the
 * heap collects if that is less.  So a collection comes that much too late or too
 * early for each native thread.  A realloc looks at the limit no more than in stock:
 * who has told without looking does at the next malloc, however small.  A Ractor
 * tells all when it ends, GC.stat what its own thread has; other threads that end do
 * not tell the rest.
 *
 * What is taken in all since the last collection, whatever was given back, is told
 * as well, for gc/room.h.
 *
 * Before there is a second Ractor all is as in stock.
 *
 * The words are estimates, relaxed; what is untold is its thread's alone.
 */

#define GC_MALLOC_UNTOLD 8192 /* bytes */

static void objspace_malloc_increase_count(rb_objspace_t *objspace, size_t new_size, size_t old_size);

#ifdef RB_THREAD_LOCAL_SPECIFIER
static RB_THREAD_LOCAL_SPECIFIER ptrdiff_t gc_malloc_untold;
static RB_THREAD_LOCAL_SPECIFIER bool gc_malloc_unlooked;
static RB_THREAD_LOCAL_SPECIFIER size_t gc_malloc_taken; /* whatever was given back; not told either */
static RB_THREAD_LOCAL_SPECIFIER ptrdiff_t gc_malloc_most; /* bytes to leave untold; 0: not asked yet */
static RB_THREAD_LOCAL_SPECIFIER size_t gc_malloc_freed; /* by this thread, ever; wraps */

/* Tells what this thread has not told, without looking at the limit. */
static void
gc_malloc_tell(rb_objspace_t *objspace)
{
    ptrdiff_t untold = gc_malloc_untold;

    RUBY_ATOMIC_SIZE_ADD(objspace->malloc_taken, gc_malloc_taken);
    gc_malloc_untold = 0;
    gc_malloc_taken = 0;
    gc_malloc_unlooked = true;
    gc_malloc_most = MIN(GC_MALLOC_UNTOLD, (ptrdiff_t)(malloc_limit / 64)); /* all write to its line: not read each time */
    objspace_malloc_increase_count(objspace, untold > 0 ? untold : 0, untold < 0 ? -untold : 0);
}

/* The same, for who only asks: where there is nothing to tell it writes nothing that others share. */
static inline void
gc_malloc_tell_any(rb_objspace_t *objspace)
{
    if (gc_malloc_taken || gc_malloc_untold) gc_malloc_tell(objspace);
}

/* +old_size+ bytes became +new_size+.  Any thread.  Whether to look at the limit now, for one that may collect if it +may+. */
static inline bool
gc_malloc_count(rb_objspace_t *objspace, size_t new_size, size_t old_size, bool may)
{
    if (rb_gc_multi_ractor_p()) {
        ptrdiff_t untold = gc_malloc_untold + (ptrdiff_t)(new_size - old_size);
        ptrdiff_t most = gc_malloc_most;

        if (new_size > old_size) gc_malloc_taken += new_size - old_size; else gc_malloc_freed += old_size - new_size;
        gc_malloc_untold = untold;
        if (-most < untold && untold < most && gc_malloc_taken < 8 * GC_MALLOC_UNTOLD) {
            if (!may || !gc_malloc_unlooked) return false;
        }
        else {
            gc_malloc_tell(objspace);
        }
        gc_malloc_unlooked = !may;
    }
    else {
        objspace_malloc_increase_count(objspace, new_size, old_size);
    }
    return may;
}

#else
# define gc_malloc_freed ((size_t)0)
# define gc_malloc_tell(objspace) ((void)0)
# define gc_malloc_tell_any(objspace) ((void)0)
# define gc_malloc_count(objspace, new_size, old_size, may) (objspace_malloc_increase_count(objspace, new_size, old_size), (may))
#endif

#endif /* LOCKFREE_GC_MALLOC_COUNT_H */
