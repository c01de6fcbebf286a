/**********************************************************************

  ractor.c - which Ractor may do what with the variables of a class

  Licence: see LICENSE.

**********************************************************************/

/*
 * Two rules, for plain instance variables (`@x`) of classes and modules, which
 * are upstream's, and for class variables (`@@x`), where upstream lets main
 * alone read: main alone may set and remove them, and the others may get what
 * is shareable.  The messages are upstream's too, and then name the variable
 * and the module: an isolation error is found in production, far from its
 * cause.
 *
 * The constants' rule is upstream's.  What libraries may copy in spite of it: ractor/main_constant.h.
 */

#include "internal.h"
#include "internal/class.h"
#include "internal/variable.h"
#include "ractor_core.h"
#include "symbol.h"

NORETURN(static void isolation_error(const char *what, VALUE klass, ID id));

static void
isolation_error(const char *what, VALUE klass, ID id)
{
    rb_raise(rb_eRactorIsolationError, "%s (%"PRIsVALUE" from %"PRIsVALUE")",
             what, rb_id2str(id), rb_class_path(klass));
}

/* Asks again, by walking the value.  The bit may have been set meanwhile, which
 * rb_ractor_shareable_p would see without an order. */
static bool
value_shareable_p(VALUE val)
{
    return rb_value_any_ractor_p(val) || rb_ractor_shareable_p_continue(val);
}

/*
 * Called with a value of the variable +id+ of +klass+ for which
 * rb_value_any_ractor_p is false: only now is it worth finding out which Ractor
 * asks, and walking the value.  Any Ractor.  Raises Ractor::IsolationError
 * where it is not main, the variable is a plain one and the value unshareable.
 */
void
rb_class_ivar_get_check_any_ractor(VALUE klass, ID id, VALUE val)
{
    if (LIKELY(rb_ractor_main_p()) || !rb_is_instance_id(id) || value_shareable_p(val)) return;

    isolation_error("can not get unshareable values from instance variables of "
                               "classes/modules from non-main Ractors", klass, id);
}

/*
 * Called before the variable +id+ of +klass+ is set or removed.  Any Ractor.
 * Raises Ractor::IsolationError where it is not main and the variable a plain
 * one or a class variable.
 */
void
rb_class_ivar_set_check_any_ractor(VALUE klass, ID id)
{
    if (LIKELY(rb_ractor_main_p())) return;

    if (rb_is_instance_id(id)) {
        isolation_error("can not set instance variables of classes/modules "
                        "by non-main Ractors", klass, id);
    }
    if (rb_is_class_id(id)) {
        isolation_error("can not access class variables from non-main Ractors", klass, id);
    }
}

/*
 * Called with a value of the class variable +id+ of +klass+ for which
 * rb_value_any_ractor_p may be false.  Any Ractor.  Raises
 * Ractor::IsolationError where it is not main and the value unshareable.
 */
void
rb_cvar_get_check_any_ractor(VALUE klass, ID id, VALUE val)
{
    if (LIKELY(rb_ractor_main_p()) || value_shareable_p(val)) return;

    isolation_error("can not get unshareable values from class variables "
                    "from non-main Ractors", klass, id);
}

/* Whether a second Ractor is alive now, not only whether there has been one.  Any Ractor, VM lock. */
bool
rb_ractor_others_p(void)
{
    return GET_VM()->ractor.cnt > 1;
}
