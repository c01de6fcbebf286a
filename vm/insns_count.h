#ifndef LOCKFREE_VM_INSNS_COUNT_H
#define LOCKFREE_VM_INSNS_COUNT_H
/**********************************************************************

  vm/insns_count.h - the number of instructions that the interpreter executed

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  Stock's dispatch loop increments one global, rb_vm_insns_count, for
 * each instruction of each Ractor, whether or not anybody reads it: a cache
 * line that all cores write, and a quarter of the loop's time on one core.
 *
 * Solution.  Two dispatch loops.  The one that runs counts nothing.  Whoever
 * asks for the number (--yjit-stats and its relatives, --rjit-stats) asks
 * before the first instruction, and then the other loop runs: it counts, for
 * each Ractor on its own.
 *
 *   rb_vm_insns_count    main's instructions; its old name, because RJIT, which
 *                        has one Ractor, saves and restores it
 *   ractor->insns_count  those of a Ractor that lives; its own thread writes
 *   a total              of those that have ended; the VM lock
 *
 * Limit.  RubyVM::YJIT.enable(stats: true) asks while frames are running; they
 * go on uncounted until they return to C.
 */

#include "ruby/internal/config.h"
#include "ruby/internal/stdbool.h"
#include <stdint.h>

struct rb_ractor_struct;
struct rb_execution_context_struct;

#define VM_INSNS_COUNT (USE_YJIT || USE_RJIT)
/* without computed goto there is one loop, and it counts as stock's does */
#define VM_INSNS_COUNT_LOOP (VM_INSNS_COUNT && OPT_DIRECT_THREADED_CODE)

#if VM_INSNS_COUNT && !VM_INSNS_COUNT_LOOP
# define JIT_COLLECT_USAGE_INSN(insn) rb_vm_insns_count++
#else
# define JIT_COLLECT_USAGE_INSN(insn) /* none */
#endif

/* vm_exec.c; internal/vm.h declares it for YJIT alone */
extern uint64_t rb_vm_insns_count;

/* Whether the counting loop runs.  Written before the first Ractor starts or
 * with the GVL; read by every Ractor, never hot. */
extern bool rb_vm_insns_counting;

void rb_vm_insns_count_start(void);
uint64_t rb_vm_insns_count_total(void);
uint64_t *rb_vm_insns_counter(const struct rb_execution_context_struct *ec);
void rb_vm_insns_count_ractor_ended(struct rb_ractor_struct *r);

#endif /* LOCKFREE_VM_INSNS_COUNT_H */
