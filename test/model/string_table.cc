/**********************************************************************

  string_table.cc - a model of the tables of Strings and Symbols

  Licence: see LICENSE.

**********************************************************************/

/*
 * string/table.h, string/fstring_find.h, string/symbol_find.h, and of gc/purge_strings.h what it does with what is in the table.
 *
 * All contents have one home, so that each look-up meets the entries of the others.  An array of entries is memory of
 * malloc's, which is written to when it is freed.  An object is written to when it is made, and when it is swept.
 */

#define SCENARIOS(S) \
    S(insert_and_find) S(insert_same) S(insert_beside_other) S(flag_of_shared) S(purge_and_find) S(purge_and_find_next) \
    S(hold_and_purge) S(grow_and_find) S(new_symbols) S(give_number) S(name_number) S(lengthen_ids)

#define MUTANTS(M) \
    M(insert_and_find, OBJ_NO_RELEASE, "the object is published plainly") \
    M(insert_and_find, OBJ_NO_ACQUIRE, "the object is loaded plainly") \
    M(insert_same, OBJ_STORED, "the object is stored") \
    M(insert_same, LOST_NO_ACQUIRE, "who loses looks at the winner's object plainly") \
    M(insert_same, LOSER_GOES_ON, "who loses goes on to the next entry") \
    M(insert_same, LOSER_KEEPS_ITS_OWN, "who finds another's object goes on with its own") \
    M(insert_same, NO_HASH_IS_ANOTHER, "an entry without a hash is passed over") \
    M(insert_beside_other, HASH_FIRST, "the hash is stored before the object") \
    M(flag_of_shared, FLAG_FIRST, "the flag is set before the String is in the table") \
    M(flag_of_shared, FLAG_LEFT, "who finds a String without the flag leaves it so") \
    M(purge_and_find, PURGED_WITHOUT_STOP, "the dead leave with the lock, but nobody is stopped") \
    M(purge_and_find, PURGED_AT_SWEEP, "the dead leave when they are swept") \
    M(purge_and_find, SAFE_POINT_IN_FIND, "there is a safe point before what is found is on the stack") \
    M(purge_and_find_next, LEFT_FREE, "what follows stays where it is") \
    M(hold_and_purge, BITS_NOT_ATOMIC, "a bit is set by a load and a store") \
    M(grow_and_find, GROWN_WITHOUT_STOP, "the array grows with the lock, but nobody is stopped") \
    M(grow_and_find, SAFE_POINT_IN_INSERT, "there is a safe point between the count and the entry") \
    M(new_symbols, NOT_LOOKED_AGAIN, "who has the lock does not look for the name again") \
    M(new_symbols, IDS_LAST, "a static Symbol is in the table before it is in ids") \
    M(new_symbols, NUMBER_KEPT, "the number stays that of a static Symbol which was second") \
    M(new_symbols, ENTRY_LEFT, "a static Symbol which was second stays in ids") \
    M(give_number, NUMBER_FIRST, "the number is stored before the entry in ids") \
    M(give_number, ID_NO_RELEASE, "the number is published plainly") \
    M(give_number, ID_NO_ACQUIRE, "the number is loaded plainly") \
    M(give_number, GIVEN_WITHOUT_LOCK, "the number is given without the lock") \
    M(name_number, ENTRY_NO_RELEASE, "a name is published plainly") \
    M(name_number, ENTRY_NO_ACQUIRE, "a name is loaded plainly") \
    M(lengthen_ids, IDS_NO_RELEASE, "a longer ids is published plainly") \
    M(lengthen_ids, IDS_NO_ACQUIRE, "ids is loaded plainly")

#include "model.h"

enum { RACTORS = 2, OBJECTS = 5, CAPACITY = 5, ARRAYS = 3, NONE_FOUND = 0, FREED = 99, UNIT = 2 };

/* calloc's, and free's */
struct entry_array {
    rl::var<int> memory; /* of malloc: who reads an entry reads it */
    struct {
        rl::atomic<int> obj, hash;
    } entry[CAPACITY];
};

/* A String or Symbol.  Number 0 is none. */
struct string {
    rl::var<int> contents; /* what it is called, or FREED */
    rl::atomic<int> flag;  /* RSTRING_FSTR */
    rl::atomic<int> id;    /* of a Symbol: its number, 0: none */
};

template<class S>
struct string_table_scenario : stopping_scenario<S, RACTORS> {
    entry_array arrays[ARRAYS];
    int made; /* arrays; with all stopped */
    rl::var<int> table, capacity; /* the number of an array */
    rl::atomic<int> count, weak_bits;
    string objects[OBJECTS];
    rl::var<int> on_stack[RACTORS]; /* an object */
    bool is_static[OBJECTS];
    rl::atomic<int> ids, names[2][2 * UNIT]; /* the number of an Array, and its elements, by number of an ID */
    rl::var<int> last_id;
    message sent;
    int results[RACTORS];

    void
    start(int size = CAPACITY)
    {
        this->init_stops();
        sent.init();
        made = 0;
        allocate(size);
        weak_bits.store(0, plain, $);
        ids.store(0, plain, $);
        last_id($) = 0;
        for (int i = 0; i < 2; i++) {
            for (int k = 0; k < 2 * UNIT; k++) names[i][k].store(0, plain, $);
            on_stack[i]($) = results[i] = NONE_FOUND;
        }
        for (int i = 0; i < OBJECTS; i++) is_static[i] = false;
    }

    int
    make(int obj, int contents)
    {
        objects[obj].contents($) = contents;
        objects[obj].flag.store(0, plain, $);
        objects[obj].id.store(0, plain, $);
        return obj;
    }

    /* string_table_allocate */
    void
    allocate(int size)
    {
        entry_array &a = arrays[made];
        a.memory($) = 0;
        for (int i = 0; i < CAPACITY; i++) {
            a.entry[i].obj.store(0, plain, $);
            a.entry[i].hash.store(0, plain, $);
        }
        table($) = made++;
        capacity($) = size;
        count.store(0, plain, $);
    }

    entry_array &
    array(int number)
    {
        RL_ASSERT(arrays[number].memory($) != FREED);
        return arrays[number];
    }

    void
    safe_point()
    {
        this->enter();
        this->leave();
    }

    /* the same func */
    bool
    same(int obj, int contents)
    {
        int other = objects[obj].contents($);
        RL_ASSERT(other != FREED);
        return other == contents;
    }

    /* string_entry_same_p */
    bool
    entry_same(entry_array &a, int i, int obj, int contents)
    {
        int hash = a.entry[i].hash.load(plain, $);
        return (hash == contents || (hash == 0 && mutant != NO_HASH_IS_ANOTHER)) && same(obj, contents);
    }

    /* rb_string_table_find */
    int
    find(int me, int contents)
    {
        int number = table($), size = capacity($);
        for (int i = 0; i < size; i++) {
            entry_array &a = array(number);
            int obj = a.entry[i].obj.load(acquire(OBJ_NO_ACQUIRE), $);
            if (!obj) break;
            if (entry_same(a, i, obj, contents)) {
                if (mutant == SAFE_POINT_IN_FIND) safe_point();
                on_stack[me]($) = obj;
                return obj;
            }
        }
        return NONE_FOUND;
    }

    /* rb_gc_impl_hold_weakly */
    void
    hold_weakly(int obj)
    {
        if (mutant == BITS_NOT_ATOMIC) weak_bits.store(weak_bits.load(plain, $) | 1 << obj, plain, $);
        else weak_bits.fetch_or(1 << obj, plain, $);
    }

    /* rb_string_table_insert; NONE_FOUND: no room */
    int
    insert(int obj, int contents)
    {
        int number = table($), size = capacity($);
        if (count.load(plain, $) >= size - 1) return NONE_FOUND;
        if (mutant == SAFE_POINT_IN_INSERT) safe_point();

        for (int i = 0; i < size; i++) {
            entry_array &a = array(number);
            int other = a.entry[i].obj.load(acquire(OBJ_NO_ACQUIRE), $);
            if (!other) {
                rl::memory_order won = mutant == OBJ_NO_RELEASE ? rl::mo_acquire : rl::mo_acq_rel;
                if (mutant == HASH_FIRST) a.entry[i].hash.store(contents, plain, $);
                if (mutant == OBJ_STORED) a.entry[i].obj.store(obj, rl::mo_release, $);
                if (mutant == OBJ_STORED || a.entry[i].obj.compare_exchange_strong(other, obj, won, $, acquire(LOST_NO_ACQUIRE), $)) {
                    if (mutant != HASH_FIRST) a.entry[i].hash.store(contents, plain, $);
                    count.fetch_add(1, plain, $);
                    hold_weakly(obj);
                    return obj;
                }
                if (mutant == LOSER_GOES_ON) continue;
            }
            if (entry_same(a, i, other, contents)) return mutant == LOSER_KEEPS_ITS_OWN ? obj : other;
        }
        return NONE_FOUND;
    }

    /* rb_string_table_grow */
    void
    grow()
    {
        this->enter();
        if (mutant != GROWN_WITHOUT_STOP) this->stop();
        if (count.load(plain, $) >= capacity($) - 1) {
            entry_array &old = arrays[table($)];
            int size = capacity($), n = 0;
            allocate(CAPACITY);
            for (int i = 0; i < size; i++) {
                int obj = old.entry[i].obj.load(plain, $);
                if (!obj) continue;
                arrays[table($)].entry[n].obj.store(obj, plain, $);
                arrays[table($)].entry[n++].hash.store(old.entry[i].hash.load(plain, $), plain, $);
            }
            count.store(n, plain, $);
            old.memory($) = FREED;
        }
        this->leave();
    }

    /* register_fstring of the String +str+; of one that is already in the table, by its flag, itself: rb_fstring */
    int
    fstring(int me, int str, int contents)
    {
        if (objects[str].flag.load(plain, $)) return str;

        int fstr = find(me, contents);
        if (!fstr) {
            if (mutant == FLAG_FIRST) objects[str].flag.store(1, plain, $);
            while (!(fstr = insert(str, contents))) grow();
            on_stack[me]($) = fstr;
        }
        if (mutant == FLAG_LEFT && fstr != str) return fstr;
        if (!objects[fstr].flag.load(plain, $)) objects[fstr].flag.fetch_add(1, plain, $); /* or, of one bit */
        return fstr;
    }

    /* ---- the collector -------------------------------------------- */

    /* string_table_remove_at */
    void
    remove_at(int hole)
    {
        entry_array &a = arrays[table($)];
        count.store(count.load(plain, $) - 1, plain, $);
        for (int i = hole + 1; i < capacity($) && a.entry[i].obj.load(plain, $) && mutant != LEFT_FREE; i++) {
            a.entry[hole].obj.store(a.entry[i].obj.load(plain, $), plain, $);
            a.entry[hole].hash.store(a.entry[i].hash.load(plain, $), plain, $);
            hole = i;
        }
        a.entry[hole].obj.store(0, plain, $);
        a.entry[hole].hash.store(0, plain, $);
    }

    /* gc_purge_page and rb_gc_purge_string, of one object */
    void
    purge(int obj)
    {
        if (!(weak_bits.load(plain, $) & 1 << obj)) return;
        entry_array &a = arrays[table($)];
        for (int i = 0; i < capacity($); i++) {
            if (a.entry[i].obj.load(plain, $) != obj) continue;
            remove_at(i);
            break;
        }
        weak_bits.store(weak_bits.load(plain, $) & ~(1 << obj), plain, $);
    }

    /* A collection, and a sweep by who has claimed the page: frees those of +objs+, as bits, that nobody has on the stack. */
    void
    collect(int objs)
    {
        int dead = objs;

        this->enter();
        if (mutant != PURGED_WITHOUT_STOP) this->stop();
        for (int i = 0; i < RACTORS; i++) dead &= ~(1 << on_stack[i]($));
        for (int obj = 1; obj < OBJECTS; obj++) {
            if (dead & 1 << obj && mutant != PURGED_AT_SWEEP) purge(obj);
        }
        this->leave();

        for (int obj = 1; obj < OBJECTS; obj++) {
            if (!(dead & 1 << obj)) continue;
            if (mutant == PURGED_AT_SWEEP) {
                this->enter();
                purge(obj);
                this->leave();
            }
            objects[obj].contents($) = FREED;
        }
    }

    /* ---- Symbols --------------------------------------------------- */

    /* set_id_entry, with the lock */
    void
    set_id_entry(int num, int sym)
    {
        int old = ids.load(plain, $);
        if (num >= UNIT && old == 0) {
            for (int i = 0; i < UNIT; i++) names[1][i].store(names[0][i].load(plain, $), plain, $);
            ids.store(1, release(IDS_NO_RELEASE), $);
            old = 1;
        }
        names[old][num].store(sym, release(ENTRY_NO_RELEASE), $);
    }

    /* get_id_serial_entry */
    int
    id_entry(int num)
    {
        int array = ids.load(acquire(IDS_NO_ACQUIRE), $);
        if (array == 0 && num >= UNIT) return NONE_FOUND;
        return names[array][num].load(acquire(ENTRY_NO_ACQUIRE), $);
    }

    /* dsymbol_take_number, with the lock */
    void
    take_number(int sym, int num)
    {
        if (mutant == NUMBER_FIRST) objects[sym].id.store(num, rl::mo_release, $);
        if (mutant != ENTRY_LEFT) set_id_entry(num, sym);
        if (mutant != NUMBER_FIRST) objects[sym].id.store(num, release(ID_NO_RELEASE), $);
    }

    /* dsymbol_new_once, of +sym+, made before */
    int
    dynamic_symbol(int me, int sym, int contents)
    {
        int found = find(me, contents);
        return found ? found : insert(sym, contents);
    }

    /* intern_str_once and register_static_sym, the same */
    int
    static_symbol(int me, int sym, int contents)
    {
        int found = find(me, contents);
        if (found) return found;

        this->enter();
        found = mutant == NOT_LOOKED_AGAIN ? (int)NONE_FOUND : find(me, contents);
        if (!found) {
            int num = last_id($) + 1;
            last_id($) = num;
            objects[sym].id.store(num, plain, $);
            if (mutant != IDS_LAST) set_id_entry(num, sym);
            found = insert(sym, contents);
            if (mutant == IDS_LAST) set_id_entry(num, sym);
            if (found != sym && mutant != NUMBER_KEPT) take_number(found, num);
        }
        this->leave();
        return found;
    }

    /* dsymbol_give_number, and rb_sym2id */
    int
    sym2id(int sym)
    {
        int id = objects[sym].id.load(acquire(ID_NO_ACQUIRE), $);
        if (id) return id;

        if (mutant != GIVEN_WITHOUT_LOCK) this->enter();
        id = objects[sym].id.load(plain, $);
        if (!id) {
            id = last_id($) + 1;
            last_id($) = id;
            take_number(sym, id);
        }
        if (mutant != GIVEN_WITHOUT_LOCK) this->leave();
        return id;
    }
};

/* One inserts what the other looks for. */
struct insert_and_find : string_table_scenario<insert_and_find> {
    void setup() { start(); }

    void
    ractor(int me)
    {
        if (me == 0) insert(make(1, 7), 7);
        else if (find(me, 7)) RL_ASSERT(same(1, 7));
        end();
    }
};

/* Two insert the same content. */
struct insert_same : string_table_scenario<insert_same> {
    void setup() { start(); }

    void
    ractor(int me)
    {
        results[me] = insert(make(me + 1, 7), 7);
        RL_ASSERT(same(results[me], 7));
        RL_ASSERT(find(me, 7) == results[me]);
        end();
    }

    void after() { RL_ASSERT(results[0] == results[1]); }
};

/* Two insert two contents whose home is the same; each finds its own, and at the end both are there. */
struct insert_beside_other : string_table_scenario<insert_beside_other> {
    void setup() { start(); }

    void
    ractor(int me)
    {
        insert(make(me + 1, me + 7), me + 7);
        RL_ASSERT(find(me, me + 7) == me + 1);
        end();
    }

    void after() { RL_ASSERT(find(0, 7) == 1 && find(0, 8) == 2); }
};

/* Both have the String 1, one of them 2 as well, of the same content: there is one for both, and it has the flag. */
struct flag_of_shared : string_table_scenario<flag_of_shared> {
    void
    setup()
    {
        start();
        make(1, 7);
        make(2, 7);
    }

    void
    ractor(int me)
    {
        results[me] = fstring(me, me + 1, 7);
        RL_ASSERT(objects[results[me]].flag.load(plain, $));
        RL_ASSERT(fstring(me, 1, 7) == results[me]);
        end();
    }

    void after() { RL_ASSERT(results[0] == results[1]); }
};

/* What is in the table is dead, unless it is found before the collection, and is found, or made anew. */
struct purge_and_find : string_table_scenario<purge_and_find> {
    void
    setup()
    {
        start();
        insert(make(1, 7), 7);
    }

    void
    ractor(int me)
    {
        if (me == 0) {
            collect(1 << 1);
        }
        else {
            safe_point();
            make(2, 7);
            int found = fstring(me, 2, 7);
            safe_point();
            RL_ASSERT(same(found, 7));
            RL_ASSERT(find(me, 7) == found);
        }
        end();
    }
};

/* What is dead lies before what lives, and is found each time. */
struct purge_and_find_next : string_table_scenario<purge_and_find_next> {
    void
    setup()
    {
        start();
        insert(make(1, 7), 7);
        insert(make(2, 8), 8);
    }

    void
    ractor(int me)
    {
        if (me == 0) {
            collect(1 << 1);
        }
        else {
            RL_ASSERT(find(me, 8) == 2);
            safe_point();
            RL_ASSERT(find(me, 8) == 2);
        }
        end();
    }
};

/* Both insert a String in one page, and forget it; one collects.  What is found then is not freed. */
struct hold_and_purge : string_table_scenario<hold_and_purge> {
    void setup() { start(); }

    void
    ractor(int me)
    {
        insert(make(me + 1, me + 7), me + 7);
        if (me == 0) {
            sent.send();
        }
        else if (sent.received()) {
            collect(1 << 1 | 1 << 2);
            RL_ASSERT(!find(me, 7));
            RL_ASSERT(!find(me, 8));
        }
        end();
    }
};

/* One inserts more than there is room for, the other looks for what is there, and inserts. */
struct grow_and_find : string_table_scenario<grow_and_find> {
    void
    setup()
    {
        start(3);
        insert(make(1, 7), 7);
    }

    void
    ractor(int me)
    {
        RL_ASSERT(find(me, 7) == 1);
        for (int obj = me == 0 ? 2 : 4; obj <= (me == 0 ? 3 : 4); obj++) {
            make(obj, obj + 6);
            RL_ASSERT(fstring(me, obj, obj + 6) == obj);
        }
        RL_ASSERT(find(me, 7) == 1);
        end();
    }

    void after() { RL_ASSERT(find(0, 8) == 2 && find(0, 9) == 3 && find(0, 10) == 4); }
};

/* One meets a new name in code, the other makes a dynamic Symbol of it, and then wants its number. */
struct new_symbols : string_table_scenario<new_symbols> {
    void setup() { start(); }

    void
    ractor(int me)
    {
        make(me + 1, 7);
        results[me] = me == 0 ? static_symbol(me, 1, 7) : dynamic_symbol(me, 2, 7);
        int num = objects[results[me]].id.load(acquire(ID_NO_ACQUIRE), $);
        if (num) RL_ASSERT(id_entry(num) == results[me]);
        RL_ASSERT(id_entry(sym2id(results[me])) == results[me]);
        end();
    }

    void after() { RL_ASSERT(results[0] == results[1] && last_id($) == 1 && objects[results[0]].id.load(plain, $) == 1); }
};

/* Both want the number of a dynamic Symbol. */
struct give_number : string_table_scenario<give_number> {
    void
    setup()
    {
        start();
        make(1, 7);
    }

    void
    ractor(int me)
    {
        results[me] = sym2id(1);
        RL_ASSERT(id_entry(results[me]) == 1);
        end();
    }

    void after() { RL_ASSERT(results[0] == results[1] && last_id($) == 1); }
};

/* One gives a number that ids has a place for; the other looks what it is called. */
struct name_number : string_table_scenario<name_number> {
    void setup() { start(); }

    void
    ractor(int me)
    {
        if (me == 0) {
            make(1, 7);
            this->enter();
            set_id_entry(1, 1);
            this->leave();
        }
        else {
            int sym = id_entry(1);
            if (sym) RL_ASSERT(same(sym, 7));
        }
        end();
    }
};

/* One stores a name beyond the end of ids; the other looks for it, and for one that was there. */
struct lengthen_ids : string_table_scenario<lengthen_ids> {
    void
    setup()
    {
        start();
        make(1, 7);
        set_id_entry(1, 1);
    }

    void
    ractor(int me)
    {
        if (me == 0) {
            make(2, 8);
            this->enter();
            set_id_entry(UNIT, 2);
            this->leave();
        }
        else {
            int sym = id_entry(UNIT);
            if (sym) RL_ASSERT(sym == 2 && same(sym, 8));
            RL_ASSERT(id_entry(1) == 1 && same(1, 7));
        }
        end();
    }
};

ENTRIES
