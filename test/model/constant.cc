/**********************************************************************

  constant.cc - a model of the inline cache of constants, of a Ractor's own table, and of their state

  Licence: see LICENSE.

**********************************************************************/

/*
 * vm/constant_cache.h and vm/constant_table.h, by the steps of rb_vm_ic_hit_value,
 * rb_vm_constant_table_find, and of upstream's
 * rb_vm_opt_getconstant_path, vm_ic_track_const_chain, vm_ic_update,
 * rb_clear_constant_cache_for_id, rb_const_lookup, rb_const_search_from,
 * const_set, const_tbl_update and rb_const_remove, as patched.
 */

#define SCENARIOS(S) S(set_again) S(shared_site) S(compiled) S(remove_one) S(own_table)

#define MUTANTS(M) \
    M(set_again, STATE_NOT_COMPARED, "the cache is filled with whatever was found: as stock") \
    M(set_again, STATE_AFTER_LOOK_UP, "the state is read after the look-up") \
    M(set_again, STATE_NOT_ADVANCED, "clearing does not advance the state") \
    M(set_again, FILLED_WITHOUT_LOCK, "the state is compared, and the cache filled, without the VM lock") \
    M(set_again, CLEARED_BEFORE, "cleared in another critical section than set, before it") \
    M(set_again, NOT_CLEARED, "the caches of the constant are left") \
    M(set_again, TRACKED_LATE, "the site is known to who clears only after it was filled") \
    M(set_again, VALUE_PLAINLY, "the value in the table is stored and loaded plainly: as stock") \
    M(shared_site, ENTRY_NO_RELEASE, "the cache is stored plainly: as stock") \
    M(shared_site, ENTRY_NO_ACQUIRE, "the cache is loaded plainly: as stock") \
    M(compiled, LOADED_TWICE, "compiled code loads the cache for the test and for the value: as stock") \
    M(remove_one, TABLE_ENTRY_FREED, "rb_const_remove frees what a look-up has returned: as stock") \
    M(own_table, TABLE_BELIEVED, "the Ractor's own table is asked, however old it is") \
    M(own_table, STATE_OF_TABLE, "all answers of a table take the state of the one that is filed") \
    M(own_table, TABLE_FILLED_WITHOUT_LOCK, "the answer is filed, with the state then, after the VM lock is released") \
    M(own_table, STATE_LEFT_BY_ADD, "a constant is added to the class, and the state stays") \
    M(own_table, STATE_LEFT_BY_REMOVE, "a constant is removed, and the state stays") \
    M(own_table, REMOVED_ENTRY_FREED, "rb_const_remove frees what a Ractor's table may have")

#include "model.h"

enum { NAME_ERROR = -2, NO_ENTRY = -1 };

/* rb_const_entry_t */
struct const_entry {
    rl::atomic<int> value;
    rl::var<int> memory;        /* written when it is freed */
};

template<class S, int RACTORS>
struct constant_scenario : scenario<S, RACTORS> {
    rl::var<int> table;         /* of the class: the number of the constant's entry.  VM lock */
    const_entry entries[1];
    rl::atomic<int> state;      /* vm_constant_state */
    rl::var<int> tracked;       /* vm->constant_cache has the site.  VM lock */
    rl::atomic<int> ic;         /* the number of a cache; 0: none */
    rl::var<int> caches[8];     /* the value: struct iseq_inline_constant_cache_entry */
    int cache_count;
    object values[3];
    message told;

    /* The constant is 1. */
    void
    start()
    {
        values[1].fill(1);
        entries[0].value.store(1, plain, $);
        entries[0].memory($) = 1;
        table($) = 0;
        tracked($) = 0;
        state.store(0, plain, $);
        ic.store(0, plain, $);
        cache_count = 0;
        told.init();
    }

    int
    use(int value)
    {
        if (value != NAME_ERROR) values[value].use(value);
        return value;
    }

    /* ---- the look-up ---- */

    /* rb_const_search_from, rb_const_lookup; then rb_const_get_0 or vm_get_ev_const
     * asks whether the value is shareable, which looks at it */
    int
    look_up()
    {
        int e;
        {
            vm_locked locked(this->vm_lock);
            e = table($);
        }
        if (e == NO_ENTRY) return NAME_ERROR;
        RL_ASSERT(entries[e].memory($));
        return use(entries[e].value.load(acquire(VALUE_PLAINLY), $));
    }

    /* vm_ic_track_const_chain */
    void
    track()
    {
        vm_locked locked(this->vm_lock);
        tracked($) = 1;
    }

    /* vm_ic_update */
    void
    update(int value)
    {
        int c = ++cache_count;
        caches[c]($) = value;
        ic.store(c, release(ENTRY_NO_RELEASE), $); /* vm_ic_entry_store_release */
    }

    /* the rest of rb_vm_opt_getconstant_path */
    int
    miss()
    {
        int s = state.load(rl::mo_acquire, $); /* vm_constant_state_load_acquire */
        int value = look_up();
        if (value == NAME_ERROR) return value;
        if (mutant == STATE_AFTER_LOOK_UP) s = state.load(rl::mo_acquire, $);
        if (mutant != TRACKED_LATE) track();
        {
            vm_locked locked(this->vm_lock, mutant != FILLED_WITHOUT_LOCK);
            if (state.load(rl::mo_acquire, $) == s || mutant == STATE_NOT_COMPARED) update(value);
        }
        if (mutant == TRACKED_LATE) track();
        return value;
    }

    /* rb_vm_opt_getconstant_path */
    int
    get()
    {
        int c = ic.load(acquire(ENTRY_NO_ACQUIRE), $); /* vm_ic_entry_load_acquire */
        return c ? use(caches[c]($)) : miss();
    }

    /* rb_vm_ic_hit_value, called by compiled code; a miss leaves it */
    int
    get_compiled()
    {
        int c = ic.load(rl::mo_acquire, $);
        if (c && mutant == LOADED_TWICE) c = ic.load(rl::mo_acquire, $);
        else if (!c) return miss();
        RL_ASSERT(c);
        return use(caches[c]($));
    }

    /* ---- the changes ---- */

    /* rb_clear_constant_cache_for_id */
    void
    clear()
    {
        vm_locked locked(this->vm_lock);
        if (mutant != STATE_NOT_ADVANCED) state.fetch_add(1, rl::mo_release, $);
        if (tracked($) && mutant != NOT_CLEARED) ic.store(0, plain, $);
    }

    /* const_set, const_tbl_update, setup_const_entry */
    void
    set(int value)
    {
        values[value].fill(value);
        if (mutant == CLEARED_BEFORE) clear();
        vm_locked locked(this->vm_lock);
        if (mutant != CLEARED_BEFORE) clear();
        entries[0].value.store(value, release(VALUE_PLAINLY), $);
    }

    /* rb_const_remove */
    void
    remove()
    {
        {
            vm_locked locked(this->vm_lock);
            table($) = NO_ENTRY;
        }
        clear();
        if (mutant == TABLE_ENTRY_FREED) entries[0].memory($) = 0;
    }
};

/* One Ractor sets the constant again and says so; another reads it before and
 * after. */
struct set_again : constant_scenario<set_again, 2> {
    void setup() { start(); }

    void
    ractor(int number)
    {
        if (number == 0) {
            set(2);
            told.send();
        }
        else {
            int value = get();
            RL_ASSERT(value == 1 || value == 2);
            RL_ASSERT(!told.received() || get() == 2);
        }
    }
};

/* Two Ractors, one site: what one fills the other hits. */
struct shared_site : constant_scenario<shared_site, 2> {
    void setup() { start(); }
    void ractor(int) { RL_ASSERT(get() == 1 && get() == 1); }
};

/* A site that is filled, in compiled code, while the constant is set again. */
struct compiled : constant_scenario<compiled, 2> {
    void
    setup()
    {
        start();
        get();
    }

    void
    ractor(int number)
    {
        if (number == 0) {
            set(2);
            told.send();
        }
        else {
            int value = get_compiled();
            RL_ASSERT(value == 1 || value == 2);
            RL_ASSERT(!told.received() || get_compiled() == 2);
        }
    }
};

/* One Ractor removes the constant. */
struct remove_one : constant_scenario<remove_one, 2> {
    void setup() { start(); }

    void
    ractor(int number)
    {
        if (number == 0) {
            remove();
            told.send();
        }
        else {
            int value = get();
            RL_ASSERT(value == 1 || value == NAME_ERROR);
            RL_ASSERT(!told.received() || get() == NAME_ERROR);
        }
    }
};

/* vm/constant_table.h: one Ractor removes a constant of a class and adds another to it; a second one looks both up, and
 * knows the answers of before.  Name 0 has entry 0, name 1 none. */
struct own_table : scenario<own_table, 2> {
    rl::var<int> table[2];      /* of the class: the number of the entry of a name.  VM lock */
    const_entry entries[2];
    rl::atomic<int> state;      /* rb_vm_constant_state */
    struct {
        rl::var<int> states[2], answers[2];
    } own;                      /* r->constant_table of the second Ractor */
    object values[3];
    message told;

    void
    fill_entry(int e)
    {
        values[e + 1].fill(e + 1);
        entries[e].memory($) = 1;
        entries[e].value.store(e + 1, rl::mo_release, $); /* setup_const_entry */
    }

    void
    setup()
    {
        fill_entry(0);
        table[0]($) = own.answers[0]($) = 0;
        table[1]($) = own.answers[1]($) = NO_ENTRY;
        own.states[0]($) = own.states[1]($) = 0;
        state.store(0, plain, $);
        told.init();
    }

    /* store_locked */
    void
    store(int name, int e)
    {
        own.answers[name]($) = e;
        own.states[name]($) = state.load(rl::mo_relaxed, $);
        if (mutant == STATE_OF_TABLE) own.states[!name]($) = own.states[name]($);
    }

    /* rb_vm_constant_table_find */
    int
    look_up(int name)
    {
        if (own.states[name]($) == state.load(rl::mo_relaxed, $) || mutant == TABLE_BELIEVED) return own.answers[name]($);
        int e;
        {
            vm_locked locked(this->vm_lock);
            e = table[name]($);
            if (mutant != TABLE_FILLED_WITHOUT_LOCK) store(name, e);
        }
        if (mutant == TABLE_FILLED_WITHOUT_LOCK) store(name, e);
        return e;
    }

    int
    get(int name)
    {
        int e = look_up(name);
        if (e == NO_ENTRY) return NAME_ERROR;
        RL_ASSERT(entries[e].memory($));
        int value = entries[e].value.load(rl::mo_acquire, $);
        values[value].use(value);
        return value;
    }

    /* vm_constant_state_advance_release */
    void
    advance(mutants without)
    {
        if (mutant != without) state.fetch_add(1, rl::mo_release, $);
    }

    /* rb_const_remove, struct_remove_name */
    void
    remove(int name)
    {
        {
            vm_locked locked(this->vm_lock);
            table[name]($) = NO_ENTRY;
            advance(STATE_LEFT_BY_REMOVE);
        }
        if (mutant == REMOVED_ENTRY_FREED) entries[0].memory($) = 0;
    }

    /* const_set, const_tbl_update */
    void
    add(int name)
    {
        vm_locked locked(this->vm_lock);
        advance(STATE_LEFT_BY_ADD);
        table[name]($) = 1;
        fill_entry(1);
    }

    void
    ractor(int number)
    {
        if (number == 0) {
            remove(0);
            told.send(1);
            add(1);
            told.send(2);
        }
        else {
            for (int i = 0; i < 2; i++) {
                int done = told.received(), added = get(1), removed = get(0);
                RL_ASSERT(added == 2 || added == NAME_ERROR);
                RL_ASSERT(removed == 1 || removed == NAME_ERROR);
                RL_ASSERT(done < 1 || removed == NAME_ERROR);
                RL_ASSERT(done < 2 || added == 2);
            }
        }
    }
};

ENTRIES
