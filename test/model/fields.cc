/**********************************************************************

  fields.cc - a model of the fields object of a class

  Licence: see LICENSE.

**********************************************************************/

/*
 * Note [FIELDS-PUBLISH] of class_fields.h, by the steps of variable.c
 * (fields_lookup, fields_foreach_shape, class_ivar_set_locked,
 * class_ivar_append_shape_locked, class_ivar_append_complex_locked,
 * class_ivar_delete_locked, ...), imemo.c (rb_imemo_fields_new, ..._complex),
 * vm/class_ivar.h (vm_setivar_class) and yjit/class_ivar.rs (gen_get on arm64).
 *
 * The shapes exist before the threads start, as a table of this file: that they
 * can be read is shape.cc's matter.  So with the table of a too-complex class,
 * which is only ever found whole here: table.cc.
 */

#define SCENARIOS(S) \
    S(append) S(grow) S(remove_one) S(too_complex) S(list) S(compiled) S(two_writers)

#define MUTANTS(M) \
    M(append, VALUE_NO_RELEASE, "W1 and W2 are plain stores") \
    M(append, VALUE_NO_ACQUIRE, "the value is loaded plainly") \
    M(append, SHAPE_NO_RELEASE, "W3 is a plain store") \
    M(append, SHAPE_NO_ACQUIRE, "the shape id is loaded plainly") \
    M(append, VALUE_AFTER_SHAPE, "W3 before W2") \
    M(grow, OBJECT_NO_RELEASE, "W5 is a plain store") \
    M(grow, OBJECT_NO_ACQUIRE, "the object is loaded plainly") \
    M(grow, PUBLISHED_UNFILLED, "W5 before the last value is stored") \
    M(grow, GROWN_IN_PLACE, "rb_imemo_fields_grow_single_ractor with two Ractors") \
    M(remove_one, REMOVED_IN_PLACE, "values moved down, then the shape id: as stock") \
    M(remove_one, SPLIT_SHAPE, "the shape id beside the pointer, not in the object") \
    M(remove_one, CLASS_READ_AGAIN, "the value out of another snapshot than the shape id") \
    M(too_complex, COMPLEX_IN_PLACE, "the object with values becomes one with a table") \
    M(list, COUNTED_BEFORE, "the number of the values is of another snapshot than they are") \
    M(compiled, UNDEF_NOT_TESTED, "no guard that the value was stored") \
    M(two_writers, SET_WITHOUT_LOCK, "vm_setivar_class takes no lock")

#include "model.h"

enum { ID_A, ID_B, ID_C, ID_Z };
enum { ROOT_SHAPE, SHAPE_A, SHAPE_AB, SHAPE_ABC, SHAPE_B, SHAPE_BA, TOO_COMPLEX };

static const struct {
    int ids[3];
    int next_iv_index;
} shapes[] = {
    { {}, 0 }, { { ID_A }, 1 }, { { ID_A, ID_B }, 2 }, { { ID_A, ID_B, ID_C }, 3 }, { { ID_B }, 1 },
    { { ID_B, ID_A }, 2 }
};

/* rb_shape_get_iv_index; UNDEF: not set. */
static int
shape_index(int shape, int id)
{
    for (int i = 0; i < shapes[shape].next_iv_index; i++) {
        if (shapes[shape].ids[i] == id) return i;
    }
    return UNDEF;
}

/* rb_shape_get_next. */
static int
shape_next(int shape, int id)
{
    switch (id) {
      case ID_A: return shape == SHAPE_B ? SHAPE_BA : SHAPE_A;
      case ID_B: return shape == SHAPE_A ? SHAPE_AB : SHAPE_B;
      case ID_C: return SHAPE_ABC;
      default: return TOO_COMPLEX;
    }
}

/* struct rb_imemo_fields.  Its memory is where as.ary or as.ptr points. */
struct fields {
    rl::atomic<int> shape_id;
    rl::var<int> capacity;
    rl::var<int> as;            /* the number of a memory or of a table */
};

struct memory {
    rl::atomic<int> v[3];
    rl::var<int> allocated;     /* written when it is freed */
};

struct table {
    rl::var<int> v[ID_Z + 1];
};

enum { NO_FIELDS = -1, FIRST_TABLE = 100 };

template<class S, int THREADS>
struct fields_scenario : scenario<S, THREADS>, object_pool<5> {
    rl::atomic<int> fields_obj; /* of the class */
    rl::atomic<int> class_shape; /* SPLIT_SHAPE */
    fields objects[3];
    memory memories[3];
    table tables[1];
    int object_count, table_count;

    /* A class with the variables of +shape+, the first being value 1, then 2. */
    void
    start(int shape, int capacity)
    {
        object_count = table_count = 0;
        int f = imemo_fields_new(shape, capacity);
        for (int i = 0; i < shapes[shape].next_iv_index; i++) {
            values[i + 1].fill(i + 1);
            slot(f, i).store(i + 1, plain, $);
        }
        class_shape.store(shape, plain, $);
        fields_obj.store(f, plain, $);
    }

    /* rb_fields_ptr(f)[index] */
    rl::atomic<int> &
    slot(int f, int index)
    {
        int capacity = objects[f].capacity($), m = objects[f].as($);
        RL_ASSERT(m < FIRST_TABLE && index < capacity);
        if (mutant == GROWN_IN_PLACE) RL_ASSERT(memories[m].allocated($));
        return memories[m].v[index];
    }

    /* ---- readers, variable.c ---- */

    int fields_load() { return fields_obj.load(acquire(OBJECT_NO_ACQUIRE), $); }

    int
    fields_shape(int f)
    {
        if (f == NO_FIELDS) return ROOT_SHAPE;
        if (mutant == SPLIT_SHAPE) return class_shape.load(rl::mo_acquire, $);
        return objects[f].shape_id.load(acquire(SHAPE_NO_ACQUIRE), $);
    }

    int
    table_lookup(int f, int id)
    {
        int t = objects[f].as($);
        RL_ASSERT(t >= FIRST_TABLE);
        return tables[t - FIRST_TABLE].v[id]($);
    }

    /* fields_lookup */
    int
    lookup(int f, int id)
    {
        int shape = fields_shape(f);
        if (shape == TOO_COMPLEX) return table_lookup(f, id);

        int index = shape_index(shape, id);
        if (index == UNDEF) return UNDEF;
        if (mutant == CLASS_READ_AGAIN) f = fields_load();
        int value = slot(f, index).load(acquire(VALUE_NO_ACQUIRE), $);
        RL_ASSERT(value != UNDEF);
        return value;
    }

    /* rb_class_ivar_lookup */
    int get(int id) { return use(lookup(fields_load(), id)); }

    /* rb_class_ivar_foreach, fields_foreach_shape: how many variables */
    int
    foreach()
    {
        int count = shapes[fields_shape(fields_load())].next_iv_index;
        int f = fields_load();
        int shape = fields_shape(f);
        if (mutant != COUNTED_BEFORE) count = shapes[shape].next_iv_index;

        for (int i = 0; i < count; i++) {
            int value = slot(f, i).load(rl::mo_acquire, $);
            RL_ASSERT(value != UNDEF && (shapes[shape].ids[i] == ID_A) == (value == 1 || value == 4));
            use(value);
        }
        return count;
    }

    /* ---- the object, imemo.c ---- */

    int
    imemo_fields_new(int shape, int capacity)
    {
        int f = object_count++;
        fields &o = objects[f];
        o.shape_id.store(ROOT_SHAPE, plain, $); /* fields_alloc */
        o.as($) = f;
        memories[f].allocated($) = true;
        for (int i = 0; i < capacity; i++) memories[f].v[i].store(UNDEF, plain, $); /* fields_set_capacity */
        o.capacity($) = capacity;
        o.shape_id.store(shape, plain, $);
        return f;
    }

    int
    imemo_fields_new_complex()
    {
        int f = object_count++;
        int t = table_count++;
        for (int id = 0; id <= ID_Z; id++) tables[t].v[id]($) = UNDEF;
        objects[f].capacity($) = 0;
        objects[f].as($) = FIRST_TABLE + t;
        objects[f].shape_id.store(TOO_COMPLEX, plain, $);
        return f;
    }

    /* ---- writers, variable.c: the VM lock ---- */

    void value_store(int f, int index, int value) { slot(f, index).store(value, release(VALUE_NO_RELEASE), $); }

    void
    shape_store(int f, int shape)
    {
        objects[f].shape_id.store(shape, release(SHAPE_NO_RELEASE), $);
        if (mutant == SPLIT_SHAPE) class_shape.store(shape, rl::mo_release, $);
    }

    /* class_fields_publish_locked: W5 */
    void
    publish(int f)
    {
        fields_obj.store(f, release(OBJECT_NO_RELEASE), $);
        if (mutant == SPLIT_SHAPE) class_shape.store(objects[f].shape_id.load(plain, $), rl::mo_release, $);
    }

    /* fields_copy_locked: W4 */
    int
    copy(int f, int count, int shape, int capacity)
    {
        int g = imemo_fields_new(shape, capacity);
        for (int i = 0; i < count; i++) slot(g, i).store(slot(f, i).load(plain, $), plain, $);
        return g;
    }

    /* fields_copy_complex_locked, rb_fields_table_append */
    void
    append_complex(int f, int id, int value)
    {
        int shape = fields_shape(f);
        int g = mutant == COMPLEX_IN_PLACE ? f : imemo_fields_new_complex();
        int t = mutant == COMPLEX_IN_PLACE ? 0 : objects[g].as($) - FIRST_TABLE;

        for (int i = 0; i < shapes[shape].next_iv_index; i++) {
            tables[t].v[shapes[shape].ids[i]]($) = slot(f, i).load(plain, $);
        }
        tables[t].v[id]($) = value;
        if (mutant == COMPLEX_IN_PLACE) {
            objects[f].as($) = FIRST_TABLE + t;
            shape_store(f, TOO_COMPLEX);
        }
        publish(g);
    }

    /* rb_imemo_fields_grow_single_ractor: REALLOC_N */
    void
    grow_in_place(int f)
    {
        int from = objects[f].as($);
        int to = object_count++;
        memories[to].allocated($) = true;
        memories[to].v[0].store(memories[from].v[0].load(plain, $), plain, $);
        for (int i = 1; i < 3; i++) memories[to].v[i].store(UNDEF, plain, $);
        objects[f].as($) = to;
        objects[f].capacity($) = 3;
        memories[from].allocated($) = false;
    }

    /* class_ivar_append_shape_locked */
    void
    append_shape(int f, int shape, int value)
    {
        int index = shapes[shape].next_iv_index - 1;
        if (mutant == GROWN_IN_PLACE && index >= objects[f].capacity($)) grow_in_place(f);

        if (index < objects[f].capacity($)) {
            if (mutant == VALUE_AFTER_SHAPE) shape_store(f, shape);
            value_store(f, index, value); /* W2 */
            shape_store(f, shape); /* W3 */
        }
        else {
            int g = copy(f, index, shape, 3);
            if (mutant == PUBLISHED_UNFILLED) publish(g);
            value_store(g, index, value);
            publish(g);
        }
    }

    /* class_ivar_set_locked */
    void
    set_locked(int id, int value)
    {
        int f = fields_load();
        int shape = fields_shape(f);
        int index = shape_index(shape, id);
        if (index != UNDEF) {
            value_store(f, index, value); /* W1 */
            return;
        }
        int next = shape_next(shape, id);
        if (next == TOO_COMPLEX) {
            append_complex(f, id, value);
        }
        else {
            append_shape(f, next, value);
        }
    }

    /* rb_class_ivar_set */
    void
    set(int id, int value)
    {
        vm_locked locked(this->vm_lock);
        set_locked(id, value);
    }

    /* vm_setivar_class, the cache knowing that +shape+ has the variable at +index+ */
    void
    set_cached(int shape, int index, int value)
    {
        vm_locked locked(this->vm_lock, mutant != SET_WITHOUT_LOCK);
        int f = fields_load();
        if (f != NO_FIELDS && fields_shape(f) == shape) {
            value_store(f, index, value); /* W1 */
        }
        else {
            set(shapes[shape].ids[index], value);
        }
    }

    /* rb_class_ivar_delete: class_ivar_delete_locked, fields_without_locked, of @a before @b */
    void
    delete_a()
    {
        vm_locked locked(this->vm_lock);
        int f = fields_load();
        if (mutant == REMOVED_IN_PLACE) {
            value_store(f, 0, slot(f, 1).load(plain, $));
            shape_store(f, SHAPE_B);
            return;
        }
        int g = copy(f, 0, SHAPE_B, 2);
        slot(g, 0).store(slot(f, 1).load(plain, $), plain, $);
        publish(g);
    }
};

/* main overwrites @a and appends @b where there is room. */
struct append : fields_scenario<append, 2> {
    void setup() { start(SHAPE_A, 3); }

    void
    ractor(int number)
    {
        if (number == 0) {
            set(ID_A, make(2));
            set(ID_B, make(3));
        }
        else {
            int b = get(ID_B), a = get(ID_A);
            RL_ASSERT(b == UNDEF || b == 3);
            RL_ASSERT(a == 2 || (a == 1 && b == UNDEF));
            RL_ASSERT(b == UNDEF || get(ID_B) == 3);
        }
    }
};

/* main appends @b where there is no room, and overwrites @a in the new object. */
struct grow : fields_scenario<grow, 2> {
    void setup() { start(SHAPE_A, 1); }

    void
    ractor(int number)
    {
        if (number == 0) {
            set(ID_B, make(3));
            set(ID_A, make(4));
        }
        else {
            int b = get(ID_B), a = get(ID_A);
            RL_ASSERT((b == 3 || b == UNDEF) && (a == 1 || a == 4));
        }
    }
};

/* main removes @a, in front of @b, and sets it again, behind @b. */
struct remove_one : fields_scenario<remove_one, 2> {
    void setup() { start(SHAPE_AB, 3); }

    void
    ractor(int number)
    {
        if (number == 0) {
            delete_a();
            if (mutant != REMOVED_IN_PLACE) set(ID_A, make(3));
        }
        else {
            int a = get(ID_A), b = get(ID_B);
            RL_ASSERT(b == 2);
            RL_ASSERT(a == 1 || a == UNDEF || a == 3);
        }
    }
};

/* main sets the one variable too many for a shape. */
struct too_complex : fields_scenario<too_complex, 2> {
    void setup() { start(SHAPE_A, 3); }

    void
    ractor(int number)
    {
        if (number == 0) {
            set(ID_Z, make(3));
        }
        else {
            int z = get(ID_Z), a = get(ID_A);
            RL_ASSERT(a == 1 && (z == UNDEF || z == 3));
        }
    }
};

/* main appends, grows, removes, while a Ractor lists: no value of another
 * variable, none that is not there. */
struct list : fields_scenario<list, 2> {
    void setup() { start(SHAPE_AB, 2); }

    void
    ractor(int number)
    {
        if (number == 0) {
            delete_a();
            set(ID_A, make(4));
        }
        else {
            int count = foreach();
            RL_ASSERT(count == 1 || count == 2);
        }
    }
};

/*
 * What YJIT emits on arm64 (guard_fields_shape, load_value): plain loads.  What
 * lies in an object depends on the load of its address, which keeps these two
 * in order: consume.  The value may be loaded before the shape id is; it is
 * tested.  An object goes the way of the call, here get().
 */
struct compiled : fields_scenario<compiled, 2> {
    enum { SPECIAL_CONST = 4 };

    void
    setup()
    {
        start(SHAPE_A, 2);
        values[SPECIAL_CONST].fill(SPECIAL_CONST);
    }

    int
    get_compiled(int shape, int index)
    {
        int f = fields_obj.load(rl::mo_consume, $);
        if (f == NO_FIELDS || objects[f].shape_id.load(plain, $) != shape) return get(shapes[shape].ids[index]);

        int value = slot(f, index).load(plain, $);
        if (mutant != UNDEF_NOT_TESTED && value == UNDEF) return get(shapes[shape].ids[index]);
        RL_ASSERT(value != UNDEF); /* no Ruby code may get that */
        return value == SPECIAL_CONST ? value : get(shapes[shape].ids[index]);
    }

    void
    ractor(int number)
    {
        if (number == 0) {
            set(ID_B, SPECIAL_CONST);
            set(ID_B, make(3));
        }
        else {
            bool is_set = get(ID_B) != UNDEF;
            int b = get_compiled(SHAPE_AB, 1);
            RL_ASSERT(b == SPECIAL_CONST || b == 3 || !is_set);
        }
    }
};

/* main sets @a where the inline cache knows it to be, while another Ractor
 * makes a larger object, for an internal variable. */
struct two_writers : fields_scenario<two_writers, 2> {
    void setup() { start(SHAPE_A, 1); }

    void
    ractor(int number)
    {
        if (number == 0) {
            set_cached(SHAPE_A, 0, make(2));
        }
        else {
            set(ID_B, make(3));
        }
    }

    void after() { RL_ASSERT(get(ID_A) == 2 && get(ID_B) == 3); }
};

ENTRIES
