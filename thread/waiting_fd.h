#ifndef LOCKFREE_THREAD_WAITING_FD_H
#define LOCKFREE_THREAD_WAITING_FD_H
/**********************************************************************

  thread/waiting_fd.h - a file that one Ractor closes while another one waits for it

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of thread.c.
 *
 * Problem.  Who waits for a file has a record in vm->waiting_fds, on its stack.
 * Who closes the file finds the records with the file's number, moves them to a
 * list on its own stack, puts an exception in the waiters' queues of interrupts,
 * and sleeps on a Mutex until they have taken themselves off that list.  All this
 * is for threads that share one GVL.  Ractors share numbers of files ($stdin is
 * number 0 in each of them, IO.for_fd takes any), and no GVL: the queue is
 * changed while its owner reads it, and the Mutex is locked in one Ractor and
 * slept on in another.
 *
 * And two Ractors that read two files share the list, and the lock for it: upstream
 * takes the VM lock before and after each system call.
 *
 * Solution.  For a waiter of another Ractor the closer only writes one word in
 * the record, and interrupts the thread, while it holds the lock with which
 * the record joins and leaves its list.  The waiter looks at the word itself, before each system
 * call and after the last one, and raises what threads of one Ractor are told.
 * Waiters of the closer's Ractor are told as before.
 *
 * Records lie in lists by the number of their file, each list with a lock of its own
 * ("the lock" below).  It is held for a few lines, in which there is no safe point and
 * nothing is allocated: so nobody who waits for it keeps a stop waiting for long.  Locks
 * of a thread's interrupts, and those that these take, come after it.
 *
 * [1] The interrupt may be gone when the waiter asks the kernel: what begins a
 * blocking region takes interrupts, and finds nothing in the queue.  So the word
 * is looked at inside the region.  An interrupt that comes later finds how to
 * wake the waiter, and wakes it until it has left the region.
 *
 * [2] A number that is closed is the next file's.  A waiter must not ask the
 * kernel for it then: it would take data of that file, or write to it.  Each
 * writes one word and then reads the other's, all of it seq_cst:
 *
 *   waiter, waiting_fd_ask              closer, waiting_fd_close_others
 *   asking = 1                          closed = 1
 *   read closed; if set do not ask      read asking; if set wait before close(2)
 *
 * so that a waiter that was found does not begin to ask once the closer has seen
 * it not asking.  So it is with the timer thread's epoll, from which the waiter
 * takes the number back: it asks until it has.  The closer waits without its GVL
 * and without the lock: so no two Ractors can wait for each other.  Nor does it
 * wait for ever: a system call that no signal interrupts (a disk, NFS) keeps the
 * file it began with, and only what asks twice in one region could meet the next
 * file; who slept in epoll is off it as soon as it is interrupted, and waits for
 * the GVL of its Ractor, where somebody may compute for long.  After
 * WAITING_FD_PATIENCE the closer goes on.
 *
 * [3] A record that comes after the closer has looked, and before close(2), would
 * be found by nobody, and its thread would wait in the kernel for a file that has
 * no number any more.  So the closer of a pipe or socket has a record as well,
 * beside the waiters', from before it looks until after close(2), and a waiter of
 * another Ractor that finds it when it joins the others is told at once, if the
 * number still means that file: close(2) gives it away before the record goes, and
 * who waits for the next file must not be told.  A file on a disk needs none, since
 * it lets nobody wait; and device and inode tell it from the next one less well.
 * Of two that close one number, each with something to flush, the first one is told
 * nothing.  The record is an object, since the Fiber that closes may be dropped in
 * the middle of its flush.
 *
 * [4] The kernel gives a signal for the process to any thread, and those are
 * interrupted in a read that no handler of Ruby's is for; main's is interrupted to
 * load for other Ractors.  Such a call is made again: its thread must not hear of
 * it (EINTR, or EAGAIN of a pipe) because others send signals or load.
 *
 * [5] A signal's handler may fork in the middle of a wait.  The child has no other
 * threads, but the forking one's records, whose neighbours lie on the stacks of
 * those: the lists are made anew with the own records only.
 *
 * [6] A Fiber whose scheduler waits for the file in the middle of the call may be
 * forgotten there, and its thread may end: then its records leave the lists with
 * it, or with the thread, and no closer waits for them.  So it is with a closer that
 * waits for others of its Ractor, or leaves by an exception: the records know it no
 * more.  While they do, they keep the objects with which it is woken.
 */

#include <sys/stat.h>
#include "lockfree/cache_line.h"

static bool thread_io_wait_events(rb_thread_t *th, int fd, int events, const struct timeval *timeout);

struct waiting_fd {
    struct ccan_list_node wfd_node; /* <=> waiting_fd_list.waiting; the lock */
    struct waiting_fd *outer;       /* of the same Fiber, from ec->waiting_fds on: [6] */
    rb_thread_t *th;
    int fd;
    struct rb_io_close_wait_list *busy; /* a closer's of the same Ractor, who waits for this one; the lock */
    rb_atomic_t asking; /* the thread is, or is about to be, in the kernel with fd; written by it */
    rb_atomic_t closed; /* another Ractor closes fd; written with the lock */
};

/* [3] */
struct closing_fd {
    struct ccan_list_node node; /* <=> waiting_fd_list.closing, the first one first; or alone */
    const void *th, *ractor;    /* who closes; only compared, they may be no more */
    int fd;
    dev_t device;
    ino_t inode;
};

/* Of the files whose numbers are equal modulo WAITING_FD_LISTS. */
#define WAITING_FD_LISTS 64
static struct waiting_fd_list {
    RBIMPL_ALIGNAS(CACHE_LINES_SIZE) rb_nativethread_lock_t lock;
    struct ccan_list_head waiting, closing;
} waiting_fd_lists[WAITING_FD_LISTS];

#define WAITING_FD_PATIENCE (1 * RB_HRTIME_PER_SEC)
#define WAITING_FD_LONGEST_STEP (10 * RB_HRTIME_PER_MSEC)

/* At the start, and in a child: nobody waits. */
void
rb_waiting_fd_lists_init(void)
{
    for (int i = 0; i < WAITING_FD_LISTS; i++) {
        rb_native_mutex_initialize(&waiting_fd_lists[i].lock);
        ccan_list_head_init(&waiting_fd_lists[i].waiting);
        ccan_list_head_init(&waiting_fd_lists[i].closing);
    }
}

static inline struct waiting_fd_list *
waiting_fd_list_of(int fd)
{
    return &waiting_fd_lists[(unsigned int)fd % WAITING_FD_LISTS];
}

/* Takes the lock, if there are several Ractors.  To be followed by waiting_fd_unlock. */
static inline struct waiting_fd_list *
waiting_fd_lock_list(struct waiting_fd_list *list)
{
    if (rb_multi_ractor_p()) rb_native_mutex_lock(&list->lock);
    return list;
}

/* The list of +fd+, with its lock. */
static inline struct waiting_fd_list *
waiting_fd_lock(int fd)
{
    return waiting_fd_lock_list(waiting_fd_list_of(fd));
}

static inline void
waiting_fd_unlock(struct waiting_fd_list *list)
{
    if (rb_multi_ractor_p()) rb_native_mutex_unlock(&list->lock); /* a first Ractor is made by who holds no such lock */
}

/* =========================================================================
 * who waits: the thread of the record
 * ========================================================================= */

static inline void
waiting_fd_init(struct waiting_fd *wfd, rb_thread_t *th, int fd)
{
    wfd->th = th;
    wfd->fd = fd;
    wfd->busy = NULL;
    wfd->asking = 0;
    wfd->closed = 0;
}

/* The record has joined its list.  With the lock. */
static inline void
waiting_fd_look_for_closers(struct waiting_fd *wfd, const struct waiting_fd_list *list)
{
    const struct closing_fd *closing;
    ccan_list_for_each(&list->closing, closing, node) {
        struct stat st;
        if (closing->fd != wfd->fd) continue;
        if (closing->th == wfd->th) break; // it closes fd itself, and flushes: those that come later are told
        if (closing->ractor != wfd->th->ractor &&
            fstat(wfd->fd, &st) == 0 && st.st_dev == closing->device && st.st_ino == closing->inode) wfd->closed = 1;
    }
}

static inline void
waiting_fd_join(struct waiting_fd *wfd)
{
    rb_execution_context_t *ec = wfd->th->ec;
    wfd->outer = ec->waiting_fds;
    ec->waiting_fds = wfd;

    struct waiting_fd_list *list = waiting_fd_lock(wfd->fd);
    ccan_list_add(&list->waiting, &wfd->wfd_node);
    waiting_fd_look_for_closers(wfd, list);
    waiting_fd_unlock(list);
}

/* With the lock.  A second time it does nothing. */
static inline void
waiting_fd_drop(struct waiting_fd *wfd)
{
    ccan_list_del_init(&wfd->wfd_node);
    if (wfd->busy) RUBY_ATOMIC_DEC(wfd->busy->pending_fd_users);
    wfd->busy = NULL;
}

static inline void
waiting_fd_leave_list(struct waiting_fd *wfd)
{
    struct waiting_fd_list *list = waiting_fd_lock(wfd->fd);
    waiting_fd_drop(wfd);
    waiting_fd_unlock(list);
}

static inline void
waiting_fd_leave(struct waiting_fd *wfd)
{
    wfd->th->ec->waiting_fds = wfd->outer;
    waiting_fd_leave_list(wfd);
}

/* Who closed +fd+ waits for nobody any more: [6]. */
static void
waiting_fd_forget_closer(const struct rb_io_close_wait_list *busy)
{
    struct waiting_fd_list *list = waiting_fd_lock(busy->fd);
    struct waiting_fd *wfd;
    ccan_list_for_each(&list->waiting, wfd, wfd_node) {
        if (wfd->busy == busy) wfd->busy = NULL;
    }
    waiting_fd_unlock(list);
}

/* The stack of +ec+ goes: its Fiber is freed, by whoever sweeps ([6]), or a continuation is put over it.  A closer who sleeps is
 * not woken: nobody would have been to wake him. */
void
rb_waiting_fds_forget(rb_execution_context_t *ec)
{
    for (struct waiting_fd *wfd = ec->waiting_fds; wfd; wfd = wfd->outer) waiting_fd_leave_list(wfd);
    for (const struct rb_io_close_wait_list *busy = ec->closers; busy; busy = busy->outer) waiting_fd_forget_closer(busy);
    rb_waiting_fds_init(ec);
}

/* What those that wait in +ec+ are to wake. */
void
rb_waiting_fds_mark(const rb_execution_context_t *ec)
{
    for (const struct waiting_fd *wfd = ec->waiting_fds; wfd; wfd = wfd->outer) {
        if (!wfd->busy) continue;
        rb_gc_mark(wfd->busy->closing_thread);
        rb_gc_mark(wfd->busy->closing_fiber);
        rb_gc_mark(wfd->busy->wakeup_mutex);
    }
}

/* Who closed the file may go on. */
static void
waiting_fd_wake_closer(VALUE closing_thread, VALUE closing_fiber)
{
    VALUE scheduler = rb_thread_ptr(closing_thread)->scheduler;

    if (NIL_P(scheduler)) rb_thread_wakeup_alive(closing_thread);
    else rb_fiber_scheduler_unblock(scheduler, closing_thread, closing_fiber);
}

/* Drops a record of +th+ in +list+, and says who waited for it; whether there is one.  Records know no closer of +th+ any more. */
static bool
waiting_fd_drop_of_thread(struct waiting_fd_list *list, const rb_thread_t *th, VALUE *closing_thread, VALUE *closing_fiber)
{
    struct waiting_fd *wfd;
    bool found = false;

    waiting_fd_lock_list(list);
    ccan_list_for_each(&list->waiting, wfd, wfd_node) {
        if (wfd->busy && wfd->busy->closing_thread == th->self) wfd->busy = NULL;
        if (wfd->th != th) continue;

        *closing_thread = wfd->busy ? wfd->busy->closing_thread : Qnil;
        *closing_fiber = wfd->busy ? wfd->busy->closing_fiber : Qnil;
        waiting_fd_drop(wfd);
        found = true;
        break;
    }
    waiting_fd_unlock(list);
    return found;
}

/* The calling thread ends, and with it what its Fibers wait for: [6]. */
static void
waiting_fds_end(const rb_thread_t *th)
{
    VALUE closing_thread, closing_fiber;

    if (!th->root_fiber) return;
    for (int i = 0; i < WAITING_FD_LISTS; i++) {
        while (waiting_fd_drop_of_thread(&waiting_fd_lists[i], th, &closing_thread, &closing_fiber)) {
            if (!NIL_P(closing_thread)) waiting_fd_wake_closer(closing_thread, closing_fiber);
        }
    }
}

static inline bool
waiting_fd_closed_p(struct waiting_fd *wfd)
{
    return RUBY_ATOMIC_LOAD(wfd->closed) != 0;
}

static inline void
waiting_fd_asked(struct waiting_fd *wfd)
{
    RUBY_ATOMIC_SET(wfd->asking, 0);
}

/* Whether the kernel may be asked: then waiting_fd_asked follows.  In the region: [1], [2]. */
static inline bool
waiting_fd_ask(struct waiting_fd *wfd)
{
    RUBY_ATOMIC_SET(wfd->asking, 1);
    errno = 0; /* what the call leaves, and nothing before it */
    if (LIKELY(!waiting_fd_closed_p(wfd))) return true;
    waiting_fd_asked(wfd);
    return false;
}

/* The scheduler of this Fiber is to wait for +fd+, in the middle of a call: returns what rb_waiting_fd_resume wants. */
struct waiting_fd *
rb_waiting_fd_pause(int fd)
{
    struct waiting_fd *wfd = GET_EC()->waiting_fds;
    if (!wfd || wfd->fd != fd) return NULL;
    waiting_fd_asked(wfd);
    return wfd;
}

/* Whether the kernel may be asked again. */
bool
rb_waiting_fd_resume(struct waiting_fd *wfd)
{
    return !wfd || waiting_fd_ask(wfd);
}

/* Waits in the timer thread for +events+, where it may; whether they, or an interrupt, came: [2]. */
static inline bool
waiting_fd_wait_events(struct waiting_fd *wfd, rb_thread_t *th, int events)
{
    if (!waiting_fd_ask(wfd)) return false;
    const bool came = thread_io_wait_events(th, wfd->fd, events, NULL);
    waiting_fd_asked(wfd);
    return came;
}

/* Whether what interrupted this thread in the kernel is nothing that it is told of: [4].  A handler runs in main's main
 * thread, and there upstream tells; so of Thread#wakeup, and of what is not for now.  No GVL is wanted. */
bool
rb_thread_interrupted_by_others_p(VALUE thread)
{
    const rb_atomic_t interrupts = RUBY_ATOMIC_LOAD(rb_thread_ptr(thread)->ec->interrupt_flag);
    if (interrupts & (PENDING_INTERRUPT_MASK | TERMINATE_INTERRUPT_MASK)) return false;
    return !(interrupts & TRAP_INTERRUPT_MASK) || !rb_signal_buff_size();
}

/* Raises if the file was closed; the record has left its list. */
static inline void
waiting_fd_check(struct waiting_fd *wfd)
{
    if (UNLIKELY(waiting_fd_closed_p(wfd))) rb_raise(rb_eIOError, "stream closed in another thread");
}

/* =========================================================================
 * who closes
 * ========================================================================= */

static void
closing_fd_leave(struct closing_fd *closing)
{
    struct waiting_fd_list *list = waiting_fd_lock(closing->fd);
    ccan_list_del_init(&closing->node);
    waiting_fd_unlock(list);
}

/* By the GC; the node is alone where the close came to its end. */
static void
closing_fd_free(void *ptr)
{
    closing_fd_leave(ptr);
    ruby_xfree(ptr);
}

static const rb_data_type_t closing_fd_type = {
    "closing_fd", {NULL, closing_fd_free, NULL}, 0, 0, RUBY_TYPED_FREE_IMMEDIATELY
};

static VALUE
closing_fd_end(VALUE self)
{
    closing_fd_leave(RTYPEDDATA_GET_DATA(self));
    return Qnil;
}

/* Calls +func+, which calls rb_notify_fd_close and then closes +fd+ or raises: [3]. */
VALUE
rb_thread_closing_fd(int fd, VALUE (*func)(VALUE), VALUE arg)
{
    struct stat st;
    if (!rb_multi_ractor_p() || fstat(fd, &st) != 0 || !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))) return func(arg);

    struct closing_fd *closing;
    VALUE self = TypedData_Make_Struct(0, struct closing_fd, &closing_fd_type, closing);
    ccan_list_node_init(&closing->node);
    closing->th = GET_THREAD();
    closing->ractor = GET_RACTOR();
    closing->fd = fd;
    closing->device = st.st_dev;
    closing->inode = st.st_ino;
    struct waiting_fd_list *list = waiting_fd_lock(fd);
    ccan_list_add_tail(&list->closing, &closing->node);
    waiting_fd_unlock(list);
    VALUE result = rb_ensure(func, arg, closing_fd_end, self);
    RB_GC_GUARD(self);
    return result;
}

/* Whether +th+ closes +fd+, and began before this thread.  With the lock. */
static bool
closing_fd_before_p(const struct waiting_fd_list *list, const rb_thread_t *th, int fd)
{
    const struct closing_fd *closing;
    ccan_list_for_each(&list->closing, closing, node) {
        if (closing->fd != fd) continue;
        if (closing->th == th) return true;
        if (closing->th == GET_THREAD()) return false;
    }
    return false;
}

/* Those of the closer's own Ractor are for rb_notify_fd_close. */
static inline bool
waiting_fd_own_p(const struct waiting_fd *wfd)
{
    return wfd->th->ractor == GET_RACTOR();
}

/* A waiter of the closer's Ractor, which does not go while that has its GVL, and that +busy+ is to wait for; or NULL. */
static struct waiting_fd *
waiting_fd_take_own(int fd, struct rb_io_close_wait_list *busy)
{
    struct waiting_fd_list *list = waiting_fd_lock(fd);
    struct waiting_fd *wfd, *own = NULL;

    ccan_list_for_each(&list->waiting, wfd, wfd_node) {
        if (wfd->fd == fd && !wfd->busy && waiting_fd_own_p(wfd)) {
            own = wfd;
            own->busy = busy;
            RUBY_ATOMIC_INC(busy->pending_fd_users);
            break;
        }
    }
    waiting_fd_unlock(list);
    return own;
}

static VALUE
waiting_fd_closer_end(VALUE arg)
{
    const struct rb_io_close_wait_list *busy = (const struct rb_io_close_wait_list *)arg;
    GET_EC()->closers = busy->outer;
    waiting_fd_forget_closer(busy);
    return Qnil;
}

/* Calls +func+, which closes the file and then waits for those whom rb_notify_fd_close has found: [6]. */
VALUE
rb_thread_closing_waited_fd(VALUE (*func)(VALUE), VALUE arg, struct rb_io_close_wait_list *busy)
{
    rb_execution_context_t *ec = GET_EC();

    busy->outer = ec->closers;
    ec->closers = busy;
    return rb_ensure(func, arg, waiting_fd_closer_end, (VALUE)busy);
}

/* Tells each waiter of another Ractor, and again who has been told and still asks; returns whether somebody does. */
static bool
waiting_fd_close_others(int fd, bool *found)
{
    struct waiting_fd_list *list = waiting_fd_lock(fd);
    struct waiting_fd *wfd;
    bool asking = false;

    ccan_list_for_each(&list->waiting, wfd, wfd_node) {
        if (wfd->fd != fd || waiting_fd_own_p(wfd) || closing_fd_before_p(list, wfd->th, fd)) continue;

        *found = true;
        bool told = RUBY_ATOMIC_EXCHANGE(wfd->closed, 1) != 0;
        bool asks = RUBY_ATOMIC_LOAD(wfd->asking) != 0; /* after closed: [2] */
        if (!told || asks) rb_threadptr_interrupt(wfd->th);
        asking |= asks;
    }
    waiting_fd_unlock(list);
    return asking;
}

/* Returns whether there are any: then waiting_fd_wait_for_others follows. */
static bool
waiting_fd_notify_others(struct rb_io_close_wait_list *busy)
{
    if (rb_multi_ractor_p()) waiting_fd_close_others(busy->fd, &busy->others);
    return busy->others;
}

static void
waiting_fd_sleep(rb_thread_t *th, rb_hrtime_t time)
{
    THREAD_BLOCKING_BEGIN(th);
    {
        struct timeval tv;
        select(0, NULL, NULL, NULL, rb_hrtime2timeval(&tv, &time));
    }
    THREAD_BLOCKING_END(th);
}

/* Returns when nobody asks the kernel any more, or patience ends.  Raises nothing: the file is half closed. */
static void
waiting_fd_wait_for_others(struct rb_io_close_wait_list *busy)
{
    if (!busy->others) return;

    rb_thread_t *th = GET_THREAD();
    rb_hrtime_t step = RB_HRTIME_PER_MSEC / 20, end = rb_hrtime_add(rb_hrtime_now(), WAITING_FD_PATIENCE);
    bool found;

    while (waiting_fd_close_others(busy->fd, &found) && rb_hrtime_now() < end) {
        waiting_fd_sleep(th, step);
        step = step * 2 < WAITING_FD_LONGEST_STEP ? step * 2 : WAITING_FD_LONGEST_STEP;
    }
}

/* =========================================================================
 * others that look at the records
 * ========================================================================= */

#if defined(HAVE_WORKING_FORK)
/* What the forking thread has in the lists: [5]. */
struct waiting_fd_own {
    struct ccan_list_head waiting, closing;
};

/* In the child, before anything of the other threads goes. */
static void
waiting_fd_atfork_first(rb_thread_t *th, struct waiting_fd_own *own)
{
    struct waiting_fd *wfd, *next_wfd;
    struct closing_fd *closing, *next_closing;

    ccan_list_head_init(&own->waiting);
    ccan_list_head_init(&own->closing);
    for (int i = 0; i < WAITING_FD_LISTS; i++) {
        ccan_list_for_each_safe(&waiting_fd_lists[i].waiting, wfd, next_wfd, wfd_node) {
            if (wfd->busy && wfd->busy->closing_thread != th->self) wfd->busy = NULL; /* that closer is no more */
            if (wfd->th != th) {
                waiting_fd_drop(wfd);
                continue;
            }
            ccan_list_del(&wfd->wfd_node);
            ccan_list_add_tail(&own->waiting, &wfd->wfd_node);
        }
        ccan_list_for_each_safe(&waiting_fd_lists[i].closing, closing, next_closing, node) {
            ccan_list_del_init(&closing->node);
            if (closing->th == th) ccan_list_add_tail(&own->closing, &closing->node);
        }
    }
}

/* The lists are made anew. */
static void
waiting_fd_atfork_last(struct waiting_fd_own *own)
{
    struct waiting_fd *wfd;
    struct closing_fd *closing;

    while ((wfd = ccan_list_pop(&own->waiting, struct waiting_fd, wfd_node))) {
        ccan_list_add_tail(&waiting_fd_list_of(wfd->fd)->waiting, &wfd->wfd_node);
    }
    while ((closing = ccan_list_pop(&own->closing, struct closing_fd, node))) {
        ccan_list_add_tail(&waiting_fd_list_of(closing->fd)->closing, &closing->node);
    }
}
#endif

/* Whether a thread of this Ractor waits for +fd+ (ractor/move.c). */
bool
rb_thread_fd_waited_p(int fd)
{
    struct waiting_fd_list *list = waiting_fd_lock(fd);
    struct waiting_fd *wfd;
    bool waited = false;

    ccan_list_for_each(&list->waiting, wfd, wfd_node) {
        if (wfd->fd == fd && waiting_fd_own_p(wfd)) waited = true;
    }
    waiting_fd_unlock(list);
    return waited;
}

#endif /* LOCKFREE_THREAD_WAITING_FD_H */
