//! yjit/invokeblock.rs - a yield in compiled code to a block that it finds at run time
//!
//! Licence: see LICENSE.
//!
//! A child module of YJIT's codegen.rs. What is called, and why it may say that the code is to leave for the
//! interpreter, stands in vm/invokeblock.h.
//!
//! And a yield in code that is made for one block, as that of Integer#times is: who enters it has given the frame a block
//! with an iseq, so it need not look for a Proc or a Symbol.

use super::*;

extern "C" {
    fn rb_vm_invokeblock_from_jit(ec: EcPtr, cfp: CfpPtr, cd: VALUE, any_block: bool) -> VALUE;
}

/// Calls the block. PC and SP are saved, and the frame is as the interpreter has it after the arguments were taken.
pub(super) fn gen_call(asm: &mut Assembler, cd: *const rb_call_data) -> Opnd {
    let any_block = Opnd::UImm(!asm.ctx.inline() as u64);
    let val = asm.ccall(rb_vm_invokeblock_from_jit as *const u8, vec![EC, CFP, (cd as usize).into(), any_block]);

    // Not counted: the exit that left the block's frame on top was.
    let returned = asm.new_label("returned");
    asm.cmp(val, Qundef.into());
    asm.jne(returned);
    asm_comment!(asm, "leave with the block's frame on top");
    asm.cpop_into(SP);
    asm.cpop_into(EC);
    asm.cpop_into(CFP);
    asm.frame_teardown();
    asm.cret(Qundef.into());
    asm.write_label(returned);
    val
}

/// The block handler of a frame whose code is for one block: an iseq's, so that its tag need not be tested. Which iseq
/// must be: the code may outlive the block that it was for, and another come to lie at its address. None if the code is
/// for any block, or if the frame's variables may have escaped: that makes a Proc of the block.
pub(super) fn gen_iseq_block_handler(jit: &mut JITState, asm: &mut Assembler) -> Option<Opnd> {
    if !asm.ctx.inline() || !jit.assume_no_ep_escape(asm) {
        return None;
    }
    Some(asm.load(asm.ctx.ep_opnd(VM_ENV_DATA_INDEX_SPECVAL)))
}
