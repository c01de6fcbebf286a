/**********************************************************************

  fiber_interrupt.cc - a model of interrupts that meet a change of Fibers

  Licence: see LICENSE.

**********************************************************************/

/*
 * thread/fiber_interrupt.h: a thread, here number 0, changes from Fiber to Fiber, each of which
 * is made before, and looks for interrupts in the last one.  The others each ask it for
 * something, and set a bit.  What they ask for is found when the bit is; a bit that the thread
 * has not looked at is in the Fiber in which it is, and in none else.
 */

#define SCENARIOS(S) S(ask_beside_switch) S(asks_beside_switches) S(ask_beside_return) S(ask_beside_mask) S(ask_beside_masking)

#define MUTANTS(M) \
    M(ask_beside_switch, NO_SECOND_LOOK, "who asks does not look whether that is still the Fiber") \
    M(ask_beside_switch, LEFT_THERE, "who asks leaves the bit in the old Fiber") \
    M(ask_beside_switch, COPIED, "the thread leaves it there") \
    M(ask_beside_switch, TAKEN_BACK, "the thread takes what it has seen, which may be there no more") \
    M(ask_beside_switch, NOT_TAKEN, "the thread leaves behind what has come") \
    M(ask_beside_switch, TAKEN_BEFORE, "the thread takes what has come before it has changed") \
    M(ask_beside_switch, NO_FENCE, "the thread has changed, and looks without a fence") \
    M(ask_beside_switch, EC_NO_RELEASE, "the thread's Fiber is stored plainly") \
    M(ask_beside_switch, EC_NO_ACQUIRE, "the thread's Fiber is loaded plainly") \
    M(asks_beside_switches, TAKEN_NO_ACQUIRE, "the bits are taken plainly") \
    M(ask_beside_return, TOLD_BY_ONE, "who asks looks again once") \
    M(ask_beside_mask, MASK_PASSED_BY, "what is masked in the old Fiber is taken as well") \
    M(ask_beside_masking, PUT_BEHIND_MASK, "what the new Fiber masks is taken as well")

#include "model.h"

enum { FIBERS = 3, TRAP = 1, PENDING = 2 };

template<class S, int RACTORS>
struct fiber_interrupt_scenario : scenario<S, RACTORS> {
    rl::atomic<int> ec;                     /* th->ec: the number of a Fiber */
    rl::atomic<int> interrupt_flag[FIBERS];
    rl::var<int> made[FIBERS];
    rl::var<int> asked[RACTORS];            /* for what: by thread */
    int interrupt_mask[FIBERS];             /* the thread's alone */
    int found;                              /* bits */

    /* In how many Fibers +bit+ is, and whether it was found. */
    int
    times(int bit)
    {
        int n = !!(found & bit);
        for (int i = 0; i < FIBERS; i++) n += !!(interrupt_flag[i].load(plain, $) & bit);
        return n;
    }

    void
    is_in_last(int last, int bit)
    {
        RL_ASSERT((found | interrupt_flag[last].load(plain, $)) & bit);
        RL_ASSERT(times(bit) == 1);
    }

    void
    setup()
    {
        ec.store(0, plain, $);
        for (int i = 0; i < FIBERS; i++) {
            interrupt_flag[i].store(0, plain, $);
            interrupt_mask[i] = 0;
            made[i]($) = 0;
        }
        made[0]($) = 1;
        for (int i = 0; i < RACTORS; i++) asked[i]($) = 0;
        found = 0;
    }

    /* rb_thread_set_interrupt */
    void
    ask(int me, int bit)
    {
        asked[me]($) = bit;

        int now = ec.load(acquire(EC_NO_ACQUIRE), $), to, again = 0;
        do {
            to = now;
            RL_ASSERT(made[to]($));
            interrupt_flag[to].fetch_or(bit, rl::mo_seq_cst, $);
            if (mutant == NO_SECOND_LOOK || (mutant == TOLD_BY_ONE && again++)) return;
            rl::atomic_thread_fence(rl::mo_seq_cst, $); /* for Relacy, which orders no seq_cst operation beside a fence */
            now = ec.load(acquire(EC_NO_ACQUIRE), $);
        } while (now != to && (mutant == LEFT_THERE || (interrupt_flag[to].fetch_and(~bit, rl::mo_seq_cst, $) & bit)));
    }

    /* fiber_take_interrupts_along */
    void
    take_along(int from, int to)
    {
        if (mutant != NO_FENCE) rl::atomic_thread_fence(rl::mo_seq_cst, $);
        int masked = mutant == MASK_PASSED_BY ? 0 : interrupt_mask[from];
        if (mutant != PUT_BEHIND_MASK) masked |= interrupt_mask[to];
        masked &= ~TRAP;
        int bits = interrupt_flag[from].load(plain, $) & ~masked;
        if (bits) {
            rl::memory_order order = mutant == TAKEN_NO_ACQUIRE ? rl::mo_relaxed : rl::mo_seq_cst;
            int there = interrupt_flag[from].fetch_and(mutant == COPIED ? ~0 : ~bits, order, $);
            if (mutant != TAKEN_BACK) bits &= there;
        }
        if (bits) interrupt_flag[to].fetch_or(bits, rl::mo_seq_cst, $);
    }

    /* fiber_t_alloc, ec_switch */
    void
    change(int from, int to)
    {
        if (to > from) made[to]($) = 1;
        if (mutant == TAKEN_BEFORE) take_along(from, to);
        ec.store(to, release(EC_NO_RELEASE), $);
        if (mutant != TAKEN_BEFORE && mutant != NOT_TAKEN) take_along(from, to);
    }

    /* threadptr_get_interrupts, and what is done for each */
    void
    look(int fiber)
    {
        int bits = interrupt_flag[fiber].fetch_and(interrupt_mask[fiber], rl::mo_seq_cst, $) & ~interrupt_mask[fiber];
        for (int i = 1; i < RACTORS; i++) {
            if (bits & bit_of(i)) RL_ASSERT(asked[i]($) == bit_of(i));
        }
        found |= bits;
    }

    static int bit_of(int ractor) { return ractor == 1 ? TRAP : PENDING; }
};

/* The others ask for one thing each while the thread changes, in the end to its Fiber LAST. */
template<class S, int RACTORS, int LAST>
struct asking_scenario : fiber_interrupt_scenario<S, RACTORS> {
    void
    ractor(int me)
    {
        if (me) {
            this->ask(me, this->bit_of(me));
        }
        else {
            static_cast<S *>(this)->changes();
        }
    }

    void
    after()
    {
        for (int i = 1; i < RACTORS; i++) this->is_in_last(LAST, this->bit_of(i));
    }
};

/* It changes twice. */
struct ask_beside_switch : asking_scenario<ask_beside_switch, 2, 2> {
    void
    changes()
    {
        change(0, 1);
        change(1, 2);
        look(2);
    }
};

struct asks_beside_switches : asking_scenario<asks_beside_switches, 3, 1> {
    void
    changes()
    {
        change(0, 1);
        look(1);
    }
};

/* There and back. */
struct ask_beside_return : asking_scenario<ask_beside_return, 3, 0> {
    void
    changes()
    {
        change(0, 1);
        look(1);
        change(1, 0);
    }
};

/* An exception, from a thread of the same Ractor, beside who runs finalizers. */
template<class S>
struct masking_scenario : fiber_interrupt_scenario<S, 3> {
    message sent;

    void
    setup()
    {
        fiber_interrupt_scenario<S, 3>::setup();
        sent.init();
    }

    void
    ractor(int me)
    {
        if (me == 0) static_cast<S *>(this)->finalize(sent.received());
        if (me == 2) {
            this->ask(me, PENDING);
            sent.send();
        }
    }

    void after() { RL_ASSERT(this->times(PENDING) == 1); }
};

/* The thread runs finalizers in its first Fiber, which resume the second one: an exception that comes before waits until it is
 * back. */
struct ask_beside_mask : masking_scenario<ask_beside_mask> {
    void
    finalize(bool before)
    {
        interrupt_mask[0] = PENDING;
        change(0, 1);
        look(1);
        if (before) RL_ASSERT(!(found & PENDING));
    }
};

/* It resumes a Fiber that a finalizer has made, which never looks, and comes back: what came before is found.  (What comes
 * while it is there stays there, as upstream.) */
struct ask_beside_masking : masking_scenario<ask_beside_masking> {
    void
    finalize(bool before)
    {
        interrupt_mask[1] = PENDING;
        change(0, 1);
        look(1);
        change(1, 0);
        look(0);
        if (before) RL_ASSERT(found & PENDING);
    }
};

ENTRIES
