#ifndef LOCKFREE_THREAD_TIMER_EVENT_H
#define LOCKFREE_THREAD_TIMER_EVENT_H
/**********************************************************************

  thread/timer_event.h - an event of a file names the wait that it is for

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of thread_pthread.c.
 *
 * Problem.  A thread of a Ractor that waits for a file registers it with the
 * kernel, and goes off.  Upstream gives the kernel the thread's address, and the
 * timer thread, which takes up to 16 events at once, looks there whether the
 * thread still waits.  By then it may have been killed and freed, or wait for
 * something else.  And a registration outlives its wait where the kernel does not
 * find it any more: the number of the file was given to another one by IO#reopen,
 * which ended the process, or was closed, but a copy of the file (dup, or in a
 * child process) is still open.
 *
 * Solution.  Each wait has a serial number, which no other wait will have, and
 * the kernel is given that.  The timer thread looks who waits with this number,
 * under `waiting_lock`, and touches nobody if none does.
 *
 * A registration is good for one event, so that one that nobody can take back is
 * reported once, and does not keep the timer thread busy for ever.
 *
 * The numbers are looked up in a table of lists whose nodes lie in the threads:
 * nothing is allocated, as who registers, cancels or wakes may not run the GC.
 * With 10,000 threads that wait, ten are looked at for an event.
 */

#define TIMER_EVENT_OF_NOBODY ((uintptr_t)0) /* of the pipe by which the timer thread itself is woken */

#if (HAVE_SYS_EPOLL_H || HAVE_SYS_EVENT_H) && USE_MN_THREADS

#define TIMER_EVENT_LISTS 1024

/* All of it with timer_th.waiting_lock, but for timer_event_init. */
static struct {
    uintptr_t last_serial;
    bool made; /* the lists are, with the first wait: most programs write none of this memory */
    struct ccan_list_head lists[TIMER_EVENT_LISTS]; /* by serial: those in timer_th.waiting */
} timer_events;

/* While there is no timer thread, and nobody waits. */
static void
timer_event_init(void)
{
    timer_events.made = false;
}

static struct ccan_list_head *
timer_event_list(uintptr_t serial)
{
    return &timer_events.lists[serial % TIMER_EVENT_LISTS];
}

static uintptr_t
timer_event_next_serial(void)
{
    uintptr_t serial = ++timer_events.last_serial;
    return serial == TIMER_EVENT_OF_NOBODY ? ++timer_events.last_serial : serial;
}

/* +w+ joins timer_th.waiting. */
static void
timer_event_expect(struct rb_thread_sched_waiting *w, uintptr_t serial)
{
    if (!timer_events.made) {
        for (int i = 0; i < TIMER_EVENT_LISTS; i++) ccan_list_head_init(&timer_events.lists[i]);
        timer_events.made = true;
    }
    w->serial = serial;
    ccan_list_add(timer_event_list(serial), &w->by_serial);
}

/* +w+ has left timer_th.waiting. */
static void
timer_event_forget(struct rb_thread_sched_waiting *w)
{
    ccan_list_del(&w->by_serial);
}

/* Who waits, or NULL if that wait is over. */
static rb_thread_t *
timer_event_thread(uintptr_t serial)
{
    struct rb_thread_sched_waiting *w;

    if (!timer_events.made) return NULL;
    ccan_list_for_each(timer_event_list(serial), w, by_serial) {
        if (w->serial == serial) return ccan_container_of(w, rb_thread_t, sched.waiting_reason);
    }
    return NULL;
}

/* Whether somebody waits for +fd+.  If not, and the kernel has it registered, that is one that nobody could take back. */
#if HAVE_SYS_EPOLL_H
static bool
timer_event_waited_for_p(struct ccan_list_head *waiting, int fd)
{
    struct rb_thread_sched_waiting *w;

    ccan_list_for_each(waiting, w, node) {
        if (w->flags && w->data.fd == fd) return true;
    }
    return false;
}
#endif

#else

static void
timer_event_forget(struct rb_thread_sched_waiting *w)
{
    /* nobody waits in this way */
}

#endif

#endif /* LOCKFREE_THREAD_TIMER_EVENT_H */
