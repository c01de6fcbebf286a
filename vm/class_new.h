#ifndef LOCKFREE_VM_CLASS_NEW_H
#define LOCKFREE_VM_CLASS_NEW_H
/**********************************************************************

  vm/class_new.h - Class#new goes on to initialize without leaving the VM

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of vm_insnhelper.c.
 *
 * Problem.  Class#new is a C function.  It calls initialize as C code calls any
 * method: looked up in a table that all Ractors share, and run by a vm_exec of
 * its own, with a tag for exceptions, for each object.
 *
 * What must stay.  Class#new is seen: in backtraces, by caller, TracePoint and
 * profilers, as the C function that it is, below initialize.
 *
 * Mechanism.  The frame of `new` is pushed as for any C function.  The object is
 * allocated, and if initialize is a Ruby method, its frame is pushed on top, and
 * the interpreter that called `new` goes on with it.  The frame of `new` has what
 * no other frame of a C function has, a pc: there stand two instructions, which
 * the interpreter comes to when initialize has returned.  Its stack, bottom first:
 *
 *     object        what `new` is going to return
 *     receiver      of initialize; popped when its frame is pushed
 *     arguments     the first locals of initialize's frame
 *
 * initialize returns, its value is pushed in the place of the receiver, and
 *
 *     invokebuiltin vm_class_new_leave    of the two, only the object is left
 *     leave                               the frame of `new` returns it
 *
 * An exception (or break, throw, return) passes through the frame as through that
 * of any C function: it has no iseq, so who unwinds pops it, and fires c_return.
 * A `return` from a block of initialize ends there: vm_class_new_catches_return.
 *
 * Invariants.
 *   [A] Directly on top of such a frame lies that of initialize, or nothing yet.
 *   [B] Only initialize's frame may be run by a function that returns its value
 *       (compiled code, or a vm_exec).  Who has called one looks whether the frame
 *       of `new` is left on top, and returns from it: VM_CLASS_NEW_RETURNED.
 *   [C] Nothing is remembered from one call to the next but what upstream and
 *       vm/method_cache.h remember, and test, for any call: the cache of the call
 *       of `new` has vm_call_class_new as its function; initialize is in the
 *       Ractor's own table.  A hit writes nothing that others read.  The allocator
 *       is looked up each time.
 *   [D] Who wants c_call or c_return before `new` is called gets upstream's way.
 *       Who wants it later gets c_return, by vm_class_new_leave.
 *
 * Compiled code pushes the same two frames by itself: yjit/class_new.rs.
 */

extern VALUE rb_class_new_instance_pass_kw(int argc, const VALUE *argv, VALUE klass);

/* Class#new, and what else is the same C function, as `new` of a Struct's class. */
#define VM_CLASS_NEW_FUNC ((VALUE (*)(ANYARGS))rb_class_new_instance_pass_kw)

/* What PASS_PASSED_BLOCK_HANDLER sets in it is there from the start. */
#define VM_CLASS_NEW_FRAME_TYPE (VM_FRAME_MAGIC_CFUNC | VM_FRAME_FLAG_CFRAME | VM_FRAME_FLAG_PASSED | VM_ENV_FLAG_LOCAL)

/* Filled once, before there is any call; then only read. */
static VALUE vm_class_new_code[3];

static VALUE vm_class_new_leave(rb_execution_context_t *ec, VALUE klass, VALUE obj, VALUE initialized);

static const struct rb_builtin_function vm_class_new_leave_function = {
    .func_ptr = (const void *)(uintptr_t)vm_class_new_leave,
    .argc = 2,
    .index = -1,
    .name = "class_new_leave",
};

static VALUE
vm_class_new_insn(enum ruby_vminsn_type insn)
{
#if OPT_DIRECT_THREADED_CODE || OPT_CALL_THREADED_CODE
    return (VALUE)rb_vm_get_insns_address_table()[insn];
#else
    return (VALUE)insn;
#endif
}

static void
vm_class_new_init(void)
{
    vm_class_new_code[0] = vm_class_new_insn(BIN(invokebuiltin));
    vm_class_new_code[1] = (VALUE)&vm_class_new_leave_function;
    vm_class_new_code[2] = vm_class_new_insn(BIN(leave));
}

/* =========================================================================
 * returning from `new`
 * ========================================================================= */

/* Fires c_return as upstream does, with the frame of `new` popped.  Hooks may run
 * Ruby code, whose frames come to lie where it was: it is put back. */
NOINLINE(static void vm_class_new_fire_return(rb_execution_context_t *ec, VALUE obj));
static void
vm_class_new_fire_return(rb_execution_context_t *ec, VALUE obj)
{
    rb_control_frame_t *const cfp = ec->cfp;
    const rb_control_frame_t frame = *cfp;
    const rb_callable_method_entry_t *me = rb_vm_frame_method_entry(cfp);
    VALUE *const env = (VALUE *)frame.ep - (VM_ENV_DATA_SIZE - 1);
    VALUE kept_env[VM_ENV_DATA_SIZE];

    MEMCPY(kept_env, env, VALUE, VM_ENV_DATA_SIZE);
    ec->cfp = RUBY_VM_PREVIOUS_CONTROL_FRAME(cfp);
    EXEC_EVENT_HOOK(ec, RUBY_EVENT_C_RETURN, frame.self, me->def->original_id, me->called_id, me->owner, obj);
    MEMCPY(env, kept_env, VALUE, VM_ENV_DATA_SIZE);
    *cfp = frame;
    ec->cfp = cfp;
    RB_GC_GUARD(obj);
}

/* The first instruction after initialize. */
static VALUE
vm_class_new_leave(rb_execution_context_t *ec, VALUE klass, VALUE obj, VALUE initialized)
{
    if (UNLIKELY(ruby_vm_event_flags & RUBY_EVENT_C_RETURN)) vm_class_new_fire_return(ec, obj);
    return obj;
}

/* initialize has returned, but not to these instructions: they are done from here.
 * The frame of `new` is on top; gives its value. */
static VALUE
vm_class_new_finish(rb_execution_context_t *ec, VALUE obj)
{
    const rb_control_frame_t *const cfp = ec->cfp;
    const rb_callable_method_entry_t *me = rb_vm_frame_method_entry(cfp);
    const VALUE klass = cfp->self;

    rb_vm_pop_frame(ec);
    EXEC_EVENT_HOOK(ec, RUBY_EVENT_C_RETURN, klass, me->def->original_id, me->called_id, me->owner, obj);
    RB_GC_GUARD(obj);
    return obj;
}

static inline bool
vm_class_new_frame_p(const rb_control_frame_t *cfp)
{
    return cfp->pc == vm_class_new_code && !cfp->iseq;
}

/* A function has run the frame that a call pushed, and returned +val+, which is not
 * Qundef: where that frame was initialize's, `new` returns as well. */
#define VM_CLASS_NEW_RETURNED(ec, reg_cfp, val) do { \
    if (UNLIKELY((ec)->cfp != (reg_cfp)) && vm_class_new_frame_p((ec)->cfp)) { \
        (val) = vm_class_new_finish((ec), (ec)->cfp->sp[-1]); \
    } \
} while (0)

/* Whether a `return` from a block of initialize comes to the frame of `new`, on top,
 * as it does to any caller, whose instructions then go on: they are done from here,
 * since the next frame to run must have an iseq. */
static inline bool
vm_class_new_catches_return(rb_execution_context_t *ec, enum ruby_tag_type state, const struct vm_throw_data *thrown)
{
    if (LIKELY(state != TAG_BREAK) || THROW_DATA_CATCH_FRAME(thrown) != ec->cfp || !vm_class_new_frame_p(ec->cfp)) {
        return false;
    }
    const VALUE obj = vm_class_new_finish(ec, ec->cfp->sp[-1]);
    *ec->cfp->sp++ = obj;
    ec->errinfo = Qnil;
    return true;
}

/* =========================================================================
 * calling it
 * ========================================================================= */

/* rb_class_alloc, with nothing between for the allocator that most classes have. */
static inline VALUE
vm_class_new_allocate(VALUE klass)
{
    if (LIKELY(rb_class_super_load_acquire(klass) && !RCLASS_SINGLETON_P(klass)) &&
            rb_get_alloc_func(klass) == rb_class_allocate_instance && !RUBY_DTRACE_OBJECT_CREATE_ENABLED()) {
        return rb_class_allocate_instance(klass);
    }
    return rb_obj_alloc(klass);
}

static inline const struct rb_callcache *
vm_class_new_search(const struct rb_callinfo *ci, VALUE klass)
{
    const bool filed = VM_METHOD_FILED_P(klass);
    const struct rb_callcache *cc = filed ? rb_vm_method_cache_lookup(ci, klass) : NULL;

    if (UNLIKELY(!cc) && !(cc = vm_search_method_once(ci, klass))) {
        cc = rb_vm_search_method_slowpath(ci, klass);
        if (filed) rb_vm_method_cache_store(ci, cc);
    }
    return cc;
}

/* Whether a frame can be pushed for +iseq+ with the arguments as they are, and
 * nothing is to be said about the block. */
static inline bool
vm_class_new_plain_p(const rb_iseq_t *iseq, int argc, bool block)
{
    const struct rb_iseq_constant_body *body = ISEQ_BODY(iseq);

    return rb_simple_iseq_p(iseq) && body->param.lead_num == argc && (!block || body->param.flags.use_block);
}

/* The frame of `new`, +cfp+, is on top, and +obj+ the only value on its stack.
 * Qundef: initialize's frame is on top now.  Otherwise `new` has returned. */
static VALUE
vm_class_new_initialize(rb_execution_context_t *ec, rb_control_frame_t *cfp, VALUE obj,
                        int argc, const VALUE *argv, VALUE block_handler)
{
    const struct rb_callinfo *ci = vm_ci_new_runtime(idInitialize, VM_CALL_FCALL | VM_CALL_ARGS_SIMPLE, argc, NULL);
    const struct rb_callcache *cc = vm_class_new_search(ci, CLASS_OF(obj));
    const rb_callable_method_entry_t *cme = cc == &vm_cc_once ? vm_method_once_found(ec) : vm_cc_cme(cc);
    const rb_method_type_t type = cme ? cme->def->type : VM_METHOD_TYPE_UNDEF;

    if (UNLIKELY(type != VM_METHOD_TYPE_ISEQ && type != VM_METHOD_TYPE_CFUNC)) {
        rb_obj_call_init_kw(obj, argc, argv, RB_NO_KEYWORDS);
        return vm_class_new_finish(ec, obj);
    }

    VALUE *const sp = cfp->sp;
    sp[0] = obj;
    for (int i = 0; i < argc; i++) sp[1 + i] = argv[i];

    if (LIKELY(type == VM_METHOD_TYPE_ISEQ)) {
        const rb_iseq_t *iseq = def_iseq_ptr(cme->def);

        if (LIKELY(vm_class_new_plain_p(iseq, argc, block_handler != VM_BLOCK_HANDLER_NONE))) {
            const struct rb_iseq_constant_body *body = ISEQ_BODY(iseq);
            vm_push_frame(ec, iseq, VM_FRAME_MAGIC_METHOD | VM_ENV_FLAG_LOCAL, obj, block_handler, (VALUE)cme,
                          body->iseq_encoded, sp + 1 + argc, body->local_table_size - argc, body->stack_max);
            return Qundef;
        }
    }
    else {
        stack_check(ec);
    }

    cfp->sp = sp + 1 + argc;
    struct rb_call_data cd = { .ci = ci, .cc = cc };
    struct rb_calling_info calling = {
        .cd = &cd, .cc = cc, .block_handler = block_handler, .recv = obj, .argc = argc,
    };
    if (UNDEF_P(vm_cc_call(cc)(ec, cfp, &calling))) return Qundef;
    return vm_class_new_finish(ec, obj);
}

/* Who wants to be told of the call, or has keywords: upstream's way. */
static inline bool
vm_class_new_told_p(void)
{
    return (ruby_vm_event_flags & (RUBY_EVENT_C_CALL | RUBY_EVENT_C_RETURN)) ||
        RUBY_DTRACE_CMETHOD_ENTRY_ENABLED() || RUBY_DTRACE_CMETHOD_RETURN_ENABLED();
}

/* The function of the cache of such a call.  Any Ractor. */
static VALUE
vm_call_class_new(rb_execution_context_t *ec, rb_control_frame_t *reg_cfp, struct rb_calling_info *calling)
{
    if (UNLIKELY(calling->kw_splat || vm_class_new_told_p())) return vm_call_cfunc_with_frame(ec, reg_cfp, calling);

    const int argc = calling->argc;
    VALUE *const stack_bottom = reg_cfp->sp - argc - 1;
    const VALUE klass = calling->recv;
    const VALUE block_handler = calling->block_handler;

    vm_push_frame(ec, NULL, VM_CLASS_NEW_FRAME_TYPE, klass, block_handler, (VALUE)vm_cc_cme(calling->cc),
                  vm_class_new_code, reg_cfp->sp, 0, argc + 2);
    rb_control_frame_t *const cfp = ec->cfp;
    reg_cfp->sp = stack_bottom;

    const VALUE obj = vm_class_new_allocate(klass);
    *cfp->sp++ = obj;
    return vm_class_new_initialize(ec, cfp, obj, argc, stack_bottom + 1, block_handler);
}

/* Whether +calling+ is such a call, with arguments that lie on the stack one by one. */
static inline bool
vm_class_new_p(const struct rb_calling_info *calling)
{
    const struct rb_callinfo *ci = calling->cd->ci;

    return vm_method_cfunc_entry(vm_cc_cme(calling->cc))->func == VM_CLASS_NEW_FUNC &&
        !rb_splat_or_kwargs_p(ci) && !(vm_ci_flag(ci) & VM_CALL_FORWARDING) && !calling->kw_splat &&
        LIKELY(vm_class_new_code[0]);
}

/* =========================================================================
 * compiled code: yjit/class_new.rs
 * ========================================================================= */

#if USE_YJIT

/* initialize of +klass+ if compiled code may allocate its objects and push the
 * frame for that method by itself, with +argc+ arguments; or NULL.  The guard is to
 * be one of identity: only that class has its class.  VM lock. */
const rb_callable_method_entry_t *
rb_vm_class_new_compiles(VALUE klass, int argc, bool block)
{
    if (!RB_TYPE_P(klass, T_CLASS) || !RCLASS_SUPER(klass) || RCLASS_SINGLETON_P(klass) ||
            rb_get_alloc_func(klass) != rb_class_allocate_instance || !vm_class_new_code[0] ||
            RUBY_DTRACE_OBJECT_CREATE_ENABLED() || vm_class_new_told_p()) return NULL;
    if (!RCLASS_SINGLETON_P(CLASS_OF(klass)) || RCLASS_ATTACHED_OBJECT(CLASS_OF(klass)) != klass) return NULL;

    const rb_callable_method_entry_t *cme = rb_callable_method_entry(klass, idInitialize);
    if (!cme || cme->def->type != VM_METHOD_TYPE_ISEQ || cme->def->iseq_overload) return NULL;
    return vm_class_new_plain_p(def_iseq_ptr(cme->def), argc, block) ? cme : NULL;
}

bool
rb_vm_class_new_func_p(const rb_method_cfunc_t *cfunc)
{
    return cfunc->func == VM_CLASS_NEW_FUNC;
}

const VALUE *
rb_vm_class_new_pc(void)
{
    return vm_class_new_code;
}

unsigned int
rb_vm_class_new_frame_type(void)
{
    return VM_CLASS_NEW_FRAME_TYPE;
}

/* Compiled code was invalidated while it allocated +obj+: with the frame of `new` on
 * top, its stack empty, go on as the interpreter, to which the caller then leaves. */
void
rb_vm_class_new_resume(rb_execution_context_t *ec, VALUE obj)
{
    rb_control_frame_t *const cfp = ec->cfp;
    rb_control_frame_t *const caller = RUBY_VM_PREVIOUS_CONTROL_FRAME(cfp);
    const VALUE *const argv = caller->sp + 1; /* after the class */
    const int argc = (int)(cfp->ep - (VM_ENV_DATA_SIZE - 1) - argv);

    *cfp->sp++ = obj;
    VALUE val = vm_class_new_initialize(ec, cfp, obj, argc, argv, VM_CF_BLOCK_HANDLER(cfp));
    if (!UNDEF_P(val)) *caller->sp++ = val;
}

#endif /* USE_YJIT */

static void
vm_class_new_forget_i(VALUE klass, VALUE unused)
{
    rb_clear_method_cache(klass, idInitialize);
    rb_class_foreach_subclass(klass, vm_class_new_forget_i, unused);
}

/* +klass+ has another allocator now, and so have the classes below that have none
 * of their own.  Compiled code that calls the one of before stands on initialize:
 * it goes, as if that had changed.  Any Ractor. */
static inline void
vm_class_new_forget_allocator(VALUE klass)
{
    if (!rb_yjit_enabled_p) return;

    RB_VM_LOCK_ENTER();
    vm_class_new_forget_i(klass, 0);
    RB_VM_LOCK_LEAVE();
}

#endif /* LOCKFREE_VM_CLASS_NEW_H */
