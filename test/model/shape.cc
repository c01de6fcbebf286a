/**********************************************************************

  shape.cc - a model of the shape tree, and of the inline cache of variables

  Licence: see LICENSE.

**********************************************************************/

/*
 * Note [SHAPE-EDGES] and Note [SHAPE-INDEX] of shape.c, by the steps of
 * rb_shape_edges_find, rb_shape_edges_add, edges_probe, edges_insert, edges_grow,
 * rb_shape_get_iv_index, redblack_lookup, ancestor_lookup, rb_shape_index_build,
 * node_insert, node_balance, and of upstream's get_next_shape_internal and
 * rb_shape_alloc_new_child, as patched.
 *
 * Scaled down: past 3 variables one shape in two has an index, not past 10 one
 * in four; tables start with 4 slots, not 8; all ids have one hash.
 *
 * The cache of a site is one word, shape id and index, of vm/class_ivar.h
 * (vm_getivar_class, vm_getivar_class_miss, vm_setivar_class_slowpath) and shape.c
 * (rb_shape_get_iv_index_with_hint); its stores are vm_ic_attr_index_set and
 * vm_cc_attr_index_set, its loads vm_ic_ and vm_cc_atomic_shape_and_index.
 */

#define SCENARIOS(S) S(first_edges) S(more_edges) S(same_edge) S(index_made) S(hint)

#define MUTANTS(M) \
    M(first_edges, WORD_NO_RELEASE, "the word edges is stored plainly") \
    M(first_edges, WORD_NO_ACQUIRE, "the word edges is loaded plainly") \
    M(more_edges, SLOT_NO_RELEASE, "the slot of a child is stored plainly") \
    M(more_edges, SLOT_NO_ACQUIRE, "the slot of a child is loaded plainly") \
    M(first_edges, CHILD_WRITTEN_LATE, "the child's words after its id") \
    M(more_edges, OLD_TABLE_FREED, "a table that was outgrown is freed") \
    M(more_edges, TABLE_PUBLISHED_EMPTY, "the larger table before the children are in it") \
    M(same_edge, NOT_LOOKED_AGAIN, "no second look-up under the VM lock") \
    M(same_edge, MADE_WITHOUT_LOCK, "a child is made without the VM lock") \
    M(index_made, INDEX_MADE_LATE, "the index of a shape that is seen already: as stock") \
    M(index_made, NODES_CHANGED_IN_PLACE, "insertion changes nodes of an ancestor's index") \
    M(index_made, SHAPE_ID_NO_RELEASE, "W3, with a shape just made, is a plain store") \
    M(index_made, SHAPE_ID_NO_ACQUIRE, "the shape id of the object is loaded plainly") \
    M(hint, HINT_NO_RELEASE, "the cache of the site is stored plainly: as stock") \
    M(hint, HINT_NO_ACQUIRE, "the cache of the site is loaded plainly: as stock") \
    M(hint, HINT_IN_TWO_WORDS, "shape id and index are two words")

#include "model.h"

enum { ROOT, SHAPES = 7, NO_CHILD = 0, NO_SHAPE = -1, NO_NODE = 0, THRESHOLD = 3, STRIDE = 2, ONLY_CHILD_TAG = 100 };

struct shape {
    /* written before the id can be seen */
    rl::var<int> edge_name, next_iv_index, parent_id;
    rl::var<int> ancestor_index; /* NO_NODE, or the root's number */
    /* written under the VM lock */
    rl::atomic<int> edges;      /* 0, ONLY_CHILD_TAG + a child, or the number of a table */
};

/* struct shape_edges */
struct edge_table {
    rl::var<int> slot_count;
    rl::atomic<int> count;
    rl::atomic<int> slots[8];
};

/* redblack_node_t */
struct node {
    rl::var<int> key, value, red, l, r;
};

template<class S, int RACTORS>
struct shape_scenario : scenario<S, RACTORS> {
    shape shapes[SHAPES];
    edge_table tables[3];       /* 0 is none */
    node nodes[16];             /* 0 is none */
    int next_shape_id, next_table, next_node;

    /* Init_default_shapes: the root alone */
    void
    start()
    {
        next_shape_id = next_table = next_node = 0;
        shape_alloc(NO_SHAPE, 0, 0);
        next_table = next_node = 1;
    }

    int
    shape_alloc(int parent, int id, int next_iv_index)
    {
        int s = next_shape_id++;
        RL_ASSERT(s < SHAPES);
        shapes[s].edges.store(0, plain, $);
        shapes[s].ancestor_index($) = NO_NODE;
        if (mutant != CHILD_WRITTEN_LATE || next_table == 0) write_shape(s, parent, id, next_iv_index);
        return s;
    }

    void
    write_shape(int s, int parent, int id, int next_iv_index)
    {
        shapes[s].edge_name($) = id;
        shapes[s].parent_id($) = parent;
        shapes[s].next_iv_index($) = next_iv_index;
    }

    /* ---- the children of a shape ---- */

    int edges_load(int s) { return shapes[s].edges.load(acquire(WORD_NO_ACQUIRE), $); }
    void edges_store(int s, int edges) { shapes[s].edges.store(edges, release(WORD_NO_RELEASE), $); }

    /* edges_alloc */
    int
    edges_alloc(int slots)
    {
        int t = next_table++;
        tables[t].slot_count($) = slots;
        tables[t].count.store(0, plain, $);
        for (int i = 0; i < slots; i++) tables[t].slots[i].store(NO_CHILD, plain, $);
        return t;
    }

    /* edges_probe */
    int
    edges_probe(int t, int id, int &child)
    {
        int slots = tables[t].slot_count($);
        for (int i = 0;; i = (i + 1) % slots) {
            child = tables[t].slots[i].load(acquire(SLOT_NO_ACQUIRE), $);
            if (child == NO_CHILD || shapes[child].edge_name($) == id) return i;
        }
    }

    /* edges_insert */
    void
    edges_insert(int t, int child)
    {
        int existing;
        int slot = edges_probe(t, shapes[child].edge_name($), existing);
        RL_ASSERT(existing == NO_CHILD);
        tables[t].slots[slot].store(child, release(SLOT_NO_RELEASE), $);
        tables[t].count.store(tables[t].count.load(plain, $) + 1, plain, $);
    }

    /* edges_grow */
    int
    edges_grow(int s, int t)
    {
        int slots = tables[t].slot_count($), larger = edges_alloc(slots * 2);
        if (mutant == TABLE_PUBLISHED_EMPTY) edges_store(s, larger);
        for (int i = 0; i < slots; i++) {
            int child = tables[t].slots[i].load(plain, $);
            if (child != NO_CHILD) edges_insert(larger, child);
        }
        if (mutant == OLD_TABLE_FREED) tables[t].slot_count($) = 0;
        return larger;
    }

    /* rb_shape_edges_find */
    int
    edges_find(int s, int id)
    {
        int edges = edges_load(s), child;
        if (!edges) return NO_CHILD;
        if (edges > ONLY_CHILD_TAG) {
            child = edges - ONLY_CHILD_TAG;
            return shapes[child].edge_name($) == id ? child : (int)NO_CHILD;
        }
        edges_probe(edges, id, child);
        return child;
    }

    /* rb_shape_edges_add */
    void
    edges_add(int s, int child)
    {
        int edges = edges_load(s);
        if (!edges) {
            edges_store(s, ONLY_CHILD_TAG + child);
            return;
        }
        int only_child = edges > ONLY_CHILD_TAG ? edges - ONLY_CHILD_TAG : (int)NO_CHILD;
        int t = only_child ? edges_alloc(4) : edges;
        if (only_child) edges_insert(t, only_child);
        if (tables[t].count.load(plain, $) >= tables[t].slot_count($) / 2) t = edges_grow(s, t);
        edges_insert(t, child);
        if (t != edges) edges_store(s, t);
    }

    /* get_next_shape_internal; rb_shape_tree_lock_enter enters what is not +held+ */
    int
    get_next(int s, int id, bool held = false)
    {
        int found = edges_find(s, id);
        if (found) return found;

        vm_locked locked(this->vm_lock, !held && mutant != MADE_WITHOUT_LOCK);
        if (!held && mutant != NOT_LOOKED_AGAIN) found = edges_find(s, id);
        if (found) return found;

        /* rb_shape_alloc_new_child */
        int next_iv_index = shapes[s].next_iv_index($) + 1;
        int child = shape_alloc(s, id, next_iv_index);
        if (mutant == CHILD_WRITTEN_LATE) {
            edges_store(s, ONLY_CHILD_TAG + child);
            write_shape(child, s, id, next_iv_index);
        }
        if (next_iv_index > THRESHOLD && mutant != INDEX_MADE_LATE) index_build(child);
        if (mutant != CHILD_WRITTEN_LATE) edges_add(s, child);
        return child;
    }

    /* ---- the index of a shape ---- */

    /* node_new */
    int
    node_new(int from, int s)
    {
        int n = next_node++;
        RL_ASSERT(n < 16);
        nodes[n].key($) = from ? nodes[from].key($) : shapes[s].edge_name($);
        nodes[n].value($) = from ? nodes[from].value($) : s;
        nodes[n].red($) = from ? nodes[from].red($) : true;
        nodes[n].l($) = from ? nodes[from].l($) : (int)NO_NODE;
        nodes[n].r($) = from ? nodes[from].r($) : (int)NO_NODE;
        return n;
    }

    bool red(int n) { return n != NO_NODE && nodes[n].red($); }

    /* node_balance */
    int
    node_balance(int n, int child, int key)
    {
        if (!red(child) || nodes[child].key($) == key) return n;

        bool left = key < nodes[n].key($);
        bool inner = left != (key < nodes[child].key($));
        int grandchild = key < nodes[child].key($) ? nodes[child].l($) : nodes[child].r($);
        if (!red(grandchild)) return n;

        int top = inner ? grandchild : child;
        if (inner) {
            (left ? nodes[child].r : nodes[child].l)($) = left ? nodes[top].l($) : nodes[top].r($);
            (left ? nodes[top].l : nodes[top].r)($) = child;
        }
        (left ? nodes[n].l : nodes[n].r)($) = left ? nodes[top].r($) : nodes[top].l($);
        (left ? nodes[top].r : nodes[top].l)($) = n;
        nodes[inner ? child : grandchild].red($) = false;
        nodes[top].red($) = true;
        return top;
    }

    /* node_insert: nodes up to +newest+ are those of the indexes that readers may be in */
    int
    node_insert(int n, int s, int newest)
    {
        if (n == NO_NODE) return node_new(NO_NODE, s);

        int key = shapes[s].edge_name($);
        bool left = key < nodes[n].key($);
        int child = node_insert(left ? nodes[n].l($) : nodes[n].r($), s, newest);
        if (n <= newest && mutant != NODES_CHANGED_IN_PLACE) n = node_new(n, s);
        (left ? nodes[n].l : nodes[n].r)($) = child;
        return red(n) ? n : node_balance(n, child, key);
    }

    /* rb_shape_index_build */
    void
    index_build(int shape)
    {
        if ((shapes[shape].next_iv_index($) - THRESHOLD) % STRIDE != 1) return;

        int newest = next_node - 1, indexed = shape;
        while (shapes[indexed].next_iv_index($) > 0 && !shapes[indexed].ancestor_index($)) {
            indexed = shapes[indexed].parent_id($);
        }
        int root = shapes[indexed].ancestor_index($);
        for (int s = shape; s != indexed; s = shapes[s].parent_id($)) {
            root = node_insert(root, s, newest);
            nodes[root].red($) = false;
        }
        shapes[shape].ancestor_index($) = root;
    }

    /* redblack_lookup */
    int
    redblack_lookup(int n, int id)
    {
        for (;;) {
            if (nodes[n].key($) == id) return nodes[n].value($);
            n = id < nodes[n].key($) ? nodes[n].l($) : nodes[n].r($);
            if (n == NO_NODE) return NO_SHAPE;
        }
    }

    /* ancestor_lookup */
    int
    ancestor_lookup(int s, int id)
    {
        for (; shapes[s].next_iv_index($) > 0; s = shapes[s].parent_id($)) {
            int index = shapes[s].ancestor_index($);
            if (index != NO_NODE) return redblack_lookup(index, id);
            if (shapes[s].edge_name($) == id) return s;
        }
        return NO_SHAPE;
    }

    /* rb_shape_get_iv_index */
    int
    iv_index(int s, int id)
    {
        int found = ancestor_lookup(s, id);
        return found == NO_SHAPE ? (int)UNDEF : shapes[found].next_iv_index($) - 1;
    }
};

/* One Ractor makes the root's only child, and another, hence a table.  Another
 * Ractor looks for them. */
struct first_edges : shape_scenario<first_edges, 2> {
    void setup() { start(); }

    void
    ractor(int number)
    {
        if (number == 0) {
            get_next(ROOT, 1);
            if (mutant != CHILD_WRITTEN_LATE) get_next(ROOT, 2);
        }
        else {
            int two = edges_find(ROOT, 2), one = edges_find(ROOT, 1);
            RL_ASSERT(one ? shapes[one].edge_name($) == 1 && shapes[one].next_iv_index($) == 1 : !two);
            RL_ASSERT(!two || shapes[two].edge_name($) == 2);
        }
    }
};

/* The same with a table, which is outgrown, and one more child in the larger. */
struct more_edges : shape_scenario<more_edges, 2> {
    void
    setup()
    {
        start();
        get_next(ROOT, 1);
        get_next(ROOT, 2);
    }

    void
    ractor(int number)
    {
        if (number == 0) {
            get_next(ROOT, 3);
            get_next(ROOT, 4);
        }
        else {
            int four = edges_find(ROOT, 4);
            RL_ASSERT(!four || shapes[four].next_iv_index($) == 1);
            RL_ASSERT(edges_find(ROOT, 2) == 2);
        }
    }
};

/* Two Ractors ask for the same child: one holds the VM lock all along, as
 * rb_class_ivar_set does, and makes another before. */
struct same_edge : shape_scenario<same_edge, 2> {
    int got[2];

    void setup() { start(); }

    void
    ractor(int number)
    {
        vm_locked locked(this->vm_lock, number == 1);
        if (number == 1) get_next(ROOT, 2, true);
        got[number] = get_next(ROOT, 1, number == 1);
    }

    void after() { RL_ASSERT(got[0] == got[1] && edges_find(ROOT, 1) == got[0] && edges_find(ROOT, 2)); }
};

/*
 * A class has four variables, so that its shape has an index.  main sets two
 * more: the second makes the index of all six out of it; W3.  A Ractor looks up
 * in whichever shape it meets.  The ids come in such an order that nodes turn.
 */
struct index_made : shape_scenario<index_made, 2> {
    rl::atomic<int> shape_id;   /* of the fields object */

    void
    setup()
    {
        start();
        int s = ROOT;
        for (int id : {6, 5, 4, 2}) s = get_next(s, id);
        if (mutant == INDEX_MADE_LATE) index_build(s);
        shape_id.store(s, plain, $);
    }

    void
    ractor(int number)
    {
        if (number == 0) {
            for (int id : {3, 1}) {
                int s = get_next(shape_id.load(plain, $), id);
                shape_id.store(s, release(SHAPE_ID_NO_RELEASE), $); /* rb_fields_shape_id_store_release */
                if (mutant == INDEX_MADE_LATE) index_build(s);
            }
        }
        else {
            int s = shape_id.load(acquire(SHAPE_ID_NO_ACQUIRE), $); /* rb_fields_shape_id_load_acquire */
            RL_ASSERT(iv_index(s, 6) == 0);
            RL_ASSERT(iv_index(s, 3) == (s >= 5 ? 4 : (int)UNDEF));
            RL_ASSERT(iv_index(s, 1) == (s == 6 ? 5 : (int)UNDEF));
        }
    }
};

/*
 * A site reads the variable X of several classes.  main makes a shape, and fills
 * the cache with it, and then with another's.  A Ractor comes by with classes of
 * its own; it has seen nothing of main's shape but the cache, and starts there.
 */
struct hint : shape_scenario<hint, 2> {
    enum { X = 3, MANY = 10, NOT_CACHED = MANY * SHAPES };
    rl::atomic<int> ic;         /* shape id * MANY + index */
    rl::atomic<int> ic_index;   /* HINT_IN_TWO_WORDS */
    int x, x_1, _1_x;           /* shapes, by the variables in them */

    void
    setup()
    {
        start();
        x = get_next(ROOT, X);
        x_1 = get_next(x, 1);
        _1_x = get_next(get_next(ROOT, 1), X);
        ic.store(NOT_CACHED, plain, $);
        ic_index.store(0, plain, $);
    }

    /* fill_ivar_cache */
    void
    fill(int s, int index)
    {
        ic.store(s * MANY + index, release(HINT_NO_RELEASE), $);
        if (mutant == HINT_IN_TWO_WORDS) ic_index.store(index, rl::mo_release, $);
    }

    /* rb_shape_get_iv_index_with_hint, where no shape has an index */
    int
    iv_index_with_hint(int s, int hint, int index_hint)
    {
        while (shapes[s].next_iv_index($) > index_hint) {
            while (shapes[hint].next_iv_index($) > shapes[s].next_iv_index($)) hint = shapes[hint].parent_id($);
            if (hint == s) return index_hint;
            if (shapes[s].edge_name($) == X) return shapes[s].next_iv_index($) - 1;
            s = shapes[s].parent_id($);
        }
        return iv_index(s, X);
    }

    /* vm_getivar_class, vm_getivar_class_miss: the index for a class of the shape +s+ */
    int
    get(int s)
    {
        int word = ic.load(acquire(HINT_NO_ACQUIRE), $);
        int cached_id = word / MANY, index = word % MANY;
        if (mutant == HINT_IN_TWO_WORDS) index = ic_index.load(rl::mo_acquire, $);
        if (cached_id == s) return index;

        index = word == NOT_CACHED ? iv_index(s, X) : iv_index_with_hint(s, cached_id, index);
        fill(s, index);
        return index;
    }

    void
    ractor(int number)
    {
        if (number == 0) {
            int x_2 = get_next(x, 2);   /* vm_setivar_class_slowpath: rb_ivar_set */
            fill(x_2, iv_index(x_2, X));
            RL_ASSERT(get(_1_x) == 1);
        }
        else {
            RL_ASSERT(get(x_1) == 0);
            RL_ASSERT(get(_1_x) == 1);
        }
    }
};

ENTRIES
