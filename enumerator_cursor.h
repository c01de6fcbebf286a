#ifndef LOCKFREE_ENUMERATOR_CURSOR_H
#define LOCKFREE_ENUMERATOR_CURSOR_H
/**********************************************************************

  enumerator_cursor.h - #next of an Array's or a Range's each without a Fiber

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of enumerator.c.
 *
 * Problem.  #next, and #peek, run the method that they ask for the next element in a
 * Fiber, which has a stack, is switched to and back, and when the Enumerator is
 * forgotten waits for the collector with 12 kB of memory: 20 times what the element
 * costs.  Ractors that do this stand still for collections half of their time.
 *
 * Solution.  Array#each and #cycle, and Range#each of small Integers, run no Ruby code
 * and keep nothing but an index: so does a cursor in the Enumerator.  It is what the
 * literature calls an external iterator (Gamma et al., Design Patterns, 1994).
 *
 * Only what these methods do themselves is done so, and as they would do it:
 *
 *   Enumerator#each, or Array#each ...  looked up when the iteration begins, without refinements, as the Fiber would:
 *   are redefined, prepended, undefined a Fiber, if they are not those that Ruby began with
 *   somebody traces as it begins        a Fiber, whose calls and returns are traced
 *   the Array changes meanwhile         its length is asked for each element, as by each
 *   it is moved to a Ractor             raises Ractor::MovedError
 *   #next in another Thread             raises FiberError; so the Thread lies where the Fiber would,
 *   #dup when it has begun              raises TypeError
 *   an interrupt that raises            the iteration goes on after it; it ended with the Fiber, or lost one
 *                                       element, according to where it was met
 *   #feed                               what was fed is taken, and ignored, by the next #next but the first
 *
 * An Enumerator is its Ractor's, whose threads take turns: nothing is shared.
 */

#include "internal/array.h"
#include "internal/range.h"
#include "lockfree/ractor/move.h"
#include "method.h"
#include "vm_core.h"

extern VALUE rb_eFiberError; /* cont.c */

/* enumerator->cursor.over.  While it is another than CURSOR_NONE, ->fib is the Thread that has begun the iteration. */
enum { CURSOR_NONE, CURSOR_ARRAY_EACH, CURSOR_ARRAY_CYCLE, CURSOR_RANGE_EACH };

/* Whether +obj+'s method is the one that +owner+ had when Ruby began. */
static bool
cursor_builtin_p(VALUE obj, ID mid, VALUE owner)
{
    const rb_callable_method_entry_t *me = rb_callable_method_entry_without_refinements(CLASS_OF(obj), mid, NULL);
    return me && METHOD_ENTRY_BASIC(me) && me->owner == owner;
}

/* What the Enumerator +obj+ would iterate over with +meth+, if that is one of those above. */
static int
cursor_over(VALUE obj, ID meth)
{
    if (SPECIAL_CONST_P(obj)) return CURSOR_NONE;

    if (BUILTIN_TYPE(obj) == T_ARRAY) {
        if (meth == id_each && cursor_builtin_p(obj, meth, rb_cArray)) return CURSOR_ARRAY_EACH;
        if (meth == rb_intern("cycle") && cursor_builtin_p(obj, meth, rb_cArray)) return CURSOR_ARRAY_CYCLE;
    }
    if (BUILTIN_TYPE(obj) == T_STRUCT && meth == id_each && cursor_builtin_p(obj, meth, rb_cRange)) {
        if (FIXNUM_P(RANGE_BEG(obj)) && (FIXNUM_P(RANGE_END(obj)) || NIL_P(RANGE_END(obj)))) return CURSOR_RANGE_EACH;
    }
    return CURSOR_NONE;
}

/* Whether somebody traces, be it one method.  Relaxed: who begins to in another Ractor does so beside this. */
static bool
cursor_traced_p(void)
{
    return __atomic_load_n(&ruby_vm_event_flags, __ATOMIC_RELAXED) || __atomic_load_n(&ruby_vm_event_local_num, __ATOMIC_RELAXED);
}

/* Whether the iteration of the Enumerator +obj+, which is to go on or to begin, is a cursor's. */
static bool
enumerator_cursor_p(VALUE obj, struct enumerator *e)
{
    if (e->fib) return e->cursor.over != CURSOR_NONE;

    e->cursor.over = CURSOR_NONE;
    if (e->procs || (e->args && RARRAY_LEN(e->args) > 0) || e->kw_splat) return false;
    int over = cursor_over(e->obj, e->meth);
    if (over == CURSOR_NONE || cursor_traced_p() || !cursor_builtin_p(obj, id_each, rb_cEnumerator)) return false;

    e->cursor.over = over;
    e->cursor.begun = false;
    e->cursor.next = over == CURSOR_RANGE_EACH ? FIX2LONG(RANGE_BEG(e->obj)) : 0;
    RB_OBJ_WRITE(obj, &e->fib, GET_THREAD()->self);
    return true;
}

/* The element that is next; Qundef: none. */
static VALUE
cursor_element(struct enumerator *e)
{
    VALUE obj = e->obj;

    rb_ractor_check_moved(obj);
    if (e->cursor.over == CURSOR_RANGE_EACH) {
        VALUE end = RANGE_END(obj);
        if (!NIL_P(end) && e->cursor.next >= FIX2LONG(end) + !RTEST(RANGE_EXCL(obj))) return Qundef;
        return LONG2NUM(e->cursor.next++); /* without an end it comes to large Integers */
    }
    if (e->cursor.over == CURSOR_ARRAY_CYCLE && e->cursor.next >= RARRAY_LEN(obj)) e->cursor.next = 0;
    return e->cursor.next < RARRAY_LEN(obj) ? RARRAY_AREF(obj, e->cursor.next++) : Qundef;
}

/* What next_i and next_ii would give, or e->stop_exc. */
static VALUE
enumerator_cursor_next(VALUE obj, struct enumerator *e)
{
    if (e->fib != GET_THREAD()->self) rb_raise(rb_eFiberError, "fiber called across threads");
    if (e->cursor.begun) e->feedvalue = Qundef;
    e->cursor.begun = true;

    VALUE value = cursor_element(e);
    if (!UNDEF_P(value)) {
        VALUE values = rb_ary_new_from_values(1, &value);
        rb_thread_check_ints(); /* as when a Fiber is left: last, since a handler may do anything with the Enumerator */
        return values;
    }
    RB_OBJ_WRITE(obj, &e->stop_exc, rb_exc_new2(rb_eStopIteration, "iteration reached an end"));
    rb_ivar_set(e->stop_exc, id_result, e->cursor.over == CURSOR_ARRAY_CYCLE ? Qnil : e->obj);
    return Qnil;
}

#endif /* LOCKFREE_ENUMERATOR_CURSOR_H */
