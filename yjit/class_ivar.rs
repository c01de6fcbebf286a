//! yjit/class_ivar.rs - instance variables of classes and modules in compiled code
//!
//! Licence: see LICENSE.
//!
//! A child module of YJIT's codegen.rs. The code guards on what classes of one layout share, not on which class it is:
//! the type, a fields object, its shape id. One compiled method serves all subclasses that set the same variables in
//! the same order. What the loads mean to a writer is Note [FIELDS-PUBLISH] in class_fields.h; x86-64 keeps them in
//! order by itself. On arm64 the value may be loaded before the shape id that was just compared; the only value that
//! this can make wrong is that of a variable appended in between, Qundef, and that is tested for.

use super::*;

/// The same struct as in class_fields.h.
#[repr(C)]
#[derive(Default)]
struct ClassIvarLocation {
    shape_id: u32,
    has_fields: bool,
    has_shape: bool,
    set: bool,
    heap: bool,
    any_ractor: bool,
    fixnum: bool,
    fields_obj_offset: i32,
    shape_id_offset: i32,
    values_offset: i32,
    value_offset: i32,
}

extern "C" {
    fn rb_class_ivar_locate(klass: VALUE, id: ID, location: *mut ClassIvarLocation);
}

pub fn class_or_module_p(value: VALUE) -> bool {
    !value.special_const_p() && matches!(value.builtin_type(), RUBY_T_CLASS | RUBY_T_MODULE)
}

/// Where the variable lies in the receiver at compile time, if that is a class or module whose fields have a shape, or
/// that has none.
fn locate(receiver: VALUE, id: ID) -> Option<ClassIvarLocation> {
    if !class_or_module_p(receiver) {
        return None;
    }
    let mut location = ClassIvarLocation::default();
    unsafe { rb_class_ivar_locate(receiver, id, &mut location) };
    (location.has_shape || !location.has_fields).then(|| location)
}

/// What is counted where compiled code gives up.
struct GiveUp {
    not_heap: Counter,
    megamorphic: Counter,
}

const GET: GiveUp = GiveUp { not_heap: Counter::getivar_not_heap, megamorphic: Counter::getivar_megamorphic };
const DEFINED: GiveUp = GiveUp { not_heap: Counter::definedivar_not_heap, megamorphic: Counter::definedivar_megamorphic };

/// Guards that `recv` is a class or module with a fields object, once for self, and its fields of that shape, and returns
/// the fields object; or that it is one without, and returns 0.
fn guard_fields_shape(
    jit: &mut JITState,
    asm: &mut Assembler,
    location: &ClassIvarLocation,
    recv: Opnd,
    recv_opnd: YARVOpnd,
    max_chain_depth: u8,
    give_up: GiveUp,
) -> Opnd {
    let guarded = recv_opnd == SelfOpnd && asm.ctx.self_has_class_fields;
    if !guarded {
        guard_object_is_heap(asm, recv, recv_opnd, give_up.not_heap);

        asm_comment!(asm, "guard class or module");
        let flags = asm.load(Opnd::mem(64, recv, RUBY_OFFSET_RBASIC_FLAGS));
        let builtin_type = asm.and(flags, Opnd::UImm((RUBY_T_MASK & !(RUBY_T_CLASS ^ RUBY_T_MODULE)) as u64));
        asm.cmp(builtin_type, Opnd::UImm((RUBY_T_CLASS & RUBY_T_MODULE) as u64));
        jit_chain_guard(JCC_JNE, jit, asm, max_chain_depth, give_up.megamorphic);
    }

    let fields = asm.load(Opnd::mem(64, recv, location.fields_obj_offset));
    if !location.has_fields {
        asm_comment!(asm, "guard no fields object");
        asm.test(fields, fields);
        jit_chain_guard(JCC_JNZ, jit, asm, max_chain_depth, give_up.megamorphic);
        return fields;
    }
    if !guarded {
        asm_comment!(asm, "guard fields object, which never goes: [H] in class_fields.h");
        asm.test(fields, fields);
        jit_chain_guard(JCC_JZ, jit, asm, max_chain_depth, give_up.megamorphic);
        asm.ctx.self_has_class_fields |= recv_opnd == SelfOpnd;
    }

    asm_comment!(asm, "guard shape of fields object");
    asm.cmp(Opnd::mem(32, fields, location.shape_id_offset), Opnd::UImm(location.shape_id as u64));
    jit_chain_guard(JCC_JNE, jit, asm, max_chain_depth, give_up.megamorphic);
    fields
}

/// Loads the value out of the fields object.
fn load_value(asm: &mut Assembler, location: &ClassIvarLocation, fields: Opnd) -> Opnd {
    let value = if location.heap {
        let values = asm.load(Opnd::mem(64, fields, location.values_offset));
        asm.load(Opnd::mem(64, values, location.value_offset))
    } else {
        asm.load(Opnd::mem(64, fields, location.values_offset + location.value_offset))
    };

    if cfg!(target_arch = "aarch64") {
        asm_comment!(asm, "guard value was stored");
        asm.cmp(value, Qundef.into());
        asm.je(Target::side_exit(Counter::getivar_megamorphic));
    }
    value
}

/// Guards that any Ractor may have the value: a special constant, or an object with the shareable bit. For another, the
/// next version of the block calls rb_ivar_get, which finds out the rest. On arm64 that bit would have to be loaded with
/// an acquire (rb_value_any_ractor_p), which the assembler does not have: there only special constants pass.
/// Where the value is a Fixnum now, the first version guards that it is one, so that what follows need not. Returns what
/// is known of the value.
fn guard_any_ractor(jit: &mut JITState, asm: &mut Assembler, value: Opnd, fixnum: bool, max_chain_depth: u8) -> Type {
    if fixnum && asm.ctx.get_chain_depth() == 0 {
        asm_comment!(asm, "guard value is fixnum");
        asm.test(value, Opnd::UImm(RUBY_FIXNUM_FLAG as u64));
        jit_chain_guard(JCC_JZ, jit, asm, max_chain_depth, Counter::getivar_megamorphic);
        return Type::Fixnum;
    }

    asm_comment!(asm, "guard value is shareable");
    let shareable = asm.new_label("shareable");
    asm.test(value, Opnd::UImm(RUBY_IMMEDIATE_MASK as u64));
    asm.jnz(shareable);
    asm.cmp(value, Qfalse.into());
    asm.je(shareable);
    if cfg!(target_arch = "aarch64") {
        asm.test(value, Opnd::UImm(RUBY_IMMEDIATE_MASK as u64)); // zero: a heap object
    } else {
        asm.test(Opnd::mem(64, value, RUBY_OFFSET_RBASIC_FLAGS), Opnd::UImm(RUBY_FL_SHAREABLE as u64));
    }
    jit_chain_guard(JCC_JZ, jit, asm, max_chain_depth, Counter::getivar_megamorphic);
    asm.write_label(shareable);
    Type::Unknown
}

/// Reads a variable of a class inline. None, with nothing emitted, where that cannot be.
pub(super) fn gen_get(
    jit: &mut JITState,
    asm: &mut Assembler,
    max_chain_depth: u8,
    receiver: VALUE,
    id: ID,
    recv: Opnd,
    recv_opnd: YARVOpnd,
) -> Option<CodegenStatus> {
    let location = locate(receiver, id)?;
    if asm.ctx.get_chain_depth() >= max_chain_depth {
        return None;
    }
    // Main may have what it likes, and while it is alone nobody else asks.
    let any_ractor_asks = !assume_single_ractor_mode(jit, asm);
    if any_ractor_asks && location.set && !location.any_ractor {
        return None;
    }

    let fields = guard_fields_shape(jit, asm, &location, recv, recv_opnd, max_chain_depth, GET);
    let (value, value_type) = if !location.set {
        (Qnil.into(), Type::Nil)
    } else {
        let value = load_value(asm, &location, fields);
        let value_type = if any_ractor_asks {
            guard_any_ractor(jit, asm, value, location.fixnum, max_chain_depth)
        } else {
            Type::Unknown
        };
        (value, value_type)
    };

    if recv_opnd != SelfOpnd {
        asm.stack_pop(1);
    }
    let out_opnd = asm.stack_push(value_type);
    asm.mov(out_opnd, value);

    jump_to_next_insn(jit, asm);
    Some(EndBlock)
}

/// defined?(@x) on a class: pushes `pushval` or nil. None, with nothing emitted, where that cannot be.
pub(super) fn gen_defined(
    jit: &mut JITState,
    asm: &mut Assembler,
    receiver: VALUE,
    id: ID,
    pushval: VALUE,
    recv: Opnd,
) -> Option<CodegenStatus> {
    let location = locate(receiver, id)?;

    guard_fields_shape(jit, asm, &location, recv, SelfOpnd, GET_IVAR_MAX_DEPTH, DEFINED);
    jit_putobject(asm, if location.set { pushval } else { Qnil });

    jump_to_next_insn(jit, asm);
    Some(EndBlock)
}

/// Whether YJIT may take the header's shape id for the receiver's layout: not that of a class or module.
pub fn header_has_shape(receiver: VALUE) -> bool {
    !class_or_module_p(receiver)
}
