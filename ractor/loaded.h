#ifndef LOCKFREE_RACTOR_LOADED_H
#define LOCKFREE_RACTOR_LOADED_H
/**********************************************************************

  ractor/loaded.h - what main has found to be loaded

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of ractor.c.
 *
 * Problem.  A Ractor that requires a file has main do it (load.h): a thread is
 * made there, and runs when main looks.  For a file that is loaded, as that of
 * `require "json"` in the block of each Ractor, this is 300 times the work.
 *
 * Solution.  When main's answer is that there is nothing to load, it keeps the
 * name, and Ractors look there first.  The answer holds as long as main would
 * come to it the same way:
 *
 *   epoch      $LOADED_FEATURES and $LOAD_PATH are as main has indexed them, by
 *              its own test for that, and it has not indexed them anew since
 *   requires   the methods that `require` runs are the same, and none of them is
 *              a program's own, which would have been called
 *   names      as they were given; those for which main looks at the index, and
 *              for "etc", while etc.so is loaded, in each folder of $LOAD_PATH for
 *              an etc.rb: so does who asks, and has main load it if there is one;
 *              if there was one, which is loaded, it is to be the first still.
 *              Not those that depend on the working directory or HOME, or that are
 *              being loaded; none while $LOAD_PATH has a folder that depends on the
 *              working directory or on a method
 *
 * An answer is never changed: main makes another, with the names of the last and
 * one more, and publishes that.  It starts anew with the LOADED_NAMES_MAX-th,
 * which bounds what is copied.
 *
 *   ractor_loaded        written by main's threads, read by all
 *   ractor_load_epoch    the same
 *   main's two lists     written by main's threads, by any method of Array; of
 *                        each, four words are compared, not followed.  That asks
 *                        for stores that are seen in the order in which they are
 *                        made, so it is for x86; elsewhere main is asked
 */

#include "internal/array.h"
#include "internal/file.h"
#include "internal/hash.h"
#include "internal/load.h"
#include "internal/object.h"
#include "internal/string.h"

enum { LOADED_NAMES_MAX = 512, LOADED_REQUIRES = 4 };

struct ractor_loaded {
    unsigned int epoch;
    const rb_callable_method_entry_t *requires[LOADED_REQUIRES];
    VALUE names; /* a hidden Hash, not changed once published: to what loaded_by_index says */
    VALUE path;  /* the folders of $LOAD_PATH, expanded, in a hidden Array */
};

static VALUE ractor_loaded; /* 0 before the first name */
static unsigned int ractor_load_epoch;

static void
ractor_loaded_mark(void *ptr)
{
    struct ractor_loaded *loaded = ptr;
    rb_gc_mark(loaded->names);
    rb_gc_mark(loaded->path);
    for (int i = 0; i < LOADED_REQUIRES; i++) rb_gc_mark((VALUE)loaded->requires[i]);
}

static const rb_data_type_t ractor_loaded_type = {
    "ractor/loaded",
    {ractor_loaded_mark, RUBY_DEFAULT_FREE, NULL},
    0, 0, RUBY_TYPED_FREE_IMMEDIATELY
};

/* main has indexed $LOADED_FEATURES or $LOAD_PATH anew, as somebody has changed it, and copies the list now: who sees the
 * copy sees the epoch.  Pairs with the fence in ractor_lists_epoch. */
void
rb_ractor_load_lists_changed(void)
{
    __atomic_store_n(&ractor_load_epoch, ractor_load_epoch + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

#if defined(__x86_64__) || defined(__i386__)
# define LOADED_STORES_IN_ORDER 1
#else
# define LOADED_STORES_IN_ORDER 0
#endif

struct array_words {
    VALUE root;
    const VALUE *ptr;
    long len;
};

/* In the opposite order of rb_ary_replace: first whether it is shared, and of which root. */
static struct array_words
array_words_load(VALUE ary)
{
    struct array_words words;
    VALUE flags = __atomic_load_n(&RBASIC(ary)->flags, __ATOMIC_ACQUIRE);
    words.root = __atomic_load_n(&RARRAY(ary)->as.heap.aux.shared_root, __ATOMIC_ACQUIRE);
    words.len = __atomic_load_n(&RARRAY(ary)->as.heap.len, __ATOMIC_ACQUIRE);
    words.ptr = __atomic_load_n(&RARRAY(ary)->as.heap.ptr, __ATOMIC_ACQUIRE);
    if ((flags & RARRAY_EMBED_FLAG) || !(flags & RARRAY_SHARED_FLAG)) words.root = 0;
    return words;
}

/* rb_ary_shared_with_p, while main changes +list+ and the copy that it was indexed by.  A list leaves its root when it is
 * written to or gets longer, since the copy has it as well; while it stays it only gets shorter.  So the root that it still
 * has at the end says that its length was one of that root's; what is put in its place has another buffer. */
static bool
array_still_shared_p(VALUE list, VALUE snapshot)
{
    struct array_words first = array_words_load(list), copy = array_words_load(snapshot), last = array_words_load(list);
    return LOADED_STORES_IN_ORDER && first.root && first.root == copy.root && first.root == last.root &&
           first.len == copy.len && first.len == last.len && first.ptr == copy.ptr && first.ptr == last.ptr;
}

/* The epoch for which main's lists are as they were indexed, or false where they are not.  Any Ractor. */
static bool
ractor_lists_epoch(unsigned int *epoch)
{
    rb_vm_t *vm = GET_VM();

    if (!array_still_shared_p(vm->loaded_features, vm->loaded_features_snapshot)) return false;
    if (!array_still_shared_p(vm->load_path, vm->load_path_snapshot)) return false;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* pairs with rb_ractor_load_lists_changed */
    *epoch = __atomic_load_n(&ractor_load_epoch, __ATOMIC_RELAXED);
    return true;
}

/* The methods that nil.require runs in main, from the first Ractor on: that which ractor.rb puts above Kernel; then
 * Kernel's, which may be RubyGems' or that of the warnings about bundled gems, and the ones that these call.  Any Ractor. */
static void
ractor_requires(const rb_callable_method_entry_t *found[LOADED_REQUIRES])
{
    ID require = rb_intern("require");

    found[0] = rb_callable_method_entry(rb_cNilClass, require);
    VALUE above = found[0] ? RCLASS_SUPER(found[0]->defined_class) : 0;
    found[1] = above ? rb_callable_method_entry(above, require) : NULL;
    found[2] = rb_callable_method_entry(CLASS_OF(rb_mKernel), rb_intern("no_warning_require"));
    found[3] = rb_callable_method_entry(rb_cNilClass, rb_intern("gem_original_require"));
}

/* RubyGems' files say that they are <internal:...>. */
static bool
path_ends_p(VALUE path, const char *end)
{
    long length = (long)strlen(end), all = RSTRING_LEN(path);
    if (all > 0 && RSTRING_PTR(path)[all - 1] == '>') all--;
    return all >= length && memcmp(RSTRING_PTR(path) + all - length, end, length) == 0;
}

/* Whether +me+ is one that Ruby comes with. */
static bool
require_known_p(const rb_callable_method_entry_t *me)
{
    const rb_method_entry_t *original = (const rb_method_entry_t *)me;
    while (original->def->type == VM_METHOD_TYPE_ALIAS) original = original->def->body.alias.original_me;
    if (original->def->type == VM_METHOD_TYPE_CFUNC) {
        return METHOD_ENTRY_BASIC(original) && original->def->original_id == rb_intern("require");
    }

    VALUE location = rb_method_entry_location(original);
    if (NIL_P(location)) return false;
    VALUE path = RARRAY_AREF(location, 0);
    return path_ends_p(path, "/rubygems/core_ext/kernel_require.rb") || path_ends_p(path, "/bundled_gems.rb") ||
           path_ends_p(path, "<internal:ractor");
}

static bool
requires_known_p(const rb_callable_method_entry_t *const found[LOADED_REQUIRES])
{
    if (!found[1]) return false;
    for (int i = 0; i < LOADED_REQUIRES; i++) {
        if (found[i] && !require_known_p(found[i])) return false;
    }
    return true;
}

/* Whether what +loaded+ has was found in that epoch, by these methods. */
static bool
loaded_holds_p(const struct ractor_loaded *loaded, unsigned int epoch,
               const rb_callable_method_entry_t *const requires[LOADED_REQUIRES])
{
    return loaded->epoch == epoch && memcmp(loaded->requires, requires, sizeof(loaded->requires)) == 0;
}

static bool
loaded_name_p(VALUE feature)
{
    return RB_TYPE_P(feature, T_STRING) && RBASIC_CLASS(feature) == rb_cString && RSTRING_LEN(feature) > 0 &&
           RSTRING_PTR(feature)[0] != '.' && RSTRING_PTR(feature)[0] != '~';
}

static bool
provided_p(VALUE name)
{
    const char *loading = NULL;
    return rb_feature_provided(StringValueCStr(name), &loading) && !loading;
}

/* The first file for +feature+ that ends in .rb in the folders of +path+, or nil: rb_find_file_ext of file.c.  Any Ractor. */
static VALUE
ruby_file_in_path(VALUE path, VALUE feature)
{
    VALUE name = rb_str_plus(feature, rb_str_new_cstr(".rb")), file = rb_str_tmp_new(MAXPATHLEN + 2);
    rb_enc_associate_index(file, rb_usascii_encindex());

    for (long i = 0; i < RARRAY_LEN(path); i++) {
        VALUE folder = RARRAY_AREF(path, i);
        if (RSTRING_LEN(folder) == 0) continue;
        rb_file_expand_path_internal(name, folder, 0, 0, file);
        if (rb_file_load_ok(RSTRING_PTR(file))) return rb_str_new_cstr(RSTRING_PTR(file));
    }
    return Qnil;
}

/* Whether main's index says that +feature+ is loaded, and require looks no further: true; else what it has to find among the
 * files that end in .rb in the folders of +path+: false for none, or the first one; else nil.  search_required of load.c. */
static VALUE
loaded_by_index(VALUE feature, VALUE path)
{
    const char *name = StringValueCStr(feature), *extension = strrchr(name, '.');

    if (extension && !strchr(extension, '/')) {
        bool known = !strcmp(extension, ".rb") || !strcmp(extension, ".so") || !strcmp(extension, DLEXT);
        return known && provided_p(feature) ? Qtrue : Qnil;
    }
    bool ruby = provided_p(rb_str_plus(feature, rb_str_new_cstr(".rb")));
    bool library = provided_p(rb_str_plus(feature, rb_str_new_cstr(".so")));
    if (!library) return ruby ? Qtrue : Qnil;
    if (rb_is_absolute_path(name)) return Qnil;
    if (!ruby) return Qfalse;

    VALUE file = ruby_file_in_path(path, feature);
    return !NIL_P(file) && provided_p(file) ? rb_fstring(file) : Qnil;
}

/* main has just found that +feature+ is loaded: keeps it, if this can be known again.  main's threads, which after the
 * first line do not switch: neither String's hash nor what is called of the lists is Ruby. */
static VALUE
ractor_loaded_add(VALUE feature)
{
    unsigned int epoch, now;
    const rb_callable_method_entry_t *requires[LOADED_REQUIRES];

    VALUE path = rb_get_expanded_load_path(); /* indexes it; for absolute names, require does not */
    if (!loaded_name_p(feature) || GET_VM()->load_path_check_cache || !ractor_lists_epoch(&epoch)) return Qnil;
    ractor_requires(requires);
    VALUE by_index = requires_known_p(requires) ? loaded_by_index(feature, path) : Qnil;
    if (NIL_P(by_index)) return Qnil;
    if (!ractor_lists_epoch(&now) || now != epoch) return Qnil;

    struct ractor_loaded *loaded, *last = ractor_loaded ? RTYPEDDATA_GET_DATA(ractor_loaded) : NULL;
    VALUE made = TypedData_Make_Struct(0, struct ractor_loaded, &ractor_loaded_type, loaded);
    loaded->epoch = epoch;
    MEMCPY(loaded->requires, requires, requires[0], LOADED_REQUIRES);
    bool more = last && loaded_holds_p(last, epoch, requires) && RHASH_SIZE(last->names) < LOADED_NAMES_MAX;
    loaded->names = rb_obj_hide(more ? rb_hash_dup(last->names) : rb_hash_new());
    loaded->path = more ? last->path : rb_obj_hide(rb_ary_new_from_values(RARRAY_LEN(path), RARRAY_CONST_PTR(path)));
    rb_hash_aset(loaded->names, rb_fstring(feature), by_index);

    if (!ractor_loaded) rb_gc_register_address(&ractor_loaded);
    __atomic_store_n(&ractor_loaded, made, __ATOMIC_RELEASE); /* pairs with ractor_loaded_p */
    return Qnil;
}

/* Whether the first file for +feature+ is the one that loaded_by_index says. */
static bool
ruby_file_in_path_p(VALUE said, VALUE path, VALUE feature)
{
    if (said == Qtrue) return true;

    VALUE file = ruby_file_in_path(path, feature);
    return NIL_P(file) ? said == Qfalse : said != Qfalse && !strcmp(RSTRING_PTR(file), RSTRING_PTR(said));
}

/* Whether main would find that +feature+ is loaded.  Any Ractor but main; false says nothing. */
static bool
ractor_loaded_p(VALUE feature)
{
    unsigned int epoch;
    const rb_callable_method_entry_t *requires[LOADED_REQUIRES];
    VALUE known = __atomic_load_n(&ractor_loaded, __ATOMIC_ACQUIRE); /* pairs with ractor_loaded_add */

    if (!known || !loaded_name_p(feature) || !ractor_lists_epoch(&epoch)) return false;
    const struct ractor_loaded *loaded = RTYPEDDATA_GET_DATA(known);
    ractor_requires(requires);
    st_data_t by_index;
    bool found = loaded_holds_p(loaded, epoch, requires) && rb_hash_stlike_lookup(loaded->names, feature, &by_index) &&
                 ruby_file_in_path_p((VALUE)by_index, loaded->path, feature);
    RB_GC_GUARD(known);
    return found;
}

#endif /* LOCKFREE_RACTOR_LOADED_H */
