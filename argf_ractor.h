#ifndef LOCKFREE_ARGF_RACTOR_H
#define LOCKFREE_ARGF_RACTOR_H
/**********************************************************************

  argf_ractor.h - Kernel#gets in several Ractors

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of io.c.
 *
 * Problem.  Kernel#gets, readline and readlines read ARGF, of which there is
 * one: the files of ARGV, or main's $stdin.  Ractors that read at once share its
 * IO, whose buffer has no lock: halves of two lines come as one, lines are lost,
 * and it crashes.
 *
 * Solution.  With several Ractors, one thread at a time is in ARGF; others wait
 * outside of Ruby, and can be interrupted.  It holds no other lock meanwhile, and
 * may wait for input as long as it takes.  ARGV is main's, which takes the next
 * name out of it for the others: rb_ractor_shift_path.
 *
 *   argf_user       the thread in ARGF, or NULL: set by compare-and-swap, and
 *                   back by that thread; asked for by threads for themselves
 *   argf_waiting    how many wait for it: changed under argf_lock
 *   ARGF's fields, and the IO that it reads   by argf_user
 *
 *   argf_leave                    argf_sleep, under argf_lock
 *   argf_user = NULL              argf_waiting++
 *   read argf_waiting             read argf_user
 *
 * All four are seq_cst, so that one of the two sees the other.
 *
 * It does not see a thread that came while there was one Ractor; main, where it
 * reads its IO by itself, as by $stdin.gets or ARGF.each_line; nor who has a Fiber
 * scheduler, which must not be made to wait.  Who waits for ever: a trap handler of
 * main that waits for a Ractor which is in `gets`; and whoever comes after a Fiber
 * that was left in the middle of a `gets`.  The name that a `gets` was waiting for
 * when it was interrupted is gone, as one is whose file cannot be opened.
 */

#include <pthread.h>
#include "ractor_core.h"
#include "vm_sync.h"

VALUE rb_ractor_shift_path(VALUE names); /* ractor/load.h */

static rb_nativethread_lock_t argf_lock;
static rb_nativethread_cond_t argf_cond;
static rb_thread_t *argf_user;
static unsigned int argf_waiting;

struct argf_call {
    VALUE (*func)(int, VALUE *, VALUE);
    int argc;
    VALUE *argv;
    VALUE argf;
    bool woken; /* under argf_lock */
};

/* At boot, and in the child of a fork, where none but its thread is left, which may be no thread of Ruby's; if it is in
 * the middle of a read, that goes on without the lock. */
static void
argf_init_lock(void)
{
    rb_native_mutex_initialize(&argf_lock);
    rb_native_cond_initialize(&argf_cond);
    argf_user = NULL;
    argf_waiting = 0;
}

static void
argf_init_ractor(void)
{
    argf_init_lock();
    pthread_atfork(NULL, NULL, argf_init_lock);
}

/* Whether what is read from ARGF has to go through argf_alone.  Any Ractor. */
static inline bool
argf_contended_p(void)
{
    return rb_multi_ractor_p() && __atomic_load_n(&argf_user, __ATOMIC_RELAXED) != GET_THREAD() &&
        NIL_P(rb_fiber_scheduler_current());
}

/* Without the GVL. */
static void *
argf_sleep(void *ptr)
{
    struct argf_call *call = ptr;

    rb_native_mutex_lock(&argf_lock);
    __atomic_fetch_add(&argf_waiting, 1, __ATOMIC_SEQ_CST); /* before argf_user; pairs with argf_leave */
    while (__atomic_load_n(&argf_user, __ATOMIC_SEQ_CST) && !call->woken) rb_native_cond_wait(&argf_cond, &argf_lock);
    __atomic_fetch_sub(&argf_waiting, 1, __ATOMIC_RELAXED);
    /* This one may take long to come in. */
    if (!__atomic_load_n(&argf_user, __ATOMIC_RELAXED)) rb_native_cond_signal(&argf_cond);
    call->woken = false;
    rb_native_mutex_unlock(&argf_lock);
    return NULL;
}

/* Of an interrupt. */
static void
argf_wake(void *ptr)
{
    struct argf_call *call = ptr;

    rb_native_mutex_lock(&argf_lock);
    call->woken = true;
    rb_native_cond_broadcast(&argf_cond);
    rb_native_mutex_unlock(&argf_lock);
}

static VALUE
argf_run(VALUE data)
{
    struct argf_call *call = (struct argf_call *)data;
    rb_thread_t *none = NULL;

    /* Synchronises with argf_leave: without the acquire the IO could be seen as it was before.  */
    while (!__atomic_compare_exchange_n(&argf_user, &none, GET_THREAD(), false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        none = NULL;
        rb_nogvl(argf_sleep, call, argf_wake, call, 0);
        RUBY_VM_CHECK_INTS(GET_EC());
    }
    return call->func(call->argc, call->argv, call->argf);
}

/* Also by who was interrupted before it came in: it may have been woken for all the others. */
static VALUE
argf_leave(VALUE _)
{
    if (__atomic_load_n(&argf_user, __ATOMIC_RELAXED) == GET_THREAD()) {
        __atomic_store_n(&argf_user, NULL, __ATOMIC_SEQ_CST); /* before argf_waiting; pairs with argf_sleep */
    }
    if (__atomic_load_n(&argf_waiting, __ATOMIC_SEQ_CST)) {
        rb_native_mutex_lock(&argf_lock);
        rb_native_cond_signal(&argf_cond);
        rb_native_mutex_unlock(&argf_lock);
    }
    return Qnil;
}

/* func(argc, argv, argf), by one thread at a time.  Any Ractor, where argf_contended_p. */
static VALUE
argf_alone(VALUE (*func)(int, VALUE *, VALUE), int argc, VALUE *argv, VALUE argf)
{
    struct argf_call call = {func, argc, argv, argf};

    return rb_ensure(argf_run, (VALUE)&call, argf_leave, Qnil);
}

/* The next of +names+, taken out of it.  Any Ractor, if there is one; another than main gets Qundef if it is gone. */
static inline VALUE
argf_shift_name(VALUE names)
{
    if (rb_ractor_main_p()) return rb_ary_shift(names);

    const VALUE name = rb_ractor_shift_path(names);
    return NIL_P(name) ? Qundef : rb_str_dup(name);
}

#endif /* LOCKFREE_ARGF_RACTOR_H */
