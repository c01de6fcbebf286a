//! yjit_exits.rs - what every exit and every stub ends with, in one place
//!
//! Licence: see LICENSE.
//!
//! A child module of YJIT's codegen.rs. Half of the code that YJIT makes are exits to the interpreter, one for each
//! instruction and state of the stack that has a guard, and stubs for branches not yet taken. Few of them ever run.
//! Upstream has each exit store pc and sp, restore the registers of the caller and return, and each stub save the
//! registers that hold temporaries and set up two arguments. Here an exit and a stub put into one register what is
//! theirs, the pc or the branch, and jump to code that does the rest for all.
//!
//! ```text
//!                        upstream                              here
//!   exit, x86-64         lea rax, [rbx + n]                    lea rbx, [rbx + n]
//!                        mov [r13 + SP], rax                   mov r11, PC
//!                        mov r11, PC                           jmp shared exit
//!                        mov [r13 + PC], r11
//!                        pop rbx; pop r12; pop r13
//!                        mov eax, Qundef; ret
//!   stub, x86-64         push rsi, rdi, r8, r9, r10, rax       mov r11, BRANCH + index
//!                        mov rdi, BRANCH                       jmp shared stub
//!                        mov rsi, index
//!                        jmp trampoline
//! ```

use super::*;

/// Not among the registers for temporaries, nor used by the jump that follows; on arm64 a far jump takes X16.
#[cfg(target_arch = "x86_64")]
const PARCEL: Opnd = Opnd::Reg(Assembler::SCRATCH_REG);
#[cfg(target_arch = "aarch64")]
const PARCEL: Opnd = Opnd::Reg(crate::asm::arm64::X17_REG);

/// End an exit to exit_pc whose registers are spilled. False where upstream's own code is to follow: when exits are
/// counted, since the counting looks at the frame, and in unit tests that have no code for all.
pub(super) fn gen_jump_to_shared_exit(exit_pc: *mut VALUE, asm: &mut Assembler) -> bool {
    if get_option!(gen_stats) || !CodegenGlobals::has_instance() {
        return false;
    }

    if asm.ctx.get_sp_offset() != 0 {
        let sp = asm.lea(asm.ctx.sp_opnd(0));
        asm.mov(SP, sp);
    }
    asm.mov(PARCEL, Opnd::UImm(exit_pc as u64));
    asm.jmp(CodegenGlobals::get_shared_exit().as_side_exit());
    true
}

/// The end of all exits. Where an exit has not moved SP, what is stored is what is there.
pub(super) fn gen_shared_exit(ocb: &mut OutlinedCb) -> Option<CodePtr> {
    let ocb = ocb.unwrap();
    let mut asm = Assembler::new_without_iseq();

    asm_comment!(asm, "exit to interpreter");
    asm.mov(Opnd::mem(64, CFP, RUBY_OFFSET_CFP_PC), PARCEL);
    asm.mov(Opnd::mem(64, CFP, RUBY_OFFSET_CFP_SP), SP);

    asm.cpop_into(SP);
    asm.cpop_into(EC);
    asm.cpop_into(CFP);
    asm.frame_teardown();
    asm.cret(Qundef.into());

    asm.compile(ocb, None).map(|(code_ptr, _)| code_ptr)
}

/// The bit of a branch's address that says which of its two targets a stub stands for.
const SECOND_TARGET: usize = 1;

/// In a stub, all registers spilled: what branch_stub_hit() has to know.
pub fn gen_stub_parcel(branch_address: usize, target_idx: u32, asm: &mut Assembler) {
    assert!(branch_address & SECOND_TARGET == 0 && target_idx as usize <= SECOND_TARGET);
    asm.mov(PARCEL, (branch_address | target_idx as usize).into());
}

/// In the code that all stubs jump to: [branch_ptr, target_idx] for branch_stub_hit().
pub fn gen_open_stub_parcel(asm: &mut Assembler) -> [Opnd; 2] {
    let branch = asm.and(PARCEL, Opnd::Imm(!(SECOND_TARGET as i64)));
    let target_idx = asm.and(PARCEL, Opnd::Imm(SECOND_TARGET as i64));
    [branch, target_idx]
}
