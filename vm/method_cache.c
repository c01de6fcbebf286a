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
#include "lockfree/class/method_table.h"
#include "lockfree/vm/cache_ways.h"
#include "lockfree/vm/method_cache.h"

/* [D]: with the VM lock. */
static rb_serial_t vm_method_names_state;

#define INVALIDATED IMEMO_FL_USER5     /* METHOD_ENTRY_INVALIDATED */
#define METHOD_ENTRY_LEFT FL_USER10    /* [E]; the next after those of method.h */

/* Whether +flags+ of a method have any of +bits+.  Any Ractor; the word is written under the VM lock. */
static inline bool
flags_p_relaxed(const VALUE *flags, VALUE bits)
{
    return __atomic_load_n(flags, __ATOMIC_RELAXED) & bits;
}

/* ---- calls ---------------------------------------------------------- */

static inline uint32_t
call_hash(const struct rb_callinfo *ci, VALUE klass)
{
    uint64_t call = ((uint64_t)vm_ci_flag(ci) << 8 ^ vm_ci_argc(ci)) << 40;
    return rb_id_hash((ID)((call ^ vm_ci_mid(ci) << 4) + klass));
}

STATIC_ASSERT(vm_call_flags, VM_CALL__END <= 16);

static inline uint32_t
call_word(const struct rb_callinfo *ci)
{
    return (uint32_t)vm_ci_flag(ci) << 16 | vm_ci_argc(ci);
}

/* The entry of that call; or NULL.  What lies next to it is not looked into. */
static inline struct vm_method_call_entry *
call_find(struct vm_method_call_entry *set, uint32_t hash, const struct rb_callinfo *ci, VALUE klass)
{
    for (int way = 0; way < CACHE_WAYS; way++) {
        struct vm_method_call_entry *entry = &set[way];
        if (entry->hash == hash && entry->cc && entry->call == call_word(ci) && vm_cc_class_check(entry->cc, klass) &&
                vm_cc_cme(entry->cc)->called_id == vm_ci_mid(ci)) return entry;
    }
    return NULL;
}

static inline const struct rb_callcache *
lookup(const struct vm_method_cache *cache, const struct rb_callinfo *ci, VALUE klass)
{
    if (UNLIKELY(!cache || vm_ci_argc(ci) > UINT16_MAX)) return NULL;

    const uint32_t hash = call_hash(ci, klass);
    const struct vm_method_call_entry *entry = call_find(CACHE_SET(cache->calls, cache->calls_bits, hash), hash, ci, klass);
    return entry && !METHOD_ENTRY_INVALIDATED(vm_cc_cme(entry->cc)) ? entry->cc : NULL;
}

/* What this Ractor has found before for that call on an instance of +klass+, if
 * it is still so; or NULL.  Any Ractor, its own table.  Allocates and raises
 * nothing. */
const struct rb_callcache *
rb_vm_method_cache_lookup(const struct rb_callinfo *ci, VALUE klass)
{
    return lookup(GET_RACTOR()->method_cache, ci, klass);
}

/* Whether +ci+ can be compiled in: it is a word, and no object. */
bool
rb_vm_method_cache_takes(const struct rb_callinfo *ci)
{
    return vm_ci_packed_p(ci);
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

static void
cache_free(struct vm_method_cache *cache)
{
    if (!cache) return;

    ruby_mimfree(cache->calls);
    ruby_mimfree(cache->names);
    ruby_mimfree(cache);
}

/* Without memory NULL. */
static struct vm_method_cache *
cache_new(void)
{
    struct vm_method_cache *cache = ruby_mimcalloc(1, sizeof(*cache));
    if (!cache) return NULL;

    cache->calls_bits = VM_METHOD_CALLS_BITS_MIN;
    cache->names_bits = VM_METHOD_NAMES_BITS_MIN;
    cache->calls = ruby_mimcalloc((size_t)1 << cache->calls_bits, sizeof(*cache->calls));
    cache->names = ruby_mimcalloc((size_t)1 << cache->names_bits, sizeof(*cache->names));
    if (cache->calls && cache->names) return cache;

    cache_free(cache);
    return NULL;
}

/* Its own tables, made if need be; NULL without memory.  Does not run the GC. */
static struct vm_method_cache *
cache_of(rb_ractor_t *r)
{
    if (!r->method_cache) r->method_cache = cache_new();
    return r->method_cache;
}

/* The same, to be filled. */
static struct vm_method_cache *
cache_to_fill(void)
{
    struct vm_method_cache *cache = cache_of(GET_RACTOR());

    if (cache) cache->filled = true;
    return cache;
}

/* A table twice as large as +table+, which is freed, and empty; NULL, and nothing is done, where it is as large as it may be for now,
 * or without memory.  +lost+: what was given up in it; +bits_alone+, +bits_max+: its sizes. */
static void *
table_of_twice(void *table, unsigned char *bits, unsigned int *lost, int bits_alone, int bits_max, size_t entry_size)
{
    if (*bits >= bits_max || (!rb_multi_ractor_p() && *bits >= bits_alone && (*lost)++ >> *bits < VM_METHOD_LOST)) return NULL;

    void *larger = ruby_mimcalloc((size_t)2 << *bits, entry_size);
    if (!larger) return NULL;

    ruby_mimfree(table);
    ++*bits;
    *lost = 0;
    return larger;
}

/* Keeps +cme+ for the call that is about to begin.  False: without memory.  Any Ractor.  Does not run the GC. */
bool
rb_vm_method_cache_once(const rb_callable_method_entry_t *cme)
{
    struct vm_method_cache *cache = cache_of(GET_RACTOR());

    if (cache) cache->once = cme;
    return cache;
}

/* Where that call is to be filed. */
static struct vm_method_call_entry *
call_place(struct vm_method_cache *cache, uint32_t hash, const struct rb_callinfo *ci, VALUE klass)
{
    const bool alone = !rb_multi_ractor_p();
    struct vm_method_call_entry *set = CACHE_SET(cache->calls, cache->calls_bits, hash), *larger;
    struct vm_method_call_entry *place = call_find(set, hash, ci, klass);

    for (int way = 0; !place && way < CACHE_WAYS; way++) {
        if (!set[way].cc || (!alone && vm_cc_invalidated_p(set[way].cc))) place = &set[way];
    }
    if (place) return place;

    larger = table_of_twice(cache->calls, &cache->calls_bits, &cache->calls_lost,
                            VM_METHOD_CALLS_BITS_ALONE, VM_METHOD_CALLS_BITS_MAX, sizeof(*larger));
    if (larger) {
        cache->calls = larger;
        return CACHE_SET(larger, cache->calls_bits, hash);
    }
    CACHE_SET_SHIFT(set, struct vm_method_call_entry);
    return set;
}

/* Files +cc+, just found for +ci+, if there is such a method.  Any Ractor, its own
 * table.  Does not run the GC; without memory nothing is filed. */
void
rb_vm_method_cache_store(const struct rb_callinfo *ci, const struct rb_callcache *cc)
{
    if (!cc->klass || vm_ci_argc(ci) > UINT16_MAX) return; /* call_word */

    struct vm_method_cache *cache = cache_to_fill();
    if (!cache) return;

    const uint32_t hash = call_hash(ci, cc->klass);
    *call_place(cache, hash, ci, cc->klass) = (struct vm_method_call_entry){ hash, call_word(ci), cc };
}

/* ---- names ---------------------------------------------------------- */

static inline uint32_t
name_hash(VALUE klass, ID mid)
{
    return rb_id_hash((mid << 4) + klass);
}

static inline bool
name_entry_is(const struct vm_method_name_entry *entry, VALUE klass, ID mid)
{
    return entry->klass == klass && entry->mid == mid;
}

/* Whether +entry+, which is not empty, is still so.  Its own Ractor.  Synchronises with rb_vm_method_names_forget. */
static inline bool
name_entry_valid_p(const struct vm_method_name_entry *entry)
{
    return entry->state == __atomic_load_n(&vm_method_names_state, __ATOMIC_ACQUIRE) && !flags_p_relaxed(&entry->cme->flags, INVALIDATED);
}

static inline struct vm_method_name_entry *
name_find(struct vm_method_name_entry *set, VALUE klass, ID mid)
{
    for (int way = 0; way < CACHE_WAYS; way++) {
        if (name_entry_is(&set[way], klass, mid)) return &set[way];
    }
    return NULL;
}

static inline struct vm_method_name_entry *
name_set(const struct vm_method_cache *cache, VALUE klass, ID mid)
{
    return CACHE_SET(cache->names, cache->names_bits, name_hash(klass, mid));
}

/* The method, or the negative entry, that this Ractor has found before for +mid+ of
 * an instance of +klass+, if it is still so; or NULL.  Any Ractor, its own table.
 * What was done before rb_vm_method_names_forget is seen by who hears of that.
 * Allocates and raises nothing. */
const rb_callable_method_entry_t *
rb_vm_method_names_lookup(VALUE klass, ID mid)
{
    if (!VM_METHOD_FILED_P(klass)) return NULL;

    struct vm_method_cache *cache = GET_RACTOR()->method_cache;
    const struct vm_method_name_entry *entry = cache ? name_find(name_set(cache, klass, mid), klass, mid) : NULL;
    return entry && name_entry_valid_p(entry) ? entry->cme : NULL;
}

/* Whether this Ractor has found before that instances of +klass+ have no method +mid+, or an undefined one, and it is still
 * so.  As rb_vm_method_names_lookup. */
bool
rb_vm_method_names_lack(VALUE klass, ID mid)
{
    const rb_callable_method_entry_t *cme = rb_vm_method_names_lookup(klass, mid);
    return cme && UNDEFINED_METHOD_ENTRY_P(cme);
}

/* Whether the method +mid+ of instances of +klass+ is public, and not refined, without a lock where this Ractor has looked it up
 * before; false also says that upstream is to look.  Any Ractor. */
bool
rb_vm_method_names_public_p(VALUE klass, ID mid)
{
    const rb_callable_method_entry_t *cme = rb_callable_method_entry(klass, mid);
    return cme && cme->def->type != VM_METHOD_TYPE_REFINED && METHOD_ENTRY_VISI(cme) == METHOD_VISI_PUBLIC;
}

/* Where that name is to be filed. */
static struct vm_method_name_entry *
name_place(struct vm_method_cache *cache, VALUE klass, ID mid)
{
    const bool alone = !rb_multi_ractor_p();
    struct vm_method_name_entry *set = name_set(cache, klass, mid), *place = name_find(set, klass, mid), *larger;

    for (int way = 0; !place && way < CACHE_WAYS; way++) {
        if (!set[way].klass || (!alone && !name_entry_valid_p(&set[way]))) place = &set[way];
    }
    if (place) return place;

    larger = table_of_twice(cache->names, &cache->names_bits, &cache->names_lost,
                            VM_METHOD_NAMES_BITS_ALONE, VM_METHOD_NAMES_BITS_MAX, sizeof(*larger));
    if (larger) {
        cache->names = larger;
        return name_set(cache, klass, mid);
    }
    CACHE_SET_SHIFT(set, struct vm_method_name_entry);
    return set;
}

/* Files +cme+, which the cache of +klass+ has for +mid+.  Any Ractor, its own table;
 * VM lock, since the look-up.  Does not run the GC; without memory nothing is filed. */
void
rb_vm_method_names_store(VALUE klass, ID mid, const rb_callable_method_entry_t *cme)
{
    struct vm_method_cache *cache = cache_to_fill();
    if (!cache) return;

    *name_place(cache, klass, mid) = (struct vm_method_name_entry){ klass, mid, cme, vm_method_names_state };
}

/* The cache of a class has lost what is still valid: [D].  Any Ractor, VM lock.
 * Synchronises with name_entry_valid_p. */
void
rb_vm_method_names_forget(void)
{
    __atomic_store_n(&vm_method_names_state, vm_method_names_state + 1, __ATOMIC_RELEASE);
}

/* ---- methods of its own --------------------------------------------- */

static inline uint32_t
met_bit_of(ID mid)
{
    return (uint32_t)1 << (rb_id_hash(mid) >> (32 - 5));
}

/* Whether no method of that name has been called on an instance of +klass+ since that was made, or rb_vm_method_own_store, as
 * far as its bit tells: from now on one has.  Any Ractor. */
bool
rb_vm_method_unmet_p(VALUE klass, ID mid)
{
#ifdef RCLASS_MET_NAMES
    const uint32_t bit = met_bit_of(mid);

    if (__atomic_load_n(&RCLASS_MET_NAMES(klass), __ATOMIC_RELAXED) & bit) return false;
    __atomic_fetch_or(&RCLASS_MET_NAMES(klass), bit, __ATOMIC_RELAXED);
    return true;
#else
    return false;
#endif
}

static inline struct vm_method_own_entry *
own_entry_of(struct vm_method_cache *cache, VALUE klass, ID mid)
{
    return &cache->own[name_hash(klass, mid) >> (32 - VM_METHOD_OWN_BITS)];
}

/* Whether a call of +me+ is one of what it is defined as, and not of another method. */
static inline bool
called_as_it_is_p(const rb_method_entry_t *me)
{
    switch (me->def->type) {
      case VM_METHOD_TYPE_ISEQ: case VM_METHOD_TYPE_BMETHOD: case VM_METHOD_TYPE_IVAR: case VM_METHOD_TYPE_ATTRSET:
      case VM_METHOD_TYPE_CFUNC:
        return !me->def->iseq_overload;
      default:
        return false;
    }
}

static void
own_file(VALUE klass, const struct rb_id_table *table, const rb_method_entry_t *me)
{
    struct vm_method_cache *cache = cache_to_fill();
    if (cache) *own_entry_of(cache, klass, me->called_id) = (struct vm_method_own_entry){ klass, table, me };
}

/* Files +me+, which has just been put into the table of +klass+, if it is called as it is: its next call is a first one.  With
 * several Ractors, any of them, its own table; VM lock, since it was put there.  Does not run the GC; without memory nothing is
 * filed. */
void
rb_vm_method_own_store(VALUE klass, const rb_method_entry_t *me)
{
    if (!RB_TYPE_P(klass, T_CLASS) || !RCLASS_SUPER(klass) || me->defined_class != klass || !called_as_it_is_p(me)) return;

    own_file(klass, RCLASS_M_TBL(klass), me);
#ifdef RCLASS_MET_NAMES
    __atomic_fetch_and(&RCLASS_MET_NAMES(klass), ~met_bit_of(me->called_id), __ATOMIC_RELAXED);
#endif
}

/* +me+ leaves the table of a class, for another one or none: [E].  Any Ractor, VM lock.
 * Synchronises with rb_vm_method_own_lookup. */
void
rb_vm_method_own_forget(const rb_method_entry_t *me)
{
    __atomic_store_n((VALUE *)&me->flags, me->flags | METHOD_ENTRY_LEFT, __ATOMIC_RELAXED);
}

/* The method +mid+ that this Ractor has filed with +klass+, if it is still in +table+; or NULL. */
static const rb_method_entry_t *
own_lookup(VALUE klass, const struct rb_id_table *table, ID mid)
{
    struct vm_method_cache *cache = GET_RACTOR()->method_cache;
    if (!cache) return NULL;

    const struct vm_method_own_entry *entry = own_entry_of(cache, klass, mid);
    if (entry->klass != klass || entry->table != table || entry->me->called_id != mid) return NULL;
    return flags_p_relaxed(&entry->me->flags, METHOD_ENTRY_LEFT | INVALIDATED) ? NULL : entry->me;
}

/* The method +mid+ of an instance of +klass+, if this Ractor has put it into the table of that class and it is still there; or
 * NULL.  Any Ractor, its own table.  Synchronises with rb_vm_method_own_forget and rb_prepend_module.  Allocates and raises
 * nothing. */
const rb_callable_method_entry_t *
rb_vm_method_own_lookup(VALUE klass, ID mid)
{
    return (const rb_callable_method_entry_t *)own_lookup(klass, rb_method_table_load_acquire(klass), mid);
}

/* The method +mid+ of the table that +iclass+ shares with the module that it is a copy of, if there is one, and it is called as it is;
 * or NULL.  As rb_vm_method_own_lookup; but one that is not filed is, with the VM lock. */
const rb_method_entry_t *
rb_vm_method_own_of_module(VALUE iclass, ID mid)
{
    const VALUE module = RBASIC_CLASS(iclass);
    const rb_method_entry_t *me = own_lookup(module, rb_method_table_load_acquire(iclass), mid);
    VALUE found;
    if (me) return me;

    RB_VM_LOCK_ENTER();
    const struct rb_id_table *table = RCLASS_M_TBL(iclass);
    if (rb_id_table_lookup((struct rb_id_table *)table, mid, &found)) {
        me = (const rb_method_entry_t *)found;
        if (me->called_id != mid || me->defined_class || !called_as_it_is_p(me)) me = NULL;
        if (me) own_file(module, table, me);
    }
    RB_VM_LOCK_LEAVE();
    return me;
}

/* ---- the tables ----------------------------------------------------- */

/* The GC, all stop: [B]. */
void
rb_vm_method_cache_clear(rb_ractor_t *r)
{
    struct vm_method_cache *cache = r->method_cache;
    if (!cache || !cache->filled) return;

    MEMZERO(cache->calls, struct vm_method_call_entry, (size_t)1 << cache->calls_bits);
    MEMZERO(cache->names, struct vm_method_name_entry, (size_t)1 << cache->names_bits);
    MEMZERO(cache->own, struct vm_method_own_entry, numberof(cache->own));
    cache->calls_lost = cache->names_lost = 0;
    cache->filled = false;
}

/* The Ractor ends, and calls no method any more, or never began. */
void
rb_vm_method_cache_free(rb_ractor_t *r)
{
    cache_free(r->method_cache);
    r->method_cache = NULL;
}
