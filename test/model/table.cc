/**********************************************************************

  table.cc - a model of the table of a too-complex class

  Licence: see LICENSE.

**********************************************************************/

/*
 * Note [FIELDS-TABLE] of class_fields.h, by the steps of imemo.c (table_probe,
 * rb_fields_table_find, _lookup, _append, _count_load_acquire) and variable.c
 * (class_ivar_append_complex_locked, fields_copy_complex_locked,
 * fields_foreach_table, class_ivar_delete_locked).  All ids have one hash, so
 * that each probe meets the slots of the others.
 */

#define SCENARIOS(S) S(append) S(probe_past) S(list_and_find) S(find_and_list) S(grow) S(remove_one)

#define MUTANTS(M) \
    M(probe_past, INDEX_NO_RELEASE, "T2 is a plain store") \
    M(probe_past, INDEX_NO_ACQUIRE, "the index is loaded plainly") \
    M(probe_past, INDEX_BEFORE_ENTRY, "T2 before T1") \
    M(append, VALUE_NO_RELEASE, "W1 is a plain store") \
    M(append, VALUE_NO_ACQUIRE, "the value is loaded plainly") \
    M(list_and_find, COUNT_NO_RELEASE, "T3 is a plain store") \
    M(list_and_find, COUNT_NO_ACQUIRE, "the count is loaded plainly") \
    M(list_and_find, COUNT_BEFORE_INDEX, "T3 before T2") \
    M(list_and_find, COUNT_BEFORE_ENTRY, "T3 before T1") \
    M(find_and_list, COUNT_NOT_ASKED, "the index alone says what is set") \
    M(grow, OBJECT_NO_RELEASE, "W5 is a plain store") \
    M(grow, OBJECT_NO_ACQUIRE, "the object is loaded plainly") \
    M(grow, GROWN_IN_PLACE, "the entries move to other memory, the old is freed") \
    M(grow, PUBLISHED_EMPTY, "W5 before the entries are copied") \
    M(remove_one, REMOVED_IN_PLACE, "the last entry moves into the gap")

#include "model.h"

enum { CAPACITY = 3, INDEX_SLOTS = 4 };

struct entry_of_table {
    rl::var<int> key;
    rl::atomic<int> value;
};

/* struct rb_fields_table, and the fields object that owns it */
struct table {
    rl::var<int> capacity;
    rl::atomic<int> count;
    entry_of_table entries[CAPACITY];
    rl::atomic<int> index[INDEX_SLOTS];
};

template<class S, int THREADS>
struct table_scenario : scenario<S, THREADS>, object_pool<5> {
    rl::atomic<int> fields_obj; /* of the class: the number of a table */
    table tables[2];
    int table_count;

    /* A class with the variables 1 to +count+, whose values are 1 to +count+. */
    void
    start(int count, int capacity)
    {
        table_count = 0;
        for (int t = 0; t < 2; t++) { /* MEMZERO of a new index: here, for the zeros say nothing */
            for (int i = 0; i < INDEX_SLOTS; i++) tables[t].index[i].store(0, plain, $);
        }
        table &t = new_complex(capacity);
        for (int id = 1; id <= count; id++) table_append(t, id, make(id));
        fields_obj.store(0, plain, $);
    }

    /* rb_imemo_fields_new_complex */
    table &
    new_complex(int capacity)
    {
        table &t = tables[table_count++];
        t.capacity($) = capacity;
        t.count.store(0, plain, $);
        return t;
    }

    table &fields_table() { return tables[fields_obj.load(acquire(OBJECT_NO_ACQUIRE), $)]; }
    void publish(table &t) { fields_obj.store(&t - tables, release(OBJECT_NO_RELEASE), $); } /* W5 */

    /* rb_fields_table_count_load_acquire */
    int count_load(table &t) { return t.count.load(acquire(COUNT_NO_ACQUIRE), $); }

    /* table_probe: the slot, and the number of its entry */
    int
    probe(table &t, int id, int &n)
    {
        for (int i = 0;; i++) {
            n = t.index[i].load(acquire(INDEX_NO_ACQUIRE), $);
            if (n == 0 || t.entries[n - 1].key($) == id) return i;
        }
    }

    /* rb_fields_table_find; NULL: not set */
    entry_of_table *
    find(table &t, int id)
    {
        int count = count_load(t), n;
        probe(t, id, n);
        return n != 0 && (n <= count || mutant == COUNT_NOT_ASKED) ? &t.entries[n - 1] : NULL;
    }

    /* rb_fields_table_lookup */
    int
    lookup(table &t, int id)
    {
        entry_of_table *e = find(t, id);
        return e ? use(e->value.load(acquire(VALUE_NO_ACQUIRE), $)) : (int)UNDEF;
    }

    /* fields_foreach_table: the last key */
    int
    foreach(table &t)
    {
        int count = count_load(t), id = 0;
        for (int i = 0; i < count; i++) {
            id = t.entries[i].key($);
            use(t.entries[i].value.load(rl::mo_acquire, $));
        }
        return id;
    }

    /* rb_fields_table_append */
    void
    table_append(table &t, int id, int value)
    {
        int count = t.count.load(plain, $), n;
        int slot = probe(t, id, n);
        RL_ASSERT(n == 0 && count < t.capacity($));

        if (mutant == COUNT_BEFORE_ENTRY) t.count.store(count + 1, rl::mo_release, $);
        if (mutant == INDEX_BEFORE_ENTRY) t.index[slot].store(count + 1, rl::mo_release, $);
        t.entries[count].key($) = id; /* T1 */
        t.entries[count].value.store(value, plain, $);
        if (mutant == COUNT_BEFORE_INDEX) t.count.store(count + 1, rl::mo_release, $);
        t.index[slot].store(count + 1, release(INDEX_NO_RELEASE), $); /* T2 */
        t.count.store(count + 1, release(COUNT_NO_RELEASE), $); /* T3 */
    }

    /* fields_copy_complex_locked: W4 */
    table &
    copy(table &from, int except)
    {
        table &to = new_complex(CAPACITY);
        if (mutant == PUBLISHED_EMPTY) publish(to);
        int count = count_load(from);
        for (int i = 0; i < count; i++) {
            int id = from.entries[i].key($);
            if (id != except) table_append(to, id, from.entries[i].value.load(rl::mo_acquire, $));
        }
        return to;
    }

    /* A reallocation: who reads the old memory meets the write. */
    void
    grow_in_place(table &t)
    {
        t.entries[0].key($) = t.entries[0].key($);
        t.capacity($) = CAPACITY;
    }

    /* rb_class_ivar_set: class_ivar_set_locked, class_ivar_append_complex_locked */
    void
    set(int id, int value)
    {
        vm_locked locked(this->vm_lock);
        table &t = fields_table();
        entry_of_table *e = find(t, id);
        if (e) {
            e->value.store(value, release(VALUE_NO_RELEASE), $); /* W1 */
            return;
        }
        if (mutant == GROWN_IN_PLACE) grow_in_place(t);
        if (count_load(t) < t.capacity($)) {
            table_append(t, id, value);
        }
        else {
            table &larger = copy(t, 0);
            table_append(larger, id, value);
            publish(larger);
        }
    }

    /* rb_class_ivar_delete: class_ivar_delete_locked */
    void
    delete_one(int id)
    {
        vm_locked locked(this->vm_lock);
        table &t = fields_table();
        if (mutant != REMOVED_IN_PLACE) {
            publish(copy(t, id));
            return;
        }
        int count = count_load(t);
        entry_of_table *gap = find(t, id), *last = &t.entries[count - 1];
        gap->value.store(last->value.load(plain, $), rl::mo_release, $);
        gap->key($) = last->key($);
        t.count.store(count - 1, rl::mo_release, $);
    }
};

/* main overwrites 1 and appends 2. */
struct append : table_scenario<append, 2> {
    void setup() { start(1, 2); }

    void
    ractor(int number)
    {
        if (number == 0) {
            set(1, make(4));
            set(2, make(2));
        }
        else {
            int two = lookup(fields_table(), 2), one = lookup(fields_table(), 1);
            RL_ASSERT(two == UNDEF || two == 2);
            RL_ASSERT(one == 4 || (one == 1 && two == UNDEF));
        }
    }
};

/* main appends 2 and 3, while a Ractor looks for 3. */
struct probe_past : table_scenario<probe_past, 2> {
    void setup() { start(1, 3); }

    void
    ractor(int number)
    {
        if (number == 0) {
            set(2, make(2));
            set(3, make(3));
        }
        else {
            int three = lookup(fields_table(), 3);
            RL_ASSERT(three == 3 || three == UNDEF);
        }
    }
};

/* main appends 2, while a Ractor lists, and then looks up. */
struct list_and_find : table_scenario<list_and_find, 2> {
    void setup() { start(1, 2); }

    void
    ractor(int number)
    {
        if (number == 0) {
            set(2, make(2));
        }
        else {
            table &t = fields_table();
            int last = foreach(t);
            RL_ASSERT(last == 1 || lookup(t, 2) == 2);
        }
    }
};

/* The same, the other way about. */
struct find_and_list : table_scenario<find_and_list, 2> {
    void setup() { start(1, 2); }

    void
    ractor(int number)
    {
        if (number == 0) {
            set(2, make(2));
        }
        else {
            table &t = fields_table();
            bool found = lookup(t, 2) != UNDEF;
            RL_ASSERT(!found || foreach(t) == 2);
        }
    }
};

/* main appends 2 to a full table. */
struct grow : table_scenario<grow, 2> {
    void setup() { start(1, 1); }

    void
    ractor(int number)
    {
        if (number == 0) {
            set(2, make(2));
        }
        else {
            int two = lookup(fields_table(), 2), one = lookup(fields_table(), 1);
            RL_ASSERT(one == 1 && (two == 2 || two == UNDEF));
        }
    }
};

/* main removes 1, in front of 2. */
struct remove_one : table_scenario<remove_one, 2> {
    void setup() { start(2, 3); }

    void
    ractor(int number)
    {
        if (number == 0) {
            delete_one(1);
        }
        else {
            int two = lookup(fields_table(), 2), one = lookup(fields_table(), 1);
            RL_ASSERT(two == 2 && (one == 1 || one == UNDEF));
        }
    }
};

ENTRIES
