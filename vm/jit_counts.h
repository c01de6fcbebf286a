#ifndef LOCKFREE_VM_JIT_COUNTS_H
#define LOCKFREE_VM_JIT_COUNTS_H
/**********************************************************************

  vm/jit_counts.h - what YJIT counts of all Ractors, each Ractor by itself

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  A call of what is not compiled yet adds one to a word of all Ractors, by
 * which YJIT tells what is called often from what is not.  An iseq that is made adds one
 * to two more, and one that is freed takes it away.  In Ractors that `eval` each is a
 * cache line fetched from another processor, twice in what takes 2 us.
 *
 * Solution.  With several Ractors each adds to words of its own, and tells when they
 * come to JIT_COUNT_UNTOLD, or when it ends.  So what YJIT compares with 40,000 iseqs, or
 * with 200,000 calls, is that much too small or too great for each Ractor that lives.
 *
 *   yjit_total_entry_hits                                 calls; what a Ractor has not told
 *                                                         when it ends is forgotten
 *   rb_yjit_live_iseq_count, rb_yjit_iseq_alloc_count     iseqs that live, and that were made
 *
 * Before there is a second Ractor all is as in stock, and where the process frees all as
 * it ends, the Ractors included (RUBY_FREE_AT_EXIT).
 *
 * The words are estimates, relaxed; what is untold is its Ractor's alone, whose threads
 * take turns.
 */

#include "internal/vm.h"
#include "yjit.h"

#define JIT_COUNT_UNTOLD 256

#if USE_YJIT
static inline void
jit_count_tell(uint64_t *total, int32_t *own)
{
    if (*own != 0) __atomic_fetch_add(total, (uint64_t)(int64_t)*own, __ATOMIC_RELAXED);
    *own = 0;
}

static inline void
jit_count(uint64_t *total, int32_t *own, int32_t n)
{
    *own += n;
    if (*own >= JIT_COUNT_UNTOLD || *own <= -JIT_COUNT_UNTOLD) jit_count_tell(total, own);
}

/* A call, in the Ractor of +ec+, of what is not compiled yet. */
static inline void
jit_count_entry(const rb_execution_context_t *ec, uint64_t *total)
{
    if (rb_multi_ractor_p()) {
        jit_count(total, &rb_ec_ractor_ptr(ec)->jit_entry_hits, 1);
    }
    else {
        (*total)++;
    }
}

/* +n+ iseqs more live: one that was made, or -1, one that is freed.  Any Ractor. */
static inline void
jit_count_iseq(int32_t n)
{
    if (rb_multi_ractor_p() && !rb_free_at_exit) {
        rb_ractor_t *cr = GET_RACTOR();
        jit_count(&rb_yjit_live_iseq_count, &cr->jit_live_iseqs, n);
        if (n > 0) jit_count(&rb_yjit_iseq_alloc_count, &cr->jit_made_iseqs, n);
    }
    else {
        rb_yjit_live_iseq_count += n;
        if (n > 0) rb_yjit_iseq_alloc_count += n;
    }
}

/* Called when the Ractor +r+ leaves the VM's list.  VM lock. */
static inline void
jit_counts_ractor_ended(rb_ractor_t *r)
{
    jit_count_tell(&rb_yjit_live_iseq_count, &r->jit_live_iseqs);
    jit_count_tell(&rb_yjit_iseq_alloc_count, &r->jit_made_iseqs);
}
#else
# define jit_count_entry(ec, total) ((void)(ec))
# define jit_counts_ractor_ended(r) ((void)(r))
#endif

#endif /* LOCKFREE_VM_JIT_COUNTS_H */
