#ifndef LOCKFREE_RACTOR_WAIT_H
#define LOCKFREE_RACTOR_WAIT_H
/**********************************************************************

  ractor/wait.h - what each thread of a Ractor waits for

  Licence: see LICENSE.

**********************************************************************/

/*
 * Several threads of one Ractor may wait at once, in receive, take, yield or
 * select.  Upstream has one place in a Ractor for what is waited for and who
 * waits: the second thread overwrites it, and nobody wakes the first (Bug
 * #21037).  Here each thread has its own.  Who has something for a Ractor does
 * not know for which thread, and wakes all that wait for something of the kind;
 * each looks for itself, and waits again.
 *
 * So does a thread that was interrupted: the interrupt may have run Ruby code
 * that waited itself, in the one place that the thread has, and what came for the
 * outer wait meanwhile woke nobody.
 */

/* In rb_thread_t.  Read and written under the lock of the thread's Ractor. */
struct rb_ractor_wait {
    int status;                 /* enum rb_ractor_wait_status: wait_none, or some of the others */
    int wakeup_status;          /* enum rb_ractor_wakeup_status */
};

#endif /* LOCKFREE_RACTOR_WAIT_H */
