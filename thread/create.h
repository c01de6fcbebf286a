#ifndef LOCKFREE_THREAD_CREATE_H
#define LOCKFREE_THREAD_CREATE_H
/**********************************************************************

  thread/create.h - a thread that there is no memory for leaves nothing behind

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of thread.c.
 *
 * Problem.  Thread.new and Ractor.new count the thread among the living, and then
 * allocate its stack.  Where that raises NoMemoryError upstream leaves a thread that has
 * never begun: it is listed as running, and the process waits for it at its end, for ever.
 *
 * Solution.  What is raised there is caught, the thread taken out, and raised again.
 */

/* native_thread_create of +th+, which is among the living: 0, or an errno.  Takes it out and raises again what that raises.  Any Ractor. */
static int
thread_create_native(rb_execution_context_t *ec, rb_thread_t *th)
{
    enum ruby_tag_type state;
    volatile int err = 0;

    EC_PUSH_TAG(ec);
    if ((state = EC_EXEC_TAG()) == TAG_NONE) err = native_thread_create(th);
    EC_POP_TAG();

    if (state) {
        th->status = THREAD_KILLED;
        rb_ractor_living_threads_remove(th->ractor, th);
        EC_JUMP_TAG(ec, state);
    }
    return err;
}

#endif /* LOCKFREE_THREAD_CREATE_H */
