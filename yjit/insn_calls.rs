//! yjit/insn_calls.rs - instructions that compiled code has the VM do
//!
//! Licence: see LICENSE.
//!
//! A child module of YJIT's codegen.rs. Which, and why: vm/insn_calls.h.

use super::*;

extern "C" {
    fn rb_vm_expandarray(cfp: CfpPtr, num: usize, flag: usize);
    fn rb_vm_opt_aref_with_or_send(ec: EcPtr, cfp: CfpPtr, cd: VALUE, key: VALUE) -> VALUE;
    fn rb_vm_opt_aset_with_or_send(ec: EcPtr, cfp: CfpPtr, cd: VALUE, key: VALUE) -> VALUE;
}

/// The instruction has a splat among its targets: to the left of all others, or with some after it.
const EXPANDARRAY_SPLAT: usize = 1;

/// `a, *b = list` and the like: what is taken apart may be no Array, and the VM may ask it for one.
pub(super) fn gen_expandarray(jit: &mut JITState, asm: &mut Assembler) -> Option<CodegenStatus> {
    let (num, flag) = (jit.get_arg(0).as_usize(), jit.get_arg(1).as_usize());

    jit_prepare_non_leaf_call(jit, asm);
    asm.ccall(rb_vm_expandarray as *const u8, vec![CFP, num.into(), flag.into()]);
    asm.mov(Opnd::mem(64, CFP, RUBY_OFFSET_CFP_SP), SP); // which the VM has moved

    // The values lie where the stack is; a register may be to have one.
    asm.stack_pop(1);
    for _ in 0..num + (flag & EXPANDARRAY_SPLAT) {
        let slot = asm.ctx.sp_opnd(0);
        let value = asm.load(slot);
        let top = asm.stack_push(Type::Unknown);
        asm.mov(top, value);
    }

    jump_to_next_insn(jit, asm)
}

/// `recv["literal"]`.
pub(super) fn gen_opt_aref_with(jit: &mut JITState, asm: &mut Assembler) -> Option<CodegenStatus> {
    gen_or_send(jit, asm, rb_vm_opt_aref_with_or_send as *const u8, 1)
}

/// `recv["literal"] = value`.
pub(super) fn gen_opt_aset_with(jit: &mut JITState, asm: &mut Assembler) -> Option<CodegenStatus> {
    gen_or_send(jit, asm, rb_vm_opt_aset_with_or_send as *const u8, 2)
}

/// The operands of both instructions are the literal and the call; `sp_pops` is how many values they take.
fn gen_or_send(jit: &mut JITState, asm: &mut Assembler, func: *const u8, sp_pops: usize) -> Option<CodegenStatus> {
    let (key, cd) = (jit.get_arg(0), jit.get_arg(1).as_ptr());
    gen_send_dynamic(jit, asm, cd, sp_pops, |asm| {
        let val = asm.ccall(func, vec![EC, CFP, (cd as usize).into(), key.into()]);
        asm.cmp(val, Qundef.into());
        asm.je(Target::side_exit(Counter::opt_aref_with_qundef)); // of both
        val
    })
}
