#ifndef LOCKFREE_RACTOR_END_H
#define LOCKFREE_RACTOR_END_H
/**********************************************************************

  ractor/end.h - when the last thread of a Ractor is gone

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of thread_pthread.c.
 *
 * Problem.  A thread of a Ractor runs on a stack of its own, and when it ends it
 * goes back to that of the native thread, with the lock of the Ractor's scheduler
 * in its hands; there the lock is let go.  Upstream calls the thread finished
 * before it goes back.  A GC in another Ractor may then free the Ractor, the lock
 * and the stack while they are in use.
 *
 * Solution.  The native thread remembers whom it carried, and calls it finished
 * when it stands on its own stack and has let go of the lock.
 *
 * Where an ended thread hands over to another of its Ractor, the native thread
 * comes there later, or carries another one to its end first: until then the
 * thread is kept.  So it is while the Ractor is in the queue of those that are
 * ready, or in the hands of a native thread that has taken it off and looks
 * whether there is anything to run: lockfree/thread/ready_once.h.
 *
 * A thread that could not begin is carried by none, and finished at once.  Upstream keeps
 * it, its stack and its Ractor for ever.
 *
 * Main runs to the end of the process, and its thread is freed while it runs.  Where it
 * was on a native thread of all Ractors (in a child forked by another Ractor), another
 * one may have its Ractor in hand, and would go on with a thread that has no stack: main
 * leaves the scheduler first, and the native thread finds nobody to run.
 *
 * At the end of the process the native thread may not come there any more, so that
 * Ractors are not freed then (rb_gc_shutdown_call_finalizer_p).  With
 * RUBY_FREE_AT_EXIT, which frees them, main waits for it.
 */

#if USE_MN_THREADS
static void ended_stack_give(rb_thread_t *th); /* thread/ended_stack.h */
#else
static inline void ended_stack_give(rb_thread_t *th) { }
void rb_thread_stacks_collection_begins(void) { }
#endif

/* The thread that +nt+ carried last is gone.  +nt+ itself, without its lock. */
static void
thread_sched_bury(struct rb_native_thread *nt)
{
    rb_thread_t *th = nt->ended_thread;
    if (!th) return;

    nt->ended_thread = NULL;
    ended_stack_give(th);
    __atomic_store_n(&th->sched.finished, true, __ATOMIC_RELEASE); /* pairs with thread_sched_buried_p */
}

#if USE_MN_THREADS
/* +th+, on +nt+, does nothing more but leave its stack. */
static void
thread_sched_ended(struct rb_native_thread *nt, rb_thread_t *th)
{
    thread_sched_bury(nt); /* that one left its stack for this */
    nt->ended_thread = th;
}
#endif

/* Whether nobody uses the stack and the Ractor of +th+ any more.  In the GC,
 * which stops Ractors, but no native thread that runs none.  Who holds the lock
 * of the scheduler is not waited for: the next GC asks again. */
static bool
thread_sched_buried_p(rb_thread_t *th)
{
    struct rb_thread_sched *sched = TH_SCHED(th);

    if (!__atomic_load_n(&th->sched.finished, __ATOMIC_ACQUIRE)) return false;
    if (pthread_mutex_trylock(&sched->lock_) != 0) return false;
    bool queued = sched->queued;
    pthread_mutex_unlock(&sched->lock_);
    return !queued;
}

/* Main, when all other Ractors have ended: waits until their native threads have left them, for a second at most. */
void
rb_vm_await_buried(rb_vm_t *vm)
{
    const struct timespec pause = { .tv_nsec = 1000 * 1000 };
    rb_thread_t *th;

    thread_sched_bury(GET_THREAD()->nt); // in a forked child, which main has carried on from a thread that ended
    for (int i = 0; i < 1000; i++) {
        bool buried = true;
        ccan_list_for_each(&vm->ractor.sched.zombie_threads, th, sched.node.zombie_threads) {
            buried = buried && thread_sched_buried_p(th);
        }
        if (buried) return;
        nanosleep(&pause, NULL);
    }
}

/* +th+, main's, is about to be freed: no native thread is to run it any more.  Itself, when all else has ended. */
void
rb_thread_sched_leave(rb_thread_t *th)
{
    struct rb_thread_sched *sched = TH_SCHED(th);

    rb_native_mutex_lock(&sched->lock_);
    sched->running = NULL;
    rb_native_mutex_unlock(&sched->lock_);
}

#endif /* LOCKFREE_RACTOR_END_H */
