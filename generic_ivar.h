#ifndef LOCKFREE_GENERIC_IVAR_H
#define LOCKFREE_GENERIC_IVAR_H
/**********************************************************************

  generic_ivar.h - instance variables of what is neither a T_OBJECT nor a class

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of variable.c.
 *
 * What holds them, upstream's struct gen_ivtbl, is found by the word beside the page
 * of the object (gc/generic_ivar.h), without a lock.  An object that is not shareable
 * is its Ractor's alone, and so are its variables.  Of a shareable one they never
 * change if it is frozen; if it is not (a Proc, a Ractor), main may set plain ones, and
 * C any Ractor's internal ones: who stores another memory for them, or copies them, has
 * the VM lock.  As in stock, two that set an internal one of the same object for the
 * first time at the same moment may lose one of them.
 */

/* The isolation rule for the variable +id+.  Any Ractor.  No Ractor but main may see plain ones of what is shareable and
 * not frozen.  Such an object has the flag: rb_ractor_shareable_p finds out about frozen ones alone. */
static inline void
generic_ivar_check_ractor(VALUE obj, ID id)
{
    if (RB_LIKELY(RB_FL_TEST_RAW(obj, RUBY_FL_SHAREABLE | RUBY_FL_FREEZE) != RUBY_FL_SHAREABLE)) return;
    if (!rb_is_instance_id(id) || rb_ractor_main_p()) return;

    rb_raise(rb_eRactorIsolationError, "can not access instance variables of shareable objects from non-main Ractors");
}

/* Before the variables of +obj+ are changed, or copied.  Any Ractor.  True if that took the VM lock: what is being frozen may
 * be found as a constant's value, and walked under it to tell whether it is shareable. */
static inline bool
generic_ivar_lock_enter(VALUE obj, unsigned int *lev)
{
    if (RB_LIKELY(!RB_FL_TEST_RAW(obj, RUBY_FL_SHAREABLE | RUBY_FL_FREEZE))) return false;

    RB_VM_LOCK_ENTER_LEV(lev);
    return true;
}

static inline void
generic_ivar_lock_leave(bool locked, unsigned int *lev)
{
    if (locked) RB_VM_LOCK_LEAVE_LEV(lev);
}

#endif /* LOCKFREE_GENERIC_IVAR_H */
