#ifndef LOCKFREE_RACTOR_RUNNING_THREADS_H
#define LOCKFREE_RACTOR_RUNNING_THREADS_H
/**********************************************************************

  ractor/running_threads.h - a call that blocks leaves the list of running threads to who wants it

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of thread_pthread.c.  "The guard" is vm->ractor.sched.lock.
 *
 * Problem.  A call that blocks (a file is read, looked for, or closed) is for the
 * scheduler the end of a thread that runs, and its return the beginning of one: the
 * thread leaves the list of running threads and joins it again, and a native thread
 * of those that Ractors share is counted as the thread's own meanwhile.  Upstream
 * takes the guard four times for that, which all Ractors share, and most such calls
 * take no longer than that.  But the list is wanted seldom: by who stops all others,
 * and by the timer thread where a Ractor finds no native thread.
 *
 * Solution.  A thread that blocks stays in the list, and a word of its own says so.
 * Who wants the list first takes all such threads out of it, and counts what they
 * would have counted.  A thread that returns and finds itself in the list runs; one that
 * was taken out joins it as upstream does, and waits for the end of a stop.  (After
 * the transition of threads from and to native code in HotSpot's safepoints.)
 *
 * Representation.  th->sched.run_state:
 *
 *   OUT              not in the list: it waits, or was taken out while it blocks
 *   RUNS             in the list
 *   BLOCKS           in the list, and blocks; its native thread was its own before
 *   BLOCKS_SHARED    the same, on one that was shared
 *
 *                                who                               needs
 *   OUT -> RUNS, RUNS -> OUT     the thread                        the guard
 *   RUNS -> BLOCKS...            the thread                        lock of its scheduler
 *   BLOCKS... -> RUNS            the thread                        lock of its scheduler
 *   BLOCKS... -> OUT             anybody                           the guard
 *
 * Invariants, with the guard held:
 *   [1] run_state != OUT for the threads of running_threads, no others (but for those that a child of fork
 *       does not have any more); running_cnt is their number
 *   [2] all_stand (vm/lock.h): no thread BLOCKS
 *   [3] a thread that BLOCKS has saved its machine context, and is not its scheduler's running one
 *   [4] snt_cnt and dnt_cnt count the native thread of one that BLOCKS_SHARED as shared
 *
 * Orders.
 *
 *   RUNS -> BLOCKS against a stop: a store and a load on each side, all seq_cst.  The
 *   thread stores BLOCKS and loads vm->ractor.stopping; the stopper stores that and
 *   loads run_state.  One of them sees the other: the stopper takes the thread out, or
 *   the thread does it itself, and tells the stopper.
 *
 *   BLOCKS -> RUNS against a stop: compare-and-swap of one word on each side.  If the thread's
 *   succeeds, nobody has taken it out since it stored BLOCKS: there was no stop that it
 *   has not seen, so that it acquires nothing; the next stopper sees it run.
 *
 *   BLOCKS -> OUT acquires what the thread released with BLOCKS: its machine context.
 *
 * test/model/stop.cc has this, with what goes wrong if a step is left out.
 *
 * Who leaves a native thread with nobody for it, while Ractors are in the queue, tells the timer thread upstream;
 * here it comes by itself, every 10 ms while there is a queue.
 *
 * Where others of the Ractor's threads are ready, or its turns are timed, all is as upstream.
 */

enum thread_run_state {
    THREAD_OUT = 0,
    THREAD_RUNS,
    THREAD_BLOCKS,
    THREAD_BLOCKS_SHARED
};

static void vm_stop_check_locked(rb_vm_t *vm);

static inline unsigned char
thread_run_state_relaxed(const rb_thread_t *th)
{
    return __atomic_load_n(&th->sched.run_state, __ATOMIC_RELAXED);
}

/* +th+, the current thread, has joined the list, or left it.  With the guard. */
static inline void
thread_run_state_set_locked(rb_thread_t *th, enum thread_run_state state)
{
    __atomic_store_n(&th->sched.run_state, (unsigned char)state, __ATOMIC_RELAXED);
}

/* Takes +th+ out of the list if it blocks.  With the guard. */
static void
running_threads_take_out_locked(rb_vm_t *vm, rb_thread_t *th)
{
    unsigned char state = __atomic_load_n(&th->sched.run_state, __ATOMIC_SEQ_CST);

    if (state < THREAD_BLOCKS ||
        !__atomic_compare_exchange_n(&th->sched.run_state, &state, THREAD_OUT, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        return;
    }
    ccan_list_del_init(&th->sched.node.running_threads);
    vm->ractor.sched.running_cnt--;
    if (state == THREAD_BLOCKS_SHARED) {
        vm->ractor.sched.snt_cnt--;
        vm->ractor.sched.dnt_cnt++;
    }
}

/* Takes all threads out of the list that block.  With the guard.  A stopper has said that it stops before. */
static void
running_threads_take_out_all_locked(rb_vm_t *vm)
{
    rb_thread_t *th, *next;

    ccan_list_for_each_safe(&vm->ractor.sched.running_threads, th, next, sched.node.running_threads) {
        running_threads_take_out_locked(vm, th);
    }
}

/* The same of +th+, the current thread.  Who stops the others and waits for it is told. */
static void
running_threads_leave(rb_vm_t *vm, rb_thread_t *th)
{
    ractor_sched_lock(vm, th->ractor);
    running_threads_take_out_locked(vm, th);
    vm_stop_check_locked(vm);
    ractor_sched_unlock(vm, th->ractor);
}

/*
 * Whether +th+, the current thread, which runs, blocks now, and is its scheduler's running one no more.  False: nothing
 * was done.  Lock of its scheduler; its machine context is saved.
 */
static bool
thread_sched_block(struct rb_thread_sched *sched, rb_thread_t *th)
{
    rb_vm_t *vm = th->vm;

    if (sched->is_running_timeslice || !ccan_list_empty(&sched->readyq)) return false;

    bool shared = th->nt->dedicated++ == 0;
    RACTOR_WAITS_OFTEN(leave(th, NULL));
    sched->running = NULL;
    sched->is_running = false;
    __atomic_store_n(&th->sched.run_state, shared ? THREAD_BLOCKS_SHARED : THREAD_BLOCKS, __ATOMIC_SEQ_CST);
    if (UNLIKELY(__atomic_load_n(&vm->ractor.stopping, __ATOMIC_SEQ_CST))) running_threads_leave(vm, th);
    return true;
}

/* Whether +th+, the current thread, which has blocked, runs again.  False: it is out of the list.  Lock of its scheduler. */
static bool
thread_sched_unblock(struct rb_thread_sched *sched, rb_thread_t *th)
{
    unsigned char state = thread_run_state_relaxed(th);

    if (state < THREAD_BLOCKS) return false;
    if (sched->running != NULL) {
        running_threads_leave(th->vm, th);
        return false;
    }
    if (!__atomic_compare_exchange_n(&th->sched.run_state, &state, THREAD_RUNS, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        return false;
    }

    th->nt->dedicated--;
    RB_INTERNAL_THREAD_HOOK(RUBY_INTERNAL_THREAD_EVENT_READY, th);
    sched->running = th;
    sched->is_running = true;
    RACTOR_WAITS_OFTEN(resume(th));
    RB_INTERNAL_THREAD_HOOK(RUBY_INTERNAL_THREAD_EVENT_RESUMED, th);
    return true;
}

#endif /* LOCKFREE_RACTOR_RUNNING_THREADS_H */
