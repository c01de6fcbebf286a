#ifndef LOCKFREE_RACTOR_BLOCKING_H
#define LOCKFREE_RACTOR_BLOCKING_H
/**********************************************************************

  ractor/blocking.h - a Ractor whose threads all block says so without the VM lock

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of ractor.c.
 *
 * Problem.  Upstream takes the VM lock before and after each call that blocks (a
 * file is read, looked for, or closed), to count the Ractors whose threads all block.
 * Only the barrier of Windows looks at that count: where threads are pthreads, it
 * counts the threads that run (vm->ractor.sched.running_cnt).
 *
 * Solution.  With pthreads nobody counts, and what is left is the Ractor's own
 * status, which nobody but itself stores after its first thread has begun.  Others read
 * it for Ractor#inspect: a word, as old as the moment when they look.
 */

#ifdef RUBY_THREAD_PTHREAD_H
#  define RACTOR_COUNTS_BLOCKING 0
#  define RACTOR_BLOCKING_LOCK_ENTER() { (void)vm
#  define RACTOR_BLOCKING_LOCK_LEAVE() }
#  define ASSERT_ractor_blocking_locked() ((void)0)
#else
#  define RACTOR_COUNTS_BLOCKING 1
#  define RACTOR_BLOCKING_LOCK_ENTER() RB_VM_LOCK_ENTER()
#  define RACTOR_BLOCKING_LOCK_LEAVE() RB_VM_LOCK_LEAVE()
#  define ASSERT_ractor_blocking_locked() ASSERT_vm_locking()
#endif

#endif /* LOCKFREE_RACTOR_BLOCKING_H */
