/**********************************************************************

  ractor/fork.c - fork a process whose Ractors run

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  fork copies one thread, and all locks and tables as the others have
 * them at that moment.  Upstream asks nobody: the child then waits for the VM
 * lock, or the lock of a Ractor, which a thread that is no more still holds, or
 * finds a table half changed.  What is left of the other Ractors counts as
 * running: their take waits for ever, and the slots that they were to fill next
 * are lost.
 *
 * Solution.  The parent stops all Ractors, as the GC does, and forks with the VM
 * lock held: rb_ractor_before_fork, rb_ractor_after_fork.  So no other thread is
 * inside of anything that is done with the lock of a Ractor (its GVL), of the VM
 * or under a lock of ours, all of which are held between two safe points only.
 * Two Ractors that fork, which stop and start the timer thread, take turns.
 *
 * What may be held nevertheless is what a thread holds that waits, or that comes
 * back from waiting: the lock of a scheduler, of a Ractor, of a thread's
 * interrupts, and the insides of condition variables.  The child makes those
 * anew, here and in rb_thread_atfork_internal, and ends the other Ractors:
 * rb_ractor_atfork_first, before anything in the child takes a lock.  To take
 * from them, or to send to them, raises Ractor::ClosedError; what one had to say
 * when it ended before can still be taken.
 *
 * A process that only forks in order to execute a file (system, spawn, popen)
 * runs no Ruby in the child, and stops nobody while it does: the parent reads from
 * a pipe, which is closed by exec, whether that has succeeded.  It waits as one
 * that need not stand, since another's child may hold the pipe for a while.  One
 * that runs Ruby would hold it as long as it lives: the parent does not stand while
 * both ends are open, unless fork has failed and is tried again.
 *
 * Before any fork upstream flushes $stdout and $stderr, those of main: with the
 * lock of main's thread, so that a Ractor waits for it, a deadlock as far as it
 * can see; and what the Ractor itself has not written is written by the child as
 * well.  Here a Ractor flushes its own, has what main has buffered written while
 * main stands, and the child forgets what is other Ractors' to write: what main has
 * for $stdout and $stderr at once, what is in the buffer of any File that one of them has
 * written to last as it is finalized, since nobody can reach that, as a rule.  Not after
 * Process.daemon, whose parent is no more.  A parent that ends by exit! as soon as it has forked loses
 * what its Ractors have not flushed, in this way, too.
 *
 * exec, and fork, stop the timer thread, and start it again where they fail.  Two
 * Ractors may be doing so at once, or two threads, as an exec waits for files
 * that it redirects to: the first one stops it, the last one starts it.  The lock
 * is held while the thread is waited for, but not at a safe point.
 */

#include "internal.h"
#include "internal/gc.h"
#include "internal/io.h"
#include "ractor_core.h"
#include "ruby/thread.h"
#include "vm_sync.h"
#include "lockfree/ractor/fork.h"
#include "lockfree/ractor/move.h"
#include "lockfree/vm/insns_count.h"
#include "lockfree/vm/jit_counts.h"
#ifdef HAVE_POLL_H
# include <poll.h>
#endif

/* What main has buffered for +io+, a File, is written for it while it stands, as far as that can be done at once: not
 * while one of its threads writes, and not more than a pipe has room for.  VM lock, all others stopped. */
static void
ractor_write_buffered(VALUE io)
{
#ifdef HAVE_POLL
    rb_io_t *fptr = RB_TYPE_P(io, T_FILE) ? RFILE(io)->fptr : NULL;
    if (!fptr || fptr->fd < 0 || (!NIL_P(fptr->write_lock) && RTEST(rb_mutex_locked_p(fptr->write_lock)))) return;

    while (fptr->wbuf.len > 0) {
        struct pollfd poller = { .fd = fptr->fd, .events = POLLOUT };
        if (poll(&poller, 1, 0) != 1 || !(poller.revents & POLLOUT)) break;

        size_t room = fptr->wbuf.len < PIPE_BUF ? fptr->wbuf.len : PIPE_BUF; /* there is */
        ssize_t n = write(fptr->fd, fptr->wbuf.ptr + fptr->wbuf.off, room);
        if (n <= 0) break;
        fptr->wbuf.off += (int)n;
        fptr->wbuf.len -= (int)n;
    }
#endif
}

/* Whether main has something buffered for +io+, $stdout or $stderr: what it had written before it told the current Ractor anything is
 * seen by that, and the rest may come before or after.  A plain word of main's, read as it runs; what it lies in stays until the
 * current Ractor stands (rb_io_unlink_fptr), so no safe point is passed here. */
static bool
ractor_buffered_p(VALUE io)
{
    const rb_io_t *fptr = RB_TYPE_P(io, T_FILE) ? RUBY_ATOMIC_PTR_LOAD(RFILE(io)->fptr) : NULL;
    return fptr && __atomic_load_n(&fptr->wbuf.len, __ATOMIC_RELAXED) > 0;
}

/* Takes from +io+, which is closed and about to be opened once more, what its caller frees: no Ractor looks at that any more.  Any
 * Ractor, without the VM lock. */
rb_io_t *
rb_io_unlink_fptr(VALUE io)
{
    rb_io_t *fptr = RUBY_ATOMIC_PTR_EXCHANGE(RFILE(io)->fptr, NULL);

    if (rb_multi_ractor_p()) {
        RB_VM_LOCK();
        rb_vm_barrier(); /* ractor_buffered_p */
        RB_VM_UNLOCK();
    }
    return fptr;
}

/* What was written before comes before what the child writes.  Any Ractor, without the VM lock.  Raises as IO#flush. */
void
rb_ractor_flush_before_fork(void)
{
    if (!rb_ractor_main_p() && (ractor_buffered_p(rb_stdout) || ractor_buffered_p(rb_stderr))) {
        RB_VM_LOCK();
        rb_vm_barrier();
        ractor_write_buffered(rb_stdout);
        ractor_write_buffered(rb_stderr);
        RB_VM_UNLOCK();
    }
    rb_io_flush(rb_ractor_stdout());
    rb_io_flush(rb_ractor_stderr());
}

static void *
fork_await_readable(void *fd)
{
#ifdef HAVE_POLL
    struct pollfd poller = { .fd = *(int *)fd, .events = POLLIN };
    while (poll(&poller, 1, -1) < 0 && errno == EINTR);
#endif
    return NULL;
}

/* Until the child has executed its file, or says in +fd+ why not.  Any Ractor, without the VM lock.  Raises nothing: whom an
 * interrupt has reached already, to stand included, does not wait here, but where it reads, for as long as exec takes. */
void
rb_ractor_await_exec(int fd)
{
    if (rb_multi_ractor_p()) rb_nogvl(fork_await_readable, &fd, NULL, NULL, RB_NOGVL_INTR_FAIL);
}

/* Any Ractor, without the VM lock. */
void
rb_ractor_before_fork(void)
{
    RB_VM_LOCK();
    rb_vm_barrier();
}

/* The same, in the parent, or where fork has failed. */
void
rb_ractor_after_fork(void)
{
    RB_VM_UNLOCK();
}

static rb_nativethread_lock_t timer_stops_lock = RB_NATIVETHREAD_LOCK_INIT;
static unsigned int timer_stops; /* with the lock held */

/* Any Ractor. */
void
rb_exec_stop_timer_thread(void)
{
    rb_native_mutex_lock(&timer_stops_lock);
    if (timer_stops++ == 0) rb_thread_stop_timer_thread();
    rb_native_mutex_unlock(&timer_stops_lock);
}

/* The same Ractor. */
void
rb_exec_start_timer_thread(void)
{
    rb_native_mutex_lock(&timer_stops_lock);
    if (--timer_stops == 0) {
        rb_thread_reset_timer_thread();
        rb_thread_start_timer_thread();
    }
    rb_native_mutex_unlock(&timer_stops_lock);
}

/* Ractors that lived when a process forked that this one comes from, and are none of this one's; the child adds to them as the first
 * thing. */
static struct {
    uint32_t *ids;
    size_t count;
} fork_left;

struct fork_daemon {
    int (*daemon)(int nochdir, int noclose);
    int nochdir, noclose, result;
};

static VALUE
fork_daemon_call(VALUE arg)
{
    struct fork_daemon *call = (struct fork_daemon *)arg;
    call->result = call->daemon(call->nochdir, call->noclose);
    return Qnil;
}

static VALUE
fork_daemon_end(VALUE arg)
{
    ((rb_thread_t *)arg)->fork_parent_ends = false;
    return Qnil;
}

/* What +daemon+ returns, whose parent ends as soon as it has forked, and does not write what others have buffered.  Any Ractor.
 * Raises what +daemon+ does. */
int
rb_fork_daemon(int (*daemon)(int nochdir, int noclose), int nochdir, int noclose)
{
    struct fork_daemon call = { daemon, nochdir, noclose, -1 };
    rb_thread_t *th = GET_THREAD();

    th->fork_parent_ends = true;
    rb_ensure(fork_daemon_call, (VALUE)&call, fork_daemon_end, (VALUE)th);
    return call.result;
}

/* The current Ractor is about to write into the buffer of +fptr+.  Its own Ractor. */
void
rb_io_note_writer(rb_io_t *fptr)
{
    fptr->wbuf_ractor = rb_ractor_id(GET_RACTOR());
}

/* Whether what is buffered in +fptr+, and what ends the state of its encoding, is the parent's to write.  Any Ractor. */
bool
rb_io_left_to_parent_p(const rb_io_t *fptr)
{
    for (size_t i = 0; i < fork_left.count; i++) {
        if (fork_left.ids[i] == fptr->wbuf_ractor) return true;
    }
    return false;
}

#if defined(HAVE_WORKING_FORK)
/* What main had for its +io+, which the child can still reach, would be written once more. */
static void
ractor_forget_buffered_atfork(VALUE io)
{
    rb_io_t *fptr = RB_TYPE_P(io, T_FILE) ? RFILE(io)->fptr : NULL;
    if (fptr && rb_io_left_to_parent_p(fptr)) fptr->wbuf.len = 0;
}

/* Who waited is gone; but its Ractor::Selector is still there, and must not look for itself here when +r+ is freed. */
static void
ractor_drop_takers_atfork(struct rb_ractor_queue *takers)
{
    for (int i = 0; i < takers->cnt; i++) {
        struct rb_ractor_basket *b = &takers->baskets[(takers->start + i) % takers->size];
        if (b->type.e == basket_type_take_basket && b->p.take.config) b->p.take.config->closed = true;
    }
    takers->cnt = 0;
}

static void
ractor_end_atfork(rb_ractor_t *r)
{
    rb_native_mutex_initialize(&r->sync.lock);
    r->sync.incoming_port_closed = true;
    r->sync.outgoing_port_closed = true;
    ractor_drop_takers_atfork(&r->sync.takers_queue);
    if (r == GET_VM()->ractor.main_ractor) {
        ractor_forget_buffered_atfork(rb_stdout);
        ractor_forget_buffered_atfork(rb_stderr);
    }

    r->threads.cnt = 0; /* so that they are not marked */
    r->threads.main = NULL;
    r->status_ = ractor_terminated;

    rb_vm_insns_count_ractor_ended(r);
    jit_counts_ractor_ended(r);
    rb_fiber_pool_ractor_ended(r);
    if (r->newobj_cache) {
        rb_gc_ractor_cache_free(r->newobj_cache);
        r->newobj_cache = NULL;
    }
}

/* All but +cr+, and those that are giving away what they have, as they end; and nobody where there is no memory: then it is written
 * twice, as in upstream. */
static void
fork_leave(rb_vm_t *vm, const rb_ractor_t *cr)
{
    size_t count = fork_left.count;
    rb_ractor_t *r;
    ccan_list_for_each(&vm->ractor.set, r, vmlr_node) count++;

    uint32_t *ids = realloc(fork_left.ids, count * sizeof(*ids));
    if (!ids) return;

    fork_left.ids = ids;
    ccan_list_for_each(&vm->ractor.set, r, vmlr_node) {
        if (r != cr && !r->ending) ids[fork_left.count++] = rb_ractor_id(r);
    }
}

/* The child, as the first thing.  +th+ is its only thread. */
void
rb_ractor_atfork_first(rb_thread_t *th)
{
    rb_vm_t *vm = th->vm;
    rb_ractor_t *cr = th->ractor, *r;

    rb_native_mutex_initialize(&timer_stops_lock);
    timer_stops = 0;

    rb_vm_lock_init(vm);
    rb_native_cond_initialize(&vm->ractor.sync.terminate_cond);
    vm->ractor.sync.lock_owner = NULL;
    vm->ractor.sync.lock_rec = 0;
    vm->ractor.sync.terminate_waiting = false;
    vm->ractor.sched.grq_cnt = 0; /* upstream empties the queue, and goes on counting */

    if (!th->fork_parent_ends) fork_leave(vm, cr);
    th->fork_parent_ends = cr->ending = false; /* the parent's; cr is main here */
    RB_VM_LOCK(); /* for what is ended here, and asks for it */
    rb_class_list_forget(cr); /* what it makes now comes first in each list */
    ccan_list_for_each(&vm->ractor.set, r, vmlr_node) {
        rb_thread_t *i;
        ccan_list_for_each(&r->threads.set, i, lt_node) {
            rb_native_mutex_initialize(&i->interrupt_lock); /* its tasks are freed; it may be held, or destroyed */
        }
        if (r != cr) ractor_end_atfork(r);
    }
    RB_VM_UNLOCK();

    rb_native_mutex_initialize(&cr->sync.lock);
    cr->sync.takers_queue.cnt = 0; /* who waits for our yield is gone */
    rb_ractor_waits_atfork(cr);
    rb_ractor_move_atfork(cr);
    rb_ractor_local_storage_atfork(vm->ractor.main_ractor, cr);

    struct rb_native_thread *nt = th->nt;
    rb_native_cond_initialize(&nt->cond.readyq);
    if (&nt->cond.readyq != &nt->cond.intr) rb_native_cond_initialize(&nt->cond.intr);
    nt->ended_thread = NULL; /* gone with the others: lockfree/ractor/end.h */
}

/* What another thread of +cr+ was looking at in receive_if can be received again. */
static void
ractor_free_reserved_atfork(rb_ractor_t *cr)
{
    struct rb_ractor_queue *rq = &cr->sync.recv_queue;

    if (rq->reserved_cnt == 0 || RTEST(rb_mutex_locked_p(cr->receiving_mutex))) return; /* the only one left looks at it */
    for (int i = 0; i < rq->cnt; i++) {
        struct rb_ractor_basket *b = &rq->baskets[(rq->start + i) % rq->size];
        if (b->type.e == basket_type_reserved) b->type.e = basket_type_ref;
    }
    rq->reserved_cnt = 0;
}

/* The child, when what the threads of the other Ractors had is freed, and they are to be: nobody may walk them. */
void
rb_ractor_atfork_last(rb_thread_t *th)
{
    rb_ractor_t *r;

    ccan_list_for_each(&th->vm->ractor.set, r, vmlr_node) {
        if (r != th->ractor) rb_ractor_living_threads_init(r);
    }
    ractor_free_reserved_atfork(th->ractor);
}
#endif
