/**********************************************************************

  stop.cc - a model of the VM lock, and of stops of all Ractors

  Licence: see LICENSE.

**********************************************************************/

/*
 * vm/lock.h (vm_lock_take, vm_lock_give), vm/stop.h but for the spinning, and of
 * upstream's vm_lock_enter, vm_lock_leave, rb_threadptr_execute_interrupts and
 * thread_sched_setup_running_threads what vm_stop_once.patch has there.
 *
 * Each Ractor has one thread.  What it makes is its own: plain words, which the
 * collector reads while all stand, so that a thread that runs meanwhile is a
 * race; and it must find all of them from the machine context that was saved.
 * A thread that computes goes on until it is asked to stop: who is not asked is
 * a deadlock.  So is a wake-up that is lost, since nobody wakes up without one,
 * and main does not look after a second whether all have ended.  Whether somebody
 * is passed by for ever it does not see: each scenario ends.
 *
 * And of ractor/running_threads.h all but what is counted of native threads.
 */

#define SCENARIOS(S) \
    S(two_sections) S(three_sections) S(passed_by) S(stop_beside_waiter) S(stop_again) S(inner_sections) \
    S(collects_again) S(woken_for_nothing) S(no_barrier) S(not_running) S(two_borrowers) S(borrower_stops) \
    S(becomes_running) S(blocks) S(blocks_for_long) S(blocks_beside_two) S(termination)

#define MUTANTS(M) \
    M(two_sections, TAKE_NO_ACQUIRE, "the lock is taken plainly") \
    M(two_sections, WAIT_NO_ACQUIRE, "the lock is taken plainly by one that has waited") \
    M(two_sections, GIVE_NO_RELEASE, "the lock is given plainly") \
    M(two_sections, NOT_SET_TO_2, "who sleeps does not say so in the word") \
    M(two_sections, SET_BEFORE_GUARD, "the word says that somebody sleeps before he has the guard, under which he goes to sleep") \
    M(two_sections, WOKEN_WITHOUT_GUARD, "who gives the lock reads without the guard who sleeps") \
    M(three_sections, TAKEN_AS_1, "who has waited takes the lock as one that nobody else wants") \
    M(passed_by, HANDED_NO_ACQUIRE, "the lock is taken back plainly for who waits") \
    M(passed_by, HANDED_TWICE, "who is handed the lock does not say that he has it") \
    M(passed_by, HANDED_AS_1, "the lock is taken back as one that nobody else wants") \
    M(passed_by, HANDED_TO_NOBODY, "the lock is taken back though nobody waits for it") \
    M(passed_by, HANDED_SILENTLY, "nobody is woken to take what was handed on") \
    M(woken_for_nothing, PASSED_BY_TWICE, "one that is woken without a cause is counted again") \
    M(collects_again, PASSED_BY_SILENTLY, "the next stopper is not told that who was passed by goes on") \
    M(becomes_running, PASSED_BY_SILENTLY_RUNNING, "the same of a thread that is to run") \
    M(stop_beside_waiter, WAITER_NOT_STANDING, "who waits for the lock does not stand: as if it were a mutex") \
    M(stop_beside_waiter, WAITER_NOT_SAVED, "who waits for the lock has not saved its machine context") \
    M(stop_beside_waiter, WAITER_TELLS_NOBODY, "the stopper is not told that somebody waits for the lock") \
    M(stop_beside_waiter, WAITER_NOT_WOKEN, "who waits for the lock is not woken at the end of the stop") \
    M(stop_beside_waiter, NOT_ASKED, "who runs is not asked to stop") \
    M(stop_beside_waiter, ASKED_BEFORE, "they are asked before there is a stopper, without the guard") \
    M(stop_beside_waiter, JOIN_NOT_SAVED, "who is asked to stop has not saved its machine context") \
    M(stop_beside_waiter, JOIN_TELLS_NOBODY, "the stopper is not told that somebody stands") \
    M(stop_beside_waiter, NOT_RELEASED, "who stands is not woken at the end of the stop") \
    M(stop_beside_waiter, RELEASED_AT_ONCE, "all are released when the last one stands, before the work is done: as stock") \
    M(stop_beside_waiter, NOT_AWAITED, "the stopper begins when he has asked") \
    M(stop_again, COUNTED_OUT_AT_RELEASE, "who releases takes them out of the count, not each itself") \
    M(stop_again, JOIN_LOOKS_ONCE, "who is woken goes on, without a look whether there is another stop") \
    M(stop_again, RELEASED_WITHOUT_GUARD, "the stopper does not take the guard to end the stop") \
    M(inner_sections, ENDED_BY_INNER, "the stop ends with the inner section that asked for it: as it was at first") \
    M(no_barrier, NOT_LENT, "who must not stand waits for the end of the stop") \
    M(no_barrier, NO_BARRIER_STANDS, "who must not stand does") \
    M(no_barrier, BORROWER_NOT_WOKEN, "who slept before the stop is not told that the lock can be borrowed") \
    M(not_running, LENT_NOT_AWAITED, "the stopper begins though the lock is lent") \
    M(not_running, LENT_TO_THE_END, "the lock is lent though all stand") \
    M(not_running, GIVEN_BACK_SILENTLY, "the stopper is not told that the lock was given back") \
    M(not_running, GIVEN_BEFORE, "the lock is given before the stop has ended") \
    M(not_running, NOT_RUNNING_STANDS, "one that is none of the running threads is counted as standing") \
    M(two_borrowers, LENT_TWICE, "the lock is lent to two") \
    M(two_borrowers, NEXT_NOT_WOKEN, "who gives the lock back does not wake the next one that must not stand") \
    M(borrower_stops, STOPS_AS_BORROWER, "who was lent the lock becomes the stopper") \
    M(becomes_running, ADDED_DURING_STOP, "a thread becomes a running one while all stand") \
    M(becomes_running, ADD_LOOKS_ONCE, "a thread that is to run is released, and does not look whether there is another stop") \
    M(becomes_running, SAVED_AGAIN, "it saves its machine context, which the collector may be reading") \
    M(becomes_running, SCHED_KEPT, "it keeps the lock of its scheduler: who has to stand yet may want that") \
    M(becomes_running, LEFT_SILENTLY, "the stopper is not told that a thread is none of the running ones any more") \
    M(blocks_for_long, BLOCKS_RELEASED, "who blocks says so by a release") \
    M(blocks_for_long, STOPPING_RELEASED, "the stopper says so by a release") \
    M(blocks_for_long, STOPPING_SAID_LATE, "the stopper says so when it has taken out who blocks") \
    M(blocks, BLOCKS_UNSAVED, "who blocks has not saved its machine context") \
    M(blocks_for_long, BLOCKS_WITHOUT_LOOK, "who blocks does not look whether somebody stops all") \
    M(blocks_for_long, BLOCKS_AFTER_LOOK, "it looks before it says that it blocks") \
    M(blocks_for_long, OUT_SILENTLY, "the stopper is not told that a thread that blocks went out of the list by itself") \
    M(blocks_for_long, KEPT_IN_LIST, "the stopper takes nobody out of the list") \
    M(blocks, BACK_BY_STORE, "who returns stores that it runs") \
    M(blocks, OUT_BY_STORE, "who blocks is taken out by a store") \
    M(blocks, OUT_NO_ACQUIRE, "who blocks is taken out plainly, as it was when it was looked at") \
    M(blocks, BACK_AS_IF_KEPT, "who returns runs though it was taken out") \
    M(termination, SIGNALLED_WITHOUT_GUARD, "main is told that all have ended without the guard") \
    M(termination, NOT_LOOKED, "main sleeps without a look whether they have ended meanwhile") \
    M(termination, MAIN_RUNS, "main waits as a running thread") \
    M(termination, MAIN_NOT_SAVED, "main has not saved its machine context: as stock")

#include "model.h"

enum { NOBODY = -1 };

/* Wakes nobody who was not signalled. */
struct cond : rl::condvar<struct cond_tag> {
    cond() { init(false, $); }
    ~cond() { deinit($); }
};

struct guarded {
    rl::mutex &guard;
    bool really;

    guarded(rl::mutex &guard, bool really = true) : guard(guard), really(really) { if (really) guard.lock($); }
    ~guarded() { if (really) guard.unlock($); }
};

enum run_state { OUT, RUNS, BLOCKS };

/* A Ractor, and its thread. */
struct ractor_thread {
    rl::atomic<int> run_state;
    rl::var<bool> running, standing;    /* guard; its own reads need none */
    rl::atomic<int> asked;              /* VM_BARRIER_INTERRUPT_MASK */
    rl::var<int> made;                  /* its objects */
    rl::var<int> saved;                 /* those that are found from its machine context */
    rl::var<bool> half_made;            /* it is in the middle of something */
    rl::mutex sched;
};

template<class S, int RACTORS>
struct stop_scenario : scenario<S, RACTORS> {
    rl::mutex guard;
    cond free, free_no_barrier, complete, release, terminate_cond;
    rl::atomic<int> word, stopping;
    rl::atomic<int> lock_owner;         /* vm_locked reads it whenever it likes */
    rl::var<int> lock_rec;              /* VM lock */
    rl::var<int> stopper, standing_cnt, waiting_cnt, waiting_no_barrier_cnt, passed_by_cnt, running_cnt;
    rl::var<bool> all_stand, lent, starving, handed;
    ractor_thread ractors[RACTORS];
    rl::var<int> shared;                /* VM lock */
    cond asking;                        /* of the model: a thread that computes is asked */

    void
    start(int not_running = NOBODY)
    {
        word.store(0, plain, $);
        stopping.store(0, plain, $);
        lock_owner.store(NOBODY, plain, $);
        stopper($) = NOBODY;
        lock_rec($) = standing_cnt($) = waiting_cnt($) = waiting_no_barrier_cnt($) = passed_by_cnt($) = shared($) = 0;
        running_cnt($) = RACTORS - (not_running != NOBODY);
        all_stand($) = lent($) = starving($) = handed($) = false;
        for (int i = 0; i < RACTORS; i++) {
            ractors[i].running($) = i != not_running;
            ractors[i].run_state.store(i != not_running ? RUNS : OUT, plain, $);
            ractors[i].standing($) = ractors[i].half_made($) = false;
            ractors[i].asked.store(0, plain, $);
            ractors[i].made($) = ractors[i].saved($) = 0;
        }
    }

    void
    after()
    {
        RL_ASSERT(word.load(plain, $) == 0 && standing_cnt($) == 0 && stopper($) == NOBODY);
        RL_ASSERT(!lent($) && !all_stand($) && !handed($) && passed_by_cnt($) == 0);
    }

    /* ---- vm/lock.h, vm/stop.h ------------------------------------- */

    bool
    take()
    {
        int is_free = 0;
        return word.compare_exchange_strong(is_free, 1, acquire(TAKE_NO_ACQUIRE), $, rl::mo_relaxed, $);
    }

    bool give() { return word.exchange(0, ::release(GIVE_NO_RELEASE), $) == 2; }

    /* RB_VM_SAVE_MACHINE_CONTEXT */
    void save(int number) { ractors[number].saved($) = ractors[number].made($); }

    void
    check_locked()
    {
        if (stopper($) != NOBODY && !all_stand($) && !lent($) && running_cnt($) - standing_cnt($) <= 1) {
            complete.notify_one($);
        }
    }

    void
    stand_locked(int number, mutants silently)
    {
        ractors[number].standing($) = true;
        standing_cnt($)++;
        ractors[number].asked.store(0, plain, $);
        if (mutant != silently) check_locked();
    }

    void
    go_locked(int number)
    {
        if (mutant == COUNTED_OUT_AT_RELEASE && !ractors[number].standing($)) return;
        ractors[number].standing($) = false;
        standing_cnt($)--;
    }

    /* Says that somebody wants the lock, if it is not free. */
    bool
    take_wanted()
    {
        if (mutant == NOT_SET_TO_2 || (mutant == TAKEN_AS_1 && word.load(plain, $) == 0)) return take();
        return word.exchange(2, acquire(WAIT_NO_ACQUIRE), $) == 0;
    }

    void
    wake_one(bool no_barrier, bool other)
    {
        if (no_barrier) {
            free_no_barrier.notify_one($);
        }
        else if (other) {
            free.notify_one($);
        }
    }

    /* rb_vm_lock_wait */
    void
    wait(int number, bool no_barrier)
    {
        if (no_barrier && mutant == NO_BARRIER_STANDS) no_barrier = false;
        bool stands = !no_barrier && (ractors[number].running($) || mutant == NOT_RUNNING_STANDS);
        rl::var<int> &cnt = stands ? waiting_cnt : waiting_no_barrier_cnt;
        bool counts = stands && mutant != WAITER_NOT_STANDING;

        if (stands && mutant != WAITER_NOT_SAVED) save(number);
        bool looked = mutant == SET_BEFORE_GUARD;
        if (looked && word.exchange(2, rl::mo_acquire, $) == 0) return;
        guarded locked(guard);
        if (counts) stand_locked(number, WAITER_TELLS_NOBODY);
        for (bool slept = false;; slept = true) {
            if (slept && handed($)) {
                handed($) = mutant == HANDED_TWICE;
                break;
            }
            if (looked) {
                looked = false;
            }
            else if (stopper($) == NOBODY) {
                if (take_wanted()) break;
            }
            else if (!stands && mutant != NOT_LENT && (!all_stand($) || mutant == LENT_TO_THE_END) &&
                     (!lent($) || mutant == LENT_TWICE)) {
                lent($) = true;
                break;
            }
            if (slept && rl::rand(2)) starving($) = true; /* a slice has passed, or not */
            if (handed($)) wake_one(waiting_no_barrier_cnt($) > 0, waiting_cnt($) > 0);
            cnt($)++;
            (stands ? free : free_no_barrier).wait(guard, false, $);
            cnt($)--;
        }
        if (counts) go_locked(number);
    }

    /* vm_lock_hand_on_locked */
    bool
    hand_on_locked()
    {
        int is_free = 0;

        if (!starving($) || (waiting_cnt($) + waiting_no_barrier_cnt($) == 0 && mutant != HANDED_TO_NOBODY)) return false;
        if (word.compare_exchange_strong(is_free, mutant == HANDED_AS_1 ? 1 : 2, acquire(HANDED_NO_ACQUIRE), $, rl::mo_relaxed, $)) {
            handed($) = true;
            starving($) = false;
        }
        return handed($);
    }

    /* rb_vm_lock_wake */
    void
    wake()
    {
        bool no_barrier, other, handed;
        {
            guarded locked(guard, mutant != WOKEN_WITHOUT_GUARD);
            no_barrier = waiting_no_barrier_cnt($) > 0;
            other = waiting_cnt($) > 0;
            handed = hand_on_locked();
        }
        if (!handed || mutant != HANDED_SILENTLY) wake_one(no_barrier, other);
    }

    void
    give_back()
    {
        guarded locked(guard);
        lock_rec($) = 0;
        lock_owner.store(NOBODY, plain, $);
        lent($) = false;
        if (waiting_no_barrier_cnt($) > 0 && mutant != NEXT_NOT_WOKEN) free_no_barrier.notify_one($);
        if (mutant != GIVEN_BACK_SILENTLY) check_locked();
    }

    void
    ask_locked(int number)
    {
        for (int i = 0; i < RACTORS; i++) {
            if (i == number || mutant == NOT_ASKED) continue;
            if (mutant != ASKED_BEFORE && (!ractors[i].running($) || ractors[i].standing($))) continue;
            ractors[i].asked.store(1, plain, $);
            asking.notify_all($);
        }
        if (mutant != ASKED_BEFORE && mutant != BORROWER_NOT_WOKEN && waiting_no_barrier_cnt($) > 0) {
            free_no_barrier.notify_one($);
        }
    }

    /* rb_vm_stop_others */
    void
    stop(int number)
    {
        int rec = lock_rec($);

        if (stopper($) != NOBODY && mutant != STOPS_AS_BORROWER) {
            if (stopper($) == number && all_stand($)) return;
            give_back();
            wait(number, false);
        }
        int own = ractors[number].running($);
        if (mutant == ASKED_BEFORE) ask_locked(number);

        guarded locked(guard);
        while (passed_by_cnt($) > 0) complete.wait(guard, false, $);
        stopper($) = number;
        if (mutant != STOPPING_SAID_LATE) stopping.store(1, mutant == STOPPING_RELEASED ? rl::mo_release : rl::mo_seq_cst, $);
        lock_rec($) = 0;
        lock_owner.store(NOBODY, plain, $);
        take_out_all_locked();
        if (mutant == STOPPING_SAID_LATE) stopping.store(1, rl::mo_seq_cst, $);
        if (mutant != ASKED_BEFORE) ask_locked(number);
        while ((lent($) && mutant != LENT_NOT_AWAITED) || running_cnt($) - standing_cnt($) > own) {
            if (mutant == NOT_AWAITED) break;
            complete.wait(guard, false, $);
        }
        all_stand($) = true;
        if (mutant == RELEASED_AT_ONCE) {
            stopper($) = NOBODY;
            all_stand($) = false;
            word.store(2, plain, $);
            release.notify_all($);
        }
        lock_rec($) = rec;
        lock_owner.store(number, plain, $);
    }

    /* rb_vm_stop_end */
    void
    stop_end()
    {
        if (lent($)) {
            give_back();
            return;
        }
        if (mutant == GIVEN_BEFORE) give();

        bool no_barrier, other;
        {
            guarded locked(guard, mutant != RELEASED_WITHOUT_GUARD);
            no_barrier = waiting_no_barrier_cnt($) > 0;
            other = waiting_cnt($) > 0;
            stopper($) = NOBODY;
            stopping.store(0, rl::mo_relaxed, $);
            all_stand($) = false;
            if (mutant == COUNTED_OUT_AT_RELEASE) {
                for (ractor_thread &r : ractors) r.standing($) = false;
                standing_cnt($) = 0;
            }
            if (mutant != ENDED_BY_INNER || lock_rec($) == 0) {
                lock_owner.store(NOBODY, plain, $);
                if (mutant != GIVEN_BEFORE) give();
                hand_on_locked();
            }
        }
        if (mutant != NOT_RELEASED) release.notify_all($);
        if (mutant != WAITER_NOT_WOKEN) wake_one(no_barrier, other);
    }

    struct stop_waiter {
        bool slept, passed_by;
    };

    /* vm_stop_sleep_locked */
    void
    stop_sleep_locked(stop_waiter &waiter)
    {
        if ((!waiter.passed_by || mutant == PASSED_BY_TWICE) && waiter.slept && rl::rand(2)) {
            waiter.passed_by = true;
            passed_by_cnt($)++;
        }
        waiter.slept = true;
        release.wait(guard, false, $);
    }

    /* vm_stop_woken_locked */
    void
    stop_woken_locked(const stop_waiter &waiter, mutants silently)
    {
        if (waiter.passed_by && --passed_by_cnt($) == 0 && mutant != silently) complete.notify_one($);
    }

    /* rb_vm_stop_join */
    void
    join(int number)
    {
        if (mutant != JOIN_NOT_SAVED) save(number);
        guarded locked(guard);
        if (stopper($) != NOBODY && stopper($) != number) {
            stop_waiter waiter = {};

            stand_locked(number, JOIN_TELLS_NOBODY);
            do {
                stop_sleep_locked(waiter);
            } while (stopper($) != NOBODY && mutant != JOIN_LOOKS_ONCE);
            stop_woken_locked(waiter, PASSED_BY_SILENTLY);
            go_locked(number);
        }
    }

    /* vm_stop_await_end_locked */
    void
    await_end_locked(int number)
    {
        stop_waiter waiter = {};

        while (stopper($) != NOBODY && stopper($) != number && mutant != ADDED_DURING_STOP) {
            if (mutant != SCHED_KEPT) ractors[number].sched.unlock($);
            if (mutant == SAVED_AGAIN) save(number);
            stop_sleep_locked(waiter);
            if (mutant != SCHED_KEPT) {
                guard.unlock($);
                ractors[number].sched.lock($);
                guard.lock($);
            }
            if (mutant == ADD_LOOKS_ONCE) break;
        }
        stop_woken_locked(waiter, PASSED_BY_SILENTLY_RUNNING);
    }

    /* rb_add_running_thread; a wait that has ended */
    void
    add_running(int number)
    {
        guarded sched(ractors[number].sched);
        guarded locked(guard);
        await_end_locked(number);
        running_cnt($)++;
        ractors[number].running($) = true;
        ractors[number].run_state.store(RUNS, rl::mo_relaxed, $);
    }

    /* rb_del_running_thread; a wait */
    void
    del_running(int number)
    {
        guarded sched(ractors[number].sched);
        guarded locked(guard);
        ractors[number].running($) = false;
        ractors[number].run_state.store(OUT, rl::mo_relaxed, $);
        running_cnt($)--;
        if (mutant != LEFT_SILENTLY) check_locked();
    }

    /* ---- ractor/running_threads.h --------------------------------- */

    void
    take_out_locked(int number)
    {
        int state = ractors[number].run_state.load(rl::mo_seq_cst, $);

        if (state != BLOCKS) return;
        if (mutant == OUT_BY_STORE) {
            ractors[number].run_state.store(OUT, rl::mo_relaxed, $);
        }
        else if (!ractors[number].run_state.compare_exchange_strong(state, OUT, acquire(OUT_NO_ACQUIRE), $, rl::mo_relaxed, $)) {
            return;
        }
        ractors[number].running($) = false;
        running_cnt($)--;
    }

    void
    take_out_all_locked()
    {
        for (int i = 0; i < RACTORS && mutant != KEPT_IN_LIST; i++) take_out_locked(i);
    }

    /* thread_sched_block */
    void
    block(int number)
    {
        if (mutant != BLOCKS_UNSAVED) save(number);
        bool stops = mutant == BLOCKS_AFTER_LOOK && stopping.load(rl::mo_seq_cst, $);
        ractors[number].run_state.store(BLOCKS, mutant == BLOCKS_RELEASED ? rl::mo_release : rl::mo_seq_cst, $);
        if (mutant != BLOCKS_AFTER_LOOK && mutant != BLOCKS_WITHOUT_LOOK) stops = stopping.load(rl::mo_seq_cst, $);
        if (stops) {
            guarded locked(guard);
            take_out_locked(number);
            if (mutant != OUT_SILENTLY) check_locked();
        }
    }

    /* thread_sched_unblock, and what follows where it is out of the list */
    void
    unblock(int number)
    {
        int state = BLOCKS;

        if (mutant == BACK_BY_STORE) {
            if (ractors[number].run_state.load(rl::mo_relaxed, $) == BLOCKS) {
                ractors[number].run_state.store(RUNS, rl::mo_relaxed, $);
                return;
            }
        }
        else if (ractors[number].run_state.compare_exchange_strong(state, RUNS, rl::mo_relaxed, $, rl::mo_relaxed, $)) {
            return;
        }
        if (mutant != BACK_AS_IF_KEPT) add_running(number);
    }

    /* ---- vm_sync.c ------------------------------------------------ */

    void
    enter(int number, bool no_barrier = false)
    {
        if (lock_owner.load(plain, $) != number) {
            if (!take()) wait(number, no_barrier);
            lock_owner.store(number, plain, $);
        }
        lock_rec($)++;
    }

    void
    leave()
    {
        if (--lock_rec($) > 0 && mutant != ENDED_BY_INNER) return;
        if (stopper($) != NOBODY) {
            stop_end();
        }
        else if (lock_rec($) == 0) {
            lock_owner.store(NOBODY, plain, $);
            if (give()) wake();
        }
    }

    /* ---- what Ractors do ------------------------------------------ */

    void make(int number) { ractors[number].made($)++; }

    /* rb_threadptr_execute_interrupts, at a safe point */
    void
    poll(int number)
    {
        if (ractors[number].asked.exchange(0, plain, $)) join(number);
    }

    /* Until it is asked to stop; and stands. */
    void
    compute(int number)
    {
        make(number);
        {
            guarded locked(guard);
            while (!ractors[number].asked.load(plain, $)) asking.wait(guard, false, $);
        }
        poll(number);
        make(number);
    }

    /* It waits for something, for as long as the scenario lasts: a stop may come yet. */
    void
    end(int number)
    {
        save(number);
        del_running(number);
    }

    /* With the lock. */
    void change_shared() { shared($)++; }

    void
    section(int number, bool no_barrier = false)
    {
        enter(number, no_barrier);
        change_shared();
        leave();
    }

    /* While all stand. */
    void
    mark(int number)
    {
        change_shared();
        for (int i = 0; i < RACTORS; i++) {
            if (i != number) RL_ASSERT(ractors[i].saved($) == ractors[i].made($) && !ractors[i].half_made($));
        }
    }

    void
    collect(int number)
    {
        enter(number);
        stop(number);
        mark(number);
        leave();
    }
};

/* Two want the lock, one of them twice. */
struct two_sections : stop_scenario<two_sections, 2> {
    void setup() { start(); }

    void
    ractor(int number)
    {
        section(number);
        if (number == 0) section(number);
    }

    void
    after()
    {
        stop_scenario::after();
        RL_ASSERT(shared($) == 3);
    }
};

struct three_sections : stop_scenario<three_sections, 3> {
    void setup() { start(); }
    void ractor(int number) { section(number); }
};

/* One of three may find the lock taken when it is woken for it. */
struct passed_by : stop_scenario<passed_by, 3> {
    void setup() { start(); }

    void
    ractor(int number)
    {
        section(number);
        if (number == 0) section(number);
    }
};

/* One collects over and over, one computes, and one wants the lock. */
struct collects_again : stop_scenario<collects_again, 3> {
    void setup() { start(); }

    void
    ractor(int number)
    {
        if (number == 0) {
            for (int i = 0; i < 4; i++) collect(number);
        }
        if (number == 1) compute(number);
        if (number == 2) section(number);
        end(number);
    }
};

/* Condition variables wake without a cause, too. */
struct woken_for_nothing : stop_scenario<woken_for_nothing, 3> {
    void setup() { start(2); }

    void
    ractor(int number)
    {
        if (number == 0) {
            for (int i = 0; i < 3; i++) collect(number);
        }
        if (number == 1) compute(number);
        if (number < 2) end(number);
        if (number == 2) {
            for (int i = 0; i < 3; i++) release.notify_all($);
        }
    }
};

/* One computes and one wants the lock while all are stopped. */
struct stop_beside_waiter : stop_scenario<stop_beside_waiter, 3> {
    void setup() { start(); }

    void
    ractor(int number)
    {
        if (number == 0) collect(number);
        if (number == 1) compute(number);
        if (number == 2) {
            make(number);
            section(number);
            end(number);
        }
    }
};

/* Asked for again, before who was released has run or after it. */
struct stop_again : stop_scenario<stop_again, 2> {
    void setup() { start(); }

    void
    ractor(int number)
    {
        if (number == 0) {
            collect(number);
            collect(number);
        }
        else {
            compute(number);
            poll(number);
            end(number);
        }
    }
};

/* An inner section stops all, and another one: the others stand until the lock is given. */
struct inner_sections : stop_scenario<inner_sections, 2> {
    void setup() { start(); }

    void
    ractor(int number)
    {
        if (number == 0) {
            enter(number);
            collect(number);
            mark(number);
            collect(number);
            mark(number);
            leave();
        }
        else {
            compute(number);
        }
    }
};

/* One must not stand where it waits for the lock, for a section or a stop. */
struct no_barrier : stop_scenario<no_barrier, 2> {
    void setup() { start(); }

    void
    ractor(int number)
    {
        if (number == 0) {
            enter(number);
            change_shared();
            stop(number);
            mark(number);
            leave();
        }
        else {
            ractors[number].half_made($) = true;
            section(number, true);
            ractors[number].half_made($) = false;
            end(number);
        }
    }
};

/* One that is none of the running threads wants the lock. */
struct not_running : stop_scenario<not_running, 3> {
    void setup() { start(2); }

    void
    ractor(int number)
    {
        if (number == 0) collect(number);
        if (number == 1) compute(number);
        if (number == 2) section(number);
    }
};

/* Two that must not stand, one of them none of the running threads. */
struct two_borrowers : stop_scenario<two_borrowers, 3> {
    void setup() { start(2); }

    void
    ractor(int number)
    {
        if (number == 0) collect(number);
        if (number > 0) section(number, true);
        if (number == 1) end(number);
    }
};

/* One that was lent the lock stops all: the other one comes first. */
struct borrower_stops : stop_scenario<borrower_stops, 2> {
    void setup() { start(); }

    void
    ractor(int number)
    {
        make(number);
        enter(number, number == 1);
        stop(number);
        mark(number);
        leave();
        end(number);
    }
};

/* A thread comes back from waiting, and waits again.  Another one tells it something before it stands. */
struct becomes_running : stop_scenario<becomes_running, 3> {
    void setup() { start(1); }

    void
    ractor(int number)
    {
        if (number == 0) {
            for (int i = 0; i < 3; i++) collect(number);
        }
        if (number == 1) {
            add_running(number);
            make(number);
        }
        if (number == 2) {
            guarded sched(ractors[1].sched); /* rb_ractor_sched_wakeup, say */
        }
        if (number > 0) end(number);
    }
};

/* A thread blocks and returns, twice, and is asked to stop, or taken out of the list. */
struct blocks : stop_scenario<blocks, 2> {
    void setup() { start(); }

    void
    ractor(int number)
    {
        if (number == 0) {
            collect(number);
            collect(number);
        }
        else {
            for (int i = 0; i < 2; i++) {
                make(number);
                block(number);
                unblock(number);
                poll(number);
            }
            make(number);
            end(number);
        }
    }
};

/* One blocks for as long as a stop takes, and longer. */
struct blocks_for_long : stop_scenario<blocks_for_long, 2> {
    rl::mutex kernel;
    cond returns;
    rl::var<bool> may_return;           /* kernel */

    void
    setup()
    {
        start();
        may_return($) = false;
    }

    void
    ractor(int number)
    {
        if (number == 0) {
            collect(number);
            {
                guarded locked(kernel);
                may_return($) = true;
                returns.notify_one($);
            }
            collect(number);
        }
        else {
            make(number);
            block(number);
            {
                guarded locked(kernel);
                while (!may_return($)) returns.wait(kernel, false, $);
            }
            unblock(number);
            make(number);
            end(number);
        }
    }
};

/* One blocks beside one that wants the lock, and one that stops all, blocks and returns. */
struct blocks_beside_two : stop_scenario<blocks_beside_two, 3> {
    void setup() { start(); }

    void
    ractor(int number)
    {
        if (number == 2) section(number);
        if (number == 0) collect(number);
        make(number);
        block(number);
        unblock(number);
        if (number == 0) collect(number);
        end(number);
    }
};

/* Main waits for the last of the others, which collects, and ends. */
struct termination : stop_scenario<termination, 2> {
    rl::var<int> cnt;                   /* VM lock */
    rl::var<bool> terminate_waiting;    /* VM lock; where it is unset, the guard as well */

    void
    setup()
    {
        start();
        cnt($) = 2;
        terminate_waiting($) = false;
    }

    /* rb_vm_await_termination */
    void
    await(int number)
    {
        if (mutant != MAIN_NOT_SAVED) save(number);
        if (mutant != MAIN_RUNS) del_running(number);
        leave();
        {
            guarded locked(guard);
            if (terminate_waiting($) || mutant == NOT_LOOKED) terminate_cond.wait(guard, false, $);
        }
        if (mutant != MAIN_RUNS) add_running(number);
        enter(number);
    }

    /* rb_vm_signal_termination */
    void
    signal()
    {
        {
            guarded locked(guard, mutant != SIGNALLED_WITHOUT_GUARD);
            terminate_waiting($) = false;
        }
        terminate_cond.notify_one($);
    }

    void
    ractor(int number)
    {
        if (number == 0) {
            make(number);
            enter(number);
            while (cnt($) > 1) {
                terminate_waiting($) = true;
                await(number);
            }
            leave();
        }
        else {
            collect(number);
            enter(number); /* vm_remove_ractor */
            if (cnt($) <= 2 && terminate_waiting($)) signal();
            cnt($)--;
            leave();
        }
    }
};

ENTRIES
