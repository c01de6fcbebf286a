#ifndef LOCKFREE_CLASS_LIST_H
#define LOCKFREE_CLASS_LIST_H
/**********************************************************************

  class/list.h - what lists subclasses, and where a new one comes in its superclass's list

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
 * To be listed takes a malloc, to leave a list a free, while others wait; a class that
 * gets a module does both, twice.  Each Ractor keeps a few of its entries for the next.
 *
 * Invariants, all with the VM lock:
 *   [1] place->head is NULL, or the head of a list in which place->newest is; then, and
 *       only then, place->newest->place is that place.
 *   [2] An entry that is in a list with a head has one before it: the head, at least.
 *   [3] head->place, if not NULL, says that a Ractor has had a place in the list.
 *
 * The spares of a Ractor are its own, without the lock: between two safe points.
 */

#include "internal/sanitizers.h"
#include "lockfree/class_fields.h"
#include "ractor_core.h"

/* Each has so many spares, at most.  0 with ASan, which is to see who looks at what has left its list; and as soon as main,
 * whose objects are being freed at exit, is itself. */
#ifdef RUBY_ASAN_ENABLED
static unsigned int class_list_spares_max = 0;
#else
static unsigned int class_list_spares_max = 256;
#endif

/* An entry of no list, all 0.  Any Ractor, for itself.  NoMemoryError. */
static inline rb_subclass_entry_t *
class_list_entry_new(void)
{
    struct rb_class_list_spares *spares = &GET_RACTOR()->class_list_spares;
    rb_subclass_entry_t *entry = spares->entries;

    if (!entry) return ZALLOC(rb_subclass_entry_t);
    spares->entries = entry->next;
    spares->count--;
    *entry = (rb_subclass_entry_t){ 0 };
    return entry;
}

/* +entry+ is in no list any more.  Any Ractor, for itself; or who frees the objects at exit. */
static inline void
class_list_entry_free(rb_subclass_entry_t *entry)
{
    if (class_list_spares_max > 0) {
        struct rb_class_list_spares *spares = &GET_RACTOR()->class_list_spares;
        if (spares->count < class_list_spares_max) {
            entry->next = spares->entries;
            spares->entries = entry;
            spares->count++;
            return;
        }
    }
    xfree(entry);
}

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

/* +entry+ is in no list.  Any Ractor, VM lock. */
static inline void
class_list_leave(rb_subclass_entry_t *entry)
{
    struct rb_class_list_place *place = entry->place;

    if (place && entry->next && !entry->next->place) {
        class_list_place_set(place, place->head, entry->next);
    }
    else if (place) {
        class_list_place_set(place, NULL, NULL);
    }
    if (entry->prev) entry->prev->next = entry->next;
    if (entry->next) entry->next->prev = entry->prev;
    entry->next = entry->prev = NULL;
}

/* +entry+, of no list, comes right behind +before+ in its list.  Any Ractor, VM lock. */
static inline void
class_list_insert(rb_subclass_entry_t *before, rb_subclass_entry_t *entry)
{
    entry->next = before->next;
    entry->prev = before;
    if (before->next) before->next->prev = entry;
    before->next = entry;
}

/* Lists +klass+ as one of +super+'s; returns its entry.  Any Ractor.  NoMemoryError. */
static rb_subclass_entry_t *
class_list_push(VALUE super, VALUE klass)
{
    rb_subclass_entry_t *entry = class_list_entry_new();
    entry->klass = klass;

    RB_VM_LOCK_ENTER();
    if (!RCLASS_SUBCLASSES(super)) RCLASS_SUBCLASSES(super) = class_list_entry_new();
    class_list_insert(class_list_place(RCLASS_SUBCLASSES(super), entry), entry);
    RB_VM_LOCK_LEAVE();
    return entry;
}

/* The list that has *+entry+, if any, has it no more.  Any Ractor.  Who has listed it alone takes it off: NULL seen without the lock
 * stays so. */
static void
class_list_remove(rb_subclass_entry_t **entry)
{
    if (!__atomic_load_n(entry, __ATOMIC_RELAXED)) return;

    RB_VM_LOCK_ENTER();
    if (*entry) {
        class_list_leave(*entry);
        class_list_entry_free(*entry);
        *entry = NULL;
    }
    RB_VM_LOCK_LEAVE();
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

/* No list has +klass+, which is dead, any more, and it has none.  Any Ractor, VM lock. */
void
rb_class_unlist(VALUE klass)
{
    rb_class_remove_subclass_head(klass);
    rb_class_remove_from_module_subclasses(klass);
    rb_class_remove_from_super_subclasses(klass);
}

/* +r+ has no place in any list.  Any Ractor, VM lock. */
void
rb_class_list_forget(struct rb_ractor_struct *r)
{
    for (size_t i = 0; i < numberof(r->class_list); i++) class_list_place_set(&r->class_list[i], NULL, NULL);
}

/* +r+, the current Ractor, makes no class any more; or it is freed.  Any Ractor, for itself; the GC. */
void
rb_class_list_free_spares(struct rb_ractor_struct *r)
{
    for (rb_subclass_entry_t *entry = r->class_list_spares.entries, *next; entry; entry = next) {
        next = entry->next;
        xfree(entry);
    }
    r->class_list_spares = (struct rb_class_list_spares){ 0 };
}

/* +r+, which has ended, or never began, is freed.  The GC, VM lock; main at exit. */
void
rb_class_list_free(struct rb_ractor_struct *r)
{
    rb_class_list_forget(r);
    if (r == GET_VM()->ractor.main_ractor) class_list_spares_max = 0;
    rb_class_list_free_spares(r);
}

#endif /* LOCKFREE_CLASS_LIST_H */
