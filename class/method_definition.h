#ifndef LOCKFREE_CLASS_METHOD_DEFINITION_H
#define LOCKFREE_CLASS_METHOD_DEFINITION_H
/**********************************************************************

  class/method_definition.h - who uses a method's definition

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of vm_method.c.  A definition (what the method does) is shared by the
 * entries of it: the one in the class's table, those of its aliases, and one
 * for each Method, UnboundMethod and bind.  It counts them, and is freed with
 * the last.  Any Ractor makes entries, of methods that all Ractors share, and
 * upstream counted in a bit field without a lock: increments were lost, the
 * definition was freed while in use, and freed again.
 *
 * Representation.  The count is a word of its own (upstream's layout has it
 * there already, but as a bit field), and so are the two marks that are set
 * after the entry is published.  What is left in the bit field is set before.
 *
 * Invariants.
 *   [A] Who adds a use holds an entry with a use of its own, which nobody can
 *       take away meanwhile: the count does not rise from 0, but for the first.
 *   [B] Who takes the last use frees: the collector, or a Ractor that gives an
 *       entry another definition.
 */

#include "method.h"

/* One more entry has +def+.  Any Ractor, [A].  Relaxed: the definition itself
 * was seen through the entry that has it already. */
static inline int
method_definition_count_add_relaxed(rb_method_definition_t *def)
{
    return __atomic_fetch_add(&def->reference_count, 1, __ATOMIC_RELAXED);
}

/* One entry less.  Whether it was the last.  Any Ractor.  Releases what this
 * one has done with it; the last one acquires that of the others, and may free. */
static inline bool
method_definition_count_sub_acq_rel(rb_method_definition_t *def)
{
    int before = __atomic_fetch_sub(&def->reference_count, 1, __ATOMIC_ACQ_REL);
    VM_ASSERT(before > 0);
    return before == 1;
}

/* Any Ractor.  Relaxed: they only decide whether a redefinition is warned about.
 * Read first, so that a shared word is not written at each bind. */
static inline void
method_definition_aliased_set_relaxed(rb_method_definition_t *def)
{
    if (!__atomic_load_n(&def->aliased, __ATOMIC_RELAXED)) __atomic_store_n(&def->aliased, true, __ATOMIC_RELAXED);
}

static inline void
method_definition_no_redef_warning_set_relaxed(rb_method_definition_t *def)
{
    __atomic_store_n(&def->no_redef_warning, true, __ATOMIC_RELAXED);
}

/* Gives +me+ that definition, filled before.  Any Ractor; VM lock where others
 * know +me+.  Synchronises with who loads me->def and what it points to, which
 * the machine keeps in order. */
static inline void
method_entry_definition_store_release(const rb_method_entry_t *me, rb_method_definition_t *def)
{
    __atomic_store_n((rb_method_definition_t **)&me->def, def, __ATOMIC_RELEASE);
}

/* +me+, not published yet, is an alias in +klass+ of +aliased+, and owned by that
 * class: stock said so when Ractors, and method_added, could have called it. */
static inline void
method_entry_alias_set(rb_method_entry_t *me, VALUE klass, const rb_method_entry_t *aliased)
{
    RB_OBJ_WRITE(me, &me->owner, klass);
    if (!RB_TYPE_P(klass, T_MODULE)) RB_OBJ_WRITE(me, &me->defined_class, aliased->defined_class);
}

/* Whether it is so already.  Any Ractor. */
static inline bool
method_entry_alias_is(const rb_method_entry_t *me, VALUE klass, const rb_method_entry_t *aliased)
{
    return me->owner == klass && (RB_TYPE_P(klass, T_MODULE) || me->defined_class == aliased->defined_class);
}

/* Whether +me+, found in +klass+, is the #require that the first Ractor has prepended to Kernel, and that goes on to the next one.
 * Who keeps Kernel's by an alias, and puts another in its place (Zeitwerk, Bootsnap), means the next: an alias of this has no super. */
static inline bool
method_ractor_require_p(const rb_method_entry_t *me, VALUE klass)
{
    if (klass != rb_mKernel || me->def->type != VM_METHOD_TYPE_ISEQ) return false;
    return strcmp(RSTRING_PTR(rb_iseq_path(me->def->body.iseq.iseqptr)), "<internal:ractor>") == 0;
}

/* The class that an alias of a module's method has it from is known: +original+,
 * made just now.  Any Ractor, VM lock.  Synchronises with who loads original_me
 * and what it points to, which the machine keeps in order. */
static inline void
method_entry_original_store_release(const rb_callable_method_entry_t *me, const rb_callable_method_entry_t *original)
{
    __atomic_store_n((VALUE *)&me->def->body.alias.original_me, (VALUE)original, __ATOMIC_RELEASE);
    RB_OBJ_WRITTEN(me, Qundef, original);
}

#define METHOD_DEFINITION_SERIALS 64 /* that a native thread takes at once */

/* A number that no definition had before.  Any Ractor. */
static inline uintptr_t
method_definition_next_serial_relaxed(void)
{
    static uintptr_t last;
#ifdef RB_THREAD_LOCAL_SPECIFIER
    static RB_THREAD_LOCAL_SPECIFIER uintptr_t own;

    if (own % METHOD_DEFINITION_SERIALS == 0) own = __atomic_fetch_add(&last, METHOD_DEFINITION_SERIALS, __ATOMIC_RELAXED);
    return ++own;
#else
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
#endif
}

#endif /* LOCKFREE_CLASS_METHOD_DEFINITION_H */
