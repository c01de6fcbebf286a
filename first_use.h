#ifndef LOCKFREE_FIRST_USE_H
#define LOCKFREE_FIRST_USE_H
/**********************************************************************

  first_use.h - statics that are filled when they are first used

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  C code keeps numbers of names, symbols, tables and objects in
 * statics, and fills them when it comes by first.  Upstream looks at the word
 * that is filled first: another Ractor finds it set, and the rest is not yet.
 *
 * Solution.  A word that is looked at is stored last, with release, and loaded
 * with acquire; one word more where none is the last.  Several Ractors may fill
 * the same statics, so that each stores what all others store: numbers and
 * symbols, which do not change, or else an object, of which the first is kept;
 * likewise in a field of an object that they share.
 * A hit is a plain load on x86-64, and none stores.
 */

#include "internal/vm.h"
#include "vm_sync.h"

/* The word, or 0.  Any Ractor.  Synchronises with first_use_store_release and first_use_object. */
#define first_use_load_acquire(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)

/* All that this stands for is filled.  Any Ractor.  Synchronises with first_use_load_acquire. */
#define first_use_store_release(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELEASE)

/* The object for +word+: +made+, which is whole and is never freed from here
 * on, or the one of a Ractor that was first.  Any Ractor.  Synchronises with
 * first_use_load_acquire. */
static inline VALUE
first_use_object(VALUE *word, VALUE made)
{
    VALUE first = 0;

    rb_vm_register_global_object(made);
    return __atomic_compare_exchange_n(word, &first, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ? made : first;
}

/* The memory for +word+: +made+, which is filled, or what a Ractor that was
 * first has made, and +made+ is freed.  Any Ractor.  Synchronises with
 * ISEQ_ORIGINAL_ISEQ. */
static inline VALUE *
first_use_memory(VALUE **word, VALUE *made)
{
    VALUE *first = NULL;

    if (__atomic_compare_exchange_n(word, &first, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return made;
    xfree(made);
    return first;
}

/* The object for +field+ of +owner+, which is frozen with it by who is first: +made+,
 * which is whole, or that one's.  Any Ractor.  Who finds it there reads on from its
 * address: the release is enough. */
static inline VALUE
first_use_field(VALUE owner, const VALUE *field, VALUE made)
{
    VALUE first = 0;

    if (!__atomic_compare_exchange_n((VALUE *)field, &first, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return first;
    RB_OBJ_WRITTEN(owner, Qundef, made);
    RB_OBJ_FREEZE(owner);
    return made;
}

#endif /* LOCKFREE_FIRST_USE_H */
