/**********************************************************************

  object_id.cc - a model of the ids of objects, beside their pages

  Licence: see LICENSE.

**********************************************************************/

/*
 * gc/object_id.h, gc/page_words.h, and of gc/sweep_claim.h what it does with ids.
 *
 * There is one page.  Its slot 0 is that of a dead object, which is freed and used
 * again; what is in slot 1 lives.  The words of the page are in memory of
 * malloc's, which is written to before it is published and when it is freed.
 */

#define SCENARIOS(S) \
    S(first_id) S(ranges) S(claimed_sweep) S(claim_beside_first_id) S(trim) \
    S(trim_beside_table) S(table_beside_ids) S(table_beside_sweep)

#define MUTANTS(M) \
    M(first_id, ARRAY_NO_RELEASE, "the words are published plainly") \
    M(first_id, ARRAY_NO_ACQUIRE, "the pointer to the words is loaded plainly") \
    M(first_id, LOST_NO_ACQUIRE, "who loses goes on with the winner's words plainly") \
    M(first_id, ARRAY_STORED, "the words are published by a store") \
    M(first_id, NUMBER_STORED, "the number is stored") \
    M(first_id, LOSER_KEEPS_ITS_OWN, "who loses goes by its own number") \
    M(first_id, LOSER_KEEPS_WORDS, "who loses goes on with its own words") \
    M(ranges, RANGE_NOT_ATOMIC, "a range is taken by a load and a store") \
    M(ranges, RANGE_TOO_SHORT, "a Ractor hands out more than it took") \
    M(claimed_sweep, NOT_CLEARED, "the word of what is freed is left") \
    M(claimed_sweep, CLEARED_LATE, "the word is cleared when the slot is somebody's again") \
    M(claimed_sweep, TRIMMED_BY_CLAIMER, "who has claimed the page frees its words") \
    M(claim_beside_first_id, CLAIM_NO_ACQUIRE, "who has claimed the page loads the pointer to the words plainly") \
    M(trim, TRIMMED_WITHOUT_STOP, "the words are freed with the lock, but nobody is stopped") \
    M(trim, SAFE_POINT_IN_LOOK, "there is a safe point between the pointer and the word") \
    M(trim_beside_table, WORDS_BEFORE_LOCK, "the words are looked up before the lock is taken") \
    M(table_beside_ids, MADE_WITHOUT_STOP, "the table is made with the lock, but nobody is stopped") \
    M(table_beside_ids, NOT_LOOKED_FOR, "who takes a number does not look whether there is a table") \
    M(table_beside_ids, SAFE_POINT_IN_TAKE, "there is a safe point between that look and the number") \
    M(table_beside_ids, ADDED_WITHOUT_LOCK, "who finds a table adds to it without the lock") \
    M(table_beside_sweep, FREED_ALONE, "what is in the table is freed without the lock") \
    M(table_beside_sweep, SAFE_POINT_IN_SWEEP, "there is a safe point between the look whether there is a table and the free")

#include "model.h"

enum { RACTORS = 2, SLOTS = 2, ARRAYS = 2 * RACTORS, NO_WORDS = -1, RANGE = 2, FREED = 99 };
enum { DEAD, LIVING, MADE };

/* calloc's, and free's */
struct words {
    rl::var<int> memory; /* of malloc: who reads a word reads it */
    rl::atomic<int> numbers[SLOTS];
};

template<class S>
struct object_id_scenario : stopping_scenario<S, RACTORS> {
    words arrays[ARRAYS];
    int made[RACTORS];              /* arrays, by each */
    rl::atomic<int> object_ids;     /* of the page: the number of an array */
    rl::atomic<int> next_object_id; /* of the objspace */
    int next[RACTORS], end_of_range[RACTORS]; /* of their caches */
    rl::var<int> slot[SLOTS];
    rl::var<int> there_is_table, table[SLOTS]; /* number by object */
    rl::var<int> before_sweep;
    message sent;
    int ids[RACTORS]; /* that they have seen */

    /* With words for the page, the number of slot 0 among them; or without. */
    void
    start(bool with_words, int number)
    {
        this->init_stops();
        sent.init();
        object_ids.store(NO_WORDS, plain, $);
        next_object_id.store(number + 1, plain, $);
        there_is_table($) = 0;
        before_sweep($) = 1;
        slot[0]($) = DEAD;
        slot[1]($) = LIVING;
        for (int i = 0; i < SLOTS; i++) table[i]($) = 0;
        for (int i = 0; i < RACTORS; i++) made[i] = next[i] = end_of_range[i] = 0;
        if (with_words) {
            object_ids.store(allocate(0), plain, $);
            arrays[0].numbers[0].store(number, plain, $);
        }
    }

    int
    allocate(int me)
    {
        int ids = 2 * me + made[me]++;
        arrays[ids].memory($) = 0;
        for (int i = 0; i < SLOTS; i++) arrays[ids].numbers[i].store(0, plain, $);
        return ids;
    }

    void
    give_back(int ids)
    {
        arrays[ids].memory($) = FREED;
    }

    rl::atomic<int> &
    word(int ids, int object)
    {
        RL_ASSERT(arrays[ids].memory($) != FREED);
        return arrays[ids].numbers[object];
    }

    /* gc_page_words_load_acquire */
    int load_acquire(mutants without = ARRAY_NO_ACQUIRE) { return object_ids.load(acquire(without), $); }

    /* gc_object_id_find */
    int
    find(int object)
    {
        int ids = load_acquire();
        if (mutant == SAFE_POINT_IN_LOOK) safe_point();
        return ids == NO_WORDS ? 0 : word(ids, object).load(plain, $);
    }

    void
    safe_point()
    {
        this->enter();
        this->leave();
    }

    /* gc_page_words_make */
    int
    make(int me)
    {
        int ids = load_acquire();
        if (ids != NO_WORDS) return ids;

        int own = allocate(me);
        if (mutant == ARRAY_STORED) {
            object_ids.store(own, rl::mo_release, $);
            return own;
        }
        rl::memory_order won = mutant == ARRAY_NO_RELEASE ? rl::mo_acquire : rl::mo_acq_rel;
        if (object_ids.compare_exchange_strong(ids, own, won, $, acquire(LOST_NO_ACQUIRE), $)) return own;
        if (mutant == LOSER_KEEPS_WORDS) return own;
        give_back(own);
        return ids;
    }

    /* gc_object_id_next */
    int
    next_number(int me)
    {
        if (next[me] == end_of_range[me]) {
            if (mutant == RANGE_NOT_ATOMIC) {
                next[me] = next_object_id.load(plain, $);
                next_object_id.store(next[me] + RANGE, plain, $);
            }
            else {
                next[me] = next_object_id.fetch_add(mutant == RANGE_TOO_SHORT ? RANGE - 1 : RANGE, plain, $);
            }
            end_of_range[me] = next[me] + RANGE;
        }
        return next[me]++;
    }

    /* gc_object_id_take_into_table */
    int
    take_into_table(int me, int object)
    {
        int ids = mutant == WORDS_BEFORE_LOCK ? make(me) : (int)NO_WORDS;

        if (mutant != ADDED_WITHOUT_LOCK) this->enter();
        if (mutant != WORDS_BEFORE_LOCK) ids = make(me);
        int number = word(ids, object).load(plain, $);
        if (number == 0) {
            number = next_number(me);
            word(ids, object).store(number, plain, $);
            table[object]($) = number;
        }
        if (mutant != ADDED_WITHOUT_LOCK) this->leave();
        return number;
    }

    /* gc_object_id_take */
    int
    take(int me, int object)
    {
        int ids = make(me);

        if (mutant != NOT_LOOKED_FOR && there_is_table($)) return take_into_table(me, object);
        if (mutant == SAFE_POINT_IN_TAKE) safe_point();

        int number = next_number(me), other = 0;
        if (mutant == NUMBER_STORED) {
            word(ids, object).store(number, plain, $);
            return number;
        }
        if (word(ids, object).compare_exchange_strong(other, number, plain, $, plain, $)) return number;
        next[me] = number;
        return mutant == LOSER_KEEPS_ITS_OWN ? number : other;
    }

    /* rb_gc_impl_object_id */
    int
    object_id(int me, int object)
    {
        int number = find(object);
        return number == 0 ? take(me, object) : number;
    }

    /* The same each time. */
    void
    look_twice(int me, int object)
    {
        this->ids[me] = object_id(me, object);
        RL_ASSERT(object_id(me, object) == this->ids[me]);
    }

    /* gc_page_words_trim, of a step of the sweep */
    void
    free_unused()
    {
        this->enter();
        if (mutant != TRIMMED_WITHOUT_STOP) this->stop();
        int ids = load_acquire();
        bool in_use = false;
        for (int i = 0; i < SLOTS && ids != NO_WORDS; i++) in_use |= word(ids, i).load(plain, $) > 0;
        if (ids != NO_WORDS && !in_use) {
            give_back(ids);
            object_ids.store(NO_WORDS, plain, $);
        }
        this->leave();
    }

    /* gc_sweep_page_of_own, of a page whose slot 0 is dead, and gc_object_id_free_claimed.  Whether the page is swept. */
    bool
    sweep_claimed()
    {
        safe_point(); /* the page is claimed with the lock */

        bool left = mutant != FREED_ALONE && there_is_table($) && find(0) > 0;
        if (mutant == SAFE_POINT_IN_SWEEP) safe_point();
        if (!left) {
            int ids = load_acquire(CLAIM_NO_ACQUIRE);
            if (ids != NO_WORDS && mutant != NOT_CLEARED && mutant != CLEARED_LATE && word(ids, 0).load(plain, $) > 0) {
                word(ids, 0).store(0, plain, $);
            }
            if (mutant == TRIMMED_BY_CLAIMER && ids != NO_WORDS && word(ids, 1).load(plain, $) == 0) {
                give_back(ids);
                object_ids.store(NO_WORDS, plain, $);
            }
            slot[0]($) = MADE;
        }
        this->enter();
        if (!left) before_sweep($) = 0;
        this->leave();
        return !left;
    }

    /* gc_object_ids_make_table */
    void
    make_table()
    {
        if (mutant != MADE_WITHOUT_STOP) this->stop();
        int ids = load_acquire();
        for (int i = 0; i < SLOTS && ids != NO_WORDS; i++) table[i]($) = word(ids, i).load(plain, $);
        there_is_table($) = 1;
    }

    /* rb_gc_impl_object_id_to_ref: whether +number+ is that of +object+ */
    bool
    id2ref(int number, int object)
    {
        this->enter();
        if (!there_is_table($)) make_table();
        bool found = table[object]($) == number;
        if (found && object == 0) RL_ASSERT(before_sweep($) && slot[0]($) == DEAD); /* rb_gc_impl_garbage_object_p */
        this->leave();
        return found;
    }
};

/* Two ask for the id of an object, in whose page nothing has one. */
struct first_id : object_id_scenario<first_id> {
    void setup() { start(false, 0); }

    void
    ractor(int me)
    {
        look_twice(me, 1);
        end();
    }

    void after() { RL_ASSERT(ids[0] == ids[1]); }
};

/* Two hand out more than a range. */
struct ranges : object_id_scenario<ranges> {
    int numbers[RACTORS][RANGE + 1];

    void setup() { start(false, 0); }

    void
    ractor(int me)
    {
        for (int i = 0; i <= RANGE; i++) numbers[me][i] = next_number(me);
        end();
    }

    void
    after()
    {
        for (int i = 0; i <= RANGE; i++) {
            for (int k = 0; k <= RANGE; k++) RL_ASSERT(numbers[0][i] != numbers[1][k]);
            if (i > 0) RL_ASSERT(numbers[0][i] > numbers[0][i - 1] && numbers[1][i] > numbers[1][i - 1]);
        }
    }
};

/* One frees an object that had the number 1, and makes another in its slot, which both look at. */
struct claimed_sweep : object_id_scenario<claimed_sweep> {
    void
    setup()
    {
        start(true, 1);
        ids[0] = ids[1] = 0;
    }

    void
    ractor(int me)
    {
        if (me == 0) {
            sweep_claimed();
            sent.send();
            if (mutant == CLEARED_LATE) word(load_acquire(), 0).store(0, plain, $);
            look_twice(me, 0);
        }
        else {
            look_twice(me, 1);
            if (sent.received()) look_twice(me, 0); else ids[me] = 0;
        }
        end();
    }

    void
    after()
    {
        RL_ASSERT(ids[0] > 1);
        RL_ASSERT(ids[1] == 0 || ids[1] == ids[0]);
    }
};

/* The same, but nothing in the page has an id before. */
struct claim_beside_first_id : object_id_scenario<claim_beside_first_id> {
    void setup() { start(false, 0); }

    void
    ractor(int me)
    {
        if (me == 0) {
            sweep_claimed();
            look_twice(me, 0);
        }
        else {
            look_twice(me, 1);
        }
        end();
    }

    void after() { RL_ASSERT(ids[0] != ids[1]); }
};

/* A step of the sweep finds that the words are not in use. */
struct trim : object_id_scenario<trim> {
    void setup() { start(true, 0); }

    void
    ractor(int me)
    {
        if (me == 0) free_unused(); else look_twice(me, 1);
        end();
    }
};

/* The same when there is a table. */
struct trim_beside_table : object_id_scenario<trim_beside_table> {
    void
    setup()
    {
        start(true, 0);
        there_is_table($) = 1;
    }

    void
    ractor(int me)
    {
        if (me == 0) free_unused(); else look_twice(me, 1);
        end();
    }
};

/* The table is made while another takes a number, and finds what it has taken. */
struct table_beside_ids : object_id_scenario<table_beside_ids> {
    void setup() { start(false, 0); }

    void
    ractor(int me)
    {
        if (me == 0) {
            safe_point();
            look_twice(me, 1);
            RL_ASSERT(id2ref(ids[me], 1));
        }
        else {
            for (int i = 0; i < 2; i++) id2ref(UNDEF, 1);
        }
        end();
    }
};

/* The table is made while another sweeps what is in it. */
struct table_beside_sweep : object_id_scenario<table_beside_sweep> {
    void setup() { start(true, 1); }

    void
    ractor(int me)
    {
        if (me == 0) {
            sweep_claimed();
        }
        else {
            for (int i = 0; i < 2; i++) id2ref(1, 0);
        }
        end();
    }
};

ENTRIES
