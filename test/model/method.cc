/**********************************************************************

  method.cc - a model of call sites, the method caches of Ractors, redefinition

  Licence: see LICENSE.

**********************************************************************/

/*
 * vm/method_cache.c (lookup, rb_vm_method_cache_store), and upstream's
 * vm_search_method_fastpath, vm_search_method_slowpath0,
 * rb_vm_search_method_slowpath, vm_search_cc, clear_method_cache_by_id_in_class,
 * rb_vm_ccs_free, rb_method_entry_make, vm_search_super_method and vm_cc_new, as
 * patched by vm_cache_methods_per_ractor.patch, method_replace_under_lock.patch
 * and vm_order_inline_caches.patch.
 *
 * Without a lock are: a hit of the site's cache and of the Ractor's own table,
 * the two tests of what was hit, and the store into the site.  What a call cache
 * holds depends on the load of its address, hence a plain load there is consume.
 */

#define SCENARIOS(S) S(shared_site) S(super_site) S(redefine_leaf) S(redefine_tree)

#define MUTANTS(M) \
    M(shared_site, SITE_NO_RELEASE, "the site is stored plainly: as stock") \
    M(shared_site, SITE_NOT_DEPENDENT, "nothing orders the call cache after the load of the site") \
    M(super_site, NO_FENCE, "nothing orders a call cache before its address is stored plainly: as stock") \
    M(shared_site, TABLE_SHARED, "one table for all Ractors") \
    M(shared_site, LOOKED_UP_WITHOUT_LOCK, "the tables of a class are read and filled without the VM lock") \
    M(redefine_leaf, NOT_INVALIDATED, "the call caches are taken out of the class, and stay valid") \
    M(redefine_leaf, CLASS_NOT_TESTED, "the class of a call cache is not tested") \
    M(redefine_leaf, CLEARED_BEFORE, "cleared in another critical section than replaced, before it: as stock") \
    M(redefine_tree, METHOD_NOT_TESTED, "a method that is invalid is not found out") \
    M(redefine_tree, TABLE_NOT_TESTED, "the Ractor's own table is believed") \
    M(redefine_tree, TREE_CLEARED_BEFORE, "cleared in another critical section than replaced, before it: as stock")

#include "model.h"

enum { METHODS = 3, CALL_CACHES = 5, NOTHING = 0, KLASS = 1 };

/* struct rb_callcache */
struct call_cache {
    rl::var<int> cme;           /* immutable once published */
    rl::atomic<int> klass;      /* 0: vm_cc_invalidate */
};

/* rb_callable_method_entry_t */
struct method_entry {
    rl::var<int> def;
    rl::atomic<int> invalidated;
};

template<class S, int RACTORS>
struct method_scenario : scenario<S, RACTORS> {
    call_cache call_caches[CALL_CACHES];
    method_entry methods[METHODS];
    rl::atomic<int> site;       /* cd->cc; NOTHING: vm_cc_empty */
    rl::var<int> own[RACTORS];  /* r->method_cache: one entry */
    rl::var<int> m_tbl, cc_tbl; /* of the class: a method; a call cache.  VM lock */
    int cc_count, method_count;
    message told;

    void
    start()
    {
        cc_count = method_count = 0;
        m_tbl($) = method_new(1);
        cc_tbl($) = NOTHING;
        site.store(NOTHING, plain, $);
        for (int i = 0; i < RACTORS; i++) own[i]($) = NOTHING;
        told.init();
    }

    /* rb_method_entry_create, rb_method_entry_clone */
    int
    method_new(int def)
    {
        int me = method_count++;
        methods[me].def($) = def;
        methods[me].invalidated.store(0, plain, $);
        return me;
    }

    /* vm_cc_class_check and METHOD_ENTRY_INVALIDATED, of what the site or the table has */
    bool
    valid(int cc)
    {
        bool klass = call_caches[cc].klass.load(plain, $) == KLASS || mutant == CLASS_NOT_TESTED;
        return klass && (!methods[call_caches[cc].cme($)].invalidated.load(plain, $) || mutant == METHOD_NOT_TESTED);
    }

    /* vm_cc_new, but for its fence */
    int
    cc_new(int me)
    {
        int cc = ++cc_count;
        RL_ASSERT(cc < CALL_CACHES);
        call_caches[cc].cme($) = me;
        call_caches[cc].klass.store(KLASS, plain, $);
        return cc;
    }

    /* rb_vm_search_method_slowpath, vm_search_cc */
    int
    search()
    {
        vm_locked locked(this->vm_lock, mutant != LOOKED_UP_WITHOUT_LOCK);
        int cc = cc_tbl($);
        if (cc != NOTHING && !methods[call_caches[cc].cme($)].invalidated.load(plain, $)) return cc;

        cc = cc_new(m_tbl($));
        cc_tbl($) = cc; /* vm_ccs_push */
        return cc;
    }

    /* vm_search_method_slowpath0; rb_vm_method_cache_lookup, rb_vm_method_cache_store */
    int
    slowpath(int ractor, int site_cc)
    {
        rl::var<int> &entry = own[mutant == TABLE_SHARED ? 0 : ractor];
        int cc = entry($);
        if (cc != NOTHING && !valid(cc) && mutant != TABLE_NOT_TESTED) cc = NOTHING;
        if (cc == NOTHING) {
            cc = search();
            entry($) = cc;
        }
        else if (site_cc != NOTHING && call_caches[site_cc].klass.load(plain, $)) {
            return cc;
        }
        site.store(cc, release(SITE_NO_RELEASE), $);
        return cc;
    }

    /* vm_search_method_fastpath: the definition that is called */
    int
    call(int ractor)
    {
        int cc = site.load(mutant == SITE_NOT_DEPENDENT ? plain : rl::mo_consume, $);
        if (cc == NOTHING || !valid(cc)) cc = slowpath(ractor, cc);
        return methods[call_caches[cc].cme($)].def($);
    }

    /* vm_search_super_method, of a method with another name: a call cache for this site alone, stored plainly */
    int
    call_super()
    {
        int cc = site.load(rl::mo_consume, $);
        if (cc == NOTHING || !valid(cc)) {
            int me;
            {
                vm_locked locked(this->vm_lock);
                me = m_tbl($); /* rb_callable_method_entry */
            }
            cc = cc_new(me);
            if (mutant != NO_FENCE) rl::atomic_thread_fence(rl::mo_release, $);
            site.store(cc, plain, $);
        }
        return methods[call_caches[cc].cme($)].def($);
    }

    /* clear_method_cache_by_id_in_class; a class without subclasses: rb_vm_ccs_free */
    void
    clear_leaf()
    {
        int cc = cc_tbl($);
        if (cc == NOTHING) return;
        if (mutant != NOT_INVALIDATED) call_caches[cc].klass.store(0, plain, $);
        cc_tbl($) = NOTHING;
    }

    /* and with: the method is replaced by a copy, and invalid */
    void
    clear_tree()
    {
        int me = m_tbl($);
        m_tbl($) = method_new(methods[me].def($));
        methods[me].invalidated.store(1, plain, $); /* vm_cme_invalidate */
    }

    void
    clear(bool leaf)
    {
        vm_locked locked(this->vm_lock);
        leaf ? clear_leaf() : clear_tree();
    }

    /* rb_method_entry_make */
    void
    redefine(bool leaf)
    {
        bool before = mutant == CLEARED_BEFORE || mutant == TREE_CLEARED_BEFORE;
        if (before) clear(leaf);
        vm_locked locked(this->vm_lock);
        if (!before) clear(leaf);
        m_tbl($) = method_new(2); /* rb_method_table_insert */
    }

    /* One Ractor calls before and after another has redefined the method. */
    void
    redefine_and_call(int number, bool leaf)
    {
        if (number == 0) {
            redefine(leaf);
            told.send();
        }
        else {
            int def = call(number);
            RL_ASSERT(def == 1 || def == 2);
            RL_ASSERT(!told.received() || call(number) == 2);
        }
    }
};

/* Two Ractors call at one site: what one fills in the other hits. */
struct shared_site : method_scenario<shared_site, 2> {
    void setup() { start(); }
    void ractor(int number) { RL_ASSERT(call(number) == 1 && call(number) == 1); }
};

struct super_site : method_scenario<super_site, 2> {
    void setup() { start(); }
    void ractor(int) { RL_ASSERT(call_super() == 1 && call_super() == 1); }
};

struct redefine_leaf : method_scenario<redefine_leaf, 2> {
    void setup() { start(); }
    void ractor(int number) { redefine_and_call(number, true); }
};

struct redefine_tree : method_scenario<redefine_tree, 2> {
    void setup() { start(); }
    void ractor(int number) { redefine_and_call(number, false); }
};

ENTRIES
