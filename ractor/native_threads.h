#ifndef LOCKFREE_RACTOR_NATIVE_THREADS_H
#define LOCKFREE_RACTOR_NATIVE_THREADS_H
/**********************************************************************

  ractor/native_threads.h - how many Ractors can run at once

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of thread_pthread.c.
 *
 * Problem.  The threads of Ractors share RUBY_MAX_CPU native threads, 8 unless
 * the environment says otherwise, and a Ractor that computes keeps its native
 * thread until it waits for something or ends.  Upstream counts main's thread
 * with the 8, which shares nothing and mostly waits: 7 Ractors run at once, and
 * the eighth begins when one of them is done, and then has a core for itself
 * while the others have none.  With RUBY_MAX_CPU=1 no Ractor ever runs.
 *
 * Solution.  Main's thread does not count, and on a machine with more than 8
 * processors the limit is their number.
 *
 * Problem 2.  Native threads are made by the timer thread, when it wakes and
 * finds too few.  It sleeps without end while it has nothing to do.  If then all
 * native threads that are shared are in the kernel for a thread of their own (to
 * wait for a file with a time), and a Ractor becomes ready, nobody takes it.
 *
 * Solution.  Whoever leaves a Ractor in the queue for which no shared native thread
 * waits wakes the timer thread.  It makes one, if there may be more, or has those
 * that compute take turns: ractor/native_thread_turn.h.
 *
 * Problem 3.  Where the system has no thread more, or no memory for one, upstream counts
 * one all the same, and raises, in the timer thread, too; but the Ractor is in the queue
 * already, and runs, while it is freed.
 *
 * Solution.  What could not be made does not count.  The Ractor joins the queue of those
 * that are there, later than the attempt; with none it raises, and has not joined.
 */

#define RACTOR_MAX_CPU_LEAST 8  /* upstream's default */

/* How many processors there are now: 1 or more.  Reads a file.  Any Ractor. */
unsigned int
rb_ractor_processors(void)
{
    long processors = 1;
#ifdef _SC_NPROCESSORS_ONLN
    processors = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    return processors > 1 ? (unsigned int)processors : 1;
}

/* vm->ractor.sched.max_cpu when the environment has no RUBY_MAX_CPU. */
static int
ractor_default_max_cpu(void)
{
    unsigned int processors = rb_ractor_processors();
    return processors > RACTOR_MAX_CPU_LEAST ? (int)processors : RACTOR_MAX_CPU_LEAST;
}

/* How many Ractors can run at once, main apart.  Any Ractor. */
unsigned int
rb_ractor_max_running(void)
{
    return GET_VM()->ractor.sched.max_cpu;
}

#if USE_MN_THREADS
/* How far native_thread_check_and_create_shared may count, which counts main's own native thread. */
static unsigned int
ractor_native_threads_max(const rb_vm_t *vm)
{
    bool main_has_its_own = !vm->ractor.main_ractor->threads.sched.enable_mn_threads;
    return vm->ractor.sched.max_cpu + main_has_its_own;
}
#endif

#if USE_MN_THREADS
static void native_thread_setup(struct rb_native_thread *nt);
static void native_thread_destroy(struct rb_native_thread *nt);

/* What describes a shared native thread of +vm+, or NULL: there is no memory.  Does not collect.  Any Ractor, and the timer thread. */
static struct rb_native_thread *
ractor_native_thread_alloc(rb_vm_t *vm)
{
    struct rb_native_thread *nt = ruby_mimcalloc(1, sizeof(*nt));
    if (!nt) return NULL;

    nt->nt_context = ruby_mimcalloc(1, sizeof(*nt->nt_context));
    if (!nt->nt_context) {
        ruby_mimfree(nt);
        return NULL;
    }
    native_thread_setup(nt);
    nt->vm = vm;
    return nt;
}

/* The system has made +nt+, which is shared and has been counted, or +err+ says why not, and there is no such +nt+ any more.  0: there
 * is a shared native thread; or +err+.  Any Ractor, and the timer thread. */
static int
ractor_native_thread_made(rb_vm_t *vm, struct rb_native_thread *nt, int err)
{
    if (!err) return 0;

    rb_native_mutex_lock(&vm->ractor.sched.lock);
    bool others = --vm->ractor.sched.snt_cnt > 0;
    rb_native_mutex_unlock(&vm->ractor.sched.lock);
    native_thread_destroy(nt);
    return others ? 0 : err;
}
#endif

static void timer_thread_wakeup_locked(rb_vm_t *vm);

/* Shared native threads that wait for a Ractor, or were told of one.  Lock of vm->ractor.sched. */
static unsigned int ractor_sched_idle_cnt;

/* A Ractor has joined the queue, or a shared native thread has gone.  Lock of vm->ractor.sched. */
static inline void
ractor_sched_ask_for_native_thread(rb_vm_t *vm)
{
    if (vm->ractor.sched.grq_cnt > ractor_sched_idle_cnt) timer_thread_wakeup_locked(vm);
}

#endif /* LOCKFREE_RACTOR_NATIVE_THREADS_H */
