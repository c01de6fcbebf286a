/**********************************************************************

  move.cc - a model of moves, and of who looks meanwhile whether an object is shareable

  Licence: see LICENSE.

**********************************************************************/

/*
 * ractor/move.c, by the steps of rb_ractor_move_enter, rb_ractor_move_commit,
 * rb_ractor_move_leave and rb_ractor_walk_unmoved.
 *
 * Each Ractor that moves has one object, which is frozen, and is the value of a
 * constant: another may walk it.  It is two words, and both are swapped.  Its partner
 * is old, and is given a reference to what is young: a GC must find it remembered.
 * The lock that remembering may take is not modelled: it is no safe point, and is
 * taken before and after, but not in, what is.
 */

#define SCENARIOS(S) S(commit_beside_walk) S(walk_in_walk) S(collection)

#define MUTANTS(M) \
    M(commit_beside_walk, MOVING_RELEASED, "who moves says so by a release: it may look first") \
    M(commit_beside_walk, WALK_LOOKED_FOR_PLAINLY, "who moves looks for a walk without acquire") \
    M(commit_beside_walk, WALK_NOT_LOOKED_FOR, "who moves does not look for a walk") \
    M(commit_beside_walk, WALK_RELEASED, "who walks says so by a release: it may look first") \
    M(commit_beside_walk, WALK_NOT_SAID, "who walks does not say so") \
    M(commit_beside_walk, NOT_AWAITED, "who walks does not wait for who moves") \
    M(commit_beside_walk, ONE_AWAITED, "who walks waits for one Ractor") \
    M(commit_beside_walk, AWAITED_FIRST, "who walks waits before it says so") \
    M(commit_beside_walk, AWAITED_PLAINLY, "who walks waits without acquire") \
    M(commit_beside_walk, LEFT_PLAINLY, "the end of a commit is no release") \
    M(commit_beside_walk, WALK_ENDED_PLAINLY, "the end of a walk is no release") \
    M(commit_beside_walk, MOVING_KEPT, "who waits for the lock has not taken its word back") \
    M(walk_in_walk, ANNOUNCED_BY_FLAG, "the end of an inner walk is that of the outer one, too") \
    M(collection, REMEMBERED_ONCE, "the partner is not remembered again after the lock was waited for") \
    M(collection, REMEMBERED_IN_COMMIT, "the lock is waited for in the middle of a commit") \
    M(collection, STOOD_IN_COMMIT, "a safe point comes between remembering and the swap")

#include "model.h"

enum { OBJECT, MOVED };

template<class S, int RACTORS>
struct move_scenario : stopping_scenario<S, RACTORS> {
    rl::atomic<int> moving[RACTORS], walks;
    rl::var<int> first[RACTORS], second[RACTORS];   /* of each Ractor's object */
    rl::var<int> partner_refers, partner_remembered; /* of Ractor 0's */

    void
    setup()
    {
        this->init_stops();
        walks.store(0, plain, $);
        for (int i = 0; i < RACTORS; i++) {
            moving[i].store(0, plain, $);
            first[i]($) = second[i]($) = OBJECT;
        }
        partner_refers($) = partner_remembered($) = 0;
    }

    void remember(int me) { if (me == 0) partner_remembered($) = 1; }

    /* rb_ractor_move_enter: whether it took the VM lock */
    bool
    move_enter(int me)
    {
        remember(me);
        moving[me].store(1, mutant == MOVING_RELEASED ? rl::mo_release : rl::mo_seq_cst, $);
        bool walked = walks.load(mutant == WALK_LOOKED_FOR_PLAINLY ? rl::mo_relaxed : rl::mo_seq_cst, $);
        if (!walked || mutant == WALK_NOT_LOOKED_FOR) return false;

        if (mutant != MOVING_KEPT) moving[me].store(0, rl::mo_release, $);
        this->enter();
        if (mutant != REMEMBERED_ONCE) remember(me);
        return true;
    }

    void
    move(int me)
    {
        bool locked = move_enter(me);
        if (mutant == REMEMBERED_IN_COMMIT && !locked) { this->enter(); remember(me); this->leave(); }
        if (mutant == STOOD_IN_COMMIT && !locked) {
            moving[me].store(0, rl::mo_release, $);
            this->enter();
            locked = true;
        }
        first[me]($) = MOVED;
        second[me]($) = MOVED;
        if (me == 0) partner_refers($) = 1;
        if (locked) this->leave();
        else        moving[me].store(0, release(LEFT_PLAINLY), $);
    }

    void
    await_commits()
    {
        for (int i = 0; i < (mutant == ONE_AWAITED ? 1 : RACTORS); i++) {
            while (moving[i].load(mutant == AWAITED_PLAINLY ? rl::mo_relaxed : rl::mo_seq_cst, $)) rl::yield(1, $);
        }
    }

    void walk(int of) { RL_ASSERT(first[of]($) == second[of]($)); }

    /* rb_ractor_walk_unmoved, with the VM lock: until walk_end, which gets what this returns */
    int
    walk_begin()
    {
        int before = mutant == ANNOUNCED_BY_FLAG ? 0 : walks.load(plain, $);
        if (mutant == AWAITED_FIRST) await_commits();
        if (mutant != WALK_NOT_SAID) walks.store(before + 1, mutant == WALK_RELEASED ? rl::mo_release : rl::mo_seq_cst, $);
        if (mutant != NOT_AWAITED && mutant != AWAITED_FIRST) await_commits();
        return before;
    }

    void walk_end(int before) { walks.store(before, release(WALK_ENDED_PLAINLY), $); }

    /* A minor GC, with the VM lock.  What the partner refers to is old then. */
    void
    collect()
    {
        this->stop();
        if (partner_refers($) == 1) {
            RL_ASSERT(partner_remembered($));
            partner_refers($) = 2;
        }
        partner_remembered($) = 0;
    }

    void
    after()
    {
        RL_ASSERT(walks.load(plain, $) == 0);
        for (int i = 0; i < RACTORS; i++) RL_ASSERT(moving[i].load(plain, $) == 0);
    }
};

/* Two move, one walks what both do. */
struct commit_beside_walk : move_scenario<commit_beside_walk, 3> {
    void
    ractor(int me)
    {
        if (me < 2) {
            move(me);
        }
        else {
            enter();
            int before = walk_begin();
            walk(0);
            walk(1);
            walk_end(before);
            leave();
        }
        end();
    }
};

/* What is walked asks in turn whether something is shareable. */
struct walk_in_walk : move_scenario<walk_in_walk, 2> {
    void
    ractor(int me)
    {
        if (me == 0) {
            move(me);
        }
        else {
            enter();
            int outer = walk_begin();
            int inner = walk_begin();
            walk(0);
            walk_end(inner);
            walk(0);
            walk_end(outer);
            leave();
        }
        end();
    }
};

/* A walk collects, and so does the same Ractor later. */
struct collection : move_scenario<collection, 2> {
    void
    ractor(int me)
    {
        if (me == 0) {
            move(me);
        }
        else {
            enter();
            int before = walk_begin();
            walk(0);
            collect();
            walk(0);
            walk_end(before);
            leave();

            enter();
            collect();
            leave();
        }
        end();
    }
};

ENTRIES
