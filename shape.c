/**********************************************************************

  shape.c - shape look-up and transition without the VM lock

  Licence: see LICENSE.

**********************************************************************/

/*
 * Upstream's shape tree, with the parts replaced that are read while another
 * Ractor makes the tree grow.
 *
 * A shape's own words (edge_name, next_iv_index, capacity, type, parent_id,
 * ancestor_index) are written, under the VM lock, before anybody can see its
 * id, and never again.  One word changes later, edges, under the VM lock.
 *
 * Note [SHAPE-INDEX]
 * ~~~~~~~~~~~~~~~~~~
 * ancestor_index: the root of an immutable red-black tree over all variables of
 * the shape, or NULL.  Past ten variables one shape in INDEX_STRIDE has one; a
 * look-up walks up to the nearest.  It is made with the shape.
 *
 * Upstream gives one to each shape, so that half of the time it takes to set
 * many variables goes into copies of nodes; and, with the eleventh variable, to
 * the ancestors, which are visible already: a look-up that reads that word
 * twice misses a variable that is there.
 *
 * Note [SHAPE-EDGES]
 * ~~~~~~~~~~~~~~~~~~
 * edges: NULL, then the only child, tagged, then a table of children.  It is
 * an index of shape ids by edge name, open addressing, 0 (the root, nobody's
 * child) for an empty slot.  A child is written before its id is stored
 * (release), and a slot never changes again.  A table that is half full is
 * copied into one of twice the size and the word released anew.  Readers may
 * be in the old one, and shapes live as long as the VM, so it is kept: `prev`
 * chains them, less than the last one's size in all.
 */

#include "internal.h"
#include "internal/class.h"
#include "internal/variable.h"
#include "shape.h"
#include "symbol.h"
#include "vm_sync.h"

/* =========================================================================
 * the index of a variable: any Ractor, no lock
 * ========================================================================= */

/* as in upstream's shape.c */
#define ANCESTOR_CACHE_THRESHOLD 10
#define ANCESTOR_SEARCH_MAX_DEPTH 2

#define INDEX_STRIDE 4

/* The lowest bit of a node's value is its colour. */
#define NODE_RED ((uintptr_t)1)

/* The node with that id, or NULL for 0. */
static redblack_node_t *
node_at(redblack_id_t id)
{
    return id ? &GET_SHAPE_TREE()->shape_cache[id - 1] : NULL;
}

static bool
node_red_p(const redblack_node_t *node)
{
    return node && ((uintptr_t)node->value & NODE_RED);
}

/* The shape that set +id+, or NULL. */
static inline const rb_shape_t *
redblack_lookup(const redblack_node_t *node, ID id)
{
    const redblack_node_t *nodes = GET_SHAPE_TREE()->shape_cache;

    for (;;) {
        /* branches, foreseen where a conditional move would wait for the key; one comparison, if in this order */
        if (id < node->key) {
            if (!node->l) return NULL;
            node = &nodes[(size_t)node->l - 1];
        }
        else if (id == node->key) {
            return (const rb_shape_t *)((uintptr_t)node->value & ~NODE_RED);
        }
        else {
            if (!node->r) return NULL;
            node = &nodes[(size_t)node->r - 1];
        }
    }
}

/* The shape that set +id+, +shape+ or an ancestor, or NULL. */
static inline const rb_shape_t *
ancestor_lookup(const rb_shape_t *shape, ID id)
{
    for (; shape->next_iv_index > 0; shape = rb_shape_at(shape->parent_id)) {
        if (shape->ancestor_index) return redblack_lookup(shape->ancestor_index, id);
        if (shape->edge_name == id) return shape->type == SHAPE_IVAR ? shape : NULL;
    }
    return NULL;
}

/* The shape that set +id+, +shape+ or an ancestor, or NULL.  As rb_shape_get_iv_index. */
const rb_shape_t *
rb_shape_iv_find(const rb_shape_t *shape, ID id)
{
    return ancestor_lookup(shape, id);
}

static bool
index_of(const rb_shape_t *found, attr_index_t *value)
{
    if (!found) return false;
    *value = found->next_iv_index - 1;
    return true;
}

/*
 * Whether the variable +id+ is set in +shape+, and at which index.  Any Ractor.
 * The shape is not the too-complex one.
 */
bool
rb_shape_get_iv_index(rb_shape_t *shape, ID id, attr_index_t *value)
{
    RUBY_ASSERT(rb_shape_id(shape) != OBJ_TOO_COMPLEX_SHAPE_ID);
    return index_of(ancestor_lookup(shape, id), value);
}

/*
 * The same for inline caches: *value and *shape_id_hint are the last answer
 * and its shape (or INVALID_SHAPE_ID), and are set to this one's.  A shape that
 * shares its latest ancestors with the hint's is answered without a look-up.
 * Any Ractor.
 */
bool
rb_shape_get_iv_index_with_hint(shape_id_t shape_id, ID id, attr_index_t *value, shape_id_t *shape_id_hint)
{
    rb_shape_t *shape = rb_shape_at(shape_id);
    const rb_shape_t *indexed = NULL; /* the last with an index on the way up */
    attr_index_t index_hint = *value;

    if (*shape_id_hint != INVALID_SHAPE_ID) {
        rb_shape_t *hint = rb_shape_at(*shape_id_hint);
        bool deep = shape->next_iv_index > ANCESTOR_CACHE_THRESHOLD;

        for (int depth = deep ? ANCESTOR_SEARCH_MAX_DEPTH : INT_MAX;
             depth > 0 && shape->next_iv_index > index_hint; depth--) {
            while (hint->next_iv_index > shape->next_iv_index) hint = rb_shape_at(hint->parent_id);

            if (hint == shape) {
                /* a common ancestor that has the variable */
                *value = index_hint;
                *shape_id_hint = rb_shape_id(shape);
                return true;
            }
            if (shape->edge_name == id) {
                *value = shape->next_iv_index - 1;
                *shape_id_hint = rb_shape_id(shape);
                return true;
            }
            if (shape->ancestor_index) indexed = shape;
            shape = rb_shape_at(shape->parent_id);
        }
    }

    *shape_id_hint = shape_id;
    return index_of(ancestor_lookup(indexed ? indexed : shape, id), value);
}

/*
 * Stores the ids of the variables of +shape+ from index +from+ on, in the order
 * of their setting, at ids[0 ... next_iv_index - from].  Any Ractor.
 */
void
rb_shape_iv_ids(rb_shape_t *shape, attr_index_t from, ID *ids)
{
    for (; shape->next_iv_index > from; shape = rb_shape_at(shape->parent_id)) {
        if (shape->type == SHAPE_IVAR) ids[shape->next_iv_index - 1 - from] = shape->edge_name;
    }
}

/*
 * The shape with the same variables as +shape+, in the same order, but without
 * the one at +index+; the too-complex shape when no more shapes can be made.
 * Any Ractor.
 */
rb_shape_t *
rb_shape_without_iv(rb_shape_t *shape, attr_index_t index)
{
    attr_index_t count = shape->next_iv_index - index;
    VALUE ids_buffer;
    ID *ids = ALLOCV_N(ID, ids_buffer, count);
    rb_shape_iv_ids(shape, index, ids);

    while (shape->next_iv_index > index) shape = rb_shape_at(shape->parent_id);
    for (attr_index_t i = 1; i < count && shape->type != SHAPE_OBJ_TOO_COMPLEX; i++) {
        shape = rb_shape_get_next_iv_shape(shape, ids[i]);
    }
    ALLOCV_END(ids_buffer);
    return shape;
}

/* =========================================================================
 * making an index: the VM lock
 * ========================================================================= */

struct index_insertion {
    rb_shape_t *shape;
    redblack_id_t newest;       /* node of the indexes that readers may be in */
    unsigned int max_nodes;
};

static bool
node_room_p(const struct index_insertion *insertion)
{
    return GET_SHAPE_TREE()->cache_size + 1 < insertion->max_nodes;
}

/* A copy of +from+, or a red leaf for the shape; NULL when there is no room. */
static redblack_node_t *
node_new(const struct index_insertion *insertion, const redblack_node_t *from)
{
    if (!node_room_p(insertion)) return NULL;

    redblack_node_t *node = &GET_SHAPE_TREE()->shape_cache[GET_SHAPE_TREE()->cache_size++];
    *node = from ? *from : (redblack_node_t){
        .key = insertion->shape->edge_name,
        .value = (rb_shape_t *)((uintptr_t)insertion->shape | NODE_RED),
    };
    return node;
}

static redblack_id_t
node_id(const redblack_node_t *node)
{
    return (redblack_id_t)(node - GET_SHAPE_TREE()->shape_cache) + 1;
}

static void
node_set_red(redblack_node_t *node, bool red)
{
    node->value = (rb_shape_t *)(((uintptr_t)node->value & ~NODE_RED) | (red ? NODE_RED : 0));
}

/* The subtree of the black +node+, whose +child+ may have become red, with a
 * red child of its own on the side of +key+.  All three are new: they are
 * turned in place into a red node with two black children. */
static redblack_node_t *
node_balance(redblack_node_t *node, redblack_node_t *child, ID key)
{
    if (!node_red_p(child) || child->key == key) return node;

    bool left = key < node->key;
    bool inner = left != (key < child->key);
    redblack_node_t *grandchild = node_at(key < child->key ? child->l : child->r);
    if (!node_red_p(grandchild)) return node;

    redblack_node_t *top = inner ? grandchild : child;
    if (inner) {
        *(left ? &child->r : &child->l) = left ? top->l : top->r;
        *(left ? &top->l : &top->r) = node_id(child);
    }
    *(left ? &node->l : &node->r) = left ? top->r : top->l;
    *(left ? &top->r : &top->l) = node_id(node);

    node_set_red(inner ? child : grandchild, false);
    node_set_red(top, true);
    return top;
}

/* The subtree of +node+ (NULL: none) with the shape in it; NULL when there is no
 * room.  Nodes on the path to it that readers may be in are copied. */
static redblack_node_t *
node_insert(redblack_node_t *node, const struct index_insertion *insertion)
{
    if (!node) return node_new(insertion, NULL);

    ID key = insertion->shape->edge_name;
    RUBY_ASSERT(key != node->key);
    redblack_node_t *child = node_insert(node_at(key < node->key ? node->l : node->r), insertion);
    if (child && node_id(node) <= insertion->newest) node = node_new(insertion, node);
    if (!child || !node) return NULL;

    *(key < node->key ? &node->l : &node->r) = node_id(child);
    return node_red_p(node) ? node : node_balance(node, child, key);
}

/*
 * Gives +shape+, of more than ten variables and not seen yet, an index if it is
 * one of those that have one, unless there are +max_nodes+ already.  VM lock.
 * Insertion into a functional red-black tree: Okasaki, "Red-Black Trees in a
 * Functional Setting", 1999; nodes that are this index's own are changed in
 * place.
 */
void
rb_shape_index_build(rb_shape_t *shape, unsigned int max_nodes)
{
    struct index_insertion insertion = { .newest = GET_SHAPE_TREE()->cache_size, .max_nodes = max_nodes };
    if ((shape->next_iv_index - ANCESTOR_CACHE_THRESHOLD) % INDEX_STRIDE != 1 || !node_room_p(&insertion)) return;

    rb_shape_t *indexed = shape;
    while (indexed->next_iv_index > 0 && !indexed->ancestor_index) indexed = rb_shape_at(indexed->parent_id);

    redblack_node_t *root = indexed->ancestor_index;
    for (insertion.shape = shape; insertion.shape != indexed;
         insertion.shape = rb_shape_at(insertion.shape->parent_id)) {
        if (insertion.shape->type != SHAPE_IVAR) continue;
        root = node_insert(root, &insertion);
        if (!root) return;
        node_set_red(root, false);
    }
    shape->ancestor_index = root;
}

/* =========================================================================
 * the children of a shape: Note [SHAPE-EDGES]
 * ========================================================================= */

struct shape_edges {
    /* immutable once published */
    struct shape_edges *prev;   /* the smaller table that this one replaced */
    uint32_t mask;              /* slots - 1 */
    /* written under the VM lock */
    uint32_t count;
    shape_id_t slots[1];
};

#define ONLY_CHILD_TAG ((uintptr_t)1)
#define EDGES_MIN_SLOTS CAPACITY_OR_TINY(8, 2)

/* The word as it is now.  Synchronises with shape_edges_store_release. */
static uintptr_t
shape_edges_load_acquire(const rb_shape_t *shape)
{
    return (uintptr_t)__atomic_load_n(&shape->edges, __ATOMIC_ACQUIRE);
}

/* VM lock.  Synchronises with shape_edges_load_acquire. */
static void
shape_edges_store_release(rb_shape_t *shape, uintptr_t edges)
{
    __atomic_store_n(&shape->edges, (struct rb_id_table *)edges, __ATOMIC_RELEASE);
}

static rb_shape_t *
edges_only_child(uintptr_t edges)
{
    return edges & ONLY_CHILD_TAG ? (rb_shape_t *)(edges & ~ONLY_CHILD_TAG) : NULL;
}

static size_t
edges_bytes(size_t slots)
{
    return offsetof(struct shape_edges, slots) + slots * sizeof(shape_id_t);
}

static struct shape_edges *
edges_alloc(size_t slots, struct shape_edges *prev)
{
    struct shape_edges *table = ruby_xcalloc(1, edges_bytes(slots));
    table->prev = prev;
    table->mask = (uint32_t)(slots - 1);
    return table;
}

/* The slot of the child +id+, or the empty one where the probe for it ends; a
 * table is never full.  Synchronises with edges_insert. */
static shape_id_t *
edges_probe(struct shape_edges *table, ID id, rb_shape_t **child)
{
    uint32_t i = rb_id_hash(id);

    for (;; i++) {
        shape_id_t *slot = &table->slots[i & table->mask];
        shape_id_t shape_id = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        *child = shape_id ? rb_shape_at(shape_id) : NULL;
        if (!*child || (*child)->edge_name == id) return slot;
    }
}

/* VM lock, or a table that nobody else sees.  Synchronises with edges_probe. */
static void
edges_insert(struct shape_edges *table, rb_shape_t *child)
{
    rb_shape_t *existing;
    shape_id_t *slot = edges_probe(table, child->edge_name, &existing);

    RUBY_ASSERT(!existing);
    __atomic_store_n(slot, rb_shape_id(child), __ATOMIC_RELEASE);
    __atomic_store_n(&table->count, table->count + 1, __ATOMIC_RELAXED);
}

static struct shape_edges *
edges_grow(struct shape_edges *table)
{
    struct shape_edges *larger = edges_alloc(((size_t)table->mask + 1) * 2, table);

    for (uint32_t i = 0; i <= table->mask; i++) {
        if (table->slots[i]) edges_insert(larger, rb_shape_at(table->slots[i]));
    }
    return larger;
}

/*
 * Enters the VM lock, to make a child, and returns true: another Ractor may
 * have made it since the look-up, so look again.  false: nobody else can have,
 * for this Ractor has held the lock all along, or is the only one; nothing is
 * entered.  Any Ractor.
 */
bool
rb_shape_tree_lock_enter(unsigned int *lev)
{
    if (!rb_multi_ractor_p() || rb_vm_locked_p()) return false;
    RB_VM_LOCK_ENTER_LEV(lev);
    return true;
}

/* An empty table: the edges of a shape whose first child counts as a variation
 * already.  VM lock, or start-up. */
void
rb_shape_edges_init(rb_shape_t *shape)
{
    shape_edges_store_release(shape, (uintptr_t)edges_alloc(EDGES_MIN_SLOTS, NULL));
}

/* The child of +shape+ by the edge +id+, or NULL.  Any Ractor, no lock. */
rb_shape_t *
rb_shape_edges_find(rb_shape_t *shape, ID id)
{
    uintptr_t edges = shape_edges_load_acquire(shape);
    if (!edges) return NULL;

    rb_shape_t *child = edges_only_child(edges);
    if (child) return child->edge_name == id ? child : NULL;

    edges_probe((struct shape_edges *)edges, id, &child);
    return child;
}

/* Makes +child+, written, a child of +shape+, and returns whether the shape had
 * edges already.  VM lock. */
bool
rb_shape_edges_add(rb_shape_t *shape, rb_shape_t *child)
{
    uintptr_t edges = shape_edges_load_acquire(shape);
    if (!edges) {
        shape_edges_store_release(shape, (uintptr_t)child | ONLY_CHILD_TAG);
        return false;
    }

    rb_shape_t *only_child = edges_only_child(edges);
    struct shape_edges *table = only_child ? edges_alloc(EDGES_MIN_SLOTS, NULL) : (struct shape_edges *)edges;
    if (only_child) edges_insert(table, only_child);
    if (table->count >= (table->mask + 1) / 2) table = edges_grow(table);

    edges_insert(table, child);
    if ((uintptr_t)table != edges) shape_edges_store_release(shape, (uintptr_t)table);
    return true;
}

/* Gives back all tables of +shape+.  The VM at its end (RUBY_FREE_AT_EXIT). */
void
rb_shape_edges_free(rb_shape_t *shape)
{
    uintptr_t edges = shape_edges_load_acquire(shape);
    if (!edges || edges_only_child(edges)) return;

    for (struct shape_edges *table = (struct shape_edges *)edges, *prev; table; table = prev) {
        prev = table->prev;
        xfree(table);
    }
}

/* Calls +func+ with the edge name of each child of +shape+, and the child, as
 * rb_id_table_foreach would.  VM lock. */
void
rb_shape_edges_foreach(rb_shape_t *shape, rb_id_table_foreach_func_t *func, void *data)
{
    uintptr_t edges = shape_edges_load_acquire(shape);
    if (!edges) return;

    rb_shape_t *only_child = edges_only_child(edges);
    if (only_child) {
        func(only_child->edge_name, (VALUE)only_child, data);
        return;
    }

    struct shape_edges *table = (struct shape_edges *)edges;
    for (uint32_t i = 0; i <= table->mask; i++) {
        if (!table->slots[i]) continue;
        rb_shape_t *child = rb_shape_at(table->slots[i]);
        func(child->edge_name, (VALUE)child, data);
    }
}

/* How many children +shape+ has.  Any Ractor.  Relaxed: the number stands for
 * itself, nothing is read on the strength of it. */
size_t
rb_shape_edges_count(rb_shape_t *shape)
{
    uintptr_t edges = shape_edges_load_acquire(shape);
    if (!edges) return 0;
    return edges_only_child(edges) ? 1 : __atomic_load_n(&((struct shape_edges *)edges)->count, __ATOMIC_RELAXED);
}

/* Bytes that +shape+ takes, the tables that it has outgrown included. */
size_t
rb_shape_memsize(rb_shape_t *shape)
{
    size_t size = sizeof(rb_shape_t);
    uintptr_t edges = shape_edges_load_acquire(shape);

    if (!edges || edges_only_child(edges)) return size;
    for (struct shape_edges *table = (struct shape_edges *)edges; table; table = table->prev) {
        size += edges_bytes((size_t)table->mask + 1);
    }
    return size;
}
