#ifndef LOCKFREE_CLASS_METHOD_REFINED_H
#define LOCKFREE_CLASS_METHOD_REFINED_H
/**********************************************************************

  class/method_refined.h - methods that come to be refined, or are so no more

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of vm_method.c.
 *
 * Problem.  A method that has refinements has an entry of type REFINED, which
 * holds the entry of the original.  The first `refine` gave the entry in the
 * class's table another definition, and the first `prepend` gave it back that of
 * the original, while Ractors that were calling it read one definition first and
 * the other next: they took an ISEQ out of one that has none.
 *
 * Solution.  An entry that others may know keeps its definition.  Another entry
 * takes its place in the table, as when a method is redefined.
 */

/* A new entry of the same. */
static rb_method_entry_t *
method_entry_dup(const rb_method_entry_t *me)
{
    rb_method_entry_t *copy = rb_method_entry_alloc(me->called_id, me->owner, me->defined_class, me->def, true);
    METHOD_ENTRY_FLAGS_COPY(copy, me);
    return copy;
}

/* Has the method of that name in the table of +klass+, if any, looked for in
 * refinements.  Returns its entry, or NULL.  Any Ractor, VM lock. */
static rb_method_entry_t *
method_table_refine(VALUE klass, ID mid)
{
    if (!lookup_method_table(klass, mid)) return NULL;
    rb_clear_method_cache(klass, mid);

    rb_method_entry_t *old_me = lookup_method_table(klass, mid); // another one, if it was called
    if (old_me->def->type == VM_METHOD_TYPE_REFINED) return old_me;

    rb_method_entry_t *me = method_entry_dup(old_me);
    make_method_entry_refined(klass, me);
    rb_method_table_insert(klass, RCLASS_M_TBL(klass), mid, me);
    rb_vm_method_own_forget(old_me);
    return me;
}

/* Something is being prepended to +klass+, whose methods its origin has now: the
 * original of +me+ stays there, and +klass+ has what says that it is refined.
 * Any Ractor, VM lock. */
void
rb_method_table_split_refined(VALUE klass, ID mid, const rb_method_entry_t *me)
{
    const VALUE origin = RCLASS_ORIGIN(klass);
    const rb_method_entry_t *original = me->def->body.refined.orig_me, *refined = rb_method_entry_clone(me);

    RB_OBJ_WRITE(refined, &refined->def->body.refined.orig_me, NULL); // the clone's own definition
    rb_method_table_insert(klass, RCLASS_M_TBL(klass), mid, refined);
    rb_method_table_insert(origin, RCLASS_M_TBL(origin), mid, method_entry_dup(original));
}

/* What +me+ stands for, if it is refined: the method of a refinement in +refinements+, or else the original, if need be that of
 * the next ancestor of the class that +me+ was found for, as in a call; not of the module's own, which belong to no class.  It may
 * be one that is undefined; NULL if there is none.  Any Ractor. */
static const rb_callable_method_entry_t *
method_refined_resolve(VALUE refinements, const rb_callable_method_entry_t *me)
{
    while (me && me->def->type == VM_METHOD_TYPE_REFINED) {
        const VALUE refinement = find_refinement(refinements, me->owner);
        if (!NIL_P(refinement)) {
            const rb_callable_method_entry_t *refined = rb_callable_method_entry(refinement, me->called_id);
            if (refined && refined->def->type != VM_METHOD_TYPE_REFINED) return refined;
        }
        const rb_method_entry_t *original = me->def->body.refined.orig_me;
        if (original) return (const rb_callable_method_entry_t *)original;

        VALUE super = RCLASS_SUPER(me->defined_class);
        me = super ? rb_callable_method_entry(super, me->called_id) : NULL;
    }
    return me;
}

#endif /* LOCKFREE_CLASS_METHOD_REFINED_H */
