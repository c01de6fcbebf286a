/**********************************************************************

  environment.cc - a model of variables of the environment, read while others set them

  Licence: see LICENSE.

**********************************************************************/

/*
 * [ENV-LIST] of environment.h, by the steps of environment.c (env_walk,
 * env_walk_published, rb_env_find_several_ractors, rb_env_set_locked, env_publish_locked) and
 * of glibc's setenv() and unsetenv(): these store plainly, take a larger array
 * for each variable that is added, and free the one that they had.
 *
 * A variable is the number of its string; that of 2 replaces that of 1.
 */

#define SCENARIOS(S) S(replace) S(delete_one) S(add_two) S(grow) S(extension_adds)

#define MUTANTS(M) \
    M(replace, EVEN_NO_RELEASE, "W4 is a plain store") \
    M(delete_one, SEQ_NO_ACQUIRE, "R1 loads the number plainly") \
    M(delete_one, SEQ_ASKED_ONCE, "without R4") \
    M(delete_one, NO_RELEASE_FENCE, "W1 without its fence") \
    M(delete_one, NO_ACQUIRE_FENCE, "R4 without its fence") \
    M(delete_one, ODD_WALKED, "R1 goes on with an odd number") \
    M(add_two, ENVIRON_WALKED, "what setenv() has made is walked") \
    M(grow, SMALL_FREED, "our array that was too small is freed") \
    M(grow, LIST_NO_RELEASE, "W3 is a plain store, and R2 a plain load") \
    M(extension_adds, ENVIRON_NOT_ASKED, "R2 does not look what environ is")

#include "model.h"

enum { RACTORS = 2, SLOTS = 5, SMALL = 0, LARGE = 1, LIBRARYS = 2, LISTS = 5, NO_LIST = -1, NO_STRING = 0, FREED = 99 };

template<class S>
struct environment_scenario : scenario<S, RACTORS>, object_pool<6> {
    rl::atomic<int> lists[LISTS][SLOTS]; /* ours, then those that setenv() takes one after the other */
    rl::atomic<int> seq, list, environ;
    rl::atomic<int> terminated[LISTS];   /* whether an array of ours has been made: calloc() */
    int last_environ, last_made, capacity; /* the library's, and ours: VM lock */
    message sent;

    /* Ours has the variables 1 and 3, and is what all walk. */
    void
    setup()
    {
        for (int l = 0; l < LISTS; l++) {
            for (int s = 0; s < SLOTS; s++) lists[l][s].store(NO_STRING, plain, $);
            terminated[l].store(l == SMALL, plain, $);
        }
        lists[SMALL][0].store(make(1), plain, $);
        lists[SMALL][1].store(make(3), plain, $);
        seq.store(0, plain, $);
        list.store(SMALL, plain, $);
        environ.store(SMALL, plain, $);
        last_environ = NO_LIST;
        last_made = LIBRARYS;
        capacity = SLOTS;
        sent.init();
    }

    /* ---- glibc */

    int
    count(int l)
    {
        int n = 0;
        while (lists[l][n].load(plain, $) != NO_STRING) n++;
        return n;
    }

    void
    free_list(int l)
    {
        for (int s = 0; s < SLOTS; s++) lists[l][s].store(FREED, plain, $);
    }

    /* setenv() of what is not there */
    void
    library_add(int string)
    {
        int from = environ.load(plain, $), n = count(from), made = last_made++;
        for (int s = 0; s < n; s++) lists[made][s].store(lists[from][s].load(plain, $), plain, $);
        lists[made][n].store(make(string), plain, $);
        if (last_environ != NO_LIST) free_list(last_environ);
        environ.store(made, plain, $);
        last_environ = made;
    }

    /* setenv() of what is there */
    void library_replace(int slot, int string) { lists[environ.load(plain, $)][slot].store(make(string), plain, $); }

    /* unsetenv() */
    void
    library_remove(int slot)
    {
        int l = environ.load(plain, $), next;
        do {
            next = lists[l][slot + 1].load(plain, $);
            lists[l][slot++].store(next, plain, $);
        } while (next != NO_STRING);
    }

    /* ---- who sets: with the VM lock */

    void
    change_begin()
    {
        seq.store(seq.load(plain, $) | 1, plain, $);
        if (mutant != NO_RELEASE_FENCE) rl::atomic_thread_fence(rl::mo_release, $);
    }

    void change_end() { seq.store(seq.load(plain, $) + 1, release(EVEN_NO_RELEASE), $); }

    void
    publish()
    {
        int from = environ.load(plain, $), to = list.load(plain, $), n = count(from);
        if (n + 2 > capacity) {
            terminated[LARGE].store(1, plain, $);
            list.store(LARGE, release(LIST_NO_RELEASE), $);
            if (mutant == SMALL_FREED) free_list(to);
            to = LARGE;
            capacity = SLOTS + 1;
        }
        for (int s = 0; s < n; s++) lists[to][s].store(lists[from][s].load(plain, $), plain, $);
        lists[to][n].store(NO_STRING, plain, $);
        environ.store(to, rl::mo_release, $);
    }

    template<class F>
    void
    set(F with_library)
    {
        vm_locked locked(this->vm_lock);
        change_begin();
        with_library();
        if (environ.load(plain, $) != list.load(plain, $) && mutant != ENVIRON_WALKED) publish();
        change_end();
    }

    /* ---- who reads */

    /* env_walk: the string of +a+ or +b+ */
    int
    walk(int l, int a, int b)
    {
        RL_ASSERT(l >= LIBRARYS || terminated[l].load(plain, $));
        for (int s = 0; s < SLOTS; s++) {
            int string = lists[l][s].load(plain, $);
            RL_ASSERT(string != FREED);
            if (string == a || string == b || string == NO_STRING) return string;
        }
        return NO_STRING;
    }

    /* env_walk_published */
    bool
    walk_published(int a, int b, int &string)
    {
        int first = seq.load(acquire(SEQ_NO_ACQUIRE), $), l = list.load(acquire(LIST_NO_RELEASE), $);
        int now = environ.load(plain, $);

        if (mutant == ENVIRON_WALKED) l = now;
        if ((first & 1 && mutant != ODD_WALKED) || (l != now && mutant != ENVIRON_NOT_ASKED)) return false;

        string = walk(l, a, b);
        if (mutant == SEQ_ASKED_ONCE) return true;
        if (mutant != NO_ACQUIRE_FENCE) rl::atomic_thread_fence(rl::mo_acquire, $);
        return seq.load(plain, $) == first;
    }

    /* rb_env_find_several_ractors */
    int
    look_up(int a, int b)
    {
        int string;
        if (!walk_published(a, b, string)) {
            vm_locked locked(this->vm_lock);
            if (environ.load(plain, $) != list.load(plain, $)) {
                change_begin();
                publish();
                change_end();
            }
            string = walk(environ.load(plain, $), a, b);
        }
        if (string != NO_STRING) use(string);
        return string;
    }
};

struct replace : environment_scenario<replace> {
    void
    ractor(int me)
    {
        if (me == 0) {
            set([this] { library_replace(0, 2); });
            sent.send();
        }
        else {
            bool told = sent.received();
            int string = look_up(1, 2);
            RL_ASSERT(string == 2 || (string == 1 && !told));
        }
    }
};

/* What moves down is always there. */
struct delete_one : environment_scenario<delete_one> {
    void
    ractor(int me)
    {
        if (me == 0) set([this] { library_remove(0); });
        else RL_ASSERT(look_up(3, 3) == 3);
    }
};

struct add_two : environment_scenario<add_two> {
    void
    ractor(int me)
    {
        if (me == 0) {
            set([this] { library_add(4); });
            set([this] { library_add(5); });
            sent.send();
        }
        else {
            bool told = sent.received();
            RL_ASSERT(look_up(5, 5) == 5 || !told);
        }
    }
};

/* Ours is too small for one more. */
struct grow : environment_scenario<grow> {
    void
    ractor(int me)
    {
        if (me == 0) {
            capacity = 3;
            set([this] { library_add(4); });
        }
        else {
            RL_ASSERT(look_up(3, 3) == 3);
        }
    }
};

/* C code adds a variable and tells nobody; the same Ractor, or one that is told otherwise, knows. */
struct extension_adds : environment_scenario<extension_adds> {
    void
    ractor(int me)
    {
        if (me == 0) {
            library_add(4);
            sent.send();
            RL_ASSERT(look_up(4, 4) == 4);
        }
        else if (sent.received()) {
            RL_ASSERT(look_up(4, 4) == 4);
        }
    }
};

ENTRIES
