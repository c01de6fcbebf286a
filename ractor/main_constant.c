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

#define MAIN_CONSTANT_REGEXP 5 /* elements of regexps for each */

struct main_constant_copying {
    VALUE known;    /* by identity, what the Ractor has a copy of; or Qfalse */
    VALUE copies;   /* the same, of what is copied now */
    VALUE regexps;  /* of each copy that is to be compiled: it, source, options, timeout, whether it is frozen; or Qfalse */
    int depth;
    long left;
    bool plain;     /* Strings, Arrays and Hashes alone, of no class of their own */
    bool failed;
};

/* Of a Ractor, or nil: by identity, copies of objects, itself for those of which there is none, and of modules whether they are
 * in a library. */
static rb_ractor_local_key_t main_constant_key;

/* ---- a copy, while all others stand */

static VALUE main_constant_copy(struct main_constant_copying *copying, VALUE value);

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

/* Whether a Hash finds +key+ without a method of Ruby's being called. */
static bool
main_constant_plain_key_p(VALUE key)
{
    if (!SPECIAL_CONST_P(key)) {
        switch (BUILTIN_TYPE(key)) {
          case T_STRING:
            if (RBASIC_CLASS(key) != rb_cString) return false;
            break;
          case T_REGEXP:
            if (!rb_ractor_shareable_p(key)) return false; /* else it is yet to be compiled */
            break;
          case T_SYMBOL:
          case T_BIGNUM:
          case T_FLOAT:
          case T_CLASS:
          case T_MODULE:
            break;
          default:
            return false;
        }
    }
    return rb_method_basic_definition_p(CLASS_OF(key), idHash) && rb_method_basic_definition_p(CLASS_OF(key), idEqlP);
}

struct main_constant_pairs {
    struct main_constant_copying *copying;
    VALUE copy;
    bool by_identity;
};

static int
main_constant_copy_pair(VALUE key, VALUE value, VALUE arg)
{
    const struct main_constant_pairs *pairs = (const struct main_constant_pairs *)arg;

    if (!pairs->by_identity && !main_constant_plain_key_p(key)) pairs->copying->failed = true;
    VALUE key_copy = pairs->copying->failed ? Qnil : main_constant_copy(pairs->copying, key);
    VALUE value_copy = pairs->copying->failed ? Qnil : main_constant_copy(pairs->copying, value);
    if (pairs->copying->failed) return ST_STOP;

    rb_hash_aset(pairs->copy, key_copy, value_copy);
    return ST_CONTINUE;
}

static void
main_constant_copy_pairs(struct main_constant_copying *copying, VALUE copy, VALUE value)
{
    struct main_constant_pairs pairs = { copying, copy, RTEST(rb_hash_compare_by_id_p(value)) };

    RHASH_SET_IFNONE(copy, main_constant_copy(copying, RHASH_IFNONE(value)));
    if (FL_TEST_RAW(value, RHASH_PROC_DEFAULT)) FL_SET_RAW(copy, RHASH_PROC_DEFAULT);
    rb_hash_foreach(value, main_constant_copy_pair, (VALUE)&pairs);
}

struct main_constant_variables {
    struct main_constant_copying *copying;
    VALUE copy;
};

static int
main_constant_copy_variable(ID name, VALUE value, st_data_t arg)
{
    const struct main_constant_variables *variables = (const struct main_constant_variables *)arg;
    VALUE copy = main_constant_copy(variables->copying, value);

    if (variables->copying->failed) return ST_STOP;
    rb_ivar_set(variables->copy, name, copy);
    return ST_CONTINUE;
}

static void
main_constant_copy_variables(struct main_constant_copying *copying, VALUE copy, VALUE value)
{
    struct main_constant_variables variables = { copying, copy };
    rb_ivar_foreach(value, main_constant_copy_variable, (st_data_t)&variables);
}

/* A Regexp that main_constant_compile makes one like +value+: that may warn, which is a method of Ruby's. */
static VALUE
main_constant_copy_regexp(struct main_constant_copying *copying, VALUE value)
{
    if (!RREGEXP(value)->ptr) return Qundef;

    VALUE copy = rb_reg_alloc();
    if (!copying->regexps) copying->regexps = rb_ary_hidden_new(MAIN_CONSTANT_REGEXP);
    rb_ary_push(copying->regexps, copy);
    rb_ary_push(copying->regexps, main_constant_copy_string(RREGEXP_SRC(value)));
    rb_ary_push(copying->regexps, INT2FIX(rb_reg_options(value)));
    rb_ary_push(copying->regexps, ULL2NUM(RREGEXP(value)->ptr->timelimit));
    rb_ary_push(copying->regexps, RBOOL(OBJ_FROZEN(value)));
    return copy;
}

/* When the others go on. */
static void
main_constant_compile(VALUE regexps)
{
    for (long i = 0; regexps && i < RARRAY_LEN(regexps); i += MAIN_CONSTANT_REGEXP) {
        VALUE copy = RARRAY_AREF(regexps, i);

        rb_reg_init_str(copy, RARRAY_AREF(regexps, i + 1), FIX2INT(RARRAY_AREF(regexps, i + 2)));
        RREGEXP(copy)->ptr->timelimit = NUM2ULL(RARRAY_AREF(regexps, i + 3));
        if (RTEST(RARRAY_AREF(regexps, i + 4))) OBJ_FREEZE(copy);
    }
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
    if (!rb_ractor_shareable_p(copy)) main_constant_copy_variables(copying, copy, value);
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

    if (rb_ractor_shareable_p(value)) return value;
    if (copying->known && !UNDEF_P(copy = rb_hash_lookup2(copying->known, value, Qundef))) return copy;
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
    if (OBJ_FROZEN(value) && !RB_TYPE_P(value, T_REGEXP)) OBJ_FREEZE(copy);
    return copy;
}

/* All of it, or Qundef. */
static VALUE
main_constant_copy_all(struct main_constant_copying *copying, VALUE value)
{
    copying->copies = rb_obj_hide(rb_ident_hash_new());
    copying->left = MAIN_CONSTANT_SIZE;
    VALUE copy = main_constant_copy(copying, value);

    return copying->failed ? Qundef : copy;
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

static void
main_constant_copy_hash(VALUE value, void *copy)
{
    struct main_constant_copying copying = { .known = Qfalse, .plain = true };
    if (RB_TYPE_P(value, T_HASH)) *(VALUE *)copy = main_constant_copy_all(&copying, value);
}

VALUE
rb_ractor_constant_hash(VALUE module, ID name)
{
    VALUE copy = Qundef;

    if (!rb_ractor_main_p()) rb_ractor_with_constant(module, name, main_constant_copy_hash, &copy);
    return UNDEF_P(copy) ? rb_const_get(module, name) : copy;
}

/* ---- each Ractor's own */

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
        if (RSTRING_LEN(path) == len || (RSTRING_PTR(path)[len] == ':' && !itself)) return true;
    }
    RB_GC_GUARD(path);
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

/* The module where the constant was found, which may be looked up in a class that inherits from it, or includes it. */
static VALUE
main_constant_owner(VALUE module, ID name)
{
    for (VALUE klass = module; klass; klass = rb_class_super_load_acquire(klass)) {
        if (rb_const_lookup(klass, name)) return RB_TYPE_P(klass, T_ICLASS) ? RBASIC_CLASS(klass) : klass;
    }
    return rb_cObject; /* where one that is looked up in a module may be */
}

static int
main_constant_keep(VALUE value, VALUE copy, VALUE known)
{
    rb_hash_aset(known, value, copy);
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
        copy = main_constant_copy_all(&copying, value);
    }
    RB_VM_LOCK_LEAVE();

    if (UNDEF_P(copy)) {
        rb_hash_aset(known, value, copy = known);
    }
    else {
        main_constant_compile(copying.regexps);
        rb_hash_foreach(copying.copies, main_constant_keep, known);
    }
    RB_GC_GUARD(copying.copies);
    RB_GC_GUARD(copying.regexps);
    return copy;
}

VALUE
rb_ractor_library_constant(VALUE module, ID name, VALUE value)
{
    VALUE known = main_constant_known(), owner = main_constant_owner(module, name);
    if (owner == rb_cObject && name == rb_intern("ARGV")) owner = module; /* of who asks for it there */
    if (!main_constant_library_p(known, owner)) return Qundef;

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
