#ifndef LOCKFREE_VM_EXEC_COUNTING_H
#define LOCKFREE_VM_EXEC_COUNTING_H
/**********************************************************************

  vm/exec_counting.h - the dispatch loop that counts instructions

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of vm.c, included after vm_exec.c: vm_exec_core once more, from the same
 * vm.inc, with a counter.  Instruction sequences hold the label addresses of
 * vm_exec_core; a map from those to instruction numbers leads to the labels of
 * this loop.  So either loop can run any sequence.
 */

#include "lockfree/vm/insns_count.h"

#if VM_INSNS_COUNT_LOOP

/*
 * What only the instructions call, upstream's compiler puts in line: each has one
 * caller.  The second loop makes it two, so this is asked for.
 */
#define VM_INLINE_IN_LOOPS(helper) ALWAYS_INLINE(static inline __typeof__(helper) helper)

VM_INLINE_IN_LOOPS(jit_compile);
VM_INLINE_IN_LOOPS(opt_equality);
VM_INLINE_IN_LOOPS(opt_equality_specialized);
VM_INLINE_IN_LOOPS(vm_base_ptr);
VM_INLINE_IN_LOOPS(vm_block_handler_type);
VM_INLINE_IN_LOOPS(vm_case_dispatch);
VM_INLINE_IN_LOOPS(vm_check_keyword);
VM_INLINE_IN_LOOPS(vm_concat_array);
VM_INLINE_IN_LOOPS(vm_concat_to_array);
VM_INLINE_IN_LOOPS(vm_ensure_not_refinement_module);
VM_INLINE_IN_LOOPS(vm_expandarray);
VM_INLINE_IN_LOOPS(vm_find_or_create_class_by_id);
VM_INLINE_IN_LOOPS(vm_get_special_object);
VM_INLINE_IN_LOOPS(vm_getclassvariable);
VM_INLINE_IN_LOOPS(vm_getinstancevariable);
VM_INLINE_IN_LOOPS(vm_invoke_builtin_delegate);
VM_INLINE_IN_LOOPS(vm_method_cfunc_is);
VM_INLINE_IN_LOOPS(vm_objtostring);
VM_INLINE_IN_LOOPS(vm_once_dispatch);
VM_INLINE_IN_LOOPS(vm_opt_aref);
VM_INLINE_IN_LOOPS(vm_opt_aref_with);
VM_INLINE_IN_LOOPS(vm_opt_aset);
VM_INLINE_IN_LOOPS(vm_opt_aset_with);
VM_INLINE_IN_LOOPS(vm_opt_div);
VM_INLINE_IN_LOOPS(vm_opt_duparray_include_p);
VM_INLINE_IN_LOOPS(vm_opt_ge);
VM_INLINE_IN_LOOPS(vm_opt_gt);
VM_INLINE_IN_LOOPS(vm_opt_le);
VM_INLINE_IN_LOOPS(vm_opt_lt);
VM_INLINE_IN_LOOPS(vm_opt_ltlt);
VM_INLINE_IN_LOOPS(vm_opt_minus);
VM_INLINE_IN_LOOPS(vm_opt_mod);
VM_INLINE_IN_LOOPS(vm_opt_mult);
VM_INLINE_IN_LOOPS(vm_opt_neq);
VM_INLINE_IN_LOOPS(vm_opt_newarray_hash);
VM_INLINE_IN_LOOPS(vm_opt_newarray_include_p);
VM_INLINE_IN_LOOPS(vm_opt_plus);
VM_INLINE_IN_LOOPS(vm_opt_regexpmatch2);
VM_INLINE_IN_LOOPS(vm_opt_succ);
VM_INLINE_IN_LOOPS(vm_sendish);
VM_INLINE_IN_LOOPS(vm_setclassvariable);
VM_INLINE_IN_LOOPS(vm_setivar);
VM_INLINE_IN_LOOPS(vm_splat_array);
VM_INLINE_IN_LOOPS(vm_throw_start);

struct insn_numbers {
    uintptr_t base;             /* the lowest label address */
    uint16_t numbers[1];        /* by distance from it */
};

/* Builds the map.  It lives as long as the process. */
static const struct insn_numbers *
vm_insn_numbers_new(void)
{
    const void *const *labels = rb_vm_get_insns_address_table();
    uintptr_t lowest = UINTPTR_MAX, highest = 0;

    for (int i = 0; i < VM_INSTRUCTION_SIZE; i++) {
        uintptr_t label = (uintptr_t)labels[i];
        if (label < lowest) lowest = label;
        if (label > highest) highest = label;
    }

    struct insn_numbers *map =
        ruby_xcalloc(1, offsetof(struct insn_numbers, numbers) + (highest - lowest + 1) * sizeof(uint16_t));
    map->base = lowest;
    for (int i = 0; i < VM_INSTRUCTION_SIZE; i++) {
        map->numbers[(uintptr_t)labels[i] - lowest] = (uint16_t)i;
    }
    return map;
}

/* The map.  Any Ractor: two that come first each build one, and one stays unused. */
static const struct insn_numbers *
vm_insn_numbers(void)
{
    static const struct insn_numbers *shared_map;
    const struct insn_numbers *map = __atomic_load_n(&shared_map, __ATOMIC_ACQUIRE);

    if (!map) {
        map = vm_insn_numbers_new();
        __atomic_store_n(&shared_map, map, __ATOMIC_RELEASE); /* pairs with the load above */
    }
    return map;
}

#undef TC_DISPATCH
#define TC_DISPATCH(insn) \
    RB_GNUC_EXTENSION_BLOCK(goto *insns_address_table[insn_numbers->numbers[GET_CURRENT_INSN() - insn_numbers->base]]);
#undef JIT_COLLECT_USAGE_INSN
#define JIT_COLLECT_USAGE_INSN(insn) \
    __atomic_store_n(insns_count, *insns_count + 1, __ATOMIC_RELAXED) /* read by rb_vm_insns_count_total */

/* cold: its pages shall not lie among those of the loop that runs */
COLDFUNC
static VALUE
vm_exec_core_counting(rb_execution_context_t *ec)
{
    const struct insn_numbers *insn_numbers = vm_insn_numbers();
    uint64_t *insns_count = rb_vm_insns_counter(ec);
    rb_control_frame_t *reg_cfp = ec->cfp;
    const VALUE *reg_pc = reg_cfp->pc;

#include "vmtc.inc"

  first:
    INSN_DISPATCH();
#include "vm.inc"
    END_INSNS_DISPATCH();

    rb_bug("vm_exec_core_counting: unreachable");
    goto first;
}

#define vm_exec_core(ec) (UNLIKELY(rb_vm_insns_counting) ? vm_exec_core_counting(ec) : (vm_exec_core)(ec))

#endif /* VM_INSNS_COUNT_LOOP */

#endif /* LOCKFREE_VM_EXEC_COUNTING_H */
