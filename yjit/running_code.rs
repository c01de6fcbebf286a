//! yjit/running_code.rs - code is made and patched while other Ractors run it
//!
//! Licence: see LICENSE.
//!
//! A child module of YJIT's core.rs; vm/running_code.h is its half in C.
//!
//! Problem. YJIT compiles a method block by block, each when it is first come to. Upstream stops all Ractors for each
//! block, since the stub that was hit is a jump in code that others may be in. A program of 6,000 blocks stands still
//! 6,000 times.
//!
//! Solution. Who compiles has the VM lock, and others run on. Blocks are made one at a time, and one that two Ractors
//! come to at once is made once: the second finds it when it gets the lock. What it makes is new code, which nobody can
//! come to yet, and lists and tables, which nobody looks at without the lock. What remains is
//!
//! 1. the jump that leads to the new code, in code that others run. A processor that fetches an instruction while one
//!    naturally aligned word of eight bytes is stored sees it as before or as after (AMD64 Architecture Programmer's
//!    Manual, volume 2, 7.6.1, asynchronous modification; Intel's manual does not say so, but HotSpot patches its calls
//!    like that on both). So a patch whose changed bytes lie in one such word is one store. Code that is made while others
//!    run has nops before its jumps, such that each patch is one. Any other patch stops all others first: what was made
//!    with one Ractor, or where a page of code ends.
//! 2. the shape of a branch whose second jump is not needed, since its target lies behind it. Upstream writes the branch
//!    anew, and the target over its end. Here the code is there already, and a Ractor may be between the two jumps: the
//!    second becomes a nop, and the branch keeps its end. That is right where the target is that of the second jump. Where
//!    it is the first's, the branch keeps both: who is between them wants to jump.
//! 3. protection. A page of code that is written cannot be executed at upstream's. Here it can, while others run, and stays so
//!    until a collection ([protect]): vm/running_code.h. Where the system allows no such page, all others are stopped, as
//!    upstream has it.
//! 4. what code or C asks of YJIT without the lock: where the frame of a stub lies (dead_branch.rs), which calls push
//!    their frame lazily (LazyFrames), whether a frame returns to C (loop_entry.rs), whether an ISEQ has code
//!    (rb_yjit_constant_ic_update, with [fence_payload]). None of them borrows a code block, which the compiler has.
//!
//! Invalidation stops all others as before, since it takes away what they are in; but only if there is something to take
//! away, which is looked for first. A program that defines a method, or sets a constant, over and over need not stand still
//! for code that does not depend on it.
//!
//! Orders.
//! [code]  The bytes of new code are stored before the patch that leads there, a release. The processor that jumps has
//!         fetched the patched jump, and x86-64 keeps instruction fetch coherent with stores. The same for the entry of
//!         a method (rb_yjit_compile_iseq).
//! [payload] An ISEQ gets its payload, or a constant cache is filled; then each side looks at what the other has
//!         written, with a sequentially consistent fence between. So the cache's filler finds the payload, and
//!         invalidates the block that was made without the value, or that block is made with it.
//! [frames] A LazyFrames node is complete before it is linked, a release, which a reader acquires. Nodes stay.
//! What the compiler takes for granted (a method, a constant, an operator that is not redefined) it reads and notes under
//! the lock. Who changes it does so first, and then takes the lock to invalidate what was noted: either the compiler reads
//! what is new, or its note is found. So one look with the lock tells: what is noted later was read later.
//!
//! Cost. Up to seven bytes of nops for a branch that is made while others run; one byte to test for each that is written.
//!
//! On other processors than x86-64 (arm64 lets only some instructions be replaced while they run, and wants its caches told), and
//! where threads are not pthreads, all others are stopped.

use super::*;
use crate::cruby::with_lock_taken_by;
use std::os::raw::{c_char, c_int, c_uint};
use std::panic::UnwindSafe;
use std::sync::atomic::{fence, AtomicBool, AtomicPtr, AtomicU64, Ordering};

extern "C" {
    fn rb_yjit_lock_to_compile(recursive_lock_level: *mut c_uint, file: *const c_char, line: c_int);
    fn rb_yjit_stop_others();
    fn rb_yjit_protect_code();
    fn rb_yjit_lock_to_look(recursive_lock_level: *mut c_uint);
    fn rb_yjit_unlock_looked(recursive_lock_level: *mut c_uint);
    static rb_yjit_others_run: AtomicBool; // changes, so that Rust must not take it for a constant
}

/// Has the VM lock while `func` runs, and other Ractors run meanwhile where they can.
pub fn with_lock_to_compile<F, R>(loc: SourceLocation, func: F) -> R
where
    F: FnOnce() -> R + UnwindSafe,
{
    with_lock_taken_by(rb_yjit_lock_to_compile, loc, func)
}

/// Has no page of code be writable any more. The collector, as it marks.
pub fn protect() {
    unsafe { rb_yjit_protect_code() }
}

/// Whether `noted` finds what depends on something that has been changed already: if not, nothing does, and nobody need be
/// stopped; if so, it is to be looked for again when all stand. `noted` may note, as well, that nothing is to depend on it from now
/// on. Any Ractor; a safe point.
pub fn noted_p(noted: impl FnOnce(&mut Invariants) -> bool) -> bool {
    let mut level: c_uint = 0;

    unsafe { rb_yjit_lock_to_look(&mut level) };
    let found = noted(Invariants::get_instance());
    unsafe { rb_yjit_unlock_looked(&mut level) };
    found
}

/// Whether other Ractors may run. VM lock.
pub fn others_run_p() -> bool {
    !cfg!(test) && unsafe { rb_yjit_others_run.load(Ordering::Relaxed) }
}

/// What a patch point's first byte may be at, modulo eight: bit n for n.
pub type Starts = u8;

/// Any change of `jmp rel32`, which may become a nop, is in one word. The same for `jne rel32`, whose target changes only.
pub const JUMP_STARTS: Starts = 0b0000_1111;
pub const JCC_STARTS: Starts = 0b1100_0111;

/// `jcc rel32; jmp rel32`: the target of the first is in one word, the second is in the next.
const TWO_JUMPS_STARTS: Starts = 0b0000_0100;

const JUMP_SIZE: usize = 5;
const TWO_JUMPS_SIZE: usize = 11;

/// `movabs reg, imm64`, of whose address the low half changes.
const JIT_RETURN_STARTS: Starts = 0b1100_0111;

/// Where the code of a branch may begin.
pub(super) fn branch_starts(gen_fn: &BranchGenFn) -> Starts {
    match gen_fn {
        BranchGenFn::BranchIf(_) |
        BranchGenFn::BranchNil(_) |
        BranchGenFn::BranchUnless(_) |
        BranchGenFn::BranchLess(_) => TWO_JUMPS_STARTS,
        BranchGenFn::JumpToTarget0(_) => JUMP_STARTS,
        BranchGenFn::JNZToTarget0 |
        BranchGenFn::JZToTarget0 |
        BranchGenFn::JBEToTarget0 |
        BranchGenFn::JBToTarget0 |
        BranchGenFn::JOMulToTarget0 => JCC_STARTS,
        BranchGenFn::JITReturn => JIT_RETURN_STARTS,
    }
}

/// How many bytes from `pos` on the next place is that is one of `starts`, of which there is one at least.
pub fn bytes_to_start(pos: usize, starts: Starts) -> u32 {
    (0..8).find(|bytes| starts & (1 << ((pos + bytes) % 8)) != 0).unwrap() as u32
}

/// The block that a branch leads to was made right behind it: has the branch fall through, if those who are in it may meet
/// that. `regenerate_branch` then writes it. A branch that is longer goes from one page of code to the next.
pub(super) fn fall_through(branch: &Branch, shape: BranchShape) {
    match (&branch.gen_fn, shape, branch.code_size()) {
        (BranchGenFn::JumpToTarget0(_), BranchShape::Next0, JUMP_SIZE) |
        (BranchGenFn::BranchIf(_) | BranchGenFn::BranchNil(_), BranchShape::Next1, TWO_JUMPS_SIZE) |
        (BranchGenFn::BranchUnless(_) | BranchGenFn::BranchLess(_), BranchShape::Next1, TWO_JUMPS_SIZE) => {
            branch.gen_fn.set_shape(shape)
        }
        _ => (),
    }
}

/// Code that is to replace code that others run, byte by byte. An instruction that a page of code has no room for is begun
/// there, and written over by a jump to the next page: of two bytes for one place the last counts.
struct Draft(Vec<(CodePtr, u8)>);

/// Where bytes go meanwhile. VM lock.
static DRAFT: AtomicPtr<Draft> = AtomicPtr::new(ptr::null_mut());

/// After a branch was written over: if it has become shorter, and other code follows at its old end, the rest are nops.
pub(super) fn fill_gap(cb: &mut CodeBlock, old_end: CodePtr, old_write_pos: usize) {
    let (end, old_end) = (cb.get_write_pos(), old_end.as_offset() as usize);
    if end < old_end && old_end != old_write_pos {
        #[cfg(target_arch = "x86_64")]
        crate::asm::x86_64::nop(cb, (old_end - end) as u32);
    }
}

/// Whether the byte is of a draft, and not to be written. Whoever writes code.
pub fn drafted_p(at: CodePtr, byte: u8) -> bool {
    let draft = DRAFT.load(Ordering::Relaxed);
    if draft.is_null() {
        return false;
    }
    unsafe { &mut *draft }.put(at, byte); // SAFETY: rewrite() has it on its stack
    true
}

/// Has `write` write over code that others may be in. VM lock.
pub(super) fn rewrite(cb: &mut CodeBlock, write: impl FnOnce(&mut CodeBlock)) {
    if !others_run_p() {
        return write(cb);
    }
    let mut draft = Draft(Vec::with_capacity(TWO_JUMPS_SIZE));
    DRAFT.store(&mut draft, Ordering::Relaxed);
    write(cb);
    DRAFT.store(ptr::null_mut(), Ordering::Relaxed);
    draft.publish(cb);
}

impl Draft {
    fn put(&mut self, at: CodePtr, byte: u8) {
        match self.0.iter_mut().find(|(other, _)| *other == at) {
            Some((_, other)) => *other = byte,
            None => self.0.push((at, byte)),
        }
    }

    fn publish(mut self, cb: &mut CodeBlock) {
        // SAFETY: there is code, and only who has the lock writes to it
        let old = |at: CodePtr| unsafe { at.raw_ptr(cb).read() };
        self.0.retain(|&(at, byte)| old(at) != byte);
        let first = match self.0.first() {
            Some(&(first, _)) => first,
            None => return,
        };
        let old_first = old(first);
        let word_addr = first.raw_addr(cb) & !7;

        if self.0.iter().any(|(at, _)| at.raw_addr(cb) & !7 != word_addr) {
            unsafe { rb_yjit_stop_others() };
            incr_counter!(stopped_to_patch);
            for &(at, byte) in &self.0 {
                cb.write_mem(at, byte).expect("can rewrite existing code");
            }
            return;
        }

        // What is there already, to have the page made writable.
        cb.write_mem(first, old_first).expect("can rewrite existing code");

        // SAFETY: code, aligned, and the page is writable. [code]
        let word = unsafe { &*(word_addr as *const AtomicU64) };
        let mut bytes = word.load(Ordering::Relaxed).to_ne_bytes();
        for (at, byte) in &self.0 {
            bytes[at.raw_addr(cb) - word_addr] = *byte;
        }
        word.store(u64::from_ne_bytes(bytes), Ordering::Release);
    }
}

/// Between what one side of [payload] writes and what it reads. Any Ractor.
pub fn fence_payload() {
    fence(Ordering::SeqCst);
}

/// The entry that an entry stub leads to no more, since whoever came first has compiled it: for those who waited meanwhile.
/// Forgotten when all code is invalidated. VM lock.
#[derive(Default)]
pub(super) struct NextEntry(Cell<Option<(CodePtr, usize)>>);

impl NextEntry {
    pub(super) fn set(&self, entry: CodePtr) {
        self.0.set(Some((entry, dead_branch::invalidations())));
    }

    pub(super) fn get(&self) -> Option<CodePtr> {
        self.0.get().and_then(|(entry, invalidations)| (invalidations == dead_branch::invalidations()).then(|| entry))
    }
}

/// Calls of C functions whose frame is pushed lazily, by the pc that the caller saves. Read by any Ractor without a lock;
/// added to under the VM lock. Nothing is taken out.
pub struct LazyFrames {
    buckets: Box<[AtomicPtr<LazyFrame>]>,
}

pub type LazyFrameValue = (*const rb_callable_method_entry_t, u8);

struct LazyFrame {
    pc: *mut VALUE,
    value: LazyFrameValue,
    next: *const LazyFrame,
}

impl LazyFrames {
    const BUCKETS: usize = 1024;

    pub fn new() -> Self {
        LazyFrames { buckets: (0..Self::BUCKETS).map(|_| AtomicPtr::new(ptr::null_mut())).collect() }
    }

    /// An ISEQ's words lie together, and a call has three at least.
    fn bucket(&self, pc: *mut VALUE) -> &AtomicPtr<LazyFrame> {
        let word = pc as usize / mem::size_of::<VALUE>();
        &self.buckets[(word ^ word >> 10) % Self::BUCKETS]
    }

    /// Any Ractor. [frames]
    pub fn get(&self, pc: &*mut VALUE) -> Option<&LazyFrameValue> {
        let mut frame = self.bucket(*pc).load(Ordering::Acquire) as *const LazyFrame;
        while let Some(LazyFrame { pc: its_pc, value, next }) = unsafe { frame.as_ref() } { // SAFETY: nodes stay
            if its_pc == pc {
                return Some(value);
            }
            frame = *next;
        }
        None
    }

    /// VM lock. [frames]
    pub fn insert(&self, pc: *mut VALUE, value: LazyFrameValue) {
        if self.get(&pc) == Some(&value) {
            return;
        }
        let bucket = self.bucket(pc);
        let frame = LazyFrame { pc, value, next: bucket.load(Ordering::Relaxed) };
        bucket.store(Box::into_raw(Box::new(frame)), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_keep_what_changes_in_one_word() {
        let one_word = |from: usize, to: usize| from / 8 == (to - 1) / 8;
        for start in 0..8 {
            let in_set = |starts: Starts| starts & (1 << start) != 0;
            assert_eq!(in_set(JUMP_STARTS), one_word(start, start + 5), "jmp at {start}");
            assert_eq!(in_set(JCC_STARTS), one_word(start + 2, start + 6), "jcc at {start}");
            assert_eq!(in_set(JIT_RETURN_STARTS), one_word(start + 2, start + 6), "movabs at {start}");
            let both = one_word(start + 2, start + 6) && one_word(start + 6, start + 11);
            assert_eq!(in_set(TWO_JUMPS_STARTS), both, "jcc and jmp at {start}");
        }
    }

    #[test]
    fn bytes_to_the_next_start() {
        for pos in 0..16 {
            for starts in 1..=255 {
                let bytes = bytes_to_start(pos, starts) as usize;
                assert!(bytes < 8 && starts & (1 << ((pos + bytes) % 8)) != 0);
                assert!((0..bytes).all(|fewer| starts & (1 << ((pos + fewer) % 8)) == 0));
            }
        }
    }

    #[test]
    fn lazy_frames_are_found_by_their_pc() {
        let mut frames = LazyFrames::new();
        let pc = |n: usize| (n * mem::size_of::<VALUE>()) as *mut VALUE;
        for n in 0..5000 {
            frames.insert(pc(n), (n as *const _, n as u8));
        }
        assert!((0..5000).all(|n| frames.get(&pc(n)) == Some(&(n as *const _, n as u8))));
        assert_eq!(frames.get(&pc(5000)), None);
        frames.insert(pc(7), (1 as *const _, 1));
        assert_eq!(frames.get(&pc(7)), Some(&(1 as *const _, 1)));
    }

    /// Who is in a branch, at the start of any of its instructions, while it is patched.
    #[cfg(target_arch = "x86_64")]
    mod patched_while_run {
        use super::*;

        const TARGETS: [usize; 2] = [0x300, 0x400];
        const MADE_ELSEWHERE: usize = 0x200;

        fn branch(gen_fn: &BranchGenFn, start: usize, size: usize) -> Branch {
            let ptr = |pos| CodeBlock::new_dummy(1024).get_ptr(pos);
            Branch {
                block: Cell::new(NonNull::dangling()), // nobody asks
                start_addr: ptr(start),
                end_addr: Cell::new(ptr(start + size)),
                targets: Default::default(),
                places: dead_branch::Places::of(&Default::default()),
                gen_fn: gen_fn.clone(),
            }
        }

        /// The code of a branch that lies at `start`, as regenerate_branch writes it over one that ends at `old_end`.
        fn code(gen_fn: &BranchGenFn, start: usize, targets: [usize; 2], old_end: usize) -> Vec<u8> {
            let mut cb = CodeBlock::new_dummy(1024);
            let [target0, target1] = targets.map(|pos| Target::CodePtr(cb.get_ptr(pos)));
            let mut asm = Assembler::new(0);
            gen_fn.call(&mut asm, target0, Some(target1));
            cb.set_pos(start);
            asm.compile_with_num_regs(&mut cb, 0);
            let old_end_ptr = cb.get_ptr(old_end);
            fill_gap(&mut cb, old_end_ptr, 1024);
            let end = cb.get_write_pos();
            (start..end).map(|pos| unsafe { cb.get_ptr(pos).raw_ptr(&cb).read() }).collect()
        }

        /// Where a Ractor goes that has run `done` instructions of `old` when it meets `new`, and whose condition for the first
        /// target, that of the opcode `cc`, is `holds`.
        fn goes_to(old: &[u8], new: &[u8], start: usize, done: usize, cc: u8, holds: bool) -> usize {
            let mut at = 0;
            for step in 0.. {
                let code = if step < done { old } else { new };
                let rel = |at: usize| i32::from_ne_bytes(code[at..at + 4].try_into().unwrap()) as isize;
                match code[at..] {
                    [] => break,
                    [0xe9, ..] => return (start as isize + at as isize + 5 + rel(at + 1)) as usize,
                    [0x0f, 0x1f, 0x44, 0, 0, ..] => at += 5,
                    [0x0f, its_cc, ..] => {
                        assert!(its_cc == cc || its_cc == cc ^ 1);
                        if (its_cc == cc) == holds {
                            return (start as isize + at as isize + 6 + rel(at + 2)) as usize;
                        }
                        at += 6;
                    }
                    _ => panic!("{:x?} at {at}", code),
                }
            }
            start + at
        }

        /// All of a branch: each place that it may start at, each target, made behind it or elsewhere, each moment.
        fn check(make: fn() -> BranchGenFn, shapes: &[BranchShape]) {
            let size = code(&make(), 0, TARGETS, 0).len();
            for start in (64..72).filter(|start| branch_starts(&make()) & (1 << (start % 8)) != 0) {
                let old = code(&make(), start, TARGETS, start + size);
                for (i, &shape) in shapes.iter().enumerate() {
                    for made_at in [start + size, MADE_ELSEWHERE] {
                        let gen_fn = make();
                        let branch = branch(&gen_fn, start, size);
                        if made_at == start + size {
                            fall_through(&branch, shape);
                        }
                        let mut targets = TARGETS;
                        targets[i] = made_at;
                        let new = code(&branch.gen_fn, start, targets, start + size);
                        assert_eq!(new.len(), size, "a branch keeps its end");
                        let words: HashSet<usize> = (0..size).filter(|&n| old[n] != new[n]).map(|n| (start + n) / 8).collect();
                        assert_eq!(words.len(), 1, "{gen_fn:?} at {start}: {old:x?} {new:x?}");
                        for (done, holds) in (0..3).flat_map(|done| [(done, false), (done, true)]) {
                            let wanted = if holds || shapes.len() == 1 { 0 } else { 1 };
                            let to = goes_to(&old, &new, start, done, old[1], holds);
                            assert!(
                                to == targets[wanted] || to == TARGETS[wanted],
                                "{gen_fn:?} at {start}, {shape:?} made at {made_at}, met after {done}: to {to:#x}",
                            );
                        }
                    }
                }
            }
        }

        #[test]
        fn two_jumps() {
            let two = [BranchShape::Next0, BranchShape::Next1];
            check(|| BranchGenFn::BranchIf(Cell::new(BranchShape::Default)), &two);
            check(|| BranchGenFn::BranchNil(Cell::new(BranchShape::Default)), &two);
            check(|| BranchGenFn::BranchUnless(Cell::new(BranchShape::Default)), &two);
            check(|| BranchGenFn::BranchLess(Cell::new(BranchShape::Default)), &two);
        }

        #[test]
        fn one_jump() {
            check(|| BranchGenFn::JumpToTarget0(Cell::new(BranchShape::Default)), &[BranchShape::Next0]);
        }

        /// What an instruction was begun with is written over.
        #[test]
        fn last_byte_of_a_draft_counts() {
            let cb = CodeBlock::new_dummy(64);
            let mut draft = Draft(vec![]);
            for (pos, byte) in [(3, 0x49), (4, 0x89), (3, 0xe9), (5, 0)] {
                draft.put(cb.get_ptr(pos), byte);
            }
            assert_eq!(draft.0, [(cb.get_ptr(3), 0xe9), (cb.get_ptr(4), 0x89), (cb.get_ptr(5), 0)]);
        }
    }
}
