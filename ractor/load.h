#ifndef LOCKFREE_RACTOR_LOAD_H
#define LOCKFREE_RACTOR_LOAD_H
/**********************************************************************

  ractor/load.h - have main load a file, and wait for it

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of ractor.c.
 *
 * Problem.  A Ractor that requires a file, or meets a constant that is loaded at
 * its first use, has main do it, in a new thread.  Upstream hands that thread
 * the address of what it is to do on the waiting thread's stack, and a Ractor
 * for the answer: when the waiting thread is killed meanwhile, main's writes
 * into a stack that is another one's, or no more.  Module#autoload itself takes
 * a Mutex and changes tables that are main's threads' alone.
 *
 * Solution.  What is to be done is an object, of which each side has its own
 * reference; the answer is left in it.  Who waits sleeps outside of Ruby until
 * it is there, and can be interrupted: then nobody reads the answer, and the
 * loading goes on.  Module#autoload and #autoload? are done by main as well; it
 * looks through its $LOAD_PATH, and for Kernel#gets takes names out of ARGV.
 *
 * The files that a Ractor loads itself have a self that is its own: main's `main`
 * is an object like others, with main's variables.
 *
 *   asked          written by who asks, before main knows of it; afterwards by
 *                  main's thread; read by who asks when done: under +lock+ each
 *   done, woken    under +lock+
 *
 * The object is alive while it is on a stack, in a task of main's thread
 * (rb_interrupt_exec_flag_value_data), or in ractor_loads, which is main's alone.
 */

#include "internal/class.h"
#include "internal/eval.h"
#include "internal/object.h"
#include "lockfree/ractor/loaded.h"

extern ID ruby_static_id_cause; /* eval.c */
int rb_require_internal_silent(VALUE fname); /* load.c */

struct ractor_load {
    rb_nativethread_lock_t lock;
    rb_nativethread_cond_t cond;
    bool done, woken;
    VALUE (*body)(VALUE);
    struct cross_ractor_require asked;
};

static VALUE ractor_loads; /* of main: keys are what its threads load for others */

static void
ractor_load_mark(void *ptr)
{
    struct ractor_load *load = ptr;
    rb_gc_mark_locations((VALUE *)&load->asked, (VALUE *)(&load->asked + 1));
}

/* The lock and the condition are not destroyed: after a fork they may be those of a thread that is no more. */
static const rb_data_type_t ractor_load_type = {
    "ractor/load",
    {ractor_load_mark, RUBY_DEFAULT_FREE, NULL},
    0, 0, RUBY_TYPED_FREE_IMMEDIATELY
};

static VALUE
ractor_load_run(VALUE self)
{
    struct ractor_load *load = RTYPEDDATA_GET_DATA(self);
    ractor_require_protect(&load->asked, load->body);
    return Qnil;
}

/* Also if the thread is killed, with neither result nor exception. */
static VALUE
ractor_load_answer(VALUE self)
{
    struct ractor_load *load = RTYPEDDATA_GET_DATA(self);

    rb_native_mutex_lock(&load->lock);
    load->done = true;
    rb_native_cond_signal(&load->cond);
    rb_native_mutex_unlock(&load->lock);
    if (ractor_loads) rb_hash_delete(ractor_loads, self);
    return Qnil;
}

/* In a thread of main. */
static VALUE
ractor_load_thread(void *self)
{
    return rb_ensure(ractor_load_run, (VALUE)self, ractor_load_answer, (VALUE)self);
}

static VALUE
ractor_load_create_thread(VALUE self)
{
    if (!ractor_loads) {
        VALUE loads = rb_obj_hide(rb_ident_hash_new());
        rb_vm_register_global_object(loads);
        ractor_loads = loads;
    }
    rb_hash_aset(ractor_loads, self, Qtrue);
    return rb_thread_create(ractor_load_thread, (void *)self);
}

/* In main's main thread, wherever it looks for interrupts. */
static VALUE
ractor_load_start(void *self)
{
    int state;
    VALUE errinfo = GET_EC()->errinfo; // no exception, perhaps: main may be ending
    rb_protect(ractor_load_create_thread, (VALUE)self, &state);
    if (state) { // no memory, too many threads, or a frozen ThreadGroup: nothing that main does
        GET_EC()->errinfo = errinfo;
        ractor_load_answer((VALUE)self);
    }
    return Qnil;
}

/* Without the GVL. */
static void *
ractor_load_sleep(void *ptr)
{
    struct ractor_load *load = ptr;

    rb_native_mutex_lock(&load->lock);
    while (!load->done && !load->woken) rb_native_cond_wait(&load->cond, &load->lock);
    load->woken = false;
    bool done = load->done;
    rb_native_mutex_unlock(&load->lock);
    return done ? load : NULL;
}

static void
ractor_load_wake(void *ptr)
{
    struct ractor_load *load = ptr;

    rb_native_mutex_lock(&load->lock);
    load->woken = true;
    rb_native_cond_signal(&load->cond);
    rb_native_mutex_unlock(&load->lock);
}

static VALUE
load_nothing(VALUE data, VALUE errinfo)
{
    return Qundef;
}

/* What +func+ makes of +value+, or Qundef if it raises. */
static VALUE
load_try(VALUE (*func)(VALUE), VALUE value)
{
    return rb_rescue2(func, value, load_nothing, Qnil, rb_eException, (VALUE)0);
}

struct load_copying {
    VALUE copies; /* by identity, the copy of what has been copied */
    VALUE value;
};

static VALUE load_copy_exception(VALUE copies, VALUE exception);

static VALUE
load_copy_body(VALUE data)
{
    const struct load_copying *copying = (const struct load_copying *)data;
    if (rb_obj_is_kind_of(copying->value, rb_eException)) return load_copy_exception(copying->copies, copying->value);
    return ractor_copy(copying->value);
}

/* Another Ractor's +value+; Qundef where it cannot have one, as of the code that raised. */
static VALUE
load_copy(VALUE copies, VALUE value)
{
    struct load_copying copying = { copies, value };
    VALUE copy = rb_hash_lookup2(copies, value, Qundef);

    if (UNDEF_P(copy)) {
        copy = load_try(load_copy_body, (VALUE)&copying);
        if (!UNDEF_P(copy)) rb_hash_aset(copies, value, copy);
    }
    return copy;
}

static VALUE
load_copy_as_string(VALUE copies, VALUE value)
{
    VALUE string = load_try(rb_String, value);
    return UNDEF_P(string) ? Qnil : load_copy(copies, string);
}

/* Of the variable +name+ of +exception+. */
static VALUE
load_copy_variable(VALUE copies, VALUE exception, ID name, VALUE value)
{
    if (name == idBt) {
        VALUE strings = load_try(rb_get_backtrace, exception);
        return UNDEF_P(strings) ? Qnil : load_copy(copies, strings);
    }
    if (name == idBt_locations) return Qnil;

    bool has_mains_object = name == idMesg && RB_TYPE_P(value, T_DATA);
    VALUE copy = has_mains_object ? Qundef : load_copy(copies, value);
    if (!UNDEF_P(copy)) return copy;
    if (name == idMesg) return load_copy_as_string(copies, value);
    return name == ruby_static_id_cause ? Qnil : Qundef;
}

static int
load_note_variable(ID name, VALUE value, st_data_t noted)
{
    rb_ary_push((VALUE)noted, ULL2NUM(name));
    rb_ary_push((VALUE)noted, value);
    return ST_CONTINUE;
}

/* As rb_obj_clone does: what it was extended by, and its own methods, for which +method_added+ may raise. */
static VALUE
load_copy_singleton_class(VALUE from_to)
{
    const VALUE *objects = (const VALUE *)from_to;
    return rb_singleton_class_clone_and_attach(objects[0], objects[1]);
}

static VALUE
load_copy_exception(VALUE copies, VALUE exception)
{
    if (rb_ractor_shareable_p(exception)) return exception;

    VALUE noted = rb_ary_hidden_new(16), copy = rb_obj_alloc(rb_obj_class(exception));
    rb_hash_aset(copies, exception, copy);
    rb_ivar_foreach(exception, load_note_variable, (st_data_t)noted);
    for (long i = 0; i < RARRAY_LEN(noted); i += 2) {
        ID name = (ID)NUM2ULL(RARRAY_AREF(noted, i));
        VALUE value = load_copy_variable(copies, exception, name, RARRAY_AREF(noted, i + 1));
        if (!UNDEF_P(value)) rb_ivar_set(copy, name, value);
    }
    RB_GC_GUARD(noted);

    const VALUE from_to[2] = {exception, copy};
    VALUE class = load_try(load_copy_singleton_class, (VALUE)from_to);
    if (!UNDEF_P(class)) {
        RBASIC_SET_CLASS(copy, class);
        if (RCLASS_SINGLETON_P(class)) rb_singleton_class_attached(class, copy);
    }
    if (OBJ_FROZEN(exception)) OBJ_FREEZE(copy);
    return copy;
}

static VALUE
load_describe(VALUE exception)
{
    return rb_sprintf("%"PRIsVALUE": %"PRIsVALUE, rb_class_path(rb_obj_class(exception)), exception);
}

/* Of +exception+, which a thread of main has rescued, a copy for another Ractor: with where it was raised, which
 * ractor_copy loses, as Strings, and without what cannot be copied, for which ractor_copy raises.  A NameError knows the
 * code that raised it.  Each variable is copied by itself: what two have in their depths is two objects then.  If it has
 * no copy at all, since its class's +allocate+ or memory does not let it, a RuntimeError says what it was. */
static VALUE
ractor_load_exception(VALUE exception)
{
    VALUE copy = load_copy(rb_obj_hide(rb_ident_hash_new()), exception);
    if (!UNDEF_P(copy)) return copy;

    VALUE description = load_try(load_describe, exception);
    return rb_exc_new_str(rb_eRuntimeError, UNDEF_P(description) ? rb_class_path(rb_obj_class(exception)) : description);
}

/* Has main run +body+ with a copy of +asked+, and returns the result, or raises the exception, that it leaves there.
 * Any Ractor but main. */
static VALUE
ractor_load_in_main(VALUE (*body)(VALUE), const struct cross_ractor_require *asked)
{
    struct ractor_load *load;
    VALUE self = TypedData_Make_Struct(0, struct ractor_load, &ractor_load_type, load);
    rb_native_mutex_initialize(&load->lock);
    rb_native_cond_initialize(&load->cond);
    load->body = body;
    load->asked = *asked;

    rb_threadptr_interrupt_exec(GET_VM()->ractor.main_ractor->threads.main, ractor_load_start, (void *)self,
                                rb_interrupt_exec_flag_value_data);
    while (!rb_nogvl(ractor_load_sleep, load, ractor_load_wake, load, 0)) RUBY_VM_CHECK_INTS(GET_EC());

    VALUE result = load->asked.result, exception = load->asked.exception;
    RB_GC_GUARD(self);
    if (!UNDEF_P(exception)) rb_exc_raise(exception);
    if (UNDEF_P(result)) rb_raise(rb_eThreadError, "the main Ractor's thread that was to load it was killed, or not made");
    return result;
}

static VALUE
require_unless_loaded_body(VALUE data)
{
    struct cross_ractor_require *crr = (struct cross_ractor_require *)data;
    require_body(data);
    if (crr->result == Qfalse) load_try(ractor_loaded_add, crr->feature);
    return Qnil;
}

static VALUE
require_silent_body(VALUE data)
{
    struct cross_ractor_require *crr = (struct cross_ractor_require *)data;
    crr->result = INT2FIX(rb_require_internal_silent(crr->feature));
    rb_set_errinfo(Qnil);
    return Qnil;
}

/* What rb_require_internal_silent returns, as an Integer: no `require` of the program, or of RubyGems, is told.  Any Ractor but
 * main. */
VALUE
rb_ractor_require_silent(VALUE feature)
{
    struct cross_ractor_require crr = {.feature = feature, .result = Qundef, .exception = Qundef};
    return ractor_load_in_main(require_silent_body, &crr);
}

static VALUE
autoload_set_body(VALUE data)
{
    struct cross_ractor_require *crr = (struct cross_ractor_require *)data;
    rb_autoload_str(crr->module, crr->name, crr->feature);
    crr->result = Qnil;
    return Qnil;
}

/* Module#autoload, from any Ractor but main. */
void
rb_ractor_autoload_set(VALUE module, ID name, VALUE feature)
{
    struct cross_ractor_require crr = {
        .feature = rb_str_new_frozen(feature), .module = module, .name = name, .result = Qundef, .exception = Qundef,
    };
    ractor_load_in_main(autoload_set_body, &crr);
}

static VALUE
autoload_p_body(VALUE data)
{
    struct cross_ractor_require *crr = (struct cross_ractor_require *)data;
    crr->result = rb_autoload_at_p(crr->module, crr->name, FALSE);
    return Qnil;
}

/* The file that the constant +name+ of +module+ itself will be loaded from, or nil.  Any Ractor but main. */
VALUE
rb_ractor_autoload_p(VALUE module, ID name)
{
    struct cross_ractor_require crr = {.module = module, .name = name, .result = Qundef, .exception = Qundef};
    return ractor_load_in_main(autoload_p_body, &crr);
}

static VALUE
shift_path_body(VALUE data)
{
    struct cross_ractor_require *crr = (struct cross_ractor_require *)data;
    crr->result = Qnil;
    if (RARRAY_LEN(crr->feature) > 0) {
        crr->result = rb_str_new_frozen(rb_str_dup(rb_get_path(rb_ary_shift(crr->feature))));
    }
    return Qnil;
}

/* The path that the first of main's Array +names+ is, taken out of it, or nil if there is none.  Any Ractor but main.
 * Raises what main meets, as where it is no path. */
VALUE
rb_ractor_shift_path(VALUE names)
{
    struct cross_ractor_require crr = {.feature = names, .result = Qundef, .exception = Qundef};
    return ractor_load_in_main(shift_path_body, &crr);
}

static VALUE
find_file_body(VALUE data)
{
    struct cross_ractor_require *crr = (struct cross_ractor_require *)data;
    VALUE path = rb_find_file(crr->feature);
    crr->result = path ? rb_str_new_frozen(path) : Qnil;
    return Qnil;
}

/* The path of the file that +name+ means in main's $LOAD_PATH, or 0.  Any Ractor but main. */
VALUE
rb_ractor_find_file(VALUE name)
{
    struct cross_ractor_require crr = {.feature = rb_str_new_frozen(name), .result = Qundef, .exception = Qundef};
    VALUE path = ractor_load_in_main(find_file_body, &crr);
    return NIL_P(path) ? 0 : path;
}

/* An object with main's singleton methods, those that it will have included, and none of its variables. */
static VALUE
ractor_top_self_new(void)
{
    VALUE self = rb_obj_alloc(rb_cObject);
    RBASIC_SET_CLASS(self, rb_singleton_class(rb_vm_top_self()));
    rb_singleton_class(self);
    return self;
}

/* This Ractor's `main`: the self of the files that it loads, and of what it compiles as such. */
VALUE
rb_ractor_top_self(void)
{
    rb_ractor_t *cr = GET_RACTOR();
    if (cr == GET_VM()->ractor.main_ractor) return rb_vm_top_self();
    if (!cr->top_self) RB_OBJ_WRITE(rb_ractor_self(cr), &cr->top_self, ractor_top_self_new());
    return cr->top_self;
}

#endif /* LOCKFREE_RACTOR_LOAD_H */
