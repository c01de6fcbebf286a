//! yjit/loop_entry.rs - code that the interpreter enters at the head of a loop
//!
//! Licence: see LICENSE.
//!
//! A child module of YJIT's core.rs. What the entry is for, who calls it, and what its return value means stands in
//! vm/loop_entry.h. It differs from the entry for exception handlers in three things: the caller has looked it up by
//! the head, so it has no guard on the pc; locals stay on the stack, as the frame's variables may have escaped; and
//! the code of a method that is marked `inline_block` is for the block that the frame was given.

use super::*;
use crate::log::Log;
use crate::yjit::compilable_p;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Turns of a loop after which it is compiled. The interpreter needs about as long for them as YJIT for the loop.
const SMALL_LOOP_THRESHOLD: u64 = 1000;

#[no_mangle]
pub static mut rb_yjit_loop_threshold: u64 = SMALL_LOOP_THRESHOLD;

/// Whether the interpreter counts the turns of loops.
#[no_mangle]
pub static mut rb_yjit_loop_entry_p: bool = false;

/// What a frame that C called has for its return address. No lock.
static RETURNS_TO_C: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// YJIT is ready to compile.
pub fn start() {
    let cb = CodegenGlobals::get_inline_cb();
    let codes = [CodegenGlobals::get_leave_exit_code(), CodegenGlobals::get_leave_exception_code()];
    for (address, code) in RETURNS_TO_C.iter().zip(codes) {
        address.store(code.raw_addr(cb), Ordering::Relaxed);
    }
    unsafe { rb_yjit_loop_entry_p = !get_option!(disable_loop_entry) };
}

/// Whether the code of this frame was called by C, that is, by the interpreter.
#[no_mangle]
pub extern "C" fn rb_yjit_returns_to_c_p(cfp: CfpPtr) -> bool {
    let jit_return = unsafe { *((cfp as *const u8).add(RUBY_OFFSET_CFP_JIT_RETURN as usize) as *const usize) };
    RETURNS_TO_C.iter().any(|address| address.load(Ordering::Relaxed) == jit_return)
}

/// Why there is no code.
enum NoEntry {
    /// The instruction at the head is not one that YJIT compiles.
    Refused,
    /// There is no room, or no more versions are made for one block, or the stack is nearly used up.
    NotNow,
}

/// Compiles the frame on top from its pc on, and returns the code's address, or null; then `refused` says whether that
/// is for good. `block_iseq` is the block that the frame was given, if its code is to be for that alone, or null. VM
/// lock, all other Ractors at a barrier.
#[no_mangle]
pub extern "C" fn rb_yjit_gen_loop_entry(iseq: IseqPtr, ec: EcPtr, block_iseq: IseqPtr, refused: &mut bool) -> *const u8 {
    if !compilable_p(iseq, ec) {
        return ptr::null();
    }
    unsafe {
        if rb_yjit_loop_threshold == SMALL_LOOP_THRESHOLD && crate::stats::rb_yjit_live_iseq_count > LARGE_ISEQ_COUNT {
            // a large application: call_threshold rises by the same factor
            rb_yjit_loop_threshold *= LARGE_CALL_THRESHOLD / SMALL_CALL_THRESHOLD;
        }
    }
    match with_compile_time(|| gen_loop_entry(iseq, ec, block_iseq)) {
        Ok(code_ptr) => code_ptr,
        Err(reason) => {
            *refused = matches!(reason, NoEntry::Refused);
            ptr::null()
        }
    }
}

fn gen_loop_entry(iseq: IseqPtr, ec: EcPtr, block_iseq: IseqPtr) -> Result<*const u8, NoEntry> {
    let cfp = unsafe { get_ec_cfp(ec) };
    let idx = iseq_pc_to_insn_idx(iseq, unsafe { get_cfp_pc(cfp) }).ok_or(NoEntry::Refused)?;
    let stack_size = unsafe { get_cfp_sp(cfp).offset_from(get_cfp_bp(cfp)) };
    let blockid = BlockId { iseq, idx };
    let mut ctx = Context::default();
    ctx.stack_size = u8::try_from(stack_size).map_err(|_| NoEntry::Refused)?;
    if !block_iseq.is_null() {
        ctx.set_inline_block(block_iseq);
    }

    let cb = CodegenGlobals::get_inline_cb();
    let ocb = CodegenGlobals::get_outlined_cb();
    let entry = gen_entry(blockid, &ctx, ec, cb, ocb);
    if matches!(entry, Err(NoEntry::NotNow)) && get_option!(code_gc) && (cb.has_dropped_bytes() || ocb.unwrap().has_dropped_bytes()) {
        cb.code_gc(ocb); // there will be room at the next attempt
    }
    cb.mark_all_executable();
    ocb.unwrap().mark_all_executable();
    entry
}

/// The prologue, and the loop after it.
fn gen_entry(
    blockid: BlockId,
    ctx: &Context,
    ec: EcPtr,
    cb: &mut CodeBlock,
    ocb: &mut OutlinedCb,
) -> Result<*const u8, NoEntry> {
    let code_ptr = gen_prologue(blockid, cb, ocb).ok_or(NoEntry::NotNow)?;
    let block = match find_block_version(blockid, ctx) {
        Some(block) => {
            let mut asm = Assembler::new_without_iseq();
            asm.jmp(unsafe { block.as_ref() }.start_addr.into());
            asm.compile(cb, Some(ocb)).ok_or(NoEntry::NotNow)?;
            block
        }
        None => gen_block_series(blockid, ctx, ec, cb, ocb).ok_or(NoEntry::NotNow)?,
    };
    let block = unsafe { block.as_ref() };
    if block.iseq_range.is_empty() {
        return Err(NoEntry::Refused);
    }
    if Context::decode(block.ctx).inline() != ctx.inline() {
        return Err(NoEntry::NotNow);
    }

    let payload = get_or_create_iseq_payload(blockid.iseq);
    for page in cb.addrs_to_pages(code_ptr, cb.get_write_ptr()) {
        payload.pages.insert(page); // for code GC
    }
    incr_counter!(compiled_loop_entry);
    let idx = blockid.idx; // the struct is packed
    Log::add(format!("{} (index: {}, loop entry)", iseq_get_location(blockid.iseq, idx), idx));
    Ok(code_ptr.raw_ptr(cb))
}

/// From C's calling convention to that of compiled code, as gen_entry_prologue() does for an exception handler.
fn gen_prologue(blockid: BlockId, cb: &mut CodeBlock, ocb: &mut OutlinedCb) -> Option<CodePtr> {
    let code_ptr = cb.get_write_ptr();
    let mut asm = Assembler::new_without_iseq();
    asm_comment!(asm, "YJIT loop entry: {}", iseq_get_location(blockid.iseq, blockid.idx));

    asm.frame_setup();
    asm.cpush(CFP);
    asm.cpush(EC);
    asm.cpush(SP);
    asm.mov(EC, C_ARG_OPNDS[0]);
    asm.mov(CFP, C_ARG_OPNDS[1]);
    asm.mov(SP, Opnd::mem(64, CFP, RUBY_OFFSET_CFP_SP));

    // A frame without FINISH must not return its value to C.
    asm.ccall(
        rb_yjit_set_exception_return as *mut u8,
        vec![
            CFP,
            Opnd::const_ptr(CodegenGlobals::get_leave_exit_code().raw_ptr(cb)),
            Opnd::const_ptr(CodegenGlobals::get_leave_exception_code().raw_ptr(cb)),
        ],
    );
    gen_counter_incr_without_pc(&mut asm, Counter::loop_entry_count);

    asm.compile(cb, Some(ocb))?;
    (!cb.has_dropped_bytes()).then(|| code_ptr)
}
