#ifndef LOCKFREE_VM_LOCK_H
#define LOCKFREE_VM_LOCK_H
/**********************************************************************

  vm/lock.h - the VM lock, which knows who waits for it

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  Whoever collects, compiles or changes what others run stops all
 * Ractors first: it has the VM lock, asks, and waits until each of their running
 * threads stands at a safe point.  To wait for the VM lock is a safe point.  But
 * upstream's is a mutex of the C library's, which does not say who waits, so
 *
 *   - the stopper lets go of it.  Each thread that waits for it is woken by the
 *     one before, sees that it has to stand, and sleeps again, elsewhere;
 *   - all who stand are released when the last one has come, before the stopper
 *     has begun.  They go for the lock, sleep again, and are woken one by one
 *     when it is done, each to take the lock and give it back.
 *
 * Solution.  One structure, where who waits for the lock stands already, and is
 * not even told of a stop.  A thread sleeps once for each stop, until the work
 * is done.
 *
 * Representation.  `word` is the lock: 0 free, 1 held, 2 held and somebody may
 * sleep (after U. Drepper, Futexes Are Tricky, 2011, mutex2, with a condition
 * variable where that has a futex).  Who finds it free takes it by one
 * compare-and-swap and gives it back by one swap, as with the mutex.  All else
 * is for those who do not, under the lock of the Ractors' scheduler, which
 * guards running_threads already ("the guard" below; held for a few lines):
 *
 *   stopper       the Ractor that stops all others, from asking to release.  It
 *                 has `word` all that time.
 *   standing_cnt  the running threads that sleep here: they wait for the lock, or
 *                 for the end of a stop.  A thread that is released counts until
 *                 it has the guard: a stop that is asked for before that need not
 *                 wait for it, nor wake it.
 *   all_stand     the stopper is the only running thread that does not.
 *   lent          Who must not stand while it waits for the lock (NO_BARRIER: it
 *                 is in the middle of something), or is none of the running
 *                 threads, is lent the lock while the stopper waits for others.
 *   starving      one that waits for the lock has been passed by: below.
 *   handed        so the lock was taken back for those who wait, and is that
 *                 one's who is woken first.
 *   passed_by_cnt those that a stop should have let go on, and the next kept.
 *
 * Invariants, with the guard held:
 *   [1] th->sched.standing for standing_cnt of running_threads, no others
 *   [2] stopper != NULL: word != 0.  all_stand or lent: stopper != NULL
 *   [3] all_stand: nobody takes the lock, no thread becomes a running one but
 *       the stopper's Ractor's, and each thread that stands has its machine
 *       context saved
 *   [4] a thread sleeps on `free` or `free_no_barrier`, and there is no stopper:
 *       word == 2, or one that was woken has not got the guard yet
 *   [5] handed: word == 2, nobody has the lock, and one that waits was woken
 *
 * Who has the lock reads `stopper` without the guard: only the lock's holder
 * sets it, and only to itself; who has been lent the lock sees another's.
 *
 *                          who                          needs
 *   vm_lock_take, _give    any thread of any Ractor     -, the lock
 *   rb_vm_lock_wait        the same                     -
 *   rb_vm_lock_wake        who gave what others want    -
 *   rb_vm_stop_others      a running thread             the lock; a safe point
 *   rb_vm_stop_end         stopper, borrower            the lock, to give it
 *   rb_vm_stop_join        a running thread             no lock at all; a safe point
 *
 * Who gives the lock may have it again before the one that is woken has looked,
 * and may stop those again who have been released and not been on a processor
 * yet.  That takes the fewest switches of threads; but one that collects over and
 * over, or every one while GC.stress is set, would have the others stand for
 * ever.  So who has been passed by for a slice is handed the lock (as by Go's
 * sync.Mutex), or goes on before the next stop is asked for.
 *
 * Who stops all others may have to wait for the stop of another one, which it gives back the
 * lock for that it was lent: what it has seen with the lock it looks at again when they stand,
 * as gc_enter does whether anybody is sweeping.
 *
 * A stop lasts until its Ractor gives the lock: who asked for it in an inner
 * section of the lock has the others stand in the outer ones, too.
 *
 * Orders.  A swap of `word` that gives the lock is a release, which the swap
 * that takes it acquires, also where that is for another one, who gets it with the
 * guard; all else happens under the guard.  What the stopper has done the released
 * see: it gives the guard after, they take it.
 *
 * test/model/stop.cc is this, with what goes wrong if a step is left out.
 *
 * Where threads are not pthreads, upstream's lock and barrier are used.
 */

#include "lockfree/ractor/waits.h"

struct rb_ractor_struct;
struct rb_thread_struct;
struct rb_vm_struct;

#ifdef RUBY_THREAD_PTHREAD_H

struct rb_vm_lock {
    unsigned int word; /* atomic; vm_lock_take, vm_lock_give and rb_vm_lock_wait alone */

    /* with the guard */
    struct rb_ractor_struct *stopper;
    bool all_stand;
    bool lent;
    bool starving;
    bool handed;
    unsigned int passed_by_cnt;
    unsigned int standing_cnt;
    unsigned int waiting_cnt, waiting_no_barrier_cnt; /* asleep on the next two */

    rb_nativethread_cond_t free, free_no_barrier;
    rb_nativethread_cond_t complete; /* the stopper waits for all to stand */
    rb_nativethread_cond_t release;  /* who stands, and wants no lock */

    struct ractor_waits_blame waits; /* while they are counted */
};

/* Whether the lock was free, and is the caller's now. */
static inline bool
vm_lock_take(struct rb_vm_lock *lock)
{
    unsigned int is_free = 0;
    return __atomic_compare_exchange_n(&lock->word, &is_free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Whether somebody is to be woken: rb_vm_lock_wake. */
static inline bool
vm_lock_give(struct rb_vm_lock *lock)
{
    return __atomic_exchange_n(&lock->word, 0, __ATOMIC_RELEASE) == 2;
}

void rb_vm_lock_init(struct rb_vm_struct *vm);
void rb_vm_lock_wait(struct rb_vm_struct *vm, struct rb_ractor_struct *cr, bool no_barrier);
void rb_vm_lock_wake(struct rb_vm_struct *vm);
void rb_vm_stop_others(struct rb_vm_struct *vm, struct rb_ractor_struct *cr);
void rb_vm_stop_end(struct rb_vm_struct *vm);
void rb_vm_stop_join(struct rb_thread_struct *th);
void rb_vm_await_termination(struct rb_vm_struct *vm, struct rb_ractor_struct *cr);
void rb_vm_signal_termination(struct rb_vm_struct *vm);
void rb_vm_await_buried(struct rb_vm_struct *vm); /* ractor/end.h */
void rb_thread_sched_leave(struct rb_thread_struct *th); /* ractor/end.h */
unsigned int rb_ractor_max_running(void); /* ractor/native_threads.h */

#else
#  define rb_ractor_max_running() 8
#  define ractor_sched_wanted_p(th) false /* ractor/native_thread_turn.h */
#  define rb_vm_lock_init(vm) rb_native_mutex_initialize(&(vm)->ractor.sync.lock)
#  define rb_vm_stop_join(th) do { RB_VM_LOCK_ENTER(); RB_VM_LOCK_LEAVE(); } while (0)
#  define rb_vm_await_termination(vm, cr) rb_vm_cond_timedwait(vm, &(vm)->ractor.sync.terminate_cond, 1000 /* ms */)
#  define rb_vm_await_buried(vm) ((void)0)
#  define rb_thread_sched_leave(th) ((void)(th))
#  define rb_vm_signal_termination(vm) rb_native_cond_signal(&(vm)->ractor.sync.terminate_cond)
#endif
#endif /* LOCKFREE_VM_LOCK_H */
