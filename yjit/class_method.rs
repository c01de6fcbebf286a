//! yjit/class_method.rs - calls of one class method on many classes in compiled code
//!
//! Licence: see LICENSE.
//!
//! A child module of YJIT's codegen.rs. A call of a class method is compiled for one class after the other, each guarded
//! by identity, and after a few of them for none: a call through the VM. What a hundred subclasses share is the method
//! that they inherit. So the last version guards on that: the Ractor's own cache (vm/method_cache.h) says which method
//! the receiver has, and if it is the one known at compile time, its code follows as if the class had been guarded.

use super::*;

extern "C" {
    fn rb_vm_method_cache_class_method(ec: EcPtr, ci: *const rb_callinfo, recv: VALUE) -> *const rb_callable_method_entry_t;
    fn rb_vm_method_cache_takes(ci: *const rb_callinfo) -> bool;
}

/// The version of a call site that guards on the method; up to it YJIT guards on the class.
const GUARD_METHOD_DEPTH: u8 = SEND_MAX_DEPTH - 1;

/// Whether what follows the guard asks nothing of the receiver's class but the method.
fn inherited_by_all(cme: *const rb_callable_method_entry_t) -> bool {
    !cme.is_null() && matches!(unsafe { get_cme_def_type(cme) }, VM_METHOD_TYPE_ISEQ | VM_METHOD_TYPE_IVAR)
}

/// Guards that the receiver, a class or module, has the method `comptime_recv` has. False, with nothing emitted, where
/// that is not the guard to use. It is a C call: operands of the stack are to be asked for anew.
pub fn guard_method(
    jit: &mut JITState,
    asm: &mut Assembler,
    ci: *const rb_callinfo,
    comptime_recv: VALUE,
    recv_opnd: YARVOpnd,
    recv: Opnd,
) -> bool {
    if asm.ctx.get_chain_depth() != GUARD_METHOD_DEPTH
        || !class_ivar::class_or_module_p(comptime_recv)
        || !unsafe { rb_vm_method_cache_takes(ci) }
    {
        return false;
    }
    let cme = unsafe { rb_callable_method_entry(comptime_recv.class_of(), vm_ci_mid(ci)) };
    if !inherited_by_all(cme) {
        return false;
    }
    let cme = unsafe { rb_check_overloaded_cme(cme, ci) };

    asm_comment!(asm, "guard the class has this method");
    let found = asm.ccall(
        rb_vm_method_cache_class_method as *const u8,
        vec![EC, Opnd::UImm(ci as u64), recv],
    );
    asm.cmp(found, VALUE(cme as usize).into());
    jit_chain_guard(JCC_JNE, jit, asm, SEND_MAX_DEPTH, Counter::guard_send_klass_megamorphic);

    asm.ctx.upgrade_opnd_type(recv_opnd, Type::UnknownHeap);
    true
}
