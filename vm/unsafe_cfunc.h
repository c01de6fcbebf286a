#ifndef LOCKFREE_VM_UNSAFE_CFUNC_H
#define LOCKFREE_VM_UNSAFE_CFUNC_H
/**********************************************************************

  vm/unsafe_cfunc.h - which C functions only main may call

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of vm_method.c.  The interpreter calls a C function by its `invoker`,
 * which raises Ractor::UnsafeError in a Ractor other than main unless the file
 * that defined the function had declared itself safe.  Compiled code calls the
 * function itself, and upstream's asked nobody: yjit/unsafe_cfunc.rs asks here.
 */

/* Whether every Ractor may call +cfunc+.  Any Ractor. */
bool
rb_vm_cfunc_ractor_safe_p(const rb_method_cfunc_t *cfunc)
{
    rb_thread_t *th = GET_THREAD();
    const bool declares = th->ext_config.ractor_safe;

    th->ext_config.ractor_safe = true; /* what a file that declares itself safe would have got */
    const bool safe = cfunc->invoker == call_cfunc_invoker_func(cfunc->argc);
    th->ext_config.ractor_safe = declares;
    return safe;
}

#endif /* LOCKFREE_VM_UNSAFE_CFUNC_H */
