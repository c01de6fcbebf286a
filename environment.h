#ifndef LOCKFREE_ENVIRONMENT_H
#define LOCKFREE_ENVIRONMENT_H
/**********************************************************************

  environment.h - variables of the environment that C code reads

  Licence: see LICENSE.

**********************************************************************/

/*
 * ENV#[]= holds the VM lock while the C library moves its table.  Who looks up
 * HOME or PATH must hold it as well, or walks a table that is freed: a crash in
 * File.expand_path("~").  The value stays where it is: the C library frees none.
 */

#include <stdlib.h>
#include "internal.h"
#include "vm_sync.h"

/* The value of +name+, or NULL.  Any Ractor. */
static inline const char *
env_find(const char *name)
{
    const char *value;

    RB_VM_LOCK_ENTER();
    value = getenv(name);
    RB_VM_LOCK_LEAVE();
    return value;
}

#endif /* LOCKFREE_ENVIRONMENT_H */
