#ifndef LOCKFREE_VM_PROC_MEMORY_H
#define LOCKFREE_VM_PROC_MEMORY_H
/**********************************************************************

  vm/proc_memory.h - a Proc, a Binding, and the variables that these close over, are one object each

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of vm_core.h.
 *
 * Problem.  Upstream's Proc is a slot of the heap and a piece of malloc's memory, and
 * so are a Binding, and each environment (imemo_env) that it closes over.  Who sweeps frees what
 * another Ractor has allocated: each piece goes through the lock of another's arena,
 * and its header is read where it is in no cache.  `proc {}` in 8 Ractors took twice
 * the processor's time that it takes in one thread.
 *
 * Solution.  All lie in their slots:
 *
 *     Proc         | RTypedData       | rb_proc_t, or cfunc_proc_t |
 *     Binding      | RTypedData       | rb_binding_t               |
 *     environment  | flags, iseq, ep  | variables ... ep[0], ep[1]  |
 *
 * An environment of more variables than the largest slot holds (73) has its body in
 * malloc's memory, as upstream's all have, and what is behind ep says where.
 *
 * [A] None is moved.  Frames point into environments (ep), and C functions into
 *     Procs and Bindings (struct rb_block, struct rb_captured_block) while they allocate, with
 *     nothing on the stack that the collector would take for the object.  So each
 *     pins itself when it is marked.
 * [B] The body ends with ep[VM_ENV_DATA_INDEX_ENV].
 */

/* The rb_proc_t of a Proc.  Any Ractor that has the Proc. */
static inline rb_proc_t *
rb_vm_proc_ptr(VALUE procval)
{
    VM_ASSERT(RTYPEDDATA_EMBEDDED_P(procval));
    return (rb_proc_t *)(procval + offsetof(struct RTypedData, data));
}

/* Pins +obj+ ([A]).  The collector, which marks it; who asks what it refers to (ObjectSpace) is told of nothing. */
void rb_vm_pin_itself(VALUE obj);

/* Pins the Proc or Binding whose +data+ that is; see there. */
static inline void
rb_vm_pin_data(const void *data)
{
    rb_vm_pin_itself((VALUE)data - offsetof(struct RTypedData, data));
}

/* An environment whose body is in malloc's memory. */
struct rb_env_with_body {
    rb_env_t env;
    VALUE *body;
};

/* Whether ep is in the page that the slot is in (HEAP_PAGE_ALIGN_LOG is 16): nothing of malloc's is in a page of the heap. */
static inline bool
rb_vm_env_embedded_p(const rb_env_t *env)
{
    return ((uintptr_t)env->ep ^ (uintptr_t)env) >> 16 == 0;
}

/* The words of +env+ ([B]). */
static inline VALUE *
rb_vm_env_body(const rb_env_t *env)
{
    return rb_vm_env_embedded_p(env) ? (VALUE *)(env + 1) : ((const struct rb_env_with_body *)env)->body;
}

/* How many they are. */
static inline unsigned int
rb_vm_env_size(const rb_env_t *env)
{
    return (unsigned int)(env->ep + VM_ENV_DATA_INDEX_ENV + 1 - rb_vm_env_body(env));
}

/* For the collector, which marks +env+ or has moved what it refers to. */
void rb_vm_env_mark_and_move_body(const rb_env_t *env);

/* Pins +env+ if its body is in it; see there. */
static inline void
rb_vm_env_pin(const rb_env_t *env)
{
    if (rb_vm_env_embedded_p(env)) rb_vm_pin_itself((VALUE)env);
}

/* The bytes of +env+ that are not in its slot; none while it is made. */
static inline size_t
rb_vm_env_memsize(const rb_env_t *env)
{
    return !env->ep || rb_vm_env_embedded_p(env) ? 0 : rb_vm_env_size(env) * sizeof(VALUE);
}

/* Frees what +env+, which is dead, has beside its slot.  Its ep is NULL if it was never made. */
static inline void
rb_vm_env_free_body(const rb_env_t *env)
{
    if (env->ep && !rb_vm_env_embedded_p(env)) ruby_xfree(rb_vm_env_body(env));
}

/*
 * A new environment of +size+ words, which are not set, but for
 * ep[VM_ENV_DATA_INDEX_ENV]; the caller sets them before it allocates again.
 * Raises NoMemoryError.
 */
rb_env_t *rb_vm_env_new(const rb_iseq_t *iseq, unsigned int size);

#endif /* LOCKFREE_VM_PROC_MEMORY_H */
