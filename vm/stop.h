#ifndef LOCKFREE_VM_STOP_H
#define LOCKFREE_VM_STOP_H
/**********************************************************************

  vm/stop.h - wait for the VM lock, stop all other Ractors; see vm/lock.h

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of thread_pthread.c.  "The guard" is vm->ractor.sched.lock.
 */

void rb_add_running_thread(rb_thread_t *th);
void rb_del_running_thread(rb_thread_t *th);

/* The lock is mostly held for less than a switch of threads takes: look so often before sleeping. */
#define VM_LOCK_SPINS 60

/* Others may pass by one that waits for the lock, or to go on after a stop, for so long: a slice. */
#define VM_LOCK_STARVING (10 * RB_HRTIME_PER_MSEC)

/* At the start, and in a child, where other threads held or waited for it. */
void
rb_vm_lock_init(rb_vm_t *vm)
{
    struct rb_vm_lock *lock = &vm->ractor.sync.vm_lock;

    MEMZERO(lock, struct rb_vm_lock, 1);
    vm->ractor.stopping = false;
    rb_native_cond_initialize(&lock->free);
    rb_native_cond_initialize(&lock->free_no_barrier);
    rb_native_cond_initialize(&lock->complete);
    rb_native_cond_initialize(&lock->release);
}

static inline void
vm_lock_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

/* Sleeps, with the guard, which is not held meanwhile. */
static void
vm_lock_sleep(rb_vm_t *vm, rb_ractor_t *cr, rb_nativethread_cond_t *cond)
{
    ractor_sched_set_unlocked(vm, cr);
    rb_native_cond_wait(cond, &vm->ractor.sched.lock);
    ractor_sched_set_locked(vm, cr);
}

/* Whether who waits since +*came+, which is 0 before it has slept, has been passed by for long.  Before each sleep. */
static bool
vm_lock_starving_p(rb_hrtime_t *came)
{
    if (*came) return rb_hrtime_now() - *came > VM_LOCK_STARVING;
    *came = rb_hrtime_now();
    return false;
}

/* The running thread of +cr+, if it is the caller: the one that a stop waits for. */
static rb_thread_t *
vm_lock_running_thread(rb_ractor_t *cr)
{
    rb_execution_context_t *ec = rb_current_execution_context(false);
    rb_thread_t *th = ec ? rb_ec_thread_ptr(ec) : NULL;

    return th && th == cr->threads.sched.running && cr->threads.sched.is_running ? th : NULL;
}

/* Tells the stopper if it has nobody left to wait for.  With the guard. */
static void
vm_stop_check_locked(rb_vm_t *vm)
{
    struct rb_vm_lock *lock = &vm->ractor.sync.vm_lock;

    if (lock->stopper && !lock->all_stand && !lock->lent && vm->ractor.sched.running_cnt - lock->standing_cnt <= 1) {
        rb_native_cond_signal(&lock->complete);
    }
}

/* +th+ stands, its machine context is saved; so it need not look whether it has to.  With the guard. */
static void
vm_stop_stand_locked(rb_vm_t *vm, rb_thread_t *th)
{
    th->sched.standing = true;
    vm->ractor.sync.vm_lock.standing_cnt++;
    rb_thread_take_barrier_interrupt(th);
    vm_stop_check_locked(vm);
}

static void
vm_stop_go_locked(rb_vm_t *vm, rb_thread_t *th)
{
    th->sched.standing = false;
    vm->ractor.sync.vm_lock.standing_cnt--;
}

/* Wakes one that wants the lock.  It passes that on: it takes the lock as one that somebody else wants. */
static void
vm_lock_wake_one(struct rb_vm_lock *lock, bool no_barrier, bool other)
{
    if (no_barrier) {
        rb_native_cond_signal(&lock->free_no_barrier);
    }
    else if (other) {
        rb_native_cond_signal(&lock->free);
    }
}

/* Takes the lock that somebody else has, when it can be had.  A safe point, but with +no_barrier+. */
void
rb_vm_lock_wait(rb_vm_t *vm, rb_ractor_t *cr, bool no_barrier)
{
    struct rb_vm_lock *lock = &vm->ractor.sync.vm_lock;

    for (int i = 0; i < VM_LOCK_SPINS; i++) {
        if (__atomic_load_n(&lock->word, __ATOMIC_RELAXED) == 0 && vm_lock_take(lock)) return;
        vm_lock_pause();
    }

    rb_thread_t *th = vm_lock_running_thread(cr), *stands = no_barrier ? NULL : th;
    unsigned int *waiting_cnt = stands ? &lock->waiting_cnt : &lock->waiting_no_barrier_cnt;

    if (stands) RB_VM_SAVE_MACHINE_CONTEXT(stands);
    RACTOR_WAITS(begin(th, RACTOR_WAITS_FOR_LOCK));
    ractor_sched_lock(vm, cr);
    RACTOR_WAITS(lock_queue(th, lock));
    if (stands) vm_stop_stand_locked(vm, stands);
    for (rb_hrtime_t came = 0;; ) {
        if (came && lock->handed) {
            lock->handed = false;
            break;
        }
        if (!lock->stopper) {
            if (__atomic_exchange_n(&lock->word, 2, __ATOMIC_ACQUIRE) == 0) break;
        }
        else if (!stands && !lock->all_stand && !lock->lent) {
            lock->lent = true;
            break;
        }
        if (vm_lock_starving_p(&came)) lock->starving = true;
        if (lock->handed) vm_lock_wake_one(lock, lock->waiting_no_barrier_cnt > 0, lock->waiting_cnt > 0); /* glibc bug 25847 */
        ++*waiting_cnt;
        vm_lock_sleep(vm, cr, stands ? &lock->free : &lock->free_no_barrier);
        --*waiting_cnt;
    }
    if (stands) vm_stop_go_locked(vm, stands);
    RACTOR_WAITS(lock_end(th, lock));
    ractor_sched_unlock(vm, cr);
}

/*
 * The lock was given: has it again, for those who wait, if they have been passed by for long.  To be followed by
 * vm_lock_wake_one.  With the guard.
 */
static void
vm_lock_hand_on_locked(struct rb_vm_lock *lock)
{
    unsigned int is_free = 0;

    if (lock->starving && lock->waiting_cnt + lock->waiting_no_barrier_cnt > 0 &&
        __atomic_compare_exchange_n(&lock->word, &is_free, 2, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        lock->handed = true;
        lock->starving = false;
    }
}

/*
 * The lock was given, and its word said that somebody sleeps.  Woken with the guard: it may be main, which waits for the
 * last Ractor to end, and then frees the VM.
 */
void
rb_vm_lock_wake(rb_vm_t *vm)
{
    struct rb_vm_lock *lock = &vm->ractor.sync.vm_lock;
    struct ractor_waits_place giver = {0};

    RACTOR_WAITS(here(&giver));
    ractor_sched_lock(vm, NULL);
    RACTOR_WAITS(give(lock, &giver));
    vm_lock_hand_on_locked(lock);
    vm_lock_wake_one(lock, lock->waiting_no_barrier_cnt > 0, lock->waiting_cnt > 0);
    ractor_sched_unlock(vm, NULL);
}

/* The lock was lent, and is the stopper's again. */
static void
vm_lock_give_back(rb_vm_t *vm)
{
    struct rb_vm_lock *lock = &vm->ractor.sync.vm_lock;

    ractor_sched_lock(vm, NULL);
    vm->ractor.sync.lock_rec = 0;
    vm->ractor.sync.lock_owner = NULL;
    lock->lent = false;
    if (lock->waiting_no_barrier_cnt > 0) rb_native_cond_signal(&lock->free_no_barrier);
    vm_stop_check_locked(vm);
    ractor_sched_unlock(vm, NULL);
}

/* Asks all running threads of other Ractors that do not stand yet to come.  With the guard. */
static void
vm_stop_ask_locked(rb_vm_t *vm, rb_ractor_t *cr)
{
    rb_thread_t *th;

    ccan_list_for_each(&vm->ractor.sched.running_threads, th, sched.node.running_threads) {
        if (th->ractor != cr && !th->sched.standing) rb_thread_set_interrupt(th, VM_BARRIER_INTERRUPT_MASK);
    }
    if (vm->ractor.sync.vm_lock.waiting_no_barrier_cnt > 0) {
        rb_native_cond_signal(&vm->ractor.sync.vm_lock.free_no_barrier);
    }
}

/* Stops all other Ractors, until +cr+ gives the lock.  The lock may have been others' meanwhile, if they did not stand yet. */
void
rb_vm_stop_others(rb_vm_t *vm, rb_ractor_t *cr)
{
    struct rb_vm_lock *lock = &vm->ractor.sync.vm_lock;
    unsigned int rec = vm->ractor.sync.lock_rec;

    if (lock->stopper) {
        if (lock->stopper == cr && lock->all_stand) return;
        vm_lock_give_back(vm); /* another one stops all, and has to come first */
        rb_vm_lock_wait(vm, cr, false);
    }

    rb_thread_t *th = vm_lock_running_thread(cr);
    unsigned int own = th ? 1 : 0;

    RACTOR_WAITS(begin(th, RACTOR_STOPS_OTHERS));
    ractor_sched_lock(vm, cr);
    while (lock->passed_by_cnt > 0) vm_lock_sleep(vm, cr, &lock->complete);
    RACTOR_WAITS(stop_begin(th, lock));
    lock->stopper = cr;
    __atomic_store_n(&vm->ractor.stopping, true, __ATOMIC_SEQ_CST); /* pairs with thread_sched_block */
    vm->ractor.sync.lock_rec = 0;
    vm->ractor.sync.lock_owner = NULL;
    running_threads_take_out_all_locked(vm);
    vm_stop_ask_locked(vm, cr);
    while (lock->lent || vm->ractor.sched.running_cnt - lock->standing_cnt > own) vm_lock_sleep(vm, cr, &lock->complete);
    lock->all_stand = true;
    RACTOR_WAITS(end(th));
    vm->ractor.sync.lock_rec = rec;
    vm->ractor.sync.lock_owner = cr;
    ractor_sched_unlock(vm, cr);
}

/* Gives the lock: the stopper, or who was lent it. */
void
rb_vm_stop_end(rb_vm_t *vm)
{
    struct rb_vm_lock *lock = &vm->ractor.sync.vm_lock;

    if (lock->lent) {
        vm_lock_give_back(vm);
        return;
    }

    ractor_sched_lock(vm, NULL);
    bool no_barrier = lock->waiting_no_barrier_cnt > 0, other = lock->waiting_cnt > 0;
    RACTOR_WAITS(stop_end(lock));
    lock->stopper = NULL;
    __atomic_store_n(&vm->ractor.stopping, false, __ATOMIC_RELAXED);
    lock->all_stand = false;
    vm->ractor.sync.lock_owner = NULL;
    vm_lock_give(lock);
    vm_lock_hand_on_locked(lock);
    ractor_sched_unlock(vm, NULL);

    rb_native_cond_broadcast(&lock->release);
    vm_lock_wake_one(lock, no_barrier, other);
}

/* One that waits for the end of a stop, and of the next, if that comes first. */
struct vm_stop_waiter {
    rb_hrtime_t came;
    bool passed_by; /* counted in passed_by_cnt */
};

/* Sleeps until it is woken at the end of a stop.  With the guard, which is not held meanwhile. */
static void
vm_stop_sleep_locked(rb_vm_t *vm, rb_ractor_t *cr, struct vm_stop_waiter *waiter)
{
    struct rb_vm_lock *lock = &vm->ractor.sync.vm_lock;

    if (!waiter->passed_by && vm_lock_starving_p(&waiter->came)) {
        waiter->passed_by = true;
        lock->passed_by_cnt++;
    }
    vm_lock_sleep(vm, cr, &lock->release);
}

/* It goes on: so may the next stop.  With the guard. */
static void
vm_stop_woken_locked(struct rb_vm_lock *lock, const struct vm_stop_waiter *waiter)
{
    if (waiter->passed_by && --lock->passed_by_cnt == 0) rb_native_cond_signal(&lock->complete);
}

/* Stands if somebody asks for it, until he is done. */
void
rb_vm_stop_join(rb_thread_t *th)
{
    rb_vm_t *vm = th->vm;
    rb_ractor_t *cr = th->ractor;
    struct rb_vm_lock *lock = &vm->ractor.sync.vm_lock;

    if (!rb_multi_ractor_p()) return;

    RB_VM_SAVE_MACHINE_CONTEXT(th);
    ractor_sched_lock(vm, cr);
    if (lock->stopper && lock->stopper != cr) {
        vm_stop_stand_locked(vm, th);
        RACTOR_WAITS(begin(th, RACTOR_STANDS));
        struct vm_stop_waiter waiter = {0};
        while (lock->stopper) vm_stop_sleep_locked(vm, cr, &waiter);
        vm_stop_woken_locked(lock, &waiter);
        RACTOR_WAITS(stand_end(th, lock));
        vm_stop_go_locked(vm, th);
    }
    ractor_sched_unlock(vm, cr);
}

/*
 * +th+, which is about to be a running thread, waits while all stand.  With the locks of its scheduler and the guard,
 * which are not held meanwhile: whoever wakes a thread of this scheduler has to come as well.  Its machine context was
 * saved when it stopped running, and may be being read.
 */
static void
vm_stop_await_end_locked(struct rb_thread_sched *sched, rb_ractor_t *cr, rb_vm_t *vm, rb_thread_t *th)
{
    struct rb_vm_lock *lock = &vm->ractor.sync.vm_lock;

    if (!lock->stopper || lock->stopper == cr) return;

    struct vm_stop_waiter waiter = {0};

    RACTOR_WAITS(ready_stands(th));
    while (lock->stopper && lock->stopper != cr) {
        thread_sched_unlock(sched, th);
        vm_stop_sleep_locked(vm, cr, &waiter);
        ractor_sched_unlock(vm, cr);
        thread_sched_lock(sched, th);
        ractor_sched_lock(vm, cr);
    }
    vm_stop_woken_locked(lock, &waiter);
    RACTOR_WAITS(stand_end(th, lock));
}

/* Main, with the lock, one deep, and terminate_waiting set: waits a second at most for the last of the others to end. */
void
rb_vm_await_termination(rb_vm_t *vm, rb_ractor_t *cr)
{
    rb_thread_t *th = GET_THREAD(); /* cr->threads.running_ec may have been unset by a thread that was on its way out */
    rb_nativethread_cond_t *cond = &vm->ractor.sync.terminate_cond;

    RB_VM_SAVE_MACHINE_CONTEXT(th);
    RACTOR_WAITS(begin(th, RACTOR_BLOCKS));
    rb_del_running_thread(th);
    RB_VM_UNLOCK();

    ractor_sched_lock(vm, cr);
    if (vm->ractor.sync.terminate_waiting) { /* not told yet */
        ractor_sched_set_unlocked(vm, cr);
        rb_native_cond_timedwait(cond, &vm->ractor.sched.lock, 1000 /* ms */);
        ractor_sched_set_locked(vm, cr);
    }
    ractor_sched_unlock(vm, cr);
    rb_add_running_thread(th);
    RACTOR_WAITS(end(th));
    RB_VM_LOCK();
}

/* A Ractor, with the lock, of which it was the last but one. */
void
rb_vm_signal_termination(rb_vm_t *vm)
{
    ractor_sched_lock(vm, NULL);
    vm->ractor.sync.terminate_waiting = false;
    ractor_sched_unlock(vm, NULL);
    rb_native_cond_signal(&vm->ractor.sync.terminate_cond);
}

#endif /* LOCKFREE_VM_STOP_H */
