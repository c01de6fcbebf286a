//! yjit/array_each.rs - the step of Array#each, #map and #select in compiled code
//!
//! Licence: see LICENSE.
//!
//! A child module of YJIT's codegen.rs. These methods are loops in Ruby round a builtin that fetches the next element;
//! in stock that is a call of C for each. What is emitted here does what the builtin does: array_each.h.

use super::*;

use std::ffi::CStr;

/// opt_invokebuiltin_delegate of ary_each_next; None for other builtins, and where the locals may be on the heap.
pub(super) fn gen_next(jit: &mut JITState, asm: &mut Assembler, bf: *const rb_builtin_function) -> Option<CodegenStatus> {
    if unsafe { CStr::from_ptr((*bf).name) }.to_bytes() != b"ary_each_next" {
        return None;
    }
    // Split the block if we need to invalidate this instruction when EP escapes
    if !jit.at_compile_target() {
        return jit.defer_compilation(asm);
    }
    if !jit.assume_no_ep_escape(asm) {
        return None;
    }

    // Two ways lead to the end: nothing is to be in a register on one of them only.
    asm.spill_regs();
    let first = unsafe { get_iseq_body_local_table_size(jit.get_iseq()) } + VM_ENV_DATA_SIZE - 1;
    let (index, value) = (asm.local_opnd(first), asm.local_opnd(first - 1));

    asm.test(index, Opnd::UImm(RUBY_FIXNUM_FLAG as u64));
    asm.jz(Target::side_exit(Counter::opt_aref_arg_not_fixnum));

    let result = asm.stack_push(Type::UnknownImm);
    asm.mov(result, Qfalse.into());
    let ary = asm.load(Opnd::mem(64, CFP, RUBY_OFFSET_CFP_SELF));
    let len = get_array_len(asm, ary);
    let end = asm.lshift(len, Opnd::UImm(1));
    let done = asm.new_label("no_element_is_left");
    asm.cmp(index, end); // 2 * i + 1 with 2 * len
    asm.jg(done);

    asm.mov(result, Qtrue.into());
    let ptr = get_array_ptr(asm, ary);
    let i = asm.load(index);
    let offset = asm.lshift(i, Opnd::UImm(2)); // 8 * i + 4
    let address = asm.add(ptr, offset);
    let element = asm.load(Opnd::mem(64, address, -4));
    asm.mov(value, element);
    let next = asm.add(i, Opnd::UImm(2));
    asm.mov(index, next);
    asm.write_label(done);

    asm.ctx.set_local_type(0, Type::Fixnum);
    asm.ctx.set_local_type(1, Type::Unknown);
    Some(KeepCompiling)
}
