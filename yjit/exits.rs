//! yjit/exits.rs - what side exits and branch stubs end with, in one place
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
//!                        mov rax, PC                           jmp shared exit
//!                        mov [r13 + PC], rax
//!                        pop rbx; pop r12; pop r13
//!                        mov eax, Qundef; ret
//!   stub, x86-64         push rsi, rdi, r8, r9, r10, rax       mov r11, BRANCH + index
//!                        mov rdi, BRANCH                       jmp trampoline
//!                        mov rsi, index
//!                        jmp trampoline
//! ```

use super::*;
use crate::core::{caller_saved_temp_regs, Branch};

/// A scratch register of the backend: it holds no temporary, and what follows its load, a jump that may be far or to the
/// next page, a store, a push, an `and` with a small mask, leaves it alone. Calls, counters, immediates of more than 32
/// bits and multiplications do not: there must be none in between.
#[cfg(target_arch = "x86_64")]
const PARCEL: Opnd = Opnd::Reg(Assembler::SCRATCH_REG);
#[cfg(target_arch = "aarch64")]
const PARCEL: Opnd = Opnd::Reg(crate::asm::arm64::X17_REG); // a far jump takes X16

/// End an exit to exit_pc whose registers are spilled. False where upstream's own code is to follow: when the stack of
/// each exit is recorded, which looks at the frame, and in unit tests, which have no code for all.
pub(super) fn gen_jump_to_shared_exit(exit_pc: *mut VALUE, asm: &mut Assembler) -> bool {
    if get_option!(trace_exits) == Some(TraceExits::All) || !CodegenGlobals::has_instance() {
        return false;
    }

    if get_option!(gen_stats) {
        asm.ccall(rb_yjit_count_side_exit_op as *const u8, vec![Opnd::const_ptr(exit_pc as *const u8)]);
    }
    if asm.ctx.get_sp_offset() != 0 {
        let sp = asm.lea(asm.ctx.sp_opnd(0));
        asm.mov(SP, sp);
    }
    asm.load_into(PARCEL, Opnd::UImm(exit_pc as u64));
    asm.jmp(CodegenGlobals::get_shared_exit().as_side_exit());
    true
}

/// The end of all side exits. Where one has not moved SP, cfp->sp is what SP is, and stays so.
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
const _: () = assert!(std::mem::align_of::<Branch>() > SECOND_TARGET);

/// In a stub, all registers spilled: what branch_stub_hit() has to know.
pub fn gen_stub_parcel(branch_address: usize, target_idx: u32, asm: &mut Assembler) {
    assert!(target_idx as usize <= SECOND_TARGET);
    asm.load_into(PARCEL, (branch_address | target_idx as usize).into());
}

/// At the head of the trampoline: save the registers of temporaries, then branch_ptr and target_idx for branch_stub_hit().
pub fn gen_open_stub_parcel(asm: &mut Assembler) -> [Opnd; 2] {
    for &reg in caller_saved_temp_regs() {
        asm.cpush(Opnd::Reg(reg));
    }
    let branch = asm.and(PARCEL, Opnd::Imm(!(SECOND_TARGET as i64)));
    let target_idx = asm.and(PARCEL, Opnd::Imm(SECOND_TARGET as i64));
    [branch, target_idx]
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn stub_parcel() {
        let (mut asm, mut cb) = (Assembler::new(0), CodeBlock::new_dummy(1024));
        gen_stub_parcel(0x1122334455667788, 1, &mut asm);
        for part in gen_open_stub_parcel(&mut asm) {
            asm.cpush(part);
        }
        asm.compile_with_num_regs(&mut cb, 2);
        let code = [
            "49bb8977665544332211", // movabs r11, 0x1122334455667789
            "5657415041514152",     // push rsi; push rdi; push r8; push r9; push r10
            "50",                   // push rax
            "4c89d84883e0fe",       // mov rax, r11; and rax, -2
            "4c89d94883e101",       // mov rcx, r11; and rcx, 1
            "5051",                 // push rax; push rcx
        ];
        assert_eq!(format!("{:x}", cb), code.concat());
    }
}
