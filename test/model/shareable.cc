/**********************************************************************

  shareable.cc - a model of the shareable bit

  Licence: see LICENSE.

**********************************************************************/

/*
 * A value may be filled, and become shareable, when it is the value of a
 * variable already.  By the steps of class_fields.h (rb_value_any_ractor_p,
 * rb_obj_mark_shareable), object_flags.h (rb_flags_set_any_ractor), ractor.c
 * (rb_class_ivar_get_check_any_ractor) and upstream's rb_ractor_make_shareable, rb_ractor_shareable_p, rb_obj_traverse,
 * as patched by ractor_release_shareable_bit.patch.
 *
 * One mutant is what the C code does today, as upstream does, on the slow path
 * alone, and what is wrong only where stores are reordered (not on x86-64):
 * FROZEN_PLAINLY.  The model has a release there.
 */

#define SCENARIOS(S) S(make_shareable) S(deeply_frozen) S(other_bits)

#define MUTANTS(M) \
    M(make_shareable, BIT_NO_RELEASE, "the bit is set plainly: as stock") \
    M(make_shareable, BIT_NO_ACQUIRE, "the bit is loaded plainly") \
    M(make_shareable, BIT_BEFORE_CHILDREN, "an object is marked when it is entered, not at the end") \
    M(make_shareable, ASKED_AGAIN_PLAINLY, "the bit is loaded plainly when it is asked for again: as stock") \
    M(deeply_frozen, FROZEN_PLAINLY, "freezing is no release, asking for it no acquire: as it is today") \
    M(deeply_frozen, NOT_WALKED, "a frozen object is shareable, whatever it holds") \
    M(other_bits, BIT_NOT_ATOMIC, "the bit is set by load and store: as stock") \
    M(other_bits, FLAG_NOT_ATOMIC, "another bit is set by load and store: as stock")

#include "model.h"

enum { FL_SHAREABLE = 1, FL_FREEZE = 2, FL_SEEN_OBJ_ID = 4, CODERANGE_7BIT = 8 };

/* An Array of one Array of one number. */
struct array {
    rl::atomic<int> flags;
    rl::var<int> element;
};

template<class S, int RACTORS>
struct shareable_scenario : scenario<S, RACTORS> {
    array outer, inner;
    bool frozen_counts;         /* else a Ractor asks for the bit alone */

    /* A class has had outer, empty, as the value of a variable for long. */
    void
    start(bool frozen_counts)
    {
        this->frozen_counts = frozen_counts;
        outer.flags.store(0, plain, $);
        inner.flags.store(0, plain, $);
        outer.element($) = inner.element($) = 0;
    }

    void
    fill()
    {
        inner.element($) = 1;
        outer.element($) = 1;
    }

    void set_bit(array &a, int bit, mutants without) { a.flags.fetch_or(bit, release(without), $); }

    /* rb_obj_freeze_inline: FL_SET_RAW, a load and a store.  No other Ractor
     * sets a bit of what is not frozen yet. */
    void
    freeze(array &a)
    {
        a.flags.store(a.flags.load(plain, $) | FL_FREEZE, frozen_counts ? release(FROZEN_PLAINLY) : plain, $);
    }

    /* rb_obj_mark_shareable */
    void
    mark(array &a)
    {
        if (mutant == BIT_NOT_ATOMIC) {
            a.flags.store(a.flags.load(plain, $) | FL_SHAREABLE, rl::mo_release, $);
        }
        else {
            set_bit(a, FL_SHAREABLE, BIT_NO_RELEASE);
        }
    }

    /* rb_ractor_make_shareable: make_shareable_check_shareable, then mark_shareable for all */
    void
    make_shareable()
    {
        freeze(outer);
        if (mutant == BIT_BEFORE_CHILDREN) mark(outer);
        if (mutant == BIT_BEFORE_CHILDREN) inner.element($) = 1; /* what its #freeze may do */
        freeze(inner);
        mark(outer);
        mark(inner);
    }

    /* rb_ractor_shareable_p: the bit, or shareable_p_enter for each, then mark_shareable */
    bool
    shareable_p()
    {
        bool plainly = mutant == ASKED_AGAIN_PLAINLY || mutant == FROZEN_PLAINLY;
        int flags = outer.flags.load(plainly ? plain : rl::mo_acquire, $);
        if (flags & FL_SHAREABLE) return true;
        if (!frozen_counts || !(flags & FL_FREEZE)) return false;
        if (mutant != NOT_WALKED && outer.element($)) {
            flags = inner.flags.load(acquire(FROZEN_PLAINLY), $);
            if (!(flags & (FL_SHAREABLE | FL_FREEZE))) return false;
        }
        mark(outer);
        mark(inner);
        return true;
    }

    /* rb_value_any_ractor_p, then rb_class_ivar_get_check_any_ractor; false: IsolationError */
    bool
    any_ractor_p()
    {
        return outer.flags.load(acquire(BIT_NO_ACQUIRE), $) & FL_SHAREABLE || shareable_p();
    }

    /* Who has it sees all of it. */
    void use() { RL_ASSERT(outer.element($) == 1 && inner.element($) == 1); }
};

/* main fills the value and makes it shareable, while a Ractor reads it. */
struct make_shareable : shareable_scenario<make_shareable, 2> {
    void setup() { start(false); }

    void
    ractor(int number)
    {
        if (number == 0) {
            fill();
            shareable_scenario::make_shareable();
        }
        else if (any_ractor_p()) {
            use();
        }
    }
};

/* main fills the value and freezes it, inside first or last; a Ractor finds
 * that it is deeply frozen, another that it is marked. */
struct deeply_frozen : shareable_scenario<deeply_frozen, 3> {
    void setup() { start(true); }

    void
    ractor(int number)
    {
        if (number == 0) {
            outer.element($) = 1;
            freeze(outer);
            inner.element($) = 1;
            freeze(inner);
        }
        else if (any_ractor_p()) {
            use();
        }
    }
};

/* Three Ractors set bits of one object's flags: one marks it, two set others. */
struct other_bits : shareable_scenario<other_bits, 3> {
    void setup() { start(false); }

    /* rb_flags_set_any_ractor, object_flags.h */
    void
    set_any_ractor(int bit)
    {
        int flags = outer.flags.load(plain, $);
        if (flags & bit) return;
        if (mutant == FLAG_NOT_ATOMIC) {
            outer.flags.store(flags | bit, plain, $);
        }
        else {
            outer.flags.fetch_or(bit, plain, $);
        }
    }

    void
    ractor(int number)
    {
        switch (number) {
          case 0: mark(outer); break;
          case 1: set_any_ractor(FL_SEEN_OBJ_ID); break;
          case 2: set_any_ractor(CODERANGE_7BIT); break;
        }
    }

    void after() { RL_ASSERT(outer.flags.load(plain, $) == (FL_SHAREABLE | FL_SEEN_OBJ_ID | CODERANGE_7BIT)); }
};

ENTRIES
