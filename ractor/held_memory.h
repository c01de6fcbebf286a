#ifndef LOCKFREE_RACTOR_HELD_MEMORY_H
#define LOCKFREE_RACTOR_HELD_MEMORY_H
/**********************************************************************

  ractor/held_memory.h - what a Ractor that has ended holds, until it is collected

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of ractor.c.
 *
 * Problem.  A Ractor that has ended is an object as any: the next collection frees it
 * and its threads.  With each thread goes the memory of its stacks, which no count of the
 * collector's knows: where a heap has many free slots, thousands of Ractors end before
 * there is a collection.
 *
 * Solution.  Its caches are freed when it ends.  For the rest it counts, from then on, as
 * RACTOR_HELD_BYTES of malloc's, so that a hundred are collected at once: the pages
 * of stacks that a program of some depth has used.
 */

#define RACTOR_HELD_BYTES (256 * 1024)

/* +r+, the current Ractor, ends, and calls no method any more.  VM lock. */
static void
ractor_held_memory_begin(rb_ractor_t *r)
{
    rb_class_list_free_spares(r);
    rb_vm_method_cache_free(r);
    rb_vm_constant_table_free(r);
    ruby_mimfree(r->time_local);
    r->time_local = NULL;
    rb_gc_adjust_memory_usage(RACTOR_HELD_BYTES);
    r->held_memory = true;
}

/* +r+ is freed.  The GC. */
static void
ractor_held_memory_end(rb_ractor_t *r)
{
    if (r->held_memory) rb_gc_adjust_memory_usage(-RACTOR_HELD_BYTES);
}

#endif /* LOCKFREE_RACTOR_HELD_MEMORY_H */
