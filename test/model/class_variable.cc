/**********************************************************************

  class_variable.cc - a model of the inline cache of @@x, and of its state

  Licence: see LICENSE.

**********************************************************************/

/*
 * Note [CVAR-CACHE] of vm/class_variable.h, by the steps of vm_getclassvariable,
 * vm_cvar_find, vm_cvar_cached_value, rb_cvar_cache_new, rb_class_ivar_delete, and
 * of upstream's find_cvar, cvar_overtaken, rb_cvar_set and do_include_modules_at,
 * as patched.
 *
 * The variables of a class are one word here, the value of @@x or UNDEF: what
 * lies behind it is fields.cc's matter.
 */

#define SCENARIOS(S) S(set_above) S(include) S(remove_and_set) S(two_changes) S(two_bases)

#define MUTANTS(M) \
    M(set_above, STATE_NO_RELEASE, "C2 is a plain increment") \
    M(set_above, STATE_NO_ACQUIRE, "C3 is a plain load") \
    M(set_above, STATE_AFTER_WALK, "C3 after C4") \
    M(set_above, STATE_BEFORE_CHANGE, "C2 before C1: as stock") \
    M(set_above, STATE_NOT_COMPARED, "a hit does not ask for the state") \
    M(set_above, STATE_NOT_ADVANCED, "a new variable is no change") \
    M(include, SUPER_NO_RELEASE, "the ancestor is linked plainly: as stock") \
    M(include, SUPER_NO_ACQUIRE, "the walk loads plainly: as stock") \
    M(remove_and_set, GONE_IS_A_HIT, "a hit without a value is not looked up again") \
    M(two_changes, STATE_NOT_ATOMIC, "C2 is a load and a store") \
    M(two_bases, ENTRY_NO_RELEASE, "C5 is a plain store") \
    M(two_bases, ENTRY_NO_ACQUIRE, "the cache is loaded plainly") \
    M(two_bases, ENTRY_REFILLED, "a cache is changed in place: as stock")

#include "model.h"

enum { BASE, OTHER_BASE, SUPER, TOP, MODULE, ICLASS, CLASSES, NO_CLASS };
enum { NAME_ERROR = -2, OVERTAKEN = -3 };

/* struct rb_cvar_cache; where in the owner's fields is left out */
struct cvar_cache {
    rl::var<int> base, owner, state;
};

template<class S, int RACTORS>
struct cvar_scenario : scenario<S, RACTORS> {
    rl::atomic<int> super[CLASSES], fields[CLASSES];
    rl::var<int> klass;         /* of the iclass: the module */
    rl::atomic<int> cvar_state; /* ruby_vm_global_cvar_state */
    rl::atomic<int> ic;         /* the number of a cache; 0: none */
    cvar_cache caches[8];
    int cache_count;
    message told;

    /* BASE and OTHER_BASE < SUPER < TOP; @@x of SUPER is 1 */
    void
    start()
    {
        for (int k = 0; k < CLASSES; k++) {
            super[k].store(k < SUPER ? (int)SUPER : k == SUPER ? (int)TOP : (int)NO_CLASS, plain, $);
            fields[k].store(k == SUPER ? 1 : k == MODULE ? 3 : (int)UNDEF, plain, $);
        }
        cvar_state.store(0, plain, $);
        ic.store(0, plain, $);
        cache_count = mutant == ENTRY_REFILLED ? 1 : 0;
        told.init();
    }

    /* ---- the look-up ---- */

    /* rb_cvar_find: find_cvar, cvar_overtaken */
    int
    cvar_find(int base, int &front)
    {
        int value = NAME_ERROR, target = NO_CLASS;
        front = NO_CLASS;
        for (int k = base; k != NO_CLASS; k = super[k].load(acquire(SUPER_NO_ACQUIRE), $)) {
            int original = k == ICLASS ? (int)klass($) : k; /* cvar_lookup_at */
            int v = fields[original].load(rl::mo_acquire, $);
            if (v == UNDEF) continue;
            if (front == NO_CLASS) front = original;
            target = original;
            value = v;
        }
        return target == front ? value : (int)OVERTAKEN;
    }

    /* rb_cvar_cache_new */
    int
    cache_new(int base, int owner, int state)
    {
        int c = mutant == ENTRY_REFILLED ? 1 : ++cache_count;
        caches[c].base($) = base;
        caches[c].owner($) = owner;
        caches[c].state($) = state;
        return c;
    }

    int state_load() { return cvar_state.load(acquire(STATE_NO_ACQUIRE), $); }

    /* vm_cvar_find */
    int
    find(int base)
    {
        int owner, state = state_load(); /* C3 */
        int value = cvar_find(base, owner); /* C4 */
        if (value == NAME_ERROR || value == OVERTAKEN) return value;
        if (mutant == STATE_AFTER_WALK) state = state_load();
        ic.store(cache_new(base, owner, state), release(ENTRY_NO_RELEASE), $); /* C5 */
        return value;
    }

    /* vm_getclassvariable */
    int
    get(int base)
    {
        int c = ic.load(acquire(ENTRY_NO_ACQUIRE), $), value = UNDEF;

        /* vm_cvar_cache_hit_p, vm_cvar_cached_value */
        if (c && caches[c].base($) == base &&
            (caches[c].state($) == cvar_state.load(rl::mo_acquire, $) || mutant == STATE_NOT_COMPARED)) {
            value = fields[caches[c].owner($)].load(rl::mo_acquire, $);
            if (mutant == GONE_IS_A_HIT && value == UNDEF) return NAME_ERROR;
        }
        return value == UNDEF ? find(base) : value;
    }

    /* ---- the changes ---- */

    /* rb_cvar_state_advance_release */
    void
    state_advance()
    {
        if (mutant == STATE_NOT_ATOMIC) {
            cvar_state.store(cvar_state.load(plain, $) + 1, rl::mo_release, $);
        }
        else if (mutant != STATE_NOT_ADVANCED) {
            cvar_state.fetch_add(1, release(STATE_NO_RELEASE), $);
        }
    }

    /* rb_cvar_set of a class that has subclasses, and no ancestor with @@x */
    void
    set(int k, int value)
    {
        if (mutant == STATE_BEFORE_CHANGE) state_advance();
        {
            vm_locked locked(this->vm_lock); /* rb_class_ivar_set */
            fields[k].store(value, rl::mo_release, $); /* C1 */
        }
        if (mutant == STATE_BEFORE_CHANGE) return;
        vm_locked locked(this->vm_lock);
        state_advance(); /* C2 */
    }

    /* rb_class_ivar_delete */
    void
    remove(int k)
    {
        {
            vm_locked locked(this->vm_lock);
            fields[k].store(UNDEF, rl::mo_release, $);
        }
        state_advance();
    }

    /* rb_include_module, do_include_modules_at: into BASE */
    void
    include_module()
    {
        vm_locked locked(this->vm_lock);
        klass($) = MODULE; /* rb_include_class_new */
        super[ICLASS].store(super[BASE].load(plain, $), plain, $);
        super[BASE].store(ICLASS, release(SUPER_NO_RELEASE), $); /* rb_class_super_store_release */
        state_advance();
    }
};

/* main sets @@x of TOP, over the @@x of SUPER, and says so.  One Ractor fills
 * the site; another is told. */
struct set_above : cvar_scenario<set_above, 3> {
    void setup() { start(); }

    void
    ractor(int number)
    {
        if (number == 0) {
            set(TOP, 2);
            told.send();
        }
        else if (number == 1) {
            int value = get(BASE);
            RL_ASSERT(value == 1 || value == OVERTAKEN);
        }
        else {
            bool must = told.received();
            int value = get(BASE);
            RL_ASSERT(value == OVERTAKEN || (value == 1 && !must));
        }
    }
};

/* A Ractor includes a module that has @@x into BASE; another reads. */
struct include : cvar_scenario<include, 2> {
    void setup() { start(); }

    void
    ractor(int number)
    {
        if (number == 0) {
            include_module();
            told.send();
        }
        else {
            int value = get(BASE);
            RL_ASSERT(value == 1 || value == OVERTAKEN);
            RL_ASSERT(!told.received() || get(BASE) == OVERTAKEN);
        }
    }
};

/* main removes @@x from SUPER and sets it in TOP. */
struct remove_and_set : cvar_scenario<remove_and_set, 2> {
    void
    setup()
    {
        start();
        RL_ASSERT(get(BASE) == 1); /* fills the site */
    }

    void
    ractor(int number)
    {
        if (number == 0) {
            set(TOP, 2);
            remove(SUPER);
        }
        else {
            int value = get(BASE);
            RL_ASSERT(value == 1 || value == OVERTAKEN || value == 2);
        }
    }
};

/* main removes a variable that nobody asks for here, while a Ractor includes
 * the module; each advances the state, not under one lock. */
struct two_changes : cvar_scenario<two_changes, 3> {
    void setup() { start(); }

    void
    ractor(int number)
    {
        if (number == 0) {
            remove(TOP);
        }
        else if (number == 1) {
            include_module();
            told.send();
        }
        else {
            get(BASE);
            RL_ASSERT(!told.received() || get(BASE) == OVERTAKEN);
        }
    }
};

/* A site that two classes share, a class and its clone, each with its own @@x. */
struct two_bases : cvar_scenario<two_bases, 2> {
    void
    setup()
    {
        start();
        fields[SUPER].store(UNDEF, plain, $);
        fields[BASE].store(1, plain, $);
        fields[OTHER_BASE].store(2, plain, $);
    }

    void
    ractor(int number)
    {
        for (int i = 0; i < 2; i++) RL_ASSERT(get(number ? OTHER_BASE : BASE) == (number ? 2 : 1));
    }
};

ENTRIES
