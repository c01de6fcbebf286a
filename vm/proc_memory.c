/**********************************************************************

  vm/proc_memory.c - allocates environments, and keeps them and Procs where they are

  Licence: see LICENSE.

**********************************************************************/

#include "internal/gc.h"
#include "internal/imemo.h"
#include "vm_core.h"

void
rb_vm_pin_itself(VALUE obj)
{
    if (!GET_VM()->gc.mark_func_data) rb_gc_mark(obj);
}

rb_env_t *
rb_vm_env_new(const rb_iseq_t *iseq, unsigned int env_size)
{
    size_t embedded = sizeof(rb_env_t) + env_size * sizeof(VALUE), size = embedded;
    VALUE *body = NULL;

    if (!rb_gc_size_allocatable_p(embedded)) {
        body = ALLOC_N(VALUE, env_size);
        size = sizeof(rb_env_t);
    }

    VALUE flags = T_IMEMO | FL_WB_PROTECTED | ((VALUE)imemo_env << FL_USHIFT);
    NEWOBJ_OF(env, rb_env_t, (VALUE)iseq, flags, size, 0);

    if (!body) body = (VALUE *)(env + 1);
    env->env_size = env_size;
    env->ep = body + env_size - 1 - VM_ENV_DATA_INDEX_ENV;
    body[env_size - 1] = (VALUE)env;
    return env;
}
