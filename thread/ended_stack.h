#ifndef LOCKFREE_THREAD_ENDED_STACK_H
#define LOCKFREE_THREAD_ENDED_STACK_H
/**********************************************************************

  thread/ended_stack.h - the stack of a thread that has ended is the next one's

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of thread_pthread.c.
 *
 * Problem.  A thread of a Ractor runs on a stack from a chunk of the process, 2 MB of which
 * it writes some 12 kB.  Upstream gives it back when the Thread is swept: where threads are
 * made and joined, thousands of stacks are in memory that nobody needs any more, and each
 * thread begins in pages that the processor has in no cache, or that the system has yet to
 * find.  Who sweeps one tells the system that it is free, which interrupts the processors of
 * all Ractors, with the lock held that all who want a stack need.
 *
 * Solution.  Who leaves an ended thread's stack (ractor/end.h) puts it into a list, as it
 * is, from which the next thread takes it.  They may be ENDED_STACK_BYTES in all, 16 by default;
 * what is more stays with the Thread, as upstream, and so does one in ENDED_STACK_TURNS: a stack
 * that has been deep has much memory.  When a collection begins, up to ENDED_STACKS_COOLED go
 * back of those that have lain there since the last one began: all stand meanwhile.
 *
 *                               who                           needs
 *   ended_stack_give            a native thread, which may    nothing
 *                               carry no Ractor
 *   ended_stack_take            a thread with the GVL         nt_machine_stack_lock, taken here; no
 *                                                             safe point
 *   rb_thread_stacks_collection_begins   the GC               all others stand
 *
 * Who gives one is not waited for by a stop, nor by fork: so that takes no lock, and is one
 * swap of the head of the list.  Who takes the first has the lock: it is still the one that
 * the next hung on, as nobody else has taken it, and given it again.  In the child of a fork
 * a stack is in the list, or with the Thread, or, where who gives it was between the two, lost.
 *
 * Orders.  first: compare-and-swap, release (ended_stack_give); the same, acquire
 * (ended_stack_take_locked): what the thread wrote comes before what the next one does.
 * count: relaxed, after the list: it may be behind, and in the child of a fork stay so by one
 * for each that was being given; several who give at a time may come to a few more.
 *
 * test/model/ended_stack.cc is this.
 */

enum { ENDED_STACK_BYTES = 33 * 1024 * 1024, ENDED_STACK_TURNS = 64, ENDED_STACKS_COOLED = 8 };

static struct {
    struct nt_machine_stack_footer *first; /* atomic */
    int count; /* atomic */
    unsigned int turn; /* atomic */
    int least; /* of count, since the last collection began; with nt_machine_stack_lock */
} ended_stacks;

/* The stack of +th+ is nobody's any more; it may be kept for another thread.  Who has left it. */
static void
ended_stack_give(rb_thread_t *th)
{
    if (th->sched.malloc_stack || !th->sched.context_stack) return;
    if (__atomic_load_n(&ended_stacks.count, __ATOMIC_RELAXED) >= (int)(ENDED_STACK_BYTES / nt_thread_stack_size())) return;
    if (__atomic_add_fetch(&ended_stacks.turn, 1, __ATOMIC_RELAXED) % ENDED_STACK_TURNS == 0) return;

    struct nt_machine_stack_footer *footer = nt_stack_chunk_get_msf(th->vm, th->sched.context_stack);

    th->sched.context_stack = NULL;
    footer->next = __atomic_load_n(&ended_stacks.first, __ATOMIC_RELAXED);
    /* Synchronises with ended_stack_take_locked. */
    while (!__atomic_compare_exchange_n(&ended_stacks.first, &footer->next, footer, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    __atomic_fetch_add(&ended_stacks.count, 1, __ATOMIC_RELAXED);
}

/* The one that was given last, or NULL.  With the lock. */
static struct nt_machine_stack_footer *
ended_stack_take_locked(void)
{
    struct nt_machine_stack_footer *footer = __atomic_load_n(&ended_stacks.first, __ATOMIC_ACQUIRE); /* ended_stack_give */

    do {
        if (!footer) {
            ended_stacks.least = 0;
            return NULL;
        }
    } while (!__atomic_compare_exchange_n(&ended_stacks.first, &footer, footer->next, true, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));

    int left = __atomic_sub_fetch(&ended_stacks.count, 1, __ATOMIC_RELAXED);
    if (ended_stacks.least > left) ended_stacks.least = left;
    return footer;
}

static inline void *
ended_stack_machine_stack(const rb_vm_t *vm, const struct nt_machine_stack_footer *footer)
{
    return (char *)(footer + 1) - vm->default_params.thread_machine_stack_size;
}

/* Whether there is one: as nt_alloc_stack, which is to be called where there is none. */
static bool
ended_stack_take(const rb_vm_t *vm, void **vm_stack, void **machine_stack)
{
    rb_native_mutex_lock(&nt_machine_stack_lock);
    struct nt_machine_stack_footer *footer = ended_stack_take_locked();
    rb_native_mutex_unlock(&nt_machine_stack_lock);
    if (!footer) return false;

    *machine_stack = ended_stack_machine_stack(vm, footer);
    *vm_stack = nt_stack_chunk_get_stack_start(footer->ch, footer->index);
    return true;
}

/* The +n+ that were given first, or all, taken out of the list.  The GC, when all others stand; others may be given meanwhile. */
static struct nt_machine_stack_footer *
ended_stack_take_oldest(int n)
{
    struct nt_machine_stack_footer *first = __atomic_load_n(&ended_stacks.first, __ATOMIC_ACQUIRE), *footer; /* ended_stack_give */
    int newer = -n;

    for (footer = first; footer; footer = footer->next) newer++;
    if (newer <= 0) return __atomic_exchange_n(&ended_stacks.first, NULL, __ATOMIC_ACQUIRE); /* the same */

    while (--newer > 0) first = first->next;
    footer = first->next;
    first->next = NULL;
    return footer;
}

/* A collection begins: of those that nobody has wanted since the last one some go back.  The GC, when all others stand. */
void
rb_thread_stacks_collection_begins(void)
{
    int n = ended_stacks.least < ENDED_STACKS_COOLED ? ended_stacks.least : ENDED_STACKS_COOLED;
    struct nt_machine_stack_footer *next = n > 0 ? ended_stack_take_oldest(n) : NULL;

    for (struct nt_machine_stack_footer *footer; (footer = next) != NULL; ) {
        next = footer->next;
        __atomic_fetch_sub(&ended_stacks.count, 1, __ATOMIC_RELAXED);
        nt_free_stack(ended_stack_machine_stack(GET_VM(), footer));
    }
    ended_stacks.least = __atomic_load_n(&ended_stacks.count, __ATOMIC_RELAXED);
}

#endif /* LOCKFREE_THREAD_ENDED_STACK_H */
