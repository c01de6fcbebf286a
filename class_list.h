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
 * A class that gets a module leaves its superclass's list at once, for that of the
 * copy of the module: the Ractor's place is then next to the one that followed.
 *
 * Invariants, all with the VM lock:
 *   [1] place->head is NULL, or the head of a list in which place->newest is; then, and
 *       only then, place->newest->place is that place.
 *   [2] An entry that is in a list with a head has one before it: the head, at least.
 *   [3] head->place, if not NULL, says that a Ractor has had a place in the list.
 */

#include "lockfree/class_fields.h"
#include "ractor_core.h"

static void
class_list_place_set(struct rb_class_list_place *place, rb_subclass_entry_t *head, rb_subclass_entry_t *newest)
{
    if (place->head) place->newest->place = NULL;
    *place = (struct rb_class_list_place){ head, newest };
    if (head) newest->place = place;
}

NOINLINE(static rb_subclass_entry_t *class_list_place_of_own(rb_subclass_entry_t *head, rb_subclass_entry_t *entry));

static rb_subclass_entry_t *
class_list_place_of_own(rb_subclass_entry_t *head, rb_subclass_entry_t *entry)
{
    struct rb_class_list_place *place = &GET_RACTOR()->class_list[rb_id_hash((ID)(uintptr_t)head >> 5) >> 29];
    rb_subclass_entry_t *before = place->head == head ? place->newest->prev : head;

    class_list_place_set(place, head, entry);
    head->place = place;
    return before;
}

/* The entry of the list +head+ behind which +entry+ comes, at once.  Any Ractor, VM lock. */
static inline rb_subclass_entry_t *
class_list_place(rb_subclass_entry_t *head, rb_subclass_entry_t *entry)
{
    return rb_multi_ractor_p() ? class_list_place_of_own(head, entry) : head;
}

/* +entry+ leaves its list, at once.  Any Ractor, VM lock. */
static inline void
class_list_left(rb_subclass_entry_t *entry)
{
    struct rb_class_list_place *place = entry->place;

    if (!place) return;
    if (entry->next && !entry->next->place) {
        class_list_place_set(place, place->head, entry->next);
    }
    else {
        class_list_place_set(place, NULL, NULL);
    }
}

/* The list +head+ has none any more: its class has died.  Any Ractor, VM lock. */
static inline void
class_list_dropped(rb_subclass_entry_t *head)
{
    if (!head->place) return;
    for (rb_subclass_entry_t *entry = head->next; entry; entry = entry->next) {
        if (entry->place) class_list_place_set(entry->place, NULL, NULL);
    }
}

/* +r+, which has ended, or never began, is freed.  Any Ractor, VM lock. */
void
rb_class_list_forget(struct rb_ractor_struct *r)
{
    for (size_t i = 0; i < numberof(r->class_list); i++) class_list_place_set(&r->class_list[i], NULL, NULL);
}

#endif /* LOCKFREE_CLASS_LIST_H */
