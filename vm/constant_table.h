#ifndef LOCKFREE_VM_CONSTANT_TABLE_H
#define LOCKFREE_VM_CONSTANT_TABLE_H
/**********************************************************************

  vm/constant_table.h - a Ractor's own table of constants

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  Where no inline cache answers, a constant is looked up under the VM
 * lock, in one class after the other: Module#const_get and const_defined?, paths
 * in strings, C that asks for a class by name.
 *
 * Representation.  Each Ractor has a table (cache_ways.h): for a class or module
 * and a name the entry that the class itself has, or NULL if it has none.  The answer
 * is as old as its `state`, which is rb_vm_constant_state's.  What upstream does with an
 * entry is left as it is: its value, its visibility and its place are read anew each
 * time, superclasses and autoload are its affair.
 *
 *                                      who                        needs
 *   rb_vm_constant_table_find          any Ractor, its own table  no lock; takes the VM lock, looks in the class
 *                                                                 and files the answer, if the table has none
 *   vm_constant_state_advance_release  any Ractor                 the VM lock
 *   rb_vm_constant_table_clear         the GC                     all others stopped
 *   rb_vm_constant_table_free          who ends the Ractor        it calls no method any more, or never began
 *
 * Invariants.
 *   [1] Only its own Ractor reads and fills a table, holding that Ractor's GVL.
 *   [2] Whoever adds an entry to a class, takes one away, or puts another in its
 *       place, advances the state in the critical section that does so.  An answer is
 *       filed under the lock, with the state read there.  So one whose state is the
 *       last is not older than a change somebody can know of.
 *   [3] The GC empties the tables whenever it marks from the roots, at the start
 *       and at the end of marking: a class that dies, and its entries, are in none
 *       by the time that they are freed, and cannot come in again.  Compaction comes
 *       at once after marking.  One that has not been filled since is empty.
 *   [4] An entry that is removed stays in memory if there are several Ractors
 *       (rb_const_remove, copy_tables).  With one it is freed, and no table is asked;
 *       the state has advanced before there may be several again.
 *
 * Orders.  The look-up loads the state relaxed.  That it is the answer's says that
 * this Ractor found it when it was this; who has been told of a change is told of the
 * state as well.  test/model/constant.cc has both.
 *
 * Cost.  4 kB a Ractor that has looked one up.  With one Ractor the table is not asked
 * and not filled: the lock is none.
 */

#include "ruby/internal/config.h"
#include "internal/serial.h"
#include "ruby/internal/stdbool.h"
#include "ruby/internal/value.h"

struct rb_const_entry_struct;
struct rb_ractor_struct;

#define VM_CONSTANT_TABLE_BITS 7

/* Allocated with the first constant that is stored. */
struct vm_constant_table {
    bool filled; /* since [3] */
    struct vm_constant_table_entry {
        VALUE klass;                                /* 0: empty */
        ID id;
        struct rb_const_entry_struct *const_entry;  /* NULL: +klass+ itself has no such constant */
        rb_serial_t state;                          /* [2] */
    } entries[1 << VM_CONSTANT_TABLE_BITS];
};

/* ---- how old the tables, and inline caches, may be ---------------- */

extern rb_serial_t rb_vm_constant_state;

/* Before a look-up whose answer is to be kept.  Any Ractor.  Synchronises with
 * vm_constant_state_advance_release; a look-up takes the VM lock, and so finds
 * all that was set when that was. */
static inline rb_serial_t
vm_constant_state_load_acquire(void)
{
    return __atomic_load_n(&rb_vm_constant_state, __ATOMIC_ACQUIRE);
}

/* Whether it is still that of an answer in one's own table.  Any Ractor.  Orders. */
static inline rb_serial_t
vm_constant_state_load_relaxed(void)
{
    return __atomic_load_n(&rb_vm_constant_state, __ATOMIC_RELAXED);
}

/* When caches are cleared, and constants added or removed.  Any Ractor, VM lock.  Synchronises with
 * vm_constant_state_load_acquire. */
static inline void
vm_constant_state_advance_release(void)
{
    __atomic_fetch_add(&rb_vm_constant_state, 1, __ATOMIC_RELEASE);
}

/* vm/constant_table.c */
struct rb_const_entry_struct *rb_vm_constant_table_find(VALUE klass, ID id);
void rb_vm_constant_table_clear(struct rb_ractor_struct *r);
void rb_vm_constant_table_free(struct rb_ractor_struct *r);

#endif /* LOCKFREE_VM_CONSTANT_TABLE_H */
