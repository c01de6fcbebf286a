#ifndef LOCKFREE_CLASS_LIST_H
#define LOCKFREE_CLASS_LIST_H
/**********************************************************************

  class_list.h - where a new class comes in the list of its superclass

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of class.c.
 *
 * Problem.  A superclass, or a module, has a list of what inherits from it, and a new
 * class comes first: Ractors that make subclasses of Object write the same two lines,
 * the head and what came first, with the VM lock held, as others wait for it.
 *
 * Solution.  A new class comes right before the one that its Ractor has put there
 * last.  What is written next to it was written by another Ractor once, and by this
 * one since.  In each Ractor the newest is first, as in stock; between Ractors there is
 * no order, and the documentation of Class#subclasses promises none.
 *
 * Invariants, all with the VM lock:
 *   [1] A Ractor's places are those of entries that are in a list with that head: whatever
 *       leaves a list, or a list that is dropped, advances class_list_state, and a
 *       Ractor that has places of an older state has none.
 *   [2] An entry that is in a list has one before it: the head, at least.
 */

#include "lockfree/class_fields.h"
#include "ractor_core.h"

static rb_serial_t class_list_state;

/* Something leaves a list, or a list is dropped.  Any Ractor, VM lock. */
static inline void
class_list_left(void)
{
    class_list_state++;
}

NOINLINE(static rb_subclass_entry_t *class_list_place_of_own(rb_subclass_entry_t *head, rb_subclass_entry_t *entry));

static rb_subclass_entry_t *
class_list_place_of_own(rb_subclass_entry_t *head, rb_subclass_entry_t *entry)
{
    struct rb_class_list *list = &GET_RACTOR()->class_list;
    if (list->state != class_list_state) {
        MEMZERO(list->places, struct rb_class_list_place, numberof(list->places));
        list->state = class_list_state;
    }

    struct rb_class_list_place *place = &list->places[rb_id_hash((ID)(uintptr_t)head >> 4) >> 29];
    rb_subclass_entry_t *before = place->head == head ? place->newest->prev : head;
    *place = (struct rb_class_list_place){ head, entry };
    return before;
}

/* The entry of the list +head+ behind which +entry+ comes, at once.  Any Ractor, VM lock. */
static inline rb_subclass_entry_t *
class_list_place(rb_subclass_entry_t *head, rb_subclass_entry_t *entry)
{
    return rb_multi_ractor_p() ? class_list_place_of_own(head, entry) : head;
}

#endif /* LOCKFREE_CLASS_LIST_H */
