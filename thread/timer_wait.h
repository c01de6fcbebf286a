#ifndef LOCKFREE_THREAD_TIMER_WAIT_H
#define LOCKFREE_THREAD_TIMER_WAIT_H
/**********************************************************************

  thread/timer_wait.h - how long the timer thread waits

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of thread_pthread.c.
 *
 * Problem.  While threads share a Ractor, and compute, the timer thread wakes
 * every 10 ms and asks them to let one another run.  Upstream's looks no further
 * then: a `sleep 0.001` beside them takes up to 10 ms.  To make up for that, it
 * takes a wait of which less than a millisecond is left as over: of the sleeps of
 * less than a millisecond most are none.  It is told to wait whole milliseconds,
 * in an int, which 24.8 days do not fit.  And as it counts slices by its own waits
 * that ended in time, files that become ready more often than every 10 ms keep
 * threads that compute from ever being asked.
 *
 * Solution.  It waits to the end of the slice, or to the time of the first in
 * timer_th.waiting, whichever comes first, in nanoseconds on Linux.  Who joins
 * timer_th.waiting, and is due before the timer thread would wake, wakes it.  A
 * slice is over by the clock.
 */

#if (HAVE_SYS_EPOLL_H || HAVE_SYS_EVENT_H) && USE_MN_THREADS

#define TIMER_SLICE (10 * RB_HRTIME_PER_MSEC)
#define TIMER_AWAKE RB_HRTIME_MIN /* it will look at timer_th.waiting before it waits */

static struct {
    rb_hrtime_t until; /* when the timer thread will wake.  With timer_th.waiting_lock */

    /* Timer thread only. */
    rb_hrtime_t duration;
    rb_hrtime_t slice_end;
    bool slicing;
    bool milliseconds; /* the kernel does not take nanoseconds */
} timer_wait;

/* While there is no timer thread, and nobody waits. */
static void
timer_wait_init(void)
{
    timer_wait.until = TIMER_AWAKE;
    timer_wait.slicing = false;
}

/* The first of timer_th.waiting ends its wait then.  With its lock. */
static rb_hrtime_t
timer_wait_first(void)
{
    const struct rb_thread_sched_waiting *w = ccan_list_top(&timer_th.waiting, struct rb_thread_sched_waiting, node);

    return w && (w->flags & thread_sched_waiting_timeout) ? w->data.timeout : RB_HRTIME_MAX;
}

/* How long the timer thread is to wait, in milliseconds, or -1: until it is woken. */
static int
timer_wait_begin(rb_vm_t *vm)
{
    timer_thread_set_timeout(vm); /* how long upstream would wait; but it says whether there are slices */
    const bool slices = !vm->ractor.sched.timeslice_wait_inf;
    rb_hrtime_t now, until, milliseconds;

    rb_native_mutex_lock(&timer_th.waiting_lock);
    {
        now = rb_hrtime_now();
        if (slices && !timer_wait.slicing) timer_wait.slice_end = rb_hrtime_add(now, TIMER_SLICE);
        timer_wait.slicing = slices;
        until = timer_wait_first();
        if (slices && timer_wait.slice_end < until) until = timer_wait.slice_end;
        timer_wait.until = until;
    }
    rb_native_mutex_unlock(&timer_th.waiting_lock);

    if (until == RB_HRTIME_MAX) return -1;
    timer_wait.duration = rb_hrtime_sub(until, now);
    milliseconds = timer_wait.duration / RB_HRTIME_PER_MSEC + (timer_wait.duration % RB_HRTIME_PER_MSEC > 0);
    return milliseconds < INT_MAX ? (int)milliseconds : INT_MAX;
}

/* The timer thread looks whose wait is over.  With timer_th.waiting_lock. */
static void
timer_wait_end(void)
{
    timer_wait.until = TIMER_AWAKE;
}

/* Whether the slice that timer_wait_begin saw is over, and so the next one begins; +expired+: nobody woke the timer thread. */
static bool
timer_wait_slice_over_p(bool expired)
{
    rb_hrtime_t now;

    if (!timer_wait.slicing) return expired;
    if ((now = rb_hrtime_now()) < timer_wait.slice_end) return false;
    timer_wait.slice_end = rb_hrtime_add(now, TIMER_SLICE);
    return true;
}

/* Somebody who waits until +timeout+ has joined timer_th.waiting.  With its lock. */
static void
timer_wait_shorten(rb_hrtime_t timeout)
{
    if (timeout >= timer_wait.until) return;
    timer_wait.until = timeout;
    if (TIMER_THREAD_CREATED_P()) timer_thread_wakeup_force();
}

#if HAVE_SYS_EPOLL_H

/* epoll_wait, as long as timer_wait_begin has said: +timeout+, or more precisely. */
static int
timer_wait_epoll(int fd, struct epoll_event *events, int max, int timeout)
{
#if defined(SYS_epoll_pwait2) && SIZEOF_LONG >= 8 && SIZEOF_TIME_T >= 8 && !defined(__ANDROID__)
    if (timeout >= 0 && !timer_wait.milliseconds) {
        struct timespec duration;
        int count = (int)syscall(SYS_epoll_pwait2, fd, events, max, rb_hrtime2timespec(&duration, &timer_wait.duration), NULL, 0);

        if (0 <= count && count <= max) return count;
        if (count == -1 && errno == EINTR) return count;
        timer_wait.milliseconds = true; /* before Linux 5.11, or forbidden, in whichever way */
    }
#endif
    return epoll_wait(fd, events, max, timeout);
}

#endif

#else

static void
timer_wait_end(void)
{
    /* nobody waits in this way */
}

#endif

#endif /* LOCKFREE_THREAD_TIMER_WAIT_H */
