/**********************************************************************

  vm/method_cache.c - a Ractor's own cache of methods

  Licence: see LICENSE.

**********************************************************************/

/* What and why: vm/method_cache.h. */

#include "internal.h"
#include "internal/class.h"
#include "internal/gc.h"
#include "ractor_core.h"
#include "vm_callinfo.h"
#include "vm_core.h"
#include "lockfree/vm/method_cache.h"

static struct vm_method_cache_entry *
entry_of(struct vm_method_cache *cache, const struct rb_callinfo *ci, VALUE klass)
{
    uint64_t key = ((uint64_t)(uintptr_t)ci >> 16 ^ (uintptr_t)ci) + klass;
    return &cache->entries[rb_id_hash((ID)key) >> (32 - VM_METHOD_CACHE_BITS)];
}

/* Whether calls of that kind are kept. */
bool
rb_vm_method_cache_takes(const struct rb_callinfo *ci)
{
    return vm_ci_packed_p(ci);
}

static inline const struct rb_callcache *
lookup(struct vm_method_cache *cache, const struct rb_callinfo *ci, VALUE klass)
{
    if (UNLIKELY(!cache)) return NULL;

    const struct vm_method_cache_entry *entry = entry_of(cache, ci, klass);
    if (entry->ci != ci || !entry->cc) return NULL;
    return vm_cc_class_check(entry->cc, klass) && !METHOD_ENTRY_INVALIDATED(vm_cc_cme(entry->cc)) ? entry->cc : NULL;
}

/* What this Ractor has found before for that call on an instance of +klass+, if
 * it is still so; or NULL.  Any Ractor, its own table.  Allocates and raises
 * nothing. */
const struct rb_callcache *
rb_vm_method_cache_lookup(const struct rb_callinfo *ci, VALUE klass)
{
    return rb_vm_method_cache_takes(ci) ? lookup(GET_RACTOR()->method_cache, ci, klass) : NULL;
}

/* The same for the class or module +recv+: the method that it has; NULL as well
 * where +recv+ is something else.  For compiled code; +ci+ is taken. */
const rb_callable_method_entry_t *
rb_vm_method_cache_class_method(const rb_execution_context_t *ec, const struct rb_callinfo *ci, VALUE recv)
{
    if (RB_SPECIAL_CONST_P(recv) || !rb_class_or_module_p(recv)) return NULL;

    const struct rb_callcache *cc = lookup(rb_ec_ractor_ptr(ec)->method_cache, ci, RBASIC_CLASS(recv));
    return cc ? vm_cc_cme(cc) : NULL;
}

/* Files +cc+, just found for +ci+, if it can be.  Any Ractor, its own table.
 * Does not run the GC; without memory nothing is filed. */
void
rb_vm_method_cache_store(const struct rb_callinfo *ci, const struct rb_callcache *cc)
{
    rb_ractor_t *r = GET_RACTOR();

    if (!cc->klass || !rb_vm_method_cache_takes(ci)) return; /* no such method, or one not kept */
    if (!r->method_cache) r->method_cache = ruby_mimcalloc(1, sizeof(struct vm_method_cache));
    if (!r->method_cache) return;

    *entry_of(r->method_cache, ci, cc->klass) = (struct vm_method_cache_entry){ .ci = ci, .cc = cc };
}

/* The GC, all stop: [B]. */
void
rb_vm_method_cache_clear(rb_ractor_t *r)
{
    if (r->method_cache) MEMZERO(r->method_cache, struct vm_method_cache, 1);
}

/* The Ractor has ended, or never began. */
void
rb_vm_method_cache_free(rb_ractor_t *r)
{
    if (r->method_cache) ruby_mimfree(r->method_cache);
    r->method_cache = NULL;
}
