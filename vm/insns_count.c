/**********************************************************************

  vm/insns_count.c - the number of instructions that the interpreter executed

  Licence: see LICENSE.

**********************************************************************/

/* What and why: vm/insns_count.h. */

#include "internal.h"
#include "internal/vm.h"
#include "ractor_core.h"
#include "vm_core.h"
#include "vm_sync.h"
#include "lockfree/vm/insns_count.h"

bool rb_vm_insns_counting = false;

/* Of Ractors that have ended.  VM lock. */
static uint64_t ended_insns_count;

/* From now on the interpreter counts.  Main, at start-up, or with the GVL. */
void
rb_vm_insns_count_start(void)
{
    rb_vm_insns_counting = true;
}

/* Called when the Ractor +r+ leaves the VM's list.  VM lock. */
void
rb_vm_insns_count_ractor_ended(rb_ractor_t *r)
{
    ASSERT_vm_locking();
    ended_insns_count += r->insns_count;
}

#if VM_INSNS_COUNT
/* Where the Ractor of +ec+ counts. */
uint64_t *
rb_vm_insns_counter(const rb_execution_context_t *ec)
{
    rb_ractor_t *r = rb_ec_ractor_ptr(ec);
    return r == GET_VM()->ractor.main_ractor ? &rb_vm_insns_count : &r->insns_count;
}

/* The number over all Ractors, those that live included.  Any Ractor.  Relaxed
 * loads: the others go on counting, and the number stands for itself. */
uint64_t
rb_vm_insns_count_total(void)
{
    uint64_t total = __atomic_load_n(&rb_vm_insns_count, __ATOMIC_RELAXED);
    rb_ractor_t *r = NULL;

    RB_VM_LOCK_ENTER();
    {
        total += ended_insns_count;
        ccan_list_for_each(&GET_VM()->ractor.set, r, vmlr_node) {
            total += __atomic_load_n(&r->insns_count, __ATOMIC_RELAXED);
        }
    }
    RB_VM_LOCK_LEAVE();

    return total;
}
#endif
