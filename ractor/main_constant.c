/**********************************************************************

  ractor/main_constant.c - what main has in a constant, copied for another Ractor

  Licence: see LICENSE.

**********************************************************************/

/* What and why: ractor/main_constant.h. */

#include "internal.h"
#include "constant.h"
#include "internal/class.h"
#include "internal/hash.h"
#include "internal/object.h"
#include "internal/proc.h"
#include "internal/struct.h"
#include "internal/thread.h"
#include "internal/variable.h"
#include "lockfree/ractor/main_constant.h"
#include "ractor_core.h"
#include "ruby/encoding.h"
#include "ruby/re.h"
#include "vm_core.h"
#include "vm_sync.h"

/* What is in them, or with "=" what they have themselves.  None of it has to be one for all Ractors. */
static const char *const main_constant_libraries[] = {
    "=CGI", "CGI::Util", "=DRb", "ErrorHighlight", "Etc", "Fcntl", "FileUtils", "Gem::Requirement", "Gem::Specification", "Gem::Version",
    "GetoptLong", "Logger", "Minitest", "Net::FTP", "Net::HTTP", "Net::HTTPResponse", "Open3", "OpenURI", "=OpenSSL",
    "OptionParser", "PStore", "Pathname", "PowerAssert", "Prime", "Prism", "Psych", "RDoc", "REXML", "Rake", "RbConfig", "Reline",
    "StringIO", "URI", "UnicodeNormalize", "Zlib",
};

/* What may have to be copied: objects in each other; objects, elements, and hundreds of bytes, in all. */
#define MAIN_CONSTANT_DEPTH 64
#define MAIN_CONSTANT_SIZE 20000

struct main_constant_copying {
    VALUE known;    /* by identity, what the Ractor has a copy of; or Qfalse */
    VALUE copies;   /* the same, of what is copied now */
    VALUE later;    /* what is to be done when the others go on, five by five: what, with which copy, and three values */
    int depth;
    long left;
    bool plain;     /* Strings, Arrays and Hashes alone, of no class of their own */
    bool failed;
};

/* In that order: what a key's `hash` may look at comes first, and a Hash takes no String as a key that is not frozen.  A Hash
 * that is a key, and all that it takes to freeze it, is noted before the pair that it is the key of. */
enum main_constant_later {
    MAIN_CONSTANT_REGEXP, MAIN_CONSTANT_VARIABLE, MAIN_CONSTANT_FREEZE,
    MAIN_CONSTANT_HASH /* a pair; without a key it is frozen */
};

/* Of a Ractor, or nil: by identity, copies of objects, itself for those of which there is none, and of modules whether they are
 * in a library. */
static rb_ractor_local_key_t main_constant_key;

/* ---- a copy, while all others stand */

static VALUE main_constant_copy(struct main_constant_copying *copying, VALUE value);

static void
main_constant_later(struct main_constant_copying *copying, enum main_constant_later what, VALUE copy, VALUE a, VALUE b, VALUE c)
{
    const VALUE step[5] = { INT2FIX(what), copy, a, b, c };
    rb_ary_cat(copying->later, step, numberof(step));
}

static VALUE
main_constant_copy_string(VALUE value)
{
    VALUE copy = rb_enc_str_new(RSTRING_PTR(value), RSTRING_LEN(value), rb_enc_get(value));

    RB_GC_GUARD(value); /* its bytes may lie in its slot */
    return copy;
}

static void
main_constant_copy_elements(struct main_constant_copying *copying, VALUE copy, VALUE value)
{
    for (long i = 0; i < RARRAY_LEN(value) && !copying->failed; i++) {
        rb_ary_push(copy, main_constant_copy(copying, RARRAY_AREF(value, i)));
    }
}

static void
main_constant_copy_members(struct main_constant_copying *copying, VALUE copy, VALUE value)
{
    for (long i = 0; i < RSTRUCT_LEN(value) && !copying->failed; i++) {
        RSTRUCT_SET(copy, (int)i, main_constant_copy(copying, RSTRUCT_GET(value, (int)i)));
    }
}

struct main_constant_parts {
    struct main_constant_copying *copying;
    VALUE copy;
};

static int
main_constant_copy_pair(st_data_t key, st_data_t value, st_data_t arg)
{
    const struct main_constant_parts *parts = (const struct main_constant_parts *)arg;
    VALUE key_copy = main_constant_copy(parts->copying, key);
    VALUE copy = parts->copying->failed ? Qnil : main_constant_copy(parts->copying, value);

    main_constant_later(parts->copying, MAIN_CONSTANT_HASH, parts->copy, key_copy, copy, Qnil);
    return parts->copying->failed ? ST_STOP : ST_CONTINUE;
}

static void
main_constant_copy_pairs(struct main_constant_copying *copying, VALUE copy, VALUE value)
{
    struct main_constant_parts pairs = { copying, copy };

    RHASH_SET_IFNONE(copy, main_constant_copy(copying, RHASH_IFNONE(value)));
    if (FL_TEST_RAW(value, RHASH_PROC_DEFAULT)) FL_SET_RAW(copy, RHASH_PROC_DEFAULT);
    rb_hash_stlike_foreach(value, main_constant_copy_pair, (st_data_t)&pairs); /* counts no iteration, which could be left */
}

static int
main_constant_copy_variable(ID name, VALUE value, st_data_t arg)
{
    const struct main_constant_parts *parts = (const struct main_constant_parts *)arg;
    VALUE copy = main_constant_copy(parts->copying, value);

    main_constant_later(parts->copying, MAIN_CONSTANT_VARIABLE, parts->copy, ULL2NUM(name), copy, Qnil);
    return parts->copying->failed ? ST_STOP : ST_CONTINUE;
}

static void
main_constant_copy_variables(struct main_constant_copying *copying, VALUE copy, VALUE value)
{
    struct main_constant_parts variables = { copying, copy };
    rb_ivar_foreach(value, main_constant_copy_variable, (st_data_t)&variables);
}

static VALUE
main_constant_copy_regexp(struct main_constant_copying *copying, VALUE value)
{
    if (!RREGEXP(value)->ptr) return Qundef;

    VALUE copy = rb_reg_alloc();
    main_constant_later(copying, MAIN_CONSTANT_REGEXP, copy, main_constant_copy_string(RREGEXP_SRC(value)),
                        INT2FIX(rb_reg_options(value)), ULL2NUM(RREGEXP(value)->ptr->timelimit));
    return copy;
}

/* A Proc of Ruby that refers to no variable around it, and whose self is shareable; main's `main` is of no use to it. */
static VALUE
main_constant_copy_proc(VALUE value)
{
    const struct rb_block *block = &rb_vm_proc_ptr(value)->block;
    if (vm_block_type(block) != block_type_iseq || ISEQ_BODY(block->as.captured.code.iseq)->outer_variables) return Qundef;

    const bool mains = block->as.captured.self == rb_vm_top_self();
    if (!mains && !rb_ractor_shareable_p(block->as.captured.self)) return Qundef;

    VALUE copy = rb_proc_dup(value);
    if (mains) RB_OBJ_WRITE(copy, &rb_vm_proc_ptr(copy)->block.as.captured.self, Qnil);
    return rb_proc_ractor_make_shareable(copy);
}

/* An object like +value+, with nothing in it that is to be copied, yet; or Qundef. */
static VALUE
main_constant_allocate(struct main_constant_copying *copying, VALUE value)
{
    const VALUE klass = RBASIC_CLASS(value);

    switch (BUILTIN_TYPE(value)) {
      case T_STRING:
        return main_constant_copy_string(value);
      case T_REGEXP:
        return main_constant_copy_regexp(copying, value);
      case T_ARRAY:
        return rb_ary_new_capa(RARRAY_LEN(value));
      case T_HASH:
        return RTEST(rb_hash_compare_by_id_p(value)) ? rb_ident_hash_new() : rb_hash_new();
      case T_STRUCT:
        return rb_struct_alloc_noinit(klass);
      case T_OBJECT:
        return rb_get_alloc_func(klass) == rb_class_allocate_instance ? rb_class_allocate_instance(klass) : Qundef;
      case T_DATA:
        if (rb_obj_is_proc(value)) return main_constant_copy_proc(value);
        if (rb_obj_is_mutex(value)) return rb_mutex_new();
        /* fall through */
      default:
        return Qundef;
    }
}

static void
main_constant_fill(struct main_constant_copying *copying, VALUE copy, VALUE value)
{
    switch (BUILTIN_TYPE(value)) {
      case T_ARRAY:
        main_constant_copy_elements(copying, copy, value);
        break;
      case T_HASH:
        main_constant_copy_pairs(copying, copy, value);
        break;
      case T_STRUCT:
        main_constant_copy_members(copying, copy, value);
        break;
      default:
        break;
    }
    if (!rb_obj_is_proc(copy)) main_constant_copy_variables(copying, copy, value); /* it is shareable */
    if (OBJ_FROZEN(value)) {
        main_constant_later(copying, RB_TYPE_P(value, T_HASH) ? MAIN_CONSTANT_HASH : MAIN_CONSTANT_FREEZE, copy, Qundef, Qnil, Qnil);
    }
}

/* How much it is. */
static long
main_constant_size(VALUE value)
{
    switch (BUILTIN_TYPE(value)) {
      case T_STRING:
        return 1 + RSTRING_LEN(value) / 100;
      case T_ARRAY:
        return 1 + RARRAY_LEN(value);
      case T_HASH:
        return 1 + 2 * (long)RHASH_SIZE(value);
      default:
        return 1;
    }
}

/* What the Ractor is to have for +value+; or anything, and it has failed. */
static VALUE
main_constant_copy(struct main_constant_copying *copying, VALUE value)
{
    VALUE copy;

    if (copying->failed || rb_ractor_shareable_p(value)) return value;
    if (copying->known && !UNDEF_P(copy = rb_hash_lookup2(copying->known, value, Qundef)) && copy != copying->known) return copy;
    if (!UNDEF_P(copy = rb_hash_lookup2(copying->copies, value, Qundef))) return copy;

    const VALUE klass = value == rb_get_argv() ? rb_cArray : RBASIC_CLASS(value); /* which OptionParser extends */
    if (!klass || RCLASS_SINGLETON_P(klass) || copying->depth >= MAIN_CONSTANT_DEPTH || (copying->left -= main_constant_size(value)) < 0 ||
        (copying->plain && klass != rb_cString && klass != rb_cArray && klass != rb_cHash) ||
        UNDEF_P(copy = main_constant_allocate(copying, value))) {
        copying->failed = true;
        return Qnil;
    }
    if (RBASIC_CLASS(copy) != klass) RBASIC_SET_CLASS(copy, klass);
    rb_hash_aset(copying->copies, value, copy);

    copying->depth++;
    main_constant_fill(copying, copy, value);
    copying->depth--;
    return copy;
}

/* Which main_constant_finish is to finish; or Qundef. */
static VALUE
main_constant_begin(struct main_constant_copying *copying, VALUE value)
{
    copying->copies = rb_obj_hide(rb_ident_hash_new());
    copying->later = rb_ary_hidden_new(0);
    copying->left = MAIN_CONSTANT_SIZE;
    VALUE copy = main_constant_copy(copying, value);

    return copying->failed ? Qundef : copy;
}

static void
main_constant_do(enum main_constant_later what, VALUE copy, VALUE a, VALUE b, VALUE c)
{
    switch (what) {
      case MAIN_CONSTANT_REGEXP:
        rb_reg_init_str(copy, a, FIX2INT(b));
        RREGEXP(copy)->ptr->timelimit = NUM2ULL(c);
        break;
      case MAIN_CONSTANT_VARIABLE:
        rb_ivar_set(copy, (ID)NUM2ULL(a), b);
        break;
      case MAIN_CONSTANT_FREEZE:
        OBJ_FREEZE(copy);
        break;
      case MAIN_CONSTANT_HASH:
        if (UNDEF_P(a)) OBJ_FREEZE(copy);
        else rb_hash_aset(copy, a, b);
        break;
    }
}

/* When the others go on: what may call methods, such as a key's `hash`, or warn. */
static void
main_constant_finish(const struct main_constant_copying *copying)
{
    const VALUE later = copying->later;

    for (int what = MAIN_CONSTANT_REGEXP; what <= MAIN_CONSTANT_HASH; what++) {
        for (long i = 0; i < RARRAY_LEN(later); i += 5) {
            if (RARRAY_AREF(later, i) != INT2FIX(what)) continue;
            main_constant_do(what, RARRAY_AREF(later, i + 1), RARRAY_AREF(later, i + 2), RARRAY_AREF(later, i + 3), RARRAY_AREF(later, i + 4));
        }
    }
    RB_GC_GUARD(copying->later);
}

/* ---- as it is now */

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

struct main_constant_hash {
    struct main_constant_copying copying;
    VALUE copy;
};

static void
main_constant_begin_hash(VALUE value, void *arg)
{
    struct main_constant_hash *hash = arg;
    if (RB_TYPE_P(value, T_HASH)) hash->copy = main_constant_begin(&hash->copying, value);
}

VALUE
rb_ractor_constant_hash(VALUE module, ID name)
{
    struct main_constant_hash hash = { .copying = { .known = Qfalse, .plain = true }, .copy = Qundef };

    if (!rb_ractor_main_p()) rb_ractor_with_constant(module, name, main_constant_begin_hash, &hash);
    if (UNDEF_P(hash.copy)) return rb_const_get(module, name);

    main_constant_finish(&hash.copying);
    return hash.copy;
}

/* ---- each Ractor's own */

/* Whether +module+ is what its +path+ names. */
static bool
main_constant_at_p(VALUE module, VALUE path)
{
    const char *from = RSTRING_PTR(path), *end = RSTRING_END(path);
    VALUE at = rb_cObject;

    while (from < end) {
        const char *colon = memchr(from, ':', end - from);
        const long len = (colon ? colon : end) - from;
        ID name = rb_check_id_cstr(from, len, rb_enc_get(path));
        const rb_const_entry_t *ce = name ? rb_const_lookup(at, name) : NULL;

        at = ce ? __atomic_load_n(&ce->value, __ATOMIC_ACQUIRE) : Qundef; /* setup_const_entry */
        if (SPECIAL_CONST_P(at) || !(RB_TYPE_P(at, T_CLASS) || RB_TYPE_P(at, T_MODULE))) return false;
        from = colon ? colon + 2 : end;
    }
    RB_GC_GUARD(path);
    return at == module;
}

/* Whether +module+ is one of the libraries, or in one, by its name. */
static bool
main_constant_named_p(VALUE module)
{
    VALUE path = rb_class_path(module);

    for (size_t i = 0; i < numberof(main_constant_libraries); i++) {
        const bool itself = main_constant_libraries[i][0] == '=';
        const char *library = main_constant_libraries[i] + itself;
        const long len = (long)strlen(library);
        if (RSTRING_LEN(path) < len || memcmp(RSTRING_PTR(path), library, len) != 0) continue;
        if (RSTRING_LEN(path) == len || (RSTRING_PTR(path)[len] == ':' && !itself)) return main_constant_at_p(module, path);
    }
    return false;
}

/* The same, noted in +known+. */
static bool
main_constant_library_p(VALUE known, VALUE module)
{
    VALUE noted = rb_hash_lookup2(known, module, Qundef);

    if (UNDEF_P(noted)) {
        noted = RBOOL(main_constant_named_p(module));
        if (RTEST(noted)) rb_hash_aset(known, module, noted); /* else it may yet get its name */
    }
    return RTEST(noted);
}

/* The module of those that +klass+ inherits from where rb_const_search_from finds +name+, or Qfalse. */
static VALUE
main_constant_above(VALUE klass, ID name)
{
    for (VALUE at = klass; at; at = rb_class_super_load_acquire(at)) {
        if (at != klass && RCLASS_ORIGIN(at) != at) continue; /* its constants are its origin's turn */
        VALUE module = RB_TYPE_P(at, T_ICLASS) ? RBASIC_CLASS(at) : at;
        if (rb_const_lookup(module, name)) return module;
    }
    return Qfalse;
}

/* Where rb_const_search finds it. */
static VALUE
main_constant_owner(VALUE module, ID name)
{
    VALUE owner = main_constant_above(module, name);
    return owner || !RB_TYPE_P(module, T_MODULE) ? owner : main_constant_above(rb_cObject, name);
}

static int
main_constant_keep(VALUE value, VALUE copy, VALUE known)
{
    if (UNDEF_P(rb_hash_lookup2(known, value, Qundef))) rb_hash_aset(known, value, copy);
    return ST_CONTINUE;
}

static VALUE
main_constant_known(void)
{
    VALUE known = rb_ractor_local_storage_value(main_constant_key);

    if (NIL_P(known)) {
        known = rb_obj_hide(rb_ident_hash_new());
        rb_ractor_local_storage_value_set(main_constant_key, known);
    }
    return known;
}

/* A copy of +value+ that is +known+ from then on; +known+ itself, if there is none. */
static VALUE
main_constant_copy_and_keep(VALUE known, VALUE value)
{
    struct main_constant_copying copying = { .known = known };
    VALUE copy;

    RB_VM_LOCK_ENTER();
    {
        rb_vm_barrier();
        copy = main_constant_begin(&copying, value);
    }
    RB_VM_LOCK_LEAVE();

    if (UNDEF_P(copy)) {
        rb_hash_aset(known, value, known);
    }
    else {
        main_constant_finish(&copying); /* another thread may come in between: the first one stays */
        if (UNDEF_P(rb_hash_lookup2(known, value, Qundef))) rb_hash_foreach(copying.copies, main_constant_keep, known);
    }
    RB_GC_GUARD(copying.copies);
    return rb_hash_lookup2(known, value, known);
}

VALUE
rb_ractor_library_constant(VALUE module, ID name, VALUE value)
{
    VALUE known = main_constant_known(), owner = main_constant_owner(module, name);
    if (owner == rb_cObject && name == rb_intern("ARGV")) owner = module; /* of who asks for it there */
    if (!owner || !main_constant_library_p(known, owner)) return Qundef;

    VALUE copy = rb_hash_lookup2(known, value, Qundef);
    if (UNDEF_P(copy)) copy = main_constant_copy_and_keep(known, value);
    if (copy == known) return Qundef;

    GET_RACTOR()->own_constant_cnt++;
    return copy;
}

void
Init_ractor_main_constant(void)
{
    main_constant_key = rb_ractor_local_storage_value_newkey();
}
