//! yjit/class_new.rs - Class#new in compiled code
//!
//! Licence: see LICENSE.
//!
//! A child module of YJIT's codegen.rs. vm/class_new.h says what is pushed and why. Where the class is known and so is its
//! initialize, compiled code does it by itself: it pushes the frame of `new`, calls the allocator, pushes initialize's
//! frame and jumps to its code.
//!
//! ```text
//!   frame      cfp->jit_return                       cfp->pc
//!   caller                                           after the call
//!   new        the caller's code after the call      the two instructions of vm/class_new.h
//!   initialize returned, below
//! ```
//!
//! So initialize returns to code that pops the frame of `new` and returns the object to the caller. When it leaves for the
//! interpreter meanwhile, that finds pc and stack of both frames as it would have made them.
//!
//! What is assumed: that `new` of the class and `initialize` of its objects stay the methods they are, as for any call.
//! That the class keeps its allocator: who changes that says that initialize has changed (rb_define_alloc_func). That
//! nobody traces C calls: code that is made while somebody does calls Class#new, and all code is thrown away when somebody
//! begins. Who waits in the allocator meanwhile goes on to `resume`, as who waits in a C function goes on to
//! gen_full_cfunc_return.

use super::*;

extern "C" {
    fn rb_vm_class_new_func_p(cfunc: *const rb_method_cfunc_t) -> bool;
    fn rb_vm_class_new_compiles(klass: VALUE, argc: c_int, block: bool) -> *const rb_callable_method_entry_t;
    fn rb_vm_class_new_pc() -> *const VALUE;
    fn rb_vm_class_new_frame_type() -> u32;
    fn rb_vm_class_new_resume(ec: EcPtr, obj: VALUE);
}

/// What compiled code of all calls shares.
pub struct Stubs {
    returned: CodePtr,
    resume: CodePtr,
}

/// On the stack of the frame of `new`: the object, and the receiver, which is popped when initialize's frame is pushed.
const OBJECT: i32 = 0;
const RECEIVER: i32 = 1;
const ARGUMENTS: i32 = 2;
const ENV_SIZE: i32 = VM_ENV_DATA_SIZE as i32;

const CFP_SIZE: i32 = RUBY_SIZEOF_CONTROL_FRAME as i32;

/// The most arguments and locals that are copied and filled in line.
const MAX_LOCALS: i32 = 24;

fn slot(sp: Opnd, idx: i32) -> Opnd {
    Opnd::mem(64, sp, idx * SIZEOF_VALUE_I32)
}

impl Stubs {
    pub(super) fn gen(ocb: &mut OutlinedCb) -> Option<Stubs> {
        Some(Stubs { returned: gen_returned(ocb)?, resume: gen_resume(ocb)? })
    }
}

/// Where initialize returns to, as gen_leave leaves it: the frame of `new` is on top.
fn gen_returned(ocb: &mut OutlinedCb) -> Option<CodePtr> {
    let mut asm = Assembler::new_without_iseq();

    asm_comment!(asm, "return from Class#new");
    let sp = asm.load(Opnd::mem(64, CFP, RUBY_OFFSET_CFP_SP));
    let obj = asm.load(slot(sp, -1));
    let caller = asm.add(CFP, RUBY_SIZEOF_CONTROL_FRAME.into());
    asm.mov(CFP, caller);
    asm.mov(Opnd::mem(64, EC, RUBY_OFFSET_EC_CFP), CFP);
    asm.mov(C_RET_OPND, obj);
    asm.jmp_opnd(Opnd::mem(64, CFP, RUBY_OFFSET_CFP_JIT_RETURN - CFP_SIZE));

    asm.compile(ocb.unwrap(), None).map(|(code_ptr, _)| code_ptr)
}

/// Where code that was invalidated goes on when the allocator has returned.
fn gen_resume(ocb: &mut OutlinedCb) -> Option<CodePtr> {
    let mut asm = Assembler::new_without_iseq();

    asm_comment!(asm, "go on with Class#new in the interpreter");
    asm.ccall(rb_vm_class_new_resume as *const u8, vec![EC, C_RET_OPND]);
    asm.cpop_into(SP);
    asm.cpop_into(EC);
    asm.cpop_into(CFP);
    asm.frame_teardown();
    asm.cret(Qundef.into());

    asm.compile(ocb.unwrap(), None).map(|(code_ptr, _)| code_ptr)
}

/// A call of the C function +cme+ on +klass+, which the receiver is guarded to be. None, with nothing emitted, where it is
/// to be called as any other C function.
pub(super) fn gen_call(
    jit: &mut JITState,
    asm: &mut Assembler,
    cme: *const rb_callable_method_entry_t,
    klass: VALUE,
    block: Option<BlockHandler>,
    flags: u32,
    argc: i32,
) -> Option<CodegenStatus> {
    let cfunc = unsafe { get_cme_def_body_cfunc(cme) };
    if !unsafe { rb_vm_class_new_func_p(cfunc) }
        || flags & !(VM_CALL_FCALL | VM_CALL_ARGS_SIMPLE) != 0
        || !matches!(block, None | Some(BlockHandler::BlockISeq(_)))
        || c_method_tracing_currently_enabled(jit)
        || !CodegenGlobals::has_instance()
    {
        return None;
    }
    let initialize = unsafe { rb_vm_class_new_compiles(klass, argc, block.is_some()) };
    if initialize.is_null() {
        return None;
    }
    let iseq = unsafe { get_def_iseq_ptr((*initialize).def) };
    let num_locals = unsafe { get_iseq_body_local_table_size(iseq) } as i32;
    if num_locals > MAX_LOCALS || asm.ctx.get_stack_size() > 64 {
        return None;
    }
    jit.assume_method_lookup_stable(asm, initialize);
    gen_counter_incr(jit, asm, Counter::num_send_cfunc);

    gen_check_ints(asm, Counter::guard_send_interrupted);
    gen_overflow_check(asm, iseq, num_locals);

    // Whatever happens from here on, the arguments are on the stack.
    jit_save_pc(jit, asm);
    asm.spill_regs();
    gen_save_sp_with_offset(asm, -(argc + 1) as i8);
    gen_push_new(jit, asm, cme, klass, block, argc);

    asm_comment!(asm, "allocate");
    let obj = asm.ccall(rb_class_allocate_instance as *const u8, vec![klass.into()]);
    record_global_inval_patch(asm, CodegenGlobals::get_class_new_stubs().resume);

    gen_push_initialize(jit, asm, initialize, iseq, obj, block.is_some(), num_locals, argc)
}

/// Where the stack of the frame of `new` begins, from the caller's top on.
fn stack_of_new(asm: &mut Assembler) -> Opnd {
    let sp = asm.ctx.sp_opnd(ENV_SIZE);
    asm.lea(sp)
}

fn gen_overflow_check(asm: &mut Assembler, iseq: IseqPtr, num_locals: i32) {
    let stack_max = unsafe { get_iseq_body_stack_max(iseq) } as i32;
    let frames = 2 * CFP_SIZE / SIZEOF_VALUE_I32;
    let margin = ENV_SIZE + ARGUMENTS + num_locals + ENV_SIZE + stack_max + 2 * frames;

    asm_comment!(asm, "stack overflow check");
    let limit = asm.lea(asm.ctx.sp_opnd(margin));
    asm.cmp(CFP, limit);
    asm.jbe(Target::side_exit(Counter::guard_send_se_cf_overflow));
}

/// Pushes the frame of `new`, and says where it returns to. CFP stays the caller's.
fn gen_push_new(
    jit: &mut JITState,
    asm: &mut Assembler,
    cme: *const rb_callable_method_entry_t,
    klass: VALUE,
    block: Option<BlockHandler>,
    argc: i32,
) {
    let sp = stack_of_new(asm);
    gen_push_frame(jit, asm, ControlFrame {
        frame_type: unsafe { rb_vm_class_new_frame_type() },
        specval: SpecVal::BlockHandler(block),
        cme,
        recv: klass.into(),
        sp,
        pc: Some(unsafe { rb_vm_class_new_pc() } as u64),
        iseq: None,
    });

    // The callee might change locals through Kernel#binding and other means.
    asm.clear_local_types();

    let mut return_asm = Assembler::new(jit.num_locals());
    return_asm.ctx = asm.ctx;
    return_asm.stack_pop((argc + 1) as usize);
    return_asm.ctx.set_sp_offset(0); // cfp->sp is below the arguments
    return_asm.ctx.reset_chain_depth_and_defer();
    return_asm.ctx.set_as_return_landing();
    let return_block = BlockId { iseq: jit.iseq, idx: jit.next_insn_idx() };
    jit.gen_branch(asm, return_block, &return_asm.ctx, None, None, BranchGenFn::JITReturn);

    asm_comment!(asm, "set ec->cfp");
    let new_cfp = asm.lea(Opnd::mem(64, CFP, -CFP_SIZE));
    asm.store(Opnd::mem(64, EC, RUBY_OFFSET_EC_CFP), new_cfp);
}

/// Pushes initialize's frame and goes to its code.
fn gen_push_initialize(
    jit: &mut JITState,
    asm: &mut Assembler,
    initialize: *const rb_callable_method_entry_t,
    iseq: IseqPtr,
    obj: Opnd,
    block: bool,
    num_locals: i32,
    argc: i32,
) -> Option<CodegenStatus> {
    let sp = stack_of_new(asm);
    asm.mov(slot(sp, OBJECT), obj);
    asm.mov(slot(sp, RECEIVER), obj);
    let new_sp = asm.lea(slot(sp, RECEIVER)); // initialize's value comes to lie where its receiver was
    asm.mov(Opnd::mem(64, CFP, RUBY_OFFSET_CFP_SP - CFP_SIZE), new_sp);

    let mut callee_ctx = Context::default();
    callee_ctx.upgrade_opnd_type(SelfOpnd, Type::UnknownHeap);
    for idx in 0..argc {
        let arg = asm.stack_opnd(argc - 1 - idx);
        callee_ctx.set_local_type(idx as usize, asm.ctx.get_opnd_type(arg.into()));
        let arg = asm.load(arg);
        asm.mov(slot(sp, ARGUMENTS + idx), arg);
    }
    for idx in argc..num_locals {
        asm.store(slot(sp, ARGUMENTS + idx), Qnil.into());
    }

    let callee_sp = asm.lea(slot(sp, ARGUMENTS + num_locals + ENV_SIZE));
    let specval = if block {
        let block_handler = asm.load(slot(sp, -2));
        asm.mov(slot(callee_sp, -2), block_handler);
        SpecVal::BlockHandler(Some(BlockHandler::AlreadySet))
    } else {
        SpecVal::BlockHandler(None)
    };

    let new_cfp = asm.sub(CFP, RUBY_SIZEOF_CONTROL_FRAME.into());
    asm.mov(CFP, new_cfp);
    gen_push_frame(jit, asm, ControlFrame {
        frame_type: VM_FRAME_MAGIC_METHOD | VM_ENV_FLAG_LOCAL,
        specval,
        cme: initialize,
        recv: obj,
        sp: callee_sp,
        pc: None, // set where it is wanted
        iseq: Some(iseq),
    });

    let returned = Opnd::const_ptr(CodegenGlobals::get_class_new_stubs().returned.raw_ptr(CodegenGlobals::get_inline_cb()));
    asm.mov(Opnd::mem(64, CFP, RUBY_OFFSET_CFP_JIT_RETURN - CFP_SIZE), returned);
    asm.mov(SP, callee_sp);
    asm_comment!(asm, "switch to initialize's CFP");
    let new_cfp = asm.sub(CFP, RUBY_SIZEOF_CONTROL_FRAME.into());
    asm.mov(CFP, new_cfp);
    asm.store(Opnd::mem(64, EC, RUBY_OFFSET_EC_CFP), CFP);

    gen_direct_jump(jit, &callee_ctx, BlockId { iseq, idx: 0 }, asm);
    Some(EndBlock)
}
