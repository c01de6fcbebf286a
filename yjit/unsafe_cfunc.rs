//! yjit/unsafe_cfunc.rs - calls of C functions that only main may call, in compiled code
//!
//! Licence: see LICENSE.
//!
//! A child module of YJIT's codegen.rs. See vm/unsafe_cfunc.h. While main is alone there is nothing to ask; starting a
//! Ractor throws that code away.

use super::*;

extern "C" {
    fn rb_vm_cfunc_ractor_safe_p(cfunc: *const rb_method_cfunc_t) -> bool;
    fn rb_ractor_main_p_() -> bool;
}

/// Leaves for the interpreter, which raises, where another Ractor than main is about to call what is not for it. The
/// operands are on the stack; a C call, after which they are to be asked for anew.
pub(super) fn guard_main_ractor(jit: &mut JITState, asm: &mut Assembler, cfunc: *const rb_method_cfunc_t) {
    if unsafe { rb_vm_cfunc_ractor_safe_p(cfunc) } || assume_single_ractor_mode(jit, asm) {
        return;
    }

    asm_comment!(asm, "guard the Ractor is main");
    let main = asm.ccall(rb_ractor_main_p_ as *const u8, vec![]);
    asm.test(main, Opnd::UImm(1)); // of a bool, the lowest bit alone is said
    asm.jz(Target::side_exit(Counter::send_cfunc_unsafe));
}
