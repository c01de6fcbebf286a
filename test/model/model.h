#ifndef MODEL_H
#define MODEL_H
/**********************************************************************

  model.h - what the models of this folder share, and their main()

  Licence: see LICENSE.

**********************************************************************/

/*
 * A model is one of our structures that Ractors share, cut down to the words
 * that they share, with each function's steps in the order of the C code and
 * under the C code's names.  Relacy runs the threads of a scenario in every
 * order, or in very many, and lets each atomic load return each value that the
 * C++ memory model allows.  It reports accesses to a plain word that nothing
 * orders, reads of what was not written yet, deadlocks, and failed assertions.
 * No load returns a value that is stored later in the run.
 *
 * How C code is written down:
 *   __atomic_load_n, _store_n      rl::atomic, with the order that the C code names
 *   a word that is written plainly before its object is published, and loaded
 *   atomically after it            rl::atomic, relaxed
 *   any other plain word           rl::var
 *   RB_VM_LOCK_ENTER               vm_locked
 *   VALUE                          the number of an object, whose contents say if they have been seen
 *
 * Nothing is ever freed, and that is right: the GC stops all Ractors, and scans
 * their stacks, before it frees.  What C code frees by hand is written to
 * instead, which is a race with whoever still reads it.
 *
 * A mutant is the same scenario with one step done wrong.  It must be caught;
 * else the scenario does not test that step.  Which one runs is chosen when the
 * program starts: compiling takes longer than running.
 *
 * A model includes this file after it has defined
 *   SCENARIOS(S)   S(NAME) for each struct NAME : scenario<NAME, RACTORS>
 *   MUTANTS(M)     M(SCENARIO, NAME, what is wrong) for each
 * and ends with ENTRIES.
 */

#include <cstdio>
#include <cstring>
#include <iostream>
#include <relacy/relacy.hpp>

#define NAME_OF_MUTANT(scenario, name, what) name,
enum mutants { NONE, MUTANTS(NAME_OF_MUTANT) };

/* The one that runs. */
static mutants mutant = NONE;

/* The order of a store, or a load, but for +without+, who forgot it. */
static inline rl::memory_order
release(mutants without)
{
    return mutant == without ? rl::mo_relaxed : rl::mo_release;
}

static inline rl::memory_order
acquire(mutants without)
{
    return mutant == without ? rl::mo_relaxed : rl::mo_acquire;
}

static const rl::memory_order plain = rl::mo_relaxed;

/* Executions of this process, and how many there may be before the search ends
 * where it is. */
static unsigned long executions, most_executions;

/* Whether the threads of a scenario start one after the other, at random. */
static bool start_at_random;

/* setup() runs before the threads, ractor(0 ... RACTORS) are these, and after()
 * follows; each may assert. */
template<class S, int RACTORS>
struct scenario : rl::test_suite<S, RACTORS> {
    rl::recursive_mutex vm_lock;
    rl::atomic<int> start_line;

    void
    before()
    {
        RL_UNTIL(executions >= most_executions);
        executions++;
        start_line.store(0, rl::mo_relaxed, $);
        static_cast<S *>(this)->setup();
    }

    void
    thread(unsigned number)
    {
        if (start_at_random) {
            /* else a short thread has ended before a long one does anything */
            for (unsigned wait = rl::rand(64); wait > 0; wait--) start_line.load(rl::mo_relaxed, $);
        }
        static_cast<S *>(this)->ractor(number);
    }
};

/* RB_VM_LOCK_ENTER, and _LEAVE at the end of the block; +really+ is for mutants. */
struct vm_locked {
    rl::recursive_mutex &lock;
    bool really;

    vm_locked(rl::recursive_mutex &lock, bool really = true) : lock(lock), really(really) { if (really) lock.lock($); }
    ~vm_locked() { if (really) lock.unlock($); }
};

/* As a scenario, with stops of all Ractors: as long as the lock is held, and who waits for it stands.  How that is done is
 * stop.cc's; here it holds. */
template<class S, int RACTORS>
struct stopping_scenario : scenario<S, RACTORS> {
    rl::mutex guard;
    rl::condition_variable changed;
    rl::var<int> held, standing;

    void
    init_stops()
    {
        held($) = standing($) = 0;
    }

    /* rb_gc_vm_lock: a safe point */
    void
    enter()
    {
        guard.lock($);
        standing($) = standing($) + 1;
        changed.notify_all($);
        while (held($)) changed.wait(guard, $);
        standing($) = standing($) - 1;
        held($) = 1;
        guard.unlock($);
    }

    void
    leave()
    {
        guard.lock($);
        held($) = 0;
        changed.notify_all($);
        guard.unlock($);
    }

    /* rb_gc_vm_barrier, of who has the lock. */
    void
    stop()
    {
        guard.lock($);
        while (standing($) < RACTORS - 1) changed.wait(guard, $);
        guard.unlock($);
    }

    /* A thread that has ended stands. */
    void
    end()
    {
        guard.lock($);
        standing($) = standing($) + 1;
        changed.notify_all($);
        guard.unlock($);
    }
};

/* An object that is a value.  Who has it must see what is in it. */
enum { UNDEF = -1 };

struct object {
    rl::var<int> contents;

    void fill(int number) { contents($) = 10 * number; }
    void use(int number) { RL_ASSERT(contents($) == 10 * number); }
};

/* The values of a scenario, each a new object when it is made. */
template<int COUNT>
struct object_pool {
    object values[COUNT];

    int
    make(int number)
    {
        values[number].fill(number);
        return number;
    }

    int
    use(int value)
    {
        if (value != UNDEF) values[value].use(value);
        return value;
    }
};

/* One Ractor tells another, by whatever means, that it has done something. */
struct message {
    rl::atomic<int> sent;

    void init() { sent.store(0, rl::mo_relaxed, $); }
    void send(int what = 1) { sent.store(what, rl::mo_release, $); }
    int received() { return sent.load(rl::mo_acquire, $); }
};

/* ---- main --------------------------------------------------------- */

/*
 * Full search: every order of the threads, each load returning the newest value
 * that it may, or the one before.  Where that is too much, every order with at
 * most three preemptions.  Random: any order, and the two values before; the
 * same at each run, for Relacy counts its seeds from 0.
 */
struct search {
    rl::scheduler_type_e type;
    unsigned long most;
};

enum { FULL, BOUND, RANDOM };
static const search searches[] = {
    { rl::sched_full, 100000 }, { rl::sched_bound, 200000 }, { rl::sched_random, 50000 },
};

/* How the search +s+ of the scenario S ended.  The history of what failed goes
 * to standard error. */
template<class S>
static rl::test_result_e
simulate(const search &s)
{
    rl::test_params params;
    params.search_type = s.type;
    params.iteration_count = s.most;
    params.context_bound = 3;
    params.output_stream = params.progress_stream = &std::cerr;
    most_executions = executions + s.most;
    start_at_random = s.type == rl::sched_random;
    rl::simulate<S>(params);
    return params.test_result;
}

/* Runs S, or its mutant: one line, and whether all is well. */
template<class S>
static bool
run(const char *model, const char *name)
{
    static const int order_of_model[] = { FULL, BOUND, RANDOM }, order_of_mutant[] = { BOUND, RANDOM, FULL };
    const int *order = mutant ? order_of_mutant : order_of_model;
    const char *kind = mutant ? "mutant" : "model", *whole = "";

    for (int i = 0; i < 3; i++) {
        if (order[i] == BOUND && *whole) continue; /* they were among those */
        rl::test_result_e result = simulate<S>(searches[order[i]]);

        if (result == rl::test_result_success) {
            if (order[i] == FULL) whole = ", all orders";
            if (order[i] == BOUND) whole = ", all orders with 3 preemptions";
        }
        else if (result != rl::test_result_until_condition_hit) {
            std::printf("%s %s %s: %s after %lu executions (%s)\n", kind, model, name, mutant ? "caught" : "FAILED",
                        executions - 1, rl::test_result_str(result)); /* the last ran twice */
            return mutant;
        }
    }
    std::printf("%s %s %s: %s after %lu executions%s\n", kind, model, name,
                mutant ? "SURVIVED" : "passed", executions, whole);
    return !mutant;
}

struct entry {
    const char *name;
    mutants mutant;
    bool (*run)(const char *model, const char *name);
};

/* The last line of a model: what there is to run. */
#define ENTRY_OF_SCENARIO(scenario) { #scenario, NONE, run<scenario> },
#define ENTRY_OF_MUTANT(scenario, name, what) { #name, name, run<scenario> },
#define ENTRIES const entry entries[] = { SCENARIOS(ENTRY_OF_SCENARIO) MUTANTS(ENTRY_OF_MUTANT) { NULL, NONE, NULL } };
extern const entry entries[];

/* Without arguments: list what there is to run.  With one: run that. */
int
main(int argc, char **argv)
{
    const char *slash = std::strrchr(argv[0], '/');

    for (const entry *e = entries; e->name; e++) {
        if (argc == 1) {
            std::puts(e->name);
        }
        else if (!std::strcmp(argv[1], e->name)) {
            mutant = e->mutant;
            return !e->run(slash ? slash + 1 : argv[0], e->name);
        }
    }
    return argc != 1;
}

#endif /* MODEL_H */
