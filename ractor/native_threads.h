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
 */

#define RACTOR_MAX_CPU_LEAST 8  /* upstream's default */

/* vm->ractor.sched.max_cpu when the environment has no RUBY_MAX_CPU. */
static int
ractor_default_max_cpu(void)
{
    long processors = 0;
#ifdef _SC_NPROCESSORS_ONLN
    processors = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    return processors > RACTOR_MAX_CPU_LEAST ? (int)processors : RACTOR_MAX_CPU_LEAST;
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

#endif /* LOCKFREE_RACTOR_NATIVE_THREADS_H */
