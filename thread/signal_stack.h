#ifndef LOCKFREE_THREAD_SIGNAL_STACK_H
#define LOCKFREE_THREAD_SIGNAL_STACK_H
/**********************************************************************

  thread/signal_stack.h - marking from the stack of a signal's handler

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc.c.
 *
 * Problem.  Where a page beyond the machine's stack is touched, the handler of
 * the signal makes the exception and its backtrace, on a stack of its own
 * (sigaltstack).  Upstream's collector, if it begins or goes on there, or if
 * another Ractor's finds this one there, waiting for a lock, marks from that
 * stack to where the thread's begins, over whatever lies between, and ends the
 * process: "system stack overflow during GC".
 *
 * Solution.  It marks both: the signal stack, which has the registers as well,
 * and of the thread's own what will be returned to.  That is the frame of
 * `ec->tag`, which the exception goes to, and its callers.  What lies beyond is
 * dead, and not all of it can be read.  Where that frame ends is what its setjmp
 * has kept, or, where that is hidden or somewhere else, up to 64 kB from the tag,
 * but not beyond the page that could not be touched.  The handler leaves the
 * address of that at the far end of the signal stack.
 *
 * The signal stack has room for a collection (RUBY_SIGALTSTACK_SIZE), of which
 * 8 kB have been seen to be used.
 *
 * Limits.  Where setjmp's is not used, a frame of several pages that stepped over
 * the end of the stack leaves no trace of where that is.  A function that ends the
 * stack in the middle of a change, with a lock of malloc's, say, leaves that as it
 * is, as in upstream.
 */

void rb_ec_machine_stack_ended(const rb_execution_context_t *ec, const void *address);

#if defined(USE_SIGALTSTACK) && STACK_GROW_DIRECTION < 0

int rb_sigaltstack_size(void); /* signal.c */

static inline bool
signal_stack_include_p(const void *stack, const void *address)
{
    return stack && (uintptr_t)address - (uintptr_t)stack < (uintptr_t)rb_sigaltstack_size();
}

/* The signal stack of +ec+ if +address+ lies there, or NULL.  Its own Ractor, or who has stopped that. */
static void *
ec_signal_stack(const rb_execution_context_t *ec, const void *address)
{
    const rb_thread_t *th = rb_ec_thread_ptr(ec);
    const struct rb_native_thread *nt = th->nt;

    if (th->ec != ec || th->status == THREAD_KILLED) return NULL; /* a Fiber that stands still */
    if (nt && signal_stack_include_p(nt->altstack, address)) return nt->altstack;
    if (signal_stack_include_p(th->vm->main_altstack, address)) return th->vm->main_altstack;
    return NULL;
}

/* The handler, before it raises: +address+, beyond the end of +ec+'s own stack, could not be touched.  Any Ractor. */
void
rb_ec_machine_stack_ended(const rb_execution_context_t *ec, const void *address)
{
    const void **signal_stack = ec_signal_stack(ec, &signal_stack);

    if (signal_stack) *signal_stack = address;
}

/* __builtin_setjmp keeps frame pointer, address and stack pointer; on others than x86, and with shadow stacks, something else. */
#if !defined(RUBY_JMP_BUF) && (defined(__x86_64__) || defined(__i386__)) && !(defined(__CET__) && (__CET__ & 2))
#define SIGNAL_STACK_SETJMP_SP 2
#endif

/* Where what is alive ends on +ec+'s own stack, while it stands on +signal_stack+. */
static VALUE *
ec_machine_stack_end_of_tag(const rb_execution_context_t *ec, void *signal_stack)
{
    const struct rb_vm_tag *tag = ec->tag;

    while (signal_stack_include_p(signal_stack, tag)) tag = tag->prev;
#ifdef SIGNAL_STACK_SETJMP_SP
    return tag->buf[SIGNAL_STACK_SETJMP_SP];
#else
    enum { far = 64 * 1024 };
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGE_SIZE);
    const uintptr_t readable = (*(uintptr_t *)signal_stack / page + 1) * page;
    return (VALUE *)((uintptr_t)tag - readable < far ? readable : ((uintptr_t)tag - far) / page * page);
#endif
}

/* +stack_end+, or if that is on the signal stack, which is marked then, the end of +ec+'s own.  Who collects. */
static VALUE *
gc_mark_signal_stack(const rb_execution_context_t *ec, VALUE *stack_end, void *data)
{
    void *signal_stack = ec_signal_stack(ec, stack_end);

    if (!signal_stack) return stack_end;
    each_location_ptr(stack_end, (VALUE *)((char *)signal_stack + rb_sigaltstack_size()),
                      gc_mark_machine_stack_location_maybe, data);
    return ec_machine_stack_end_of_tag(ec, signal_stack);
}

#else

void
rb_ec_machine_stack_ended(const rb_execution_context_t *ec, const void *address)
{
    /* a collection there does as upstream's */
}

static VALUE *
gc_mark_signal_stack(const rb_execution_context_t *ec, VALUE *stack_end, void *data)
{
    return stack_end;
}

#endif

#endif /* LOCKFREE_THREAD_SIGNAL_STACK_H */
