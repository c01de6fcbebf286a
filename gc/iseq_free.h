#ifndef LOCKFREE_GC_ISEQ_FREE_H
#define LOCKFREE_GC_ISEQ_FREE_H
/**********************************************************************

  gc/iseq_free.h - which iseqs are freed beside other Ractors

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of iseq.c.
 *
 * What `eval` has compiled dies as soon as it has run.  It takes memory with it that nobody
 * else knows (gc/sweep_claim.h), unless it
 *
 *   - names a constant: the VM lists its inline caches, and empties them when a constant of
 *     that name changes, with the VM lock.  They come off the list with that: rb_iseq_unlist.
 *   - was looked at by YJIT, which has it in tables of its own.
 *   - is traced: its hooks may be those of a TracePoint of another Ractor's.
 */

bool rb_iseq_frees_alone_p(VALUE obj);
bool rb_iseq_listed_p(VALUE obj);
void rb_iseq_unlist(VALUE obj);

/* Whether freeing +obj+, a dead iseq, is nobody else's business, but for the VM's list.  Any Ractor, no lock. */
bool
rb_iseq_frees_alone_p(VALUE obj)
{
    const rb_iseq_t *iseq = (const rb_iseq_t *)obj;
    const struct rb_iseq_constant_body *body = ISEQ_BODY(iseq);

    if (!body) return true;
#if USE_YJIT
    if (body->yjit_payload) return false;
#endif
    return !(ISEQ_EXECUTABLE_P(iseq) && iseq->aux.exec.local_hooks);
}

/* Whether +obj+, a dead iseq, may be on the VM's list of inline caches of constants.  Any Ractor, no lock: its own words. */
bool
rb_iseq_listed_p(VALUE obj)
{
    const struct rb_iseq_constant_body *body = ISEQ_BODY((const rb_iseq_t *)obj);

    if (!body || !body->is_entries) return false;
    for (unsigned int i = 0; i < body->ic_size; i++) {
        const struct iseq_inline_constant_cache *ic = &ISEQ_IS_IC_ENTRY(body, i); // upstream's macro has a ; of its own
        if (ic->segments) return true;
    }
    return false;
}

/* Takes +obj+, a dead iseq, off that list.  Any Ractor, VM lock. */
void
rb_iseq_unlist(VALUE obj)
{
    if (ISEQ_BODY((const rb_iseq_t *)obj)) iseq_clear_ic_references((const rb_iseq_t *)obj);
}

#endif /* LOCKFREE_GC_ISEQ_FREE_H */
