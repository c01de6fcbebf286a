/**********************************************************************

  vm/proc_memory.c - allocates and marks environments, and keeps them, Procs and Bindings where they are

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

void
rb_vm_env_mark_and_move_body(const rb_env_t *env)
{
    VALUE *const body = rb_vm_env_body(env);
    const unsigned int size = rb_vm_env_size(env);

    for (unsigned int i = 0; i < size; i++) rb_gc_mark_and_move(&body[i]);
}

rb_env_t *
rb_vm_env_new(const rb_iseq_t *iseq, unsigned int size)
{
    const size_t embedded = sizeof(rb_env_t) + size * sizeof(VALUE);
    const bool embeds = rb_gc_size_allocatable_p(embedded);
    VALUE *body = embeds ? NULL : ALLOC_N(VALUE, size);
    VALUE flags = T_IMEMO | FL_WB_PROTECTED | ((VALUE)imemo_env << FL_USHIFT);
    NEWOBJ_OF(env, rb_env_t, (VALUE)iseq, flags, embeds ? embedded : sizeof(struct rb_env_with_body), 0);

    if (embeds) body = (VALUE *)(env + 1);
    else ((struct rb_env_with_body *)env)->body = body;
    env->ep = body + size - 1 - VM_ENV_DATA_INDEX_ENV;
    body[size - 1] = (VALUE)env;
    return env;
}
