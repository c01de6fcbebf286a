#ifndef LOCKFREE_ARRAY_EACH_H
#define LOCKFREE_ARRAY_EACH_H
/**********************************************************************

  array_each.h - the step of Array#each, #map and #select

  Licence: see LICENSE.

**********************************************************************/

/* Part of array.c. */

/* The builtin of these methods' loops, which have the index of the next element
 * and the element as their first two locals: sets both, true; or false at the
 * end of +ary+. YJIT knows it by its name, and emits it inline
 * (yjit/array_each.rs). Of the running Ractor's own frame. */
static VALUE
ary_each_next(rb_execution_context_t *ec, VALUE ary)
{
    const rb_control_frame_t *cfp = ec->cfp;
    VALUE *locals = (VALUE *)cfp->ep - (ISEQ_BODY(cfp->iseq)->local_table_size + VM_ENV_DATA_SIZE - 1);

    return ary_fetch_next(ary, &locals[0], &locals[1]);
}

#endif /* LOCKFREE_ARRAY_EACH_H */
