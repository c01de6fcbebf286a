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
 * Representation.  Each Ractor has a direct-mapped table from (call info,
 * class) to the call cache that the look-up found.  What is in it was found by
 * upstream's look-up, and is tested as an inline cache is: the class is the
 * receiver's, and the method has not been invalidated.  Only calls whose info
 * is packed into the word itself (no keywords; most) are kept: one that lies in
 * memory may be on somebody's stack.
 *
 * Invariants.
 *   [A] Only its own Ractor reads and fills a table, holding that Ractor's GVL.
 *   [B] The GC empties it whenever it marks from the roots, while all stop: at
 *       the start and at the end of marking.  So nothing in it is older than
 *       that, and nothing that is not marked stays in it until it is swept.
 *       (Compaction comes at once after marking, with nobody run in between.)
 *   [C] With several Ractors, a site whose cache is valid is written only when
 *       the Ractor's table misses too.  A site that meets N classes in a Ractor
 *       is then written N times between two GCs, and not at each call.  With
 *       one Ractor it is written each time, as in stock: it soon hits again.
 */

#include "ruby/internal/config.h"
#include "ruby/internal/has/feature.h"
#include "ruby/internal/stdbool.h"
#include "ruby/internal/value.h"

struct rb_callinfo;
struct rb_callcache;
struct rb_ractor_struct;

/* How the word of a call site, or of the table of C's calls, is loaded: the loads
 * of what it points to depend on it, so the machine keeps them in order.
 * ThreadSanitizer does not know that. */
#if defined(__SANITIZE_THREAD__) || RBIMPL_HAS_FEATURE(thread_sanitizer)
# define VM_CALL_SITE_ORDER __ATOMIC_ACQUIRE
#else
# define VM_CALL_SITE_ORDER __ATOMIC_RELAXED
#endif

#define VM_METHOD_CACHE_BITS 9

/* Allocated with the first method that is stored. */
struct vm_method_cache {
    struct vm_method_cache_entry {
        const struct rb_callinfo *ci;
        const struct rb_callcache *cc;  /* NULL: empty */
    } entries[1 << VM_METHOD_CACHE_BITS];
};

/* vm/method_cache.c; which Ractors may call: see there */
bool rb_vm_method_cache_takes(const struct rb_callinfo *ci);
const struct rb_callcache *rb_vm_method_cache_lookup(const struct rb_callinfo *ci, VALUE klass);
void rb_vm_method_cache_store(const struct rb_callinfo *ci, const struct rb_callcache *cc);
void rb_vm_method_cache_clear(struct rb_ractor_struct *r);
void rb_vm_method_cache_free(struct rb_ractor_struct *r);

#endif /* LOCKFREE_VM_METHOD_CACHE_H */
