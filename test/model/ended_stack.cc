/**********************************************************************

  ended_stack.cc - a model of the stacks of ended threads

  Licence: see LICENSE.

**********************************************************************/

/*
 * thread/ended_stack.h: each Ractor begins threads, on a stack that was given or on a new one, which write to it, end, and
 * give it.  None is used by two, and none is lost.
 */

#define SCENARIOS(S) S(give_and_take)

#define MUTANTS(M) \
    M(give_and_take, FIRST_STORED, "who gives one stores the head") \
    M(give_and_take, GIVEN_NO_RELEASE, "it is given plainly") \
    M(give_and_take, TAKEN_NO_ACQUIRE, "it is taken plainly") \
    M(give_and_take, TAKEN_WITHOUT_LOCK, "who takes one has no lock") \
    M(give_and_take, NEXT_LEFT, "who gives one, and was not the first to, leaves the next as it was")

#include "model.h"

enum { RACTORS = 2, STACKS = 4 };

/* A Ractor has two threads at a time. */
struct give_and_take : scenario<give_and_take, RACTORS> {
    rl::atomic<int> first, made;
    rl::var<int> written[STACKS + 1];
    rl::atomic<int> next[STACKS + 1]; /* in the stack: plain, but for who takes without the lock */

    void
    setup()
    {
        first.store(0, plain, $);
        made.store(0, plain, $);
        for (int i = 0; i <= STACKS; i++) {
            written[i]($) = 0;
            next[i].store(0, plain, $);
        }
    }

    /* ended_stack_give */
    void
    give(int stack)
    {
        int head = first.load(plain, $);
        next[stack].store(head, plain, $);
        if (mutant == FIRST_STORED) {
            first.store(stack, rl::mo_release, $);
            return;
        }
        while (!first.compare_exchange_weak(head, stack, release(GIVEN_NO_RELEASE), $, plain, $)) {
            if (mutant != NEXT_LEFT) next[stack].store(head, plain, $);
        }
    }

    /* ended_stack_take; 0: none */
    int
    take()
    {
        vm_locked lock(vm_lock, mutant != TAKEN_WITHOUT_LOCK); /* nt_machine_stack_lock */
        int stack = first.load(acquire(TAKEN_NO_ACQUIRE), $);
        while (stack && !first.compare_exchange_weak(stack, next[stack].load(plain, $), acquire(TAKEN_NO_ACQUIRE), $, acquire(TAKEN_NO_ACQUIRE), $));
        return stack;
    }

    /* A thread begins. */
    int
    begin()
    {
        int stack = take();
        if (!stack) stack = made.fetch_add(1, plain, $) + 1;
        RL_ASSERT(written[stack]($) == 0);
        written[stack]($) = 1;
        return stack;
    }

    /* It ends, and has left its stack. */
    void
    end(int stack)
    {
        written[stack]($) = 0;
        give(stack);
    }

    void
    ractor(int me)
    {
        int one = begin(), other = begin();
        end(one);
        end(other);
        one = begin();
        if (me == 0) other = begin();
        end(one);
        if (me == 0) end(other);
    }

    void
    after()
    {
        int given = 0;
        for (int stack = first.load(plain, $); stack && given <= STACKS; stack = next[stack].load(plain, $)) given++;
        RL_ASSERT(given == made.load(plain, $));
    }
};

ENTRIES
