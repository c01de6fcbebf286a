//! yjit/redefined.rs - calls and constants that are redefined over and over
//!
//! Licence: see LICENSE.
//!
//! A child module of YJIT's core.rs. Compiled code that calls a method, or has a constant in it, is thrown away when that
//! is redefined, and compiled again when it is come to next: some 60 us, thirty times what the interpreter takes for the
//! same, in a program that defines, calls and removes a method at each turn; with several Ractors a stop of all as well.
//! Upstream has that in methods that are called often; where a loop enters compiled code (yjit/loop_entry.rs) a program
//! that runs one has it too.
//!
//! A block that was invalidated MOST times in a row, each soon after the last, is compiled with calls that look their
//! methods up, as upstream does where a call meets too many classes, or has the VM look for the constant, as where it is
//! not in its cache yet. That takes for granted nothing that a redefinition could change. It stays so: a call takes 30 ns more
//! from then on, a constant 6. What is redefined now and then, as by who loads code anew, is compiled as before: what that
//! takes is little of the time in between.
//!
//! Each version of a block counts, and each copy of a module's method, and a constant when it is set and when its cache is
//! filled: a site that meets four classes is given up after eight redefinitions. Counted by the block's first instruction,
//! which is mostly the one in question: a call is compiled when its receiver is known, in a block of its own, and a constant
//! begins one. With the VM lock, as all of the compiler's.

use super::*;
use std::collections::HashMap;
use std::time::{Duration, Instant};

const MOST: u8 = 32;
const SOON: Duration = Duration::from_millis(100);

/// Of an ISEQ: how often in a row the blocks that begin at each instruction were invalidated by a redefinition, and when last.
/// Few have any.
#[derive(Default)]
pub struct Redefined(Option<Box<HashMap<IseqIdx, (u8, Instant)>>>);

/// +block+ is about to be invalidated, for what it calls, or a constant, was redefined, or is known again since.
pub fn note(block: &BlockRef) {
    let blockid = unsafe { block.as_ref() }.get_blockid();
    if let Some(payload) = get_iseq_payload(blockid.iseq) {
        let now = Instant::now();
        let counts = payload.redefined.0.get_or_insert_with(Default::default);
        let (count, last) = counts.entry(blockid.idx).or_insert((0, now));
        *count = if now - *last > SOON { 1 } else { count.saturating_add(1) };
        *last = now;
    }
}

/// Whether a block that begins there takes nothing for granted.
pub fn given_up_p(iseq: IseqPtr, idx: IseqIdx) -> bool {
    let counts = get_iseq_payload(iseq).and_then(|payload| payload.redefined.0.as_ref());
    counts.map_or(false, |counts| counts.get(&idx).map_or(false, |(count, _)| *count >= MOST))
}

/// Whether the code of a constant's instruction there takes for granted what is in its cache, or that nothing is. VM lock.
pub fn constant_embedded_p(iseq: IseqPtr, idx: IseqIdx) -> bool {
    !given_up_p(iseq, idx) && get_version_list(BlockId { iseq, idx }).map_or(false, |versions| !versions.is_empty())
}

impl JITState<'_> {
    /// Whether the block that is being compiled takes nothing for granted.
    pub fn redefined_often_p(&self) -> bool {
        given_up_p(self.get_iseq(), self.get_starting_insn_idx())
    }

    /// The same for a call. Where it is not one of the instructions that YJIT can have the VM do, they would leave compiled code
    /// each time instead: these go on as upstream's.
    pub fn call_redefined_often_p(&self) -> bool {
        let opcode = self.get_opcode() as u32;
        opcode != YARVINSN_opt_neq && opcode != YARVINSN_objtostring && self.redefined_often_p()
    }
}
