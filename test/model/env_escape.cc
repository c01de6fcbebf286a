/**********************************************************************

  env_escape.cc - a model of environments that escape while YJIT compiles

  Licence: see LICENSE.

**********************************************************************/

/*
 * vm/env_escape.h: one Ractor compiles a method, as the frames that two others have of it escape.  Once that has been told, or
 * nobody needs to be, there is no code that assumes the contrary, and none comes.
 */

#define SCENARIOS(S) S(compile_and_escape)

#define MUTANTS(M) \
    M(compile_and_escape, ASKED_BEFORE_PAYLOAD, "the compiler asks before there is a payload") \
    M(compile_and_escape, COMPILER_NO_FENCE, "it asks without a fence") \
    M(compile_and_escape, ESCAPE_NO_FENCE, "who escapes looks for the payload without a fence") \
    M(compile_and_escape, TOLD_TOO_SOON, "it counts as told before it is") \
    M(compile_and_escape, TOLD_NO_RELEASE, "that it was told is stored plainly") \
    M(compile_and_escape, TOLD_NO_ACQUIRE, "and is read plainly")

#include "model.h"

enum env_escape { ENV_STAYS, ENV_ESCAPES, ENV_ESCAPED };

struct compile_and_escape : scenario<compile_and_escape, 3> {
    rl::atomic<int> escape, payload;
    rl::atomic<int> assumes; /* whether there is such code: who calls the method finds it without the lock */

    void
    setup()
    {
        escape.store(ENV_STAYS, plain, $);
        payload.store(0, plain, $);
        assumes.store(0, plain, $);
    }

    /* gen_single_block, with the lock to compile */
    void
    compile()
    {
        vm_locked lock(vm_lock);
        bool stays = false;

        if (mutant == ASKED_BEFORE_PAYLOAD) stays = escape.load(plain, $) == ENV_STAYS;
        payload.store(1, plain, $); /* get_or_create_iseq_payload */
        if (mutant != COMPILER_NO_FENCE) rl::atomic_thread_fence(rl::mo_seq_cst, $);
        if (mutant != ASKED_BEFORE_PAYLOAD) stays = escape.load(plain, $) == ENV_STAYS; /* rb_vm_env_escapes_p */
        if (stays) assumes.store(1, rl::mo_release, $);
    }

    /* vm_env_escaped */
    void
    escaped()
    {
        if (escape.load(acquire(TOLD_NO_ACQUIRE), $) == ENV_ESCAPED) return;

        escape.store(mutant == TOLD_TOO_SOON ? ENV_ESCAPED : ENV_ESCAPES, plain, $);
        if (mutant != ESCAPE_NO_FENCE) rl::atomic_thread_fence(rl::mo_seq_cst, $);
        if (payload.load(plain, $)) {
            vm_locked lock(vm_lock); /* rb_yjit_invalidate_ep_is_bp */
            assumes.store(0, plain, $);
        }
        escape.store(ENV_ESCAPED, release(TOLD_NO_RELEASE), $);
    }

    void
    ractor(int me)
    {
        if (me == 0) {
            compile();
        }
        else {
            escaped();
            RL_ASSERT(!assumes.load(rl::mo_acquire, $));
        }
    }

    void
    after()
    {
        RL_ASSERT(!assumes.load(plain, $));
    }
};

ENTRIES
