#ifndef LOCKFREE_VM_BLOCK_USERS_H
#define LOCKFREE_VM_BLOCK_USERS_H
/**********************************************************************

  vm/block_users.h - names of methods that use a block, for a warning

  Licence: see LICENSE.

**********************************************************************/

/*
 * Each method with a yield in it that is compiled puts its name in a table of
 * the VM's; with -w, a call with a block looks in it whether to warn that the
 * block is not used, and puts in whom it has warned of.  Ractors compile what
 * they eval.  Upstream takes no lock: two that add at once break the table.
 * It is touched once for each method, or under -w: the VM lock will do.
 */

#include "vm_sync.h"

/* Whether +key+ was there already.  Any Ractor. */
static inline bool
vm_block_users_insert(rb_vm_t *vm, st_data_t key)
{
    int there;

    RB_VM_LOCK_ENTER();
    there = st_insert(vm->unused_block_warning_table, key, 1);
    RB_VM_LOCK_LEAVE();
    return there;
}

/* Any Ractor. */
static inline bool
vm_block_users_member_p(rb_vm_t *vm, st_data_t key)
{
    int there;

    RB_VM_LOCK_ENTER();
    there = st_lookup(vm->unused_block_warning_table, key, NULL);
    RB_VM_LOCK_LEAVE();
    return there;
}

#endif /* LOCKFREE_VM_BLOCK_USERS_H */
