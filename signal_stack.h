#ifndef LOCKFREE_SIGNAL_STACK_H
#define LOCKFREE_SIGNAL_STACK_H
/**********************************************************************

  signal_stack.h - marking from the stack of a signal's handler

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
 * dead, and not all of it can be read.
 *
 * The signal stack has room for a collection: RUBY_SIGALTSTACK_SIZE.
 *
 * Limits.  Of that frame, what is more than a page away from its tag is not
 * marked.  A function that ends the stack in the middle of a change, with a lock
 * of malloc's, say, leaves that as it is, as in upstream.
 */

#if defined(USE_SIGALTSTACK) && STACK_GROW_DIRECTION < 0

int rb_sigaltstack_size(void); /* signal.c */

#define SIGNAL_STACK_PAGE 4096 /* as in check_stack_overflow */

static inline bool
signal_stack_include_p(const void *stack, const void *address)
{
    return stack && (uintptr_t)address - (uintptr_t)stack < (uintptr_t)rb_sigaltstack_size();
}

/* The signal stack that +ec+ stands on, or NULL.  Its own Ractor, or who has stopped that. */
static const char *
ec_signal_stack(const rb_execution_context_t *ec)
{
    const rb_thread_t *th = rb_ec_thread_ptr(ec);

    if (th->ec != ec || th->status == THREAD_KILLED) return NULL; /* a Fiber that stands still */
    if (th->nt && signal_stack_include_p(th->nt->altstack, ec->machine.stack_end)) return th->nt->altstack;
    if (signal_stack_include_p(th->vm->main_altstack, ec->machine.stack_end)) return th->vm->main_altstack;
    return NULL;
}

/* Where what is alive ends on +ec+'s own stack.  check_stack_overflow has seen to it that the page before can be read. */
static VALUE *
ec_machine_stack_end_of_tag(const rb_execution_context_t *ec, const char *signal_stack)
{
    const struct rb_vm_tag *tag = ec->tag;

    while (signal_stack_include_p(signal_stack, tag)) tag = tag->prev;
#if defined(__x86_64__) || defined(__i386__)
    return (VALUE *)(((uintptr_t)tag / SIGNAL_STACK_PAGE - 1) * SIGNAL_STACK_PAGE);
#else
    return (VALUE *)((uintptr_t)tag / SIGNAL_STACK_PAGE * SIGNAL_STACK_PAGE);
#endif
}

/* +stack_end+, or if that is on the signal stack, which is marked then, the end of +ec+'s own.  Who collects. */
static VALUE *
gc_mark_signal_stack(const rb_execution_context_t *ec, VALUE *stack_end, void *data)
{
    const char *signal_stack = ec_signal_stack(ec);

    if (!signal_stack) return stack_end;
    each_location_ptr(stack_end, (VALUE *)(signal_stack + rb_sigaltstack_size()), gc_mark_machine_stack_location_maybe, data);
    return ec_machine_stack_end_of_tag(ec, signal_stack);
}

#else

static VALUE *
gc_mark_signal_stack(const rb_execution_context_t *ec, VALUE *stack_end, void *data)
{
    return stack_end;
}

#endif

#endif /* LOCKFREE_SIGNAL_STACK_H */
