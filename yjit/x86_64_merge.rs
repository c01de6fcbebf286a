//! yjit/x86_64_merge.rs - two of the backend's instructions that x86-64 does in one
//!
//! Licence: see LICENSE.
//!
//! A child module of YJIT's backend/x86_64/mod.rs. Its x86_split merges arithmetic, or an address, with a move of the
//! result that follows; here are the pairs that it leaves. Values on the stack are kept in registers of their own, so
//! that nearly each load of a variable is followed by such a move.

use super::*;

/// Emits one instruction for `insn`, the one at `index` with its operands mapped, and the next, and takes the next; or
/// one for `insn` that spares the next one a copy. False, with nothing emitted, where neither can be.
pub(super) fn with_next(
    asm: &mut Assembler,
    iterator: &mut AssemblerDrainingIterator,
    live_ranges: &[usize],
    insn: &Insn,
    index: usize,
) -> bool {
    if live_ranges[index] != index + 1 {
        return false;
    }
    match (insn, iterator.peek()) {
        (Insn::Load { opnd, out }, Some(Insn::Mov { dest, src })) if out == src => match lower(asm, dest) {
            dest @ Opnd::Reg(_) => {
                assert_eq!(dest.rm_num_bits(), out.rm_num_bits(), "a move has one width");
                asm.load_into(dest, *opnd);
            }
            _ => return false,
        },
        // The address is what a register holds.
        (
            Insn::Lea { opnd: Opnd::Mem(Mem { base: MemBase::Reg(reg_no), disp: 0, .. }), out },
            Some(Insn::Mov { dest, src } | Insn::Store { dest, src }),
        ) if out == src => match lower(asm, dest) {
            dest @ Opnd::Mem(Mem { base: MemBase::Reg(_), .. }) => {
                asm.mov(dest, Opnd::Reg(Reg { num_bits: 64, reg_type: RegType::GP, reg_no: *reg_no }));
            }
            _ => return false,
        },
        // A Fixnum without its tag, to add to: `sub` would want a copy. The flags are those of the addition.
        (
            Insn::Sub { left: left @ Opnd::Reg(Reg { num_bits: 64, .. }), right: Opnd::Imm(1), out },
            Some(Insn::Add { left: sum, .. }),
        ) if out == sum => {
            let _ = asm.lea(Opnd::mem(64, *left, -1));
            iterator.map_insn_index(asm);
            return true;
        }
        _ => return false,
    }
    iterator.map_insn_index(asm);
    iterator.next_unmapped();
    iterator.map_insn_index(asm);
    true
}

/// A value of the stack where it is, in a register or in memory.
fn lower(asm: &Assembler, opnd: &Opnd) -> Opnd {
    if let Opnd::Stack { .. } = opnd { asm.lower_stack_opnd(opnd) } else { *opnd }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Type;

    /// The machine code of what `emit` emits.
    fn code(emit: impl FnOnce(&mut Assembler)) -> String {
        let (mut asm, mut cb) = (Assembler::new(0), CodeBlock::new_dummy(1024));
        emit(&mut asm);
        asm.compile_with_num_regs(&mut cb, 2);
        format!("{:x}", cb)
    }

    const LOCAL: fn() -> Opnd = || Opnd::mem(64, SP, 8);
    const RSI: Opnd = Opnd::Reg(RSI_REG);
    const RDI: Opnd = Opnd::Reg(RDI_REG);

    #[test]
    fn load_into_the_register() {
        let merged = code(|asm| { let value = asm.load(LOCAL()); asm.mov(RSI, value); });
        assert_eq!(merged, "488b7308"); // mov rsi, [rbx + 8]
    }

    #[test]
    fn load_that_is_wanted_again() {
        let twice = code(|asm| { let value = asm.load(LOCAL()); asm.mov(RSI, value); asm.mov(RDI, value); });
        assert_eq!(twice, "488b43084889c64889c7"); // mov rax, [rbx + 8]; mov rsi, rax; mov rdi, rax
    }

    #[test]
    fn load_of_half_a_register() {
        let half = code(|asm| { let value = asm.load(Opnd::mem(32, SP, 8)); asm.mov(Opnd::Reg(RSI_REG.with_num_bits(32)), value); });
        assert_eq!(half, "8b7308"); // mov esi, [rbx + 8]
    }

    #[test]
    fn load_of_an_object_that_the_gc_may_move() {
        let (mut asm, mut cb) = (Assembler::new(0), CodeBlock::new_dummy(1024));
        let value = asm.load(VALUE(0x1000).into());
        asm.mov(RSI, value);
        let (_, gc_offsets) = asm.compile_with_num_regs(&mut cb, 1);
        assert_eq!(format!("{:x}", cb), "48be0010000000000000"); // movabs rsi, 0x1000
        assert_eq!(gc_offsets, [2]);
    }

    #[test]
    fn load_of_what_is_there_already() {
        let noop = code(|asm| {
            let same = asm.load(RSI);
            asm.mov(RSI, same);
            let next = asm.load(LOCAL());
            let sum = asm.add(next, RSI);
            asm.mov(LOCAL(), sum);
        });
        assert_eq!(noop, "488b43084801f048894308"); // mov rax, [rbx + 8]; add rax, rsi; mov [rbx + 8], rax
    }

    #[test]
    fn value_of_the_stack() {
        let push = |asm: &mut Assembler| {
            let top = asm.stack_push(Type::Unknown);
            let value = asm.load(Opnd::mem(64, CFP, 24));
            asm.mov(top, value);
        };
        assert_eq!(code(push), "498b7518"); // mov rsi, [r13 + 24]
        let sixth = code(|asm| { for _ in 0..5 { let _ = asm.stack_push(Type::Unknown); } push(asm) });
        assert_eq!(sixth, "498b451848894328"); // no register is left: mov rax, [r13 + 24]; mov [rbx + 40], rax
    }

    #[test]
    fn address_in_a_register() {
        let plain = code(|asm| { let address = asm.lea(Opnd::mem(64, SP, 0)); asm.mov(Opnd::mem(64, CFP, 8), address); });
        assert_eq!(plain, "49895d08"); // mov [r13 + 8], rbx
        let moved = code(|asm| { let address = asm.lea(Opnd::mem(64, SP, 8)); asm.mov(Opnd::mem(64, CFP, 8), address); });
        assert_eq!(moved, "488d430849894508"); // lea rax, [rbx + 8]; mov [r13 + 8], rax
        let itself = code(|asm| { let address = asm.lea(Opnd::mem(64, SP, 0)); asm.mov(Opnd::mem(64, address, 8), address); });
        assert_eq!(itself, "488d0348894008"); // lea rax, [rbx]; mov [rax + 8], rax
    }

    #[test]
    fn sum_of_fixnums() {
        let sum = code(|asm| { let untagged = asm.sub(RSI, Opnd::Imm(1)); let sum = asm.add(untagged, RDI); asm.mov(RSI, sum); });
        assert_eq!(sum, "488d46ff4801f84889c6"); // lea rax, [rsi - 1]; add rax, rdi; mov rsi, rax
        let twice = code(|asm| { let untagged = asm.sub(RSI, Opnd::Imm(1)); let sum = asm.add(untagged, untagged); asm.mov(RSI, sum); });
        assert_eq!(twice, "488d46ff4801c04889c6"); // lea rax, [rsi - 1]; add rax, rax; mov rsi, rax
        let flags = code(|asm| { let less = asm.sub(RSI, Opnd::Imm(1)); asm.mov(RDI, less); });
        assert_eq!(flags, "4889f04883e8014889c7"); // mov rax, rsi; sub rax, 1; mov rdi, rax
    }
}
