//! yjit/dead_branch.rs - stubs of blocks that are invalidated while a Ractor waits in them
//!
//! Licence: see LICENSE.
//!
//! A child module of YJIT's core.rs. A Ractor that runs into a stub waits for the VM lock, with the address of the
//! stub's branch in hand. Whoever has the lock may invalidate the block that the branch belongs to. Upstream keeps such
//! a block among the dead ones of its ISEQ, which is on the waiting Ractor's stack, and then has the stub put the dead
//! branch back into the graph:
//!
//! * the new block lists it among its incoming branches. They may be of another ISEQ, and outlive the branch;
//! * a dead block that does nothing but defer is freed, and still listed among the dead: the next mark reads it, and
//!   the end of the ISEQ frees it again;
//! * a branch that is in the graph no more is not told when its target is freed.
//!
//! Here a dead branch stays out of the graph. It finds, or has compiled, the block that it wants, and goes there; its
//! own code and targets stay as they are. It keeps what it needs for that: when its block is taken out of the graph,
//! its targets become stubs.
//!
//! Where all code was invalidated meanwhile, for a TracePoint or by code GC, the Ractor leaves for the interpreter. Its
//! frames return to C from then on, and upstream patches all places where others may wait to leave too, but this one: it
//! went on in new code, whose `leave` handed the value to the wrong frame. So does one that comes to a stub from code that
//! is dead already, which happens where an instruction waits for the lock in its middle (`__send__` looks for a Symbol);
//! what the branch keeps of its targets says where to go on.
//!
//! A branch that only defers is not dead with the block that it leads to. Where such a branch fills its block, upstream
//! frees the block when the stub is hit, and the branch becomes one of the next block's: but the code before it still
//! falls into it, after the next block has been invalidated as well, each time. It becomes one of what falls into it.
//!
//! A short block that may be invalidated is filled up with nops. Upstream puts them behind the branch by which it falls into
//! the next block, and then does not see that it does: when that one is invalidated, the branch is not told, and the code
//! leaves for the interpreter each time from then on. So did a method whose first call was made by compiled code, with its
//! constants not yet in their caches. Here the nops come before the branch.
//!
//! Dead code that a Ractor is in the middle of goes on to the end of its instruction, with what it has embedded. Upstream
//! neither marks nor updates that: code that is overwritten cannot be read any more. While there are several Ractors it is
//! noted before, and marked, pinned, for as long as the dead block is kept.
//!
//! And a collection, while it waits, must see what is on its stack, and code GC in which ISEQ it is: upstream says so
//! when it has the lock. Here the frame does before.

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often all code was invalidated. Changes while all others are at a barrier.
static INVALIDATIONS: AtomicUsize = AtomicUsize::new(0);

/// How often that was. Any Ractor.
pub(super) fn invalidations() -> usize {
    INVALIDATIONS.load(Ordering::Relaxed)
}

/// What a Ractor that waits for the lock in a stub takes with it.
#[derive(Clone, Copy)]
pub(super) struct Waiter {
    pub sp: *mut VALUE, // as compiled code left it in the frame
    invalidations: usize,
}

impl Waiter {
    /// Whether all code was invalidated while it waited.
    fn overtaken(&self) -> bool {
        self.invalidations != invalidations()
    }
}

/// All code is being invalidated, none of it freed yet. VM lock, all others at a barrier.
pub fn overtake_waiters() {
    INVALIDATIONS.fetch_add(1, Ordering::Relaxed);
    if !unsafe { rb_yjit_multi_ractor_p() } {
        return;
    }
    for_each_iseq(|iseq| {
        for block in get_iseq_payload(iseq).iter().flat_map(|payload| payload.version_map.iter().flatten()) {
            unsafe { block.as_ref() }.outgoing.for_each(keep_targets);
        }
    });
}

fn keep_targets(branch: BranchRef) {
    for target in unsafe { branch.as_ref() }.targets.iter() {
        // SAFETY: copying out an Option<BlockRef>. No mutation.
        let block = unsafe { target.ref_unchecked().as_ref().and_then(|target| target.get_block()) };
        if let Some(block) = block {
            keep_target(target, unsafe { block.as_ref() });
        }
    }
}

/// Whether the blocks of an ISEQ that nobody runs are freed with it only, and not at once: while there are several Ractors
/// another one may be in the middle of an instruction of dead code that calls it. VM lock.
pub fn kept_p() -> bool {
    extern "C" {
        fn rb_ractor_others_p() -> bool;
    }
    unsafe { rb_ractor_others_p() }
}

/// What is embedded in the code of an ISEQ's dead blocks. Changes under the VM lock, all others at a barrier.
#[derive(Default)]
pub struct DeadValues(HashSet<VALUE>);

impl DeadValues {
    /// The GC. They stay where they are.
    pub(super) fn mark(&self) {
        for &value in &self.0 {
            unsafe { rb_gc_mark(value) };
        }
    }
}

/// The block is about to die: its code is still whole. No write barrier: its ISEQ has the values already. VM lock.
pub fn keep_values(block: &Block) {
    if !kept_p() {
        return;
    }
    let cb = CodegenGlobals::get_inline_cb();
    let payload = get_iseq_payload(block.iseq.get()).unwrap();
    for offset in block.gc_obj_offsets.iter() {
        let value_ptr = cb.get_ptr(offset.as_usize()).raw_ptr(cb) as *const VALUE;
        let value = unsafe { value_ptr.read_unaligned() }; // SAFETY: in YJIT's code
        if !value.special_const_p() {
            payload.dead_values.0.insert(value);
        }
    }
}

/// Whether the Ractor is to leave for the interpreter. With one Ractor, only blocks that were invalidated one by one have
/// stubs that are come to afterwards. VM lock.
pub(super) fn leaves_p(waiter: &Waiter, branch: &Branch) -> bool {
    waiter.overtaken() || (unsafe { rb_yjit_multi_ractor_p() } && dead_p(branch))
}

/// Whether the block that the branch belongs to has been invalidated. VM lock.
pub(super) fn dead_p(branch: &Branch) -> bool {
    let block = branch.block.get();
    let blockid = unsafe { block.as_ref() }.get_blockid();
    blockid.iseq.is_null() || // as 3.4.10 marks it
        get_version_list(blockid).map_or(true, |versions| !versions.contains(&block))
}

/// Whose branch it becomes that `block` has nothing but, when `block` is freed and the branch leads to `next`: that of the
/// block that falls into it. Where none does, `next` will do if all that jumps to `block` is told when `next` is invalidated:
/// returns and branches are, and the entry of a method, but an entry with optional parameters is not. A caller that falls
/// into its callee may be collected before it, with all its branches: then `block` is kept. VM lock.
pub(super) fn heir(block: &Block, next: BlockRef) -> Option<BlockRef> {
    let mut before = None;
    block.incoming.for_each(|incoming| {
        let incoming = unsafe { incoming.as_ref() };
        if incoming.end_addr.get() == block.start_addr {
            before = Some(incoming.block.get());
        }
    });
    let told = block.iseq_range.start == 0 || Context::decode(block.ctx).is_return_landing();
    match before {
        Some(before) => (unsafe { before.as_ref() }.iseq == block.iseq).then(|| before),
        None => told.then(|| next),
    }
}

/// What a branch that leaves the graph keeps of a target. VM lock.
pub(super) fn keep_target(target: &Cell<Option<Box<BranchTarget>>>, block: &Block) {
    target.set(Some(Box::new(BranchTarget::Stub(Box::new(BranchStub {
        address: Some(block.start_addr),
        iseq: block.iseq.clone(),
        iseq_idx: block.iseq_range.start,
        ctx: block.ctx,
    })))));
}

/// Where the frame stands that comes to the stub of each target. A target may become another block of the same place, and a
/// stub again; this stays, so that who has no lock can read it.
pub(super) struct Places {
    idx: [IseqIdx; 2],
    sp_offset: [i8; 2], // of the frame's sp from the stack pointer; with a return's value, which the stub pushes
}

impl Places {
    /// VM lock.
    pub(super) fn of(targets: &[Cell<Option<Box<BranchTarget>>>; 2]) -> Self {
        let mut places = Places { idx: [0; 2], sp_offset: [0; 2] };
        for (i, target) in targets.iter().enumerate() {
            // SAFETY: no mutation
            if let Some(target) = unsafe { target.ref_unchecked() } {
                let ctx = Context::decode(target.get_ctx());
                places.idx[i] = target.get_blockid().idx;
                places.sp_offset[i] = ctx.sp_offset + i8::from(ctx.is_return_landing());
            }
        }
        places
    }
}

/// Has the frame say where it is and what lies on its stack. No lock.
pub(super) unsafe fn flush_frame(branch: *const Branch, target_idx: usize, ec: EcPtr) -> Waiter {
    unsafe {
        let cfp = get_ec_cfp(ec);
        let sp = get_cfp_sp(cfp);
        let places = &(*branch).places;

        rb_set_cfp_pc(cfp, rb_iseq_pc_at_idx(get_cfp_iseq(cfp), places.idx[target_idx].into()));
        rb_set_cfp_sp(cfp, sp.offset(places.sp_offset[target_idx].into()));
        Waiter { sp, invalidations: invalidations() }
    }
}
