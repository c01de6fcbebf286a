//! yjit/compare_branch.rs - `while i < n` and `if a >= b` in compiled code
//!
//! Licence: see LICENSE.
//!
//! A child module of YJIT's codegen.rs. Stock makes true or false of a comparison of two Fixnums, and then tests that.
//! Where a branch is all that it is for, the processor's flags decide: five instructions fewer on x86-64.

use super::*;

/// Compares the two Fixnums on the stack and ends the block with the branch that is the next instruction. None, with
/// nothing emitted, where another instruction wants the result.
pub(super) fn gen(jit: &mut JITState, asm: &mut Assembler, bop: ruby_basic_operators) -> Option<CodegenStatus> {
    let branch_idx = jit.next_insn_idx();
    let branch_pc = unsafe { rb_iseq_pc_at_idx(jit.iseq, branch_idx.into()) };
    let opcode = unsafe { rb_iseq_opcode_at_pc(jit.iseq, branch_pc) } as ruby_vminsn_type;
    let (jump_if, interrupted) = match opcode {
        YARVINSN_branchif => (true, Counter::branchif_interrupted),
        YARVINSN_branchunless => (false, Counter::branchunless_interrupted),
        _ => return None,
    };
    let jump_offset = unsafe { *branch_pc.add(1) }.as_i32();
    let next_idx = i32::from(branch_idx) + insn_len(opcode as usize) as i32;
    let block_at = |idx: i32| BlockId { iseq: jit.iseq, idx: idx.try_into().unwrap() };
    let (jump, next) = (block_at(next_idx + jump_offset), block_at(next_idx));

    // An interrupted loop compares again.
    if jump_offset < 0 {
        gen_check_ints(asm, interrupted);
    }
    gen_counter_incr(jit, asm, Counter::yjit_insns_count); // the branch
    incr_counter!(branch_insn_count);

    // a > b is b < a, and a <= b is b >= a.
    let (less, swapped) = match bop {
        BOP_LT => (true, false),
        BOP_GE => (false, false),
        BOP_GT => (true, true),
        BOP_LE => (false, true),
        _ => unreachable!("not a comparison"),
    };
    let arg1 = asm.stack_pop(1);
    let arg0 = asm.stack_pop(1);
    asm_comment!(asm, "compare and branch");
    let (left, right) = if swapped { (arg1, arg0) } else { (arg0, arg1) };
    asm.cmp(left, right);

    // Both ways begin as after any other instruction: not as versions of this one.
    asm.ctx.dealloc_reg(RegOpnd::Stack(asm.ctx.get_stack_size() + 1));
    asm.ctx.reset_chain_depth_and_defer();
    let (if_less, otherwise) = if less == jump_if { (jump, next) } else { (next, jump) };
    let ctx = asm.ctx;
    jit.gen_branch(asm, if_less, &ctx, Some(otherwise), Some(&ctx), BranchGenFn::BranchLess(Cell::new(BranchShape::Default)));
    Some(EndBlock)
}

/// What BranchGenFn::BranchLess emits after the comparison: to `less` if its left operand is less, else to `otherwise`,
/// one of which may come next.
pub fn gen_jumps(asm: &mut Assembler, shape: BranchShape, less: Target, otherwise: Target) {
    match shape {
        BranchShape::Next0 => asm.jge(otherwise),
        BranchShape::Next1 => asm.jl(less),
        BranchShape::Default => {
            asm.jl(less);
            asm.jmp(otherwise);
        }
    }
}
