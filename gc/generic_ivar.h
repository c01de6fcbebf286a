#ifndef LOCKFREE_GC_GENERIC_IVAR_H
#define LOCKFREE_GC_GENERIC_IVAR_H
/**********************************************************************

  gc/generic_ivar.h - instance variables of Strings, Arrays, ..., kept beside the page of the object

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc/default/default.c; generic_ivar.h has the use.
 *
 * Problem.  An object that is no T_OBJECT, and no class, has no room for instance
 * variables.  They are in memory of malloc's (struct gen_ivtbl), found by the
 * object's address in a table of the process, under the VM lock: 8 Ractors that
 * read a variable of an Array of their own take twice as long as one thread.  Where
 * one has died, its page is swept with all stopped.
 *
 * Representation.  heap_page.generic_ivars, as gc/page_words.h says: the word of an
 * object is 0, or the address of that memory.
 *
 *                                   who                                needs
 *   rb_gc_impl_generic_ivar         any Ractor                         the object; no lock
 *   rb_gc_impl_set_generic_ivar     the Ractor that owns the object    no lock
 *                                   of a shareable object, any Ractor  the VM lock
 *                                   the sweep, a claimed one too       the object is dead
 *   gc_generic_ivar_move            compaction                         all others stopped
 *
 * Invariants, beside those of gc/page_words.h.
 *   [1] Two never write to the word of one object at the same time.  What is not
 *       shareable is its Ractor's alone; what is dead is whose it is to sweep.
 *   [2] What the word points to is whole before the word is stored, and is freed by who
 *       replaces the word, after that, or by the sweep.  Who reads a shareable object
 *       that is not frozen (a Proc that main gives variables) has the VM lock, or asks
 *       for internal variables of C's, as in stock.
 *
 * Order.  A word: release (rb_gc_impl_set_generic_ivar) and acquire
 * (rb_gc_impl_generic_ivar), so that who finds the memory finds what is in it.
 */

static inline size_t *
gc_generic_ivar_word(VALUE obj)
{
    struct heap_page *page = GET_HEAP_PAGE(obj);

    return gc_page_words_find(page, &page->generic_ivars, obj);
}

/* What holds the variables of +obj+, or NULL.  Any Ractor.  No safe point. */
void *
rb_gc_impl_generic_ivar(void *objspace_ptr, VALUE obj)
{
    const size_t *word = gc_generic_ivar_word(obj);

    return word ? (void *)__atomic_load_n(word, __ATOMIC_ACQUIRE) : NULL; /* rb_gc_impl_set_generic_ivar */
}

/* +ivars+ holds the variables of +obj+ from now on; NULL: nothing does, which takes no memory.  Raises NoMemoryError, and
 * then nothing has changed.  No safe point. */
void
rb_gc_impl_set_generic_ivar(void *objspace_ptr, VALUE obj, void *ivars)
{
    struct heap_page *page = GET_HEAP_PAGE(obj);
    size_t *word = ivars ? gc_page_words_make(page, &page->generic_ivars, obj) : gc_generic_ivar_word(obj);

    if (word) __atomic_store_n(word, (size_t)ivars, __ATOMIC_RELEASE); /* Synchronises with rb_gc_impl_generic_ivar. */
}

/* +src+ is moved to +dest+.  All others stand. */
static void
gc_generic_ivar_move(rb_objspace_t *objspace, VALUE src, VALUE dest)
{
    void *ivars = rb_gc_impl_generic_ivar(objspace, src);
    if (!ivars) return;

    rb_gc_impl_set_generic_ivar(objspace, dest, ivars);
    rb_gc_impl_set_generic_ivar(objspace, src, NULL);
}

/* ---- GC.verify_internal_consistency ------------------------------- */

static void
gc_generic_ivar_verify_one(rb_objspace_t *objspace, VALUE obj, size_t word, void *data)
{
    bool is_free = false;

    asan_unpoisoning_object(obj) {
        is_free = BUILTIN_TYPE(obj) == T_NONE || BUILTIN_TYPE(obj) == T_MOVED || BUILTIN_TYPE(obj) == T_ZOMBIE;
    }
    if (is_free) rb_bug("gc_generic_ivar_verify: free slot %p has variables", (void *)obj);
}

/* All others stand. */
static void
gc_generic_ivar_verify(rb_objspace_t *objspace)
{
    gc_page_words_each(objspace, offsetof(struct heap_page, generic_ivars), gc_generic_ivar_verify_one, NULL);
}

#endif /* LOCKFREE_GC_GENERIC_IVAR_H */
