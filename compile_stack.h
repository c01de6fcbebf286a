#ifndef LOCKFREE_COMPILE_STACK_H
#define LOCKFREE_COMPILE_STACK_H
/**********************************************************************

  compile_stack.h - room on the machine's stack to compile what is evaluated

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of vm_eval.c.
 *
 * Problem.  Upstream looks for 16 kB of the machine's stack before it calls a
 * function in C.  Parsing and compiling takes more: a method that goes on in
 * `eval` without end comes to the end of the stack there, often in malloc.  The
 * exception leaves malloc with the lock of its arena held, and the next Ractor
 * that is given that arena waits without end.
 *
 * Solution.  Before it parses, eval looks for COMPILE_STACK bytes, or an eighth of a
 * stack that is small, and raises the same exception where they are not there.
 *
 * Limits.  Other functions in C that call themselves, as Marshal.dump of deeply nested
 * Arrays, and sources that are nested as deeply, may still end in malloc, as in upstream.
 */

#define COMPILE_STACK (40 * 1024)

/* SystemStackError.  Any thread, its own +ec+, before it compiles. */
static void
stack_check_to_compile(rb_execution_context_t *ec)
{
    const size_t size = ec->machine.stack_maxsize;

    if (size == 0 || rb_ec_raised_p(ec, RAISED_STACKOVERFLOW)) return; /* 0: not known */
    if (ruby_stack_length(NULL) * sizeof(VALUE) + MIN(COMPILE_STACK, size / 8) <= size) return;

    rb_ec_raised_set(ec, RAISED_STACKOVERFLOW);
    rb_ec_stack_overflow(ec, FALSE);
}

#endif /* LOCKFREE_COMPILE_STACK_H */
