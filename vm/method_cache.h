#ifndef LOCKFREE_VM_METHOD_CACHE_H
#define LOCKFREE_VM_METHOD_CACHE_H
/**********************************************************************

  vm/method_cache.h - a Ractor's own cache of methods

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  A call site remembers one class.  Where it meets several (one class
 * method, a hundred subclasses) it misses, looks the method up under the VM
 * lock, and writes what it found into the site, which all Ractors share.
 *
 * So does C, which looks methods up by name (`respond_to?`, "is #to_f the basic
 * one?", #hash and #eql? of a key): with the lock each time, to find what it found
 * the last time.
 *
 * Representation.  Each Ractor has two tables (cache_ways.h).  `calls` has, for a
 * call (name, number of arguments, flags: what the cache of the class goes by, too)
 * and a class, the call cache that the look-up found.  `names` has, for a class and
 * a name, the method, or upstream's negative entry, which says that there is none.
 * What is in them was found by upstream's look-up, and is tested as upstream's
 * caches are: the class is the receiver's, and the method has not been invalidated.
 *
 * Invariants.
 *   [A] Only its own Ractor reads and fills its tables, holding that Ractor's GVL.
 *   [B] The GC empties them whenever it marks from the roots, while all stop: at
 *       the start and at the end of marking.  So nothing in them is older than
 *       that, and nothing that is not marked stays in them until it is swept.
 *       (Compaction comes at once after marking, with nobody run in between.)
 *       Those of a Ractor that has filed nothing since are empty: of a thousand, of
 *       which a dozen have run, the rest are left alone.
 *   [C] With several Ractors, a site whose cache is valid is written only when
 *       the Ractor's table misses too.  A site that meets N classes in a Ractor
 *       is then written N times between two GCs, and not at each call.  That a
 *       class has no such method is not written over again.  With
 *       one Ractor it is written each time, as in stock: it soon hits again.
 *       So is a site that has the cache of a refined method, which its class does
 *       not know, and cannot invalidate when another method comes before that one.
 *   [D] Where the answer of the class's own cache changes and the method stays
 *       valid, as when a class without subclasses gets a method that it has
 *       inherited, that cache loses its entry, and with the VM lock held
 *       vm_method_names_state advances: an entry of `names` is as old as the state
 *       that it has, and is none if that is not the last.  Who does not see the
 *       state advance has nothing of what was done before it, either.
 *       `calls` has no need of it: the call cache is told.
 *
 *   [E] `own` has methods that this Ractor has put into a class's table, or found in a module's, to be called the first time
 *       (method_once.h): nothing is filed with the class, so nothing there tells of a change.  Who
 *       takes a method out of a class's table, for another one or none, says so in the method's
 *       flags, with the VM lock held (METHOD_ENTRY_LEFT, relaxed: who does not see it has nothing of
 *       what was done after it, either), unless the method is invalidated, as one that subclasses have
 *       found is.  It does not come back: what is put into a table is new.  And an entry goes by
 *       the class's table, which whoever prepends to the class gives to its origin.
 *
 * `own` is asked with several Ractors only: with one the lock is none.  Then the first call on a class
 * is not filed, nor what it is asked for the first time: a new class may be asked once.  And who files
 * something does not look whether what else is there is still so, and from VM_METHOD_*_BITS_ALONE on has a larger table
 * only when VM_METHOD_LOST times as much as there is room for has been given up since [B]: where classes are made and
 * dropped, either costs more cache misses than it spares.
 *
 * A call that is made without being filed, method_once.h, has its method in `once`
 * from where it was found to where the call begins, with nothing run in between.
 */

#include "ruby/internal/config.h"

#include <stdint.h>

#include "ruby/internal/has/feature.h"
#include "ruby/internal/stdbool.h"
#include "ruby/internal/value.h"

struct rb_callinfo;
struct rb_callcache;
struct rb_callable_method_entry_struct;
struct rb_method_entry_struct;
struct rb_id_table;
struct rb_ractor_struct;

/* How the word of a call site, or of the table of C's calls, is loaded: the loads
 * of what it points to depend on it, so the machine keeps them in order.
 * ThreadSanitizer does not know that. */
#if defined(__SANITIZE_THREAD__) || RBIMPL_HAS_FEATURE(thread_sanitizer)
# define VM_CALL_SITE_ORDER __ATOMIC_ACQUIRE
#else
# define VM_CALL_SITE_ORDER __ATOMIC_RELAXED
#endif

/* Whether anything may be filed of +klass+.  With one Ractor not before the class has a cache of its own. */
#define VM_METHOD_FILED_P(klass) (rb_multi_ractor_p() || RCLASS_CC_TBL(klass))

enum {
    VM_METHOD_CALLS_BITS_MIN = 7, VM_METHOD_CALLS_BITS_ALONE = 8, VM_METHOD_CALLS_BITS_MAX = 10,
    VM_METHOD_NAMES_BITS_MIN = 6, VM_METHOD_NAMES_BITS_ALONE = 7, VM_METHOD_NAMES_BITS_MAX = 10,
    VM_METHOD_LOST = 16,
    VM_METHOD_OWN_BITS = 5,
};

/* Allocated with the first method that is stored, or called once. */
struct vm_method_cache {
    bool filled;                        /* since [B] */
    unsigned char calls_bits, names_bits;
    unsigned int calls_lost, names_lost; /* since then, or since the table was made: what was given up for something else */

    struct vm_method_call_entry {
        uint32_t hash, call;            /* of all that makes the call; number of arguments, and flags */
        const struct rb_callcache *cc;  /* NULL: empty */
    } *calls;

    struct vm_method_name_entry {
        VALUE klass;                    /* 0: empty */
        ID mid;
        const struct rb_callable_method_entry_struct *cme;
        rb_serial_t state;              /* [D] */
    } *names;

    struct vm_method_own_entry {
        VALUE klass;                    /* or module; 0: empty */
        const struct rb_id_table *table;
        const struct rb_method_entry_struct *me;
    } own[1 << VM_METHOD_OWN_BITS];     /* [E] */

    const struct rb_callable_method_entry_struct *once;
};

/* Bytes, as long as no table grows: who asks may be another Ractor, which may not look into it. */
#define VM_METHOD_CACHE_MEMSIZE (sizeof(struct vm_method_cache) + \
    (sizeof(struct vm_method_call_entry) << VM_METHOD_CALLS_BITS_MIN) + \
    (sizeof(struct vm_method_name_entry) << VM_METHOD_NAMES_BITS_MIN))

/* vm/method_cache.c; which Ractors may call: see there */
bool rb_vm_method_cache_takes(const struct rb_callinfo *ci);
const struct rb_callcache *rb_vm_method_cache_lookup(const struct rb_callinfo *ci, VALUE klass);
bool rb_vm_method_cache_once(const struct rb_callable_method_entry_struct *cme);
void rb_vm_method_cache_store(const struct rb_callinfo *ci, const struct rb_callcache *cc);
const struct rb_callable_method_entry_struct *rb_vm_method_names_lookup(VALUE klass, ID mid);
bool rb_vm_method_names_public_p(VALUE klass, ID mid);
bool rb_vm_method_names_lack(VALUE klass, ID mid);
void rb_vm_method_names_store(VALUE klass, ID mid, const struct rb_callable_method_entry_struct *cme);
void rb_vm_method_names_forget(void);
bool rb_vm_method_unmet_p(VALUE klass, ID mid);
void rb_vm_method_own_forget(const struct rb_method_entry_struct *me);
void rb_vm_method_own_store(VALUE klass, const struct rb_method_entry_struct *me);
const struct rb_callable_method_entry_struct *rb_vm_method_own_lookup(VALUE klass, ID mid);
const struct rb_method_entry_struct *rb_vm_method_own_of_module(VALUE iclass, ID mid);
void rb_vm_method_cache_clear(struct rb_ractor_struct *r);
void rb_vm_method_cache_free(struct rb_ractor_struct *r);

#endif /* LOCKFREE_VM_METHOD_CACHE_H */
