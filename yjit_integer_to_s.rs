//! yjit_integer_to_s.rs - a small integer in an interpolated string, in compiled code
//!
//! Licence: see LICENSE.
//!
//! A child module of YJIT's codegen.rs. The interpreter converts a Fixnum without calling Integer#to_s while that is the
//! builtin one; stock's compiled code calls the method, frame and all. A loop that changes over to compiled code would be
//! the slower for it.

use super::*;

extern "C" {
    fn rb_fix_to_s(num: VALUE) -> VALUE;
}

/// objtostring of a Fixnum; None where the operand is something else, or the method has been redefined.
pub(super) fn gen_objtostring(jit: &mut JITState, asm: &mut Assembler, comptime_recv: VALUE) -> Option<CodegenStatus> {
    let klass = comptime_recv.class_of();
    if !comptime_recv.fixnum_p() || !assume_method_basic_definition(jit, asm, klass, ID!(to_s)) {
        return None;
    }

    let recv = asm.stack_opnd(0);
    jit_guard_known_klass(jit, asm, klass, recv, recv.into(), comptime_recv, SEND_MAX_DEPTH, Counter::objtostring_not_string);

    jit_prepare_call_with_gc(jit, asm); // moves SP
    let recv = asm.stack_opnd(0);
    let str = asm.ccall(rb_fix_to_s as *const u8, vec![recv]);
    asm.stack_pop(1);
    let result = asm.stack_push(Type::TString);
    asm.mov(result, str);
    Some(KeepCompiling)
}
