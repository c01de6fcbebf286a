/**********************************************************************

  generic_ivar.cc - a model of instance variables beside the page of their object

  Licence: see LICENSE.

**********************************************************************/

/*
 * gc/generic_ivar.h and generic_ivar.h, by the steps of rb_gen_ivtbl_get,
 * generic_ivar_set_shape_ivptr, rb_free_generic_ivar and gc_sweep_claim_free.  How the
 * words of a page are made and freed is in object_id.cc; here the page has them.
 *
 * There is one page.  Its slot 0 is that of a dead object, which is freed and used
 * again; what is in slot 1 lives, and is shareable.
 */

#define SCENARIOS(S) S(set_beside_get) S(set_beside_set) S(claimed_sweep)

#define MUTANTS(M) \
    M(set_beside_get, WORD_NO_RELEASE, "the word is stored plainly") \
    M(set_beside_get, WORD_NO_ACQUIRE, "the word is loaded plainly") \
    M(set_beside_get, WORD_BEFORE_CONTENT, "the word is stored before what it points to is filled") \
    M(set_beside_set, SET_WITHOUT_LOCK, "variables of a shareable object are set without the VM lock") \
    M(claimed_sweep, WORD_LEFT, "who has claimed a page frees the variables of the dead, and leaves the word") \
    M(claimed_sweep, WORD_CLEARED_LATE, "the word is cleared when the slot is somebody's again")

#include "model.h"

enum { RACTORS = 2, SLOTS = 2, NONE_SET = 0, MEMORIES = 8, FREED = 99 };

template<class S>
struct generic_ivar_scenario : scenario<S, RACTORS> {
    rl::atomic<int> generic_ivars[SLOTS];   /* of the page: the number of a struct gen_ivtbl */
    rl::var<int> ivtbls[MEMORIES];          /* a bit for each variable that is set; FREED */
    int allocated[RACTORS];
    message sent;

    /* The dead object has a variable. */
    void
    setup()
    {
        generic_ivars[0].store(1, plain, $);
        ivtbls[1]($) = 1;
        generic_ivars[1].store(NONE_SET, plain, $);
        allocated[0] = 2;
        allocated[1] = 5;
        sent.init();
    }

    /* rb_gc_impl_generic_ivar */
    int load_acquire(int obj) { return generic_ivars[obj].load(acquire(WORD_NO_ACQUIRE), $); }

    /* rb_gc_impl_set_generic_ivar */
    void store_release(int obj, int ivtbl) { generic_ivars[obj].store(ivtbl, release(WORD_NO_RELEASE), $); }

    /* rb_gen_ivtbl_get: the variables of +obj+ */
    int
    get(int obj)
    {
        int ivtbl = load_acquire(obj);
        if (ivtbl == NONE_SET) return 0;
        int variables = ivtbls[ivtbl]($);
        RL_ASSERT(variables != FREED);
        return variables;
    }

    /* generic_ivar_set_shape_ivptr, with a new table each time; what it replaces is left: readers of C's look at it, as in stock */
    void
    set(int me, int obj, int variable)
    {
        vm_locked locked(this->vm_lock, obj == 1 && mutant != SET_WITHOUT_LOCK);
        int variables = get(obj) | variable, ivtbl = allocated[me]++;
        if (mutant == WORD_BEFORE_CONTENT) store_release(obj, ivtbl);
        ivtbls[ivtbl]($) = variables;
        if (mutant != WORD_BEFORE_CONTENT) store_release(obj, ivtbl);
    }

    /* gc_sweep_claim_free, rb_free_generic_ivar */
    void
    free_claimed(int obj)
    {
        int ivtbl = load_acquire(obj);
        if (mutant != WORD_LEFT && mutant != WORD_CLEARED_LATE) store_release(obj, NONE_SET);
        ivtbls[ivtbl]($) = FREED;
    }
};

/* One gives a shareable object a variable of C's, another looks. */
struct set_beside_get : generic_ivar_scenario<set_beside_get> {
    void
    ractor(int me)
    {
        if (me == 0) {
            set(me, 1, 1);
            sent.send();
        }
        else {
            bool told = sent.received();
            int variables = get(1);
            RL_ASSERT(variables == 1 || (variables == 0 && !told));
        }
    }
};

/* Two give it one each. */
struct set_beside_set : generic_ivar_scenario<set_beside_set> {
    void ractor(int me) { set(me, 1, 1 << me); }
    void after() { RL_ASSERT(get(1) == 3); }
};

/* One frees the dead object, and tells another of the one that it makes in its slot. */
struct claimed_sweep : generic_ivar_scenario<claimed_sweep> {
    void
    ractor(int me)
    {
        if (me == 0) {
            free_claimed(0);
            sent.send();
            if (mutant == WORD_CLEARED_LATE) store_release(0, NONE_SET);
        }
        else {
            set(me, 1, 1);
            RL_ASSERT(get(1) == 1);
            if (sent.received()) RL_ASSERT(get(0) == 0);
        }
    }
};

ENTRIES
