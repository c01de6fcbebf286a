/**********************************************************************

  ractor.c - which Ractor may do what with the variables of a class, and gets what of main's constants

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
#include "constant.h"
#include "internal/class.h"
#include "internal/hash.h"
#include "internal/variable.h"
#include "lockfree/ractor/main_constant.h"
#include "ractor_core.h"
#include "ruby/encoding.h"
#include "symbol.h"
#include "vm_sync.h"

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

/* What a constant may have to be copied: Arrays and Hashes in each other; elements, and objects that are copied, in all, where
 * one that is met twice counts twice. */
#define MAIN_CONSTANT_DEPTH 16
#define MAIN_CONSTANT_OBJECTS 10000

struct main_constant_copy {
    VALUE hash; /* into which pairs are copied, or Qundef: there is no copy */
    int depth;
    int *left;
};

bool
rb_ractor_with_constant(VALUE module, ID name, void (*func)(VALUE, void *), void *arg)
{
    bool found = false;

    RB_VM_LOCK_ENTER();
    {
        rb_vm_barrier();
        const rb_const_entry_t *ce = rb_const_lookup(module, name);
        if (ce && !UNDEF_P(ce->value)) {
            found = true;
            func(ce->value, arg);
        }
    }
    RB_VM_LOCK_LEAVE();
    return found;
}

static int main_constant_copy_pair(VALUE key, VALUE value, VALUE arg);

/* A copy of +value+, or Qundef.  All others stand: what has methods of its own, by its class or singleton class, is not asked
 * anything, and there is no copy that would lack them. */
static VALUE
main_constant_copy(VALUE value, int depth, int *left)
{
    if (rb_ractor_shareable_p(value)) return value;
    if (depth > MAIN_CONSTANT_DEPTH || --*left < 0) return Qundef;

    const VALUE klass = RBASIC_CLASS(value);
    if (klass == rb_cString) {
        VALUE copy = rb_enc_str_new(RSTRING_PTR(value), RSTRING_LEN(value), rb_enc_get(value));

        RB_GC_GUARD(value); /* its bytes may lie in its slot */
        return copy;
    }
    if (klass == rb_cArray) {
        if (RARRAY_LEN(value) > *left) return Qundef;
        *left -= (int)RARRAY_LEN(value);
        VALUE copy = rb_ary_new_capa(RARRAY_LEN(value));

        for (long i = 0; i < RARRAY_LEN(value); i++) {
            VALUE element = main_constant_copy(RARRAY_AREF(value, i), depth + 1, left);
            if (UNDEF_P(element)) return Qundef;
            rb_ary_push(copy, element);
        }
        return copy;
    }
    if (klass == rb_cHash && !FL_TEST_RAW(value, RHASH_PROC_DEFAULT) && !RTEST(rb_hash_compare_by_id_p(value))) {
        struct main_constant_copy copy = { rb_hash_new(), depth, left };

        if (!rb_ractor_shareable_p(RHASH_IFNONE(value))) return Qundef;
        RHASH_SET_IFNONE(copy.hash, RHASH_IFNONE(value));
        rb_hash_foreach(value, main_constant_copy_pair, (VALUE)&copy);
        return copy.hash;
    }
    return Qundef;
}

static int
main_constant_copy_pair(VALUE key, VALUE value, VALUE arg)
{
    struct main_constant_copy *into = (struct main_constant_copy *)arg;
    const bool plain_key = STATIC_SYM_P(key) || (!SPECIAL_CONST_P(key) &&
        (RBASIC_CLASS(key) == rb_cString || RBASIC_CLASS(key) == rb_cSymbol));
    VALUE key_copy = plain_key ? main_constant_copy(key, into->depth + 1, into->left) : Qundef;
    VALUE copy = UNDEF_P(key_copy) ? Qundef : main_constant_copy(value, into->depth + 1, into->left);

    if (UNDEF_P(copy) || --*into->left < 0) {
        into->hash = Qundef;
        return ST_STOP;
    }
    rb_hash_aset(into->hash, key_copy, copy);
    return ST_CONTINUE;
}

static void
main_constant_copy_hash(VALUE value, void *copy)
{
    int left = MAIN_CONSTANT_OBJECTS;

    if (RB_TYPE_P(value, T_HASH)) *(VALUE *)copy = main_constant_copy(value, 0, &left);
}

VALUE
rb_ractor_constant_hash(VALUE module, ID name)
{
    VALUE copy = Qundef;

    if (!rb_ractor_main_p()) rb_ractor_with_constant(module, name, main_constant_copy_hash, &copy);
    return UNDEF_P(copy) ? rb_const_get(module, name) : copy;
}
