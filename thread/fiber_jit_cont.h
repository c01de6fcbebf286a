#ifndef LOCKFREE_THREAD_FIBER_JIT_CONT_H
#define LOCKFREE_THREAD_FIBER_JIT_CONT_H
/**********************************************************************

  thread/fiber_jit_cont.h - all Fibers, for who changes compiled code

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of cont.c.
 *
 * Problem.  YJIT wants to see the frames of all Fibers when it throws code away.
 * Upstream keeps them in one list with one lock, which each Fiber enters and
 * leaves: with several Ractors that is the lock's line, the head's, and those of
 * two neighbours, which other Ractors have just written.  What is in the list has
 * a malloc of its own.
 *
 * Solution.  64 lists, each with a lock and on lines of its own.  A Fiber is in
 * that of its Ractor, a thread's first in that of who made it, and what is in the
 * list is part of the Fiber.
 *
 *   lists[].fibers, rb_jit_cont.node   changed with lists[].lock, walked with all
 *                                      Ractors stopped
 *   rb_jit_cont.list                   who makes the Fiber, before others see it
 *
 * Each lock is a leaf, as fiber_pool_lock (thread/fiber_pool.h) is.
 */

#define JIT_CONT_LISTS 64

static struct jit_cont_list {
    rb_nativethread_lock_t lock;
    struct ccan_list_head fibers; /* of struct rb_jit_cont */
    char others_line[128 - (sizeof(rb_nativethread_lock_t) + sizeof(struct ccan_list_head)) % 128]; /* of 64 bytes, wherever the array begins */
} jit_cont_lists[JIT_CONT_LISTS];

/* At the start. */
void
rb_jit_cont_init(void)
{
    for (int i = 0; i < JIT_CONT_LISTS; i++) {
        rb_native_mutex_initialize(&jit_cont_lists[i].lock);
        ccan_list_head_init(&jit_cont_lists[i].fibers);
    }
}

/* At the end. */
void
rb_jit_cont_finish(void)
{
    /* What is in the lists is freed with the Fibers. */
}

/* Of a new Fiber or continuation, or of a new thread's first.  Any Ractor. */
static void
cont_init_jit_cont(rb_context_t *context)
{
    struct rb_jit_cont *cont = &context->jit_cont;

    cont->ec = &context->saved_ec;
    cont->list = &jit_cont_lists[rb_ractor_id(rb_ec_ractor_ptr(cont->ec)) % JIT_CONT_LISTS];
    rb_native_mutex_lock(&cont->list->lock);
    ccan_list_add(&cont->list->fibers, &cont->node);
    rb_native_mutex_unlock(&cont->list->lock);
}

/* Before it is freed.  Any Ractor. */
static void
jit_cont_free(struct rb_jit_cont *cont)
{
    struct jit_cont_list *list = cont->list;

    if (!list) return; /* not initialised */
    rb_native_mutex_lock(&list->lock);
    ccan_list_del(&cont->node);
    rb_native_mutex_unlock(&list->lock);
}

/* for (each Fiber).  All Ractors are stopped. */
#define jit_cont_each(cont) \
    for (int list_ = 0; list_ < JIT_CONT_LISTS; list_++) ccan_list_for_each(&jit_cont_lists[list_].fibers, cont, node)

#endif /* LOCKFREE_THREAD_FIBER_JIT_CONT_H */
