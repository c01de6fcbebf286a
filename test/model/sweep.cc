/**********************************************************************

  sweep.cc - a model of pages that Ractors claim and sweep

  Licence: see LICENSE.

**********************************************************************/

/*
 * gc/sweep_claim.h, and of upstream's gc_sweep_step and gc_rest what they do with
 * claimed pages.
 *
 * A page is one dead object, which a table or a list may have, and one that lives.  What the sweep does to the dead
 * one, and what the owner of the page then makes of its slot, are plain words; so
 * are the bits of the page, of which a write barrier changes the living one's with
 * the lock, and that it has lost its barriers (gc/wb_unprotected.h) is told without.
 */

#define SCENARIOS(S) S(two_sweepers) S(step_beside) S(dead_in_table) S(dead_in_list) S(write_barrier) \
    S(barriers_lost)

#define MUTANTS(M) \
    M(two_sweepers, CLAIMED_WITHOUT_LOCK, "a page is claimed without the lock") \
    M(two_sweepers, NOT_ADVANCED, "the next page to be swept is still the claimed one") \
    M(two_sweepers, LAST_CLAIMED, "the last page is claimed: nobody ends the sweep") \
    M(step_beside, NOT_GIVEN_BACK, "a step leaves claimed pages to their owners") \
    M(step_beside, GIVEN_BACK_UNTOLD, "the owner of a page that was given back still has it") \
    M(step_beside, OWNER_DOES_NOT_LOOK, "the owner does not look whether it still has the page") \
    M(step_beside, REST_WITHOUT_STOP, "the rest is swept with the lock, but nobody is stopped: as stock") \
    M(dead_in_table, FREED_ALONE, "what is in a table is freed without the lock") \
    M(dead_in_table, SWEPT_TOO_EARLY, "the page is said to be swept before it is") \
    M(dead_in_list, FREED_WHILE_LISTED, "what is dead is freed while a list has it") \
    M(dead_in_list, UNLISTED_WITHOUT_LOCK, "what is dead comes off its list without the lock") \
    M(write_barrier, AGE_WITHOUT_LOCK, "the age of what is dead is cleared without the lock") \
    M(write_barrier, BITS_NOT_COPIED, "the bits are read without the lock") \
    M(barriers_lost, KEPT_PLAINLY, "the bits of what has died are cleared by a load and a store") \
    M(barriers_lost, NOT_KEPT, "the bits of what has died stay")

#include "model.h"

enum { PAGES = 3, NO_PAGE = -1 };
enum { FREE, DEAD, DEAD_IN_TABLE, DEAD_IN_LIST, MADE }; /* a slot, which made() makes MADE + the Ractor */

template<class S, int RACTORS>
struct sweep_scenario : stopping_scenario<S, RACTORS> {
    /* the heap: pages[next ...] are to be swept */
    rl::var<int> pages[PAGES], next, claims;
    rl::var<int> claimed[RACTORS];
    rl::var<int> slot[PAGES], before_sweep[PAGES], bits[PAGES], swept[PAGES];
    rl::atomic<int> unprotected[PAGES]; /* 1: what has died, 2: what lives */
    rl::var<int> listed; /* whether a list has what is dead in the first page */

    void
    start(int kind_of_last)
    {
        this->init_stops();
        next($) = claims($) = 0;
        listed($) = kind_of_last == DEAD_IN_LIST;
        for (int i = 0; i < RACTORS; i++) claimed[i]($) = NO_PAGE;
        for (int i = 0; i < PAGES; i++) {
            pages[i]($) = i;
            slot[i]($) = i == 0 ? kind_of_last : DEAD;
            before_sweep[i]($) = 1;
            bits[i]($) = 0;
            swept[i]($) = 0;
            unprotected[i].store(1, rl::mo_relaxed, $);
        }
    }

    /* gc_sweep_claim */
    bool
    claim(int me)
    {
        int at = next($);
        if (at + (mutant != LAST_CLAIMED) >= PAGES) return false;
        claimed[me]($) = pages[at]($);
        claims($) = claims($) + 1;
        if (mutant != NOT_ADVANCED) next($) = at + 1;
        return true;
    }

    enum { LEFT_NOTHING, LEFT_LISTED, LEFT_MORE };

    /* gc_sweep_claimed_page */
    int
    sweep_claimed(int page, int bits_then)
    {
        (void)(mutant == BITS_NOT_COPIED ? bits[page]($) : bits_then);
        if (mutant == AGE_WITHOUT_LOCK) bits[page]($) = bits_then & ~1;
        if (mutant == SWEPT_TOO_EARLY) before_sweep[page]($) = 0;
        if (slot[page]($) == DEAD_IN_TABLE && mutant != FREED_ALONE) return LEFT_MORE;
        if (slot[page]($) == DEAD_IN_LIST && listed($) && mutant != FREED_WHILE_LISTED) return LEFT_LISTED;
        slot[page]($) = FREE;
        return LEFT_NOTHING;
    }

    /* gc_wb_unprotected_keep */
    void
    keep(int page)
    {
        if (mutant == NOT_KEPT) return;
        if (mutant == KEPT_PLAINLY) {
            unprotected[page].store(unprotected[page].load(rl::mo_relaxed, $) & ~1, rl::mo_relaxed, $);
        }
        else {
            unprotected[page].fetch_and(~1, rl::mo_relaxed, $);
        }
    }

    /* gc_sweep_claim_end */
    int
    end_claim(int me)
    {
        int page = claimed[me]($);
        bits[page]($) = bits[page]($) & ~1;
        keep(page);
        claimed[me]($) = NO_PAGE;
        claims($) = claims($) - 1;
        return page;
    }

    /* gc_sweep_claim_give_back */
    void
    give_back(int me)
    {
        if (claimed[me]($) == NO_PAGE) return;
        int page = claimed[me]($);
        if (mutant == GIVEN_BACK_UNTOLD) claims($) = claims($) - 1; else end_claim(me);
        next($) = next($) - 1;
        pages[next($)]($) = page;
    }

    void
    swept_once(int page)
    {
        swept[page]($) = swept[page]($) + 1;
        RL_ASSERT(swept[page]($) == 1);
        before_sweep[page]($) = 0;
    }

    /* gc_sweep_step, until nothing is left, which ends the sweep */
    void
    sweep_rest()
    {
        if (mutant != NOT_GIVEN_BACK && claims($) > 0) {
            for (int i = 0; i < RACTORS; i++) give_back(i);
        }
        for (; next($) < PAGES; next($) = next($) + 1) {
            int page = pages[next($)]($);
            if (slot[page]($) == DEAD_IN_LIST) listed($) = 0;
            slot[page]($) = FREE;
            swept_once(page);
        }
    }

    /* Who has a page of its own makes an object there, without the lock. */
    void
    make(int page, int me)
    {
        RL_ASSERT(slot[page]($) == FREE);
        slot[page]($) = MADE + me;
        RL_ASSERT(slot[page]($) == MADE + me);
    }

    /* gc_sweep_page_of_own */
    int
    page_of_own(int me)
    {
        bool locked = mutant != CLAIMED_WITHOUT_LOCK;

        for (int i = 0; i < 2; i++) {
            if (locked) this->enter();
            bool got = claim(me);
            int page = got ? claimed[me]($) : NO_PAGE, bits_then = got ? bits[page]($) : 0;
            if (locked) this->leave();
            if (!got) return NO_PAGE;

            int left = sweep_claimed(page, bits_then);
            if (mutant == UNLISTED_WITHOUT_LOCK) listed($) = 0;
            this->enter();
            if (left == LEFT_LISTED && claimed[me]($) != NO_PAGE) {
                listed($) = 0; /* gc_sweep_claim_unlist */
                this->leave();
                left = sweep_claimed(page, bits_then);
                this->enter();
            }
            if (mutant != OWNER_DOES_NOT_LOOK && claimed[me]($) == NO_PAGE) { this->leave(); continue; }
            if (left != LEFT_NOTHING) {
                give_back(me);
                this->leave();
                return NO_PAGE;
            }
            if (claimed[me]($) != NO_PAGE) end_claim(me);
            swept_once(page);
            this->leave();
            return page;
        }
        return NO_PAGE;
    }

    void
    allocate(int me)
    {
        int page = page_of_own(me);
        if (page != NO_PAGE) make(page, me);
    }

    /* garbage_collect: gc_rest if there is a page to be swept, then gc_start */
    void
    collect()
    {
        this->enter();
        if (mutant != REST_WITHOUT_STOP) this->stop();
        if (next($) < PAGES) sweep_rest();
        for (int i = 0; i < PAGES; i++) RL_ASSERT(swept[i]($) == 1);
        this->leave();
    }
};

/* Two Ractors want pages, then one collects. */
struct two_sweepers : sweep_scenario<two_sweepers, 2> {
    void setup() { start(DEAD); }

    void
    ractor(int me)
    {
        allocate(me);
        if (me == 0) collect(); else allocate(me);
        end();
    }

    void after() { for (int i = 0; i < PAGES; i++) RL_ASSERT(swept[i]($) == 1); }
};

/* One wants a page while another collects. */
struct step_beside : sweep_scenario<step_beside, 2> {
    void setup() { start(DEAD); }

    void
    ractor(int me)
    {
        if (me == 0) allocate(me); else collect();
        end();
    }

    void after() { for (int i = 0; i < PAGES; i++) RL_ASSERT(swept[i]($) == 1); }
};

/* One wants a page; S::other is what another does meanwhile. */
template<class S>
struct beside_a_sweep : sweep_scenario<S, 2> {
    void
    ractor(int me)
    {
        if (me == 0) this->allocate(me); else static_cast<S *>(this)->other();
        this->end();
    }
};

/* Another finds a dead object in a table, with the lock, and asks whether it is garbage. */
struct dead_in_table : beside_a_sweep<dead_in_table> {
    void setup() { start(DEAD_IN_TABLE); }

    void
    other()
    {
        enter();
        /* is_garbage_object: else it is one that lives */
        if (!before_sweep[0]($)) RL_ASSERT(slot[0]($) != DEAD_IN_TABLE);
        RL_ASSERT(slot[0]($) == DEAD_IN_TABLE); /* and its entry may be looked at: the table is left by a stop alone */
        leave();
    }
};

/* Another walks the list that has a dead object, with the lock, and looks at it. */
struct dead_in_list : beside_a_sweep<dead_in_list> {
    void setup() { start(DEAD_IN_LIST); }

    void
    other()
    {
        enter();
        if (listed($)) RL_ASSERT(slot[0]($) == DEAD_IN_LIST);
        leave();
    }

    void after() { RL_ASSERT(!listed($)); }
};

/* Another's write barrier changes the bits of what lives in the page. */
struct write_barrier : beside_a_sweep<write_barrier> {
    void setup() { start(DEAD); }

    void
    other()
    {
        enter();
        bits[0]($) = bits[0]($) | 2;
        leave();
    }

    void after() { RL_ASSERT(bits[0]($) & 2); }
};

/* Another's object, that lives in the page, loses its barriers. */
struct barriers_lost : beside_a_sweep<barriers_lost> {
    void setup() { start(DEAD); }

    void
    other()
    {
        unprotected[0].fetch_or(2, rl::mo_relaxed, $);
    }

    void after() { RL_ASSERT(unprotected[0].load(rl::mo_relaxed, $) == 2); }
};

ENTRIES
