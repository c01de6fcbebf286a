//! yjit/integer_to_s.rs - a small integer in an interpolated string, in compiled code
//!
//! Licence: see LICENSE.
//!
//! A child module of YJIT's codegen.rs. The interpreter converts a Fixnum without calling Integer#to_s while the method
//! that the call would find is that very C function (vm_objtostring, check_cfunc); stock's compiled code calls the method,
//! frame and all. A loop that changes over to compiled code would be the slower for it.
//!
//! To ask whether a method is a basic one would not do: so is the entry that a refinement leaves in its class, and so is
//! Kernel#to_s, which is found when Integer#to_s has been removed.

use super::*;

extern "C" {
    fn rb_fix_to_s(num: VALUE) -> VALUE;
    fn rb_int_to_s(argc: i32, argv: *const VALUE, num: VALUE) -> VALUE;
}

/// objtostring of a Fixnum; None where the operand is something else, or to_s is another method.
pub(super) fn gen_objtostring(jit: &mut JITState, asm: &mut Assembler, comptime_recv: VALUE) -> Option<CodegenStatus> {
    let klass = comptime_recv.class_of();
    if !comptime_recv.fixnum_p() || !jit.assume_expected_cfunc(asm, klass, ID!(to_s), rb_int_to_s as _) {
        return None;
    }

    let recv = asm.stack_opnd(0);
    if asm.ctx.get_opnd_type(recv.into()) != Type::Fixnum { // jit_guard_known_klass takes other arguments in 3.4.10
        asm.test(recv, Opnd::Imm(RUBY_FIXNUM_FLAG as i64));
        jit_chain_guard(JCC_JZ, jit, asm, SEND_MAX_DEPTH, Counter::objtostring_not_string);
        asm.ctx.upgrade_opnd_type(recv.into(), Type::Fixnum);
    }

    jit_prepare_call_with_gc(jit, asm); // moves SP
    let recv = asm.stack_opnd(0);
    let str = asm.ccall(rb_fix_to_s as *const u8, vec![recv]);
    asm.stack_pop(1);
    let result = asm.stack_push(Type::TString);
    asm.mov(result, str);
    Some(KeepCompiling)
}
