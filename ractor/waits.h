#ifndef LOCKFREE_RACTOR_WAITS_H
#define LOCKFREE_RACTOR_WAITS_H
/**********************************************************************

  ractor/waits.h - what each Ractor waits for, how long, and because of which line

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  Ractors that do not scale wait: for the VM lock, for the end of
 * another's stop, for a native thread.  No Ruby says for which, and which line of
 * the program made them wait.
 *
 * Solution.  A Ractor is in one state at any time, and notes when it came into it,
 * and at which line.  A transition adds what has passed to the sum of the state
 * that is left: so the sums of all states are the time that the Ractor has lived,
 * without a second clock.  Transitions are where a thread waits, stops others or
 * lets go of its Ractor, none of which is a fast path; each asks one flag first.
 *
 * Whose state.  A Ractor has one running thread, or none.  With one, the state is
 * what that thread does; with none, what the thread waits for that ran last.
 *
 * Who is to blame.  Who has held the lock or stopped the others knows its own line
 * and what it was doing, and says so as it gives the lock to those who wait
 * (ractor_waits_blame, in the lock); these read it as they go on.  No other
 * Ractor's frames are looked at, nor those of a thread that stands: somebody may
 * be compacting.
 *
 * Representation.  ractor->waits, allocated when counting begins, or the Ractor;
 * NULL where there is no memory, or nobody has asked.  Times by line lie in a
 * table of each Ractor's, open addressing, which doubles up to a limit, and then
 * has the shorter half taken out, which is counted as dropped.  Paths are copied,
 * once for all, so that the table refers to nothing that the GC frees or moves.
 *
 * What a wait for the lock has cost is added to the table not before the next
 * transition: at its end the waiter has the lock, and others wait.  What a call has
 * waited for that blocks for a moment is added up where its line is known, in one
 * cache line, and is in the table when somebody asks, or another line comes there.
 *
 *                              who                               with
 *   begin, end, here, collect, the running thread, for itself    -
 *   compile, done
 *   lock_queue, lock_end,      the same                          the guard (vm/lock.h)
 *   stop_begin, stand_end
 *   give, stop_end             who gives the VM lock             the guard
 *   leave, resume,             a thread that stops or starts     the lock of its scheduler
 *   ready_stands               to be the running one
 *   ready                      whoever makes it ready            the same
 *   started, ended             the creator; the last thread      the VM lock
 *   sweep_start                who is about to sweep             the VM lock; all others stand
 *   snapshot, reset, enable,   any Ractor                        nothing; takes the VM lock, stops all others, and
 *   disable                                                      takes the lock of each scheduler in turn
 *
 * So there is one writer at a time: the running thread; where there is none, who
 * has the lock of the scheduler; and nobody, while all stand and their
 * schedulers' lock is held.  What one has written the next one sees: it gets that
 * lock, or the guard, afterwards.
 *
 * The flag is stored while all others stand, before the lock of a scheduler is
 * taken to give its Ractor what it counts in; relaxed loads see it in time.
 *
 * Where threads are not pthreads there is nothing of this.
 */

#include "ruby/internal/config.h"
#include "ruby/internal/stdbool.h"
#include "ruby/internal/value.h"
#include <stdint.h>

struct rb_ractor_struct;
struct rb_thread_struct;
struct rb_vm_lock;

/* Their names are keys that users see: ractor_waits_state_names. */
enum ractor_waits_state {
    RACTOR_RUNS,            /* runs, but none of the next */
    RACTOR_COLLECTS,        /* marks or sweeps for all */
    RACTOR_COMPILES,        /* makes machine code, or takes it away */
    RACTOR_STOPS_OTHERS,    /* has asked them to stand, and waits for the last one */
    RACTOR_WAITS_FOR_LOCK,  /* the VM lock */
    RACTOR_STANDS,          /* while another one has stopped all */
    RACTOR_WAITS_TO_RUN,    /* for a native thread, or for that to be woken */
    RACTOR_RECEIVES,        /* waits for a message; the next two, too */
    RACTOR_TAKES,           /* or selects */
    RACTOR_YIELDS,
    RACTOR_BLOCKS,          /* input or output, sleep, a Mutex, a Queue, another thread */
    RACTOR_WAITS_STATES
};

/* What somebody did who made others wait; ractor_waits_cause_names. */
enum ractor_waits_cause {
    RACTOR_WAITS_OTHER,     /* what the method's name says */
    RACTOR_WAITS_COLLECT,
    RACTOR_WAITS_SWEEP,
    RACTOR_WAITS_COMPILE,
    RACTOR_WAITS_INVALIDATE,
    RACTOR_WAITS_METHOD,    /* defines, removes or hides one */
    RACTOR_WAITS_CLASS,     /* makes one, or includes a module */
    RACTOR_WAITS_CONSTANT,
    RACTOR_WAITS_SYMBOL,
    RACTOR_WAITS_FORK,
    RACTOR_WAITS_CAUSES
};

/* A line of the program, and the C method that it has called, if any. */
struct ractor_waits_place {
    const char *path;       /* of rb_ractor_waits_path, or NULL: not known */
    ID mid;
    int line;
    int what;               /* enum ractor_waits_cause of who makes others wait; ..._state of who waits */
};

/* In struct rb_vm_lock, with the guard. */
struct ractor_waits_blame {
    struct ractor_waits_place giver; /* who gave the lock last, to somebody who slept */
    unsigned int gives;
    struct ractor_waits_place stopper; /* of the last stop, or the present one */
    uint64_t stop_begun, stopped_ns;   /* of that one; of all that have ended */
};

struct ractor_waits_sum {
    uint64_t count, ns;
};

/* A Ractor, or all those that have ended and have no row of their own. */
struct ractor_waits_row {
    uint64_t id;
    uint64_t ns;            /* by a clock of its own: the states' sum is to be this */
    bool alive;
    char name[47];
    struct ractor_waits_sum states[RACTOR_WAITS_STATES];
};

struct ractor_waits_record {
    struct ractor_waits_place at, by; /* by.path == NULL: by nobody, or not known */
    struct ractor_waits_sum sum;
};

/* What has been counted, at one moment; malloc's. */
struct ractor_waits_snapshot {
    bool on;
    uint64_t ns;
    size_t rows_cnt, records_cnt, records_capa;
    struct ractor_waits_row *rows;
    struct ractor_waits_row others;   /* have ended, and their rows were too many */
    uint64_t others_cnt;
    struct ractor_waits_record *records; /* the same may be there from several Ractors */
    struct ractor_waits_sum dropped;  /* had no room in a table */
};

#ifdef RUBY_THREAD_PTHREAD_H

extern bool rb_ractor_waits_on;

#define RACTOR_WAITS_ON() __builtin_expect(__atomic_load_n(&rb_ractor_waits_on, __ATOMIC_RELAXED), 0)

/* The hook of a slow path: RACTOR_WAITS(leave(th, next_th)). */
#define RACTOR_WAITS(call) do { if (RACTOR_WAITS_ON()) rb_ractor_waits_##call; } while (0)

/* Where a byte comes by that goes through a pipe: the call lies beside what is done anyway, and not on a page of its own. */
#define RACTOR_WAITS_OFTEN(call) do { if (__atomic_load_n(&rb_ractor_waits_on, __ATOMIC_RELAXED)) rb_ractor_waits_##call; } while (0)

bool rb_ractor_trace_fd_p(int fd); /* ractor/waits_trace.c */

void rb_ractor_waits_begin(struct rb_thread_struct *th, enum ractor_waits_state state);
void rb_ractor_waits_end(struct rb_thread_struct *th);
void rb_ractor_waits_lock_queue(struct rb_thread_struct *th, const struct rb_vm_lock *lock);
void rb_ractor_waits_lock_end(struct rb_thread_struct *th, const struct rb_vm_lock *lock);
void rb_ractor_waits_stand_end(struct rb_thread_struct *th, const struct rb_vm_lock *lock);
void rb_ractor_waits_stop_begin(struct rb_thread_struct *th, struct rb_vm_lock *lock);
void rb_ractor_waits_here(struct ractor_waits_place *place);
void rb_ractor_waits_ready_stands(struct rb_thread_struct *th);
void rb_ractor_waits_give(struct rb_vm_lock *lock, const struct ractor_waits_place *giver);
void rb_ractor_waits_stop_end(struct rb_vm_lock *lock);

void rb_ractor_waits_leave(struct rb_thread_struct *th, const struct rb_thread_struct *next);
void rb_ractor_waits_ready(struct rb_thread_struct *th);
void rb_ractor_waits_resume(struct rb_thread_struct *th);

void rb_ractor_waits_collect(bool marks);
void rb_ractor_waits_compile(const char *file);
void rb_ractor_waits_done(void);

void rb_ractor_waits_sweep_start(void);
void rb_ractor_waits_started(struct rb_ractor_struct *r);
void rb_ractor_waits_ended(struct rb_ractor_struct *r);
void rb_ractor_waits_free(struct rb_ractor_struct *r);
void rb_ractor_waits_atfork(struct rb_ractor_struct *cr);

bool rb_ractor_waits_ever(void);
bool rb_ractor_waits_enable(void);
void rb_ractor_waits_disable(void);
void rb_ractor_waits_trace_end(void);
void rb_ractor_waits_reset(void);
bool rb_ractor_waits_snapshot(struct ractor_waits_snapshot *snapshot, const struct rb_ractor_struct *only);

#else
#  define RACTOR_WAITS(call) ((void)0)
#  define RACTOR_WAITS_OFTEN(call) ((void)0)
#  define rb_ractor_waits_started(r) ((void)(r))
#  define rb_ractor_waits_ended(r) ((void)(r))
#  define rb_ractor_waits_free(r) ((void)(r))
#  define rb_ractor_waits_atfork(r) ((void)(r))
#endif

/* ractor/waits_report.c */
void Init_ractor_waits(void);
void rb_ractor_waits_option(const char *file);
void rb_ractor_waits_trace_option(const char *file);
void rb_ractor_waits_at_exit(void);

#endif /* LOCKFREE_RACTOR_WAITS_H */
