#ifndef LOCKFREE_VM_LOOP_ENTRY_H
#define LOCKFREE_VM_LOOP_ENTRY_H
/**********************************************************************

  vm_loop_entry.h - a loop that is running changes over to compiled code

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  YJIT's code is entered where a method or block is called.  A loop
 * in one that is called once stays in the interpreter to its end.
 *
 * Solution.  A taken backward branch of the interpreter counts a turn of its
 * loop.  When there were enough, YJIT compiles from the loop's head on, and
 * from then on the branch calls that code.
 *
 * Representation.  One struct vm_loop per loop that has made a turn, in a list
 * that hangs on an instruction sequence and only grows.  The address of the head
 * names the loop.  A method such as Integer#times or Array#each, which is marked
 * `inline_block`, is one loop for all who call it; compiled code of it is for
 * one block.  So its loops hang on the block that it yields to, and are counted
 * and compiled for each block.  Called from the interpreter, such a method has
 * code that is for any block, and calls it through the VM at each turn.  That
 * counts too, under the head NULL; at the threshold the block is hot, the frame
 * leaves for the interpreter, and comes by the branch there.  From then on the
 * interpreter runs the calls of the method for this block itself.
 *
 * Who may what.  A loop is added by any Ractor with compare-and-swap.  `turns`
 * any Ractor writes, without order: one that is lost is counted again.  When
 * the loop is settled nobody counts any more.  The other fields are written
 * under the VM lock while all other Ractors wait at a barrier.  Those read them
 * with no safepoint in between, so they see all fields as of one writer, and no
 * code that was thrown away.
 *
 * Settled means that `func` was decided on since YJIT last threw code of the
 * loop's instruction sequence away (`loop_epoch` counts that).  A settled loop
 * without func is one that YJIT refused.
 *
 * The change-over.  At the branch the frame is as the interpreter leaves it
 * between two instructions, so the code is that which YJIT makes for exception
 * handlers: it takes the stack as it finds it.  A frame without FINISH hands its
 * value to its caller's stack and the code returns Qundef; the interpreter goes
 * on with whatever frame is on top.  Another value is that of a frame with
 * FINISH, or of a throw (ec->tag->state is set), and leaves vm_exec_core.
 */

#include "yjit.h"

#if USE_YJIT

struct vm_loop {
    const VALUE *head;
    struct vm_loop *next;
    rb_jit_func_t func;         /* NULL: refused */
    uint32_t settled_epoch;     /* loop_epoch + 1, or 0 */
    uint32_t turns;
};

/* yjit_loop_entry.rs.  Whether loops are counted; set once, when YJIT starts. */
extern bool rb_yjit_loop_entry_p;
extern uint64_t rb_yjit_loop_threshold;
rb_jit_func_t rb_yjit_gen_loop_entry(const rb_iseq_t *iseq, rb_execution_context_t *ec, const rb_iseq_t *block_iseq);
bool rb_yjit_returns_to_c_p(const rb_control_frame_t *cfp);

/* The block for which the code of this frame is compiled, or NULL. */
static inline const rb_iseq_t *
vm_loop_inlined_block(const rb_control_frame_t *cfp)
{
    if (!(ISEQ_BODY(cfp->iseq)->builtin_attrs & BUILTIN_ATTR_INLINE_BLOCK)) return NULL;

    VALUE block_handler = VM_CF_BLOCK_HANDLER(cfp);
    if (block_handler == VM_BLOCK_HANDLER_NONE || !VM_BH_ISEQ_BLOCK_P(block_handler)) return NULL;
    return rb_iseq_check(VM_BH_TO_ISEQ_BLOCK(block_handler)->code.iseq);
}

/* The loop with that head.  The acquire pairs with vm_loop_add. */
static struct vm_loop *
vm_loop_find(const struct rb_iseq_constant_body *body, const VALUE *head)
{
    struct vm_loop *loop = __atomic_load_n(&body->loops, __ATOMIC_ACQUIRE);

    while (loop && loop->head != head) loop = loop->next;
    return loop;
}

/* A new loop, unless another Ractor came first.  The release pairs with vm_loop_find. */
static struct vm_loop *
vm_loop_add(struct rb_iseq_constant_body *body, const VALUE *head)
{
    struct vm_loop *loop = calloc(1, sizeof(*loop)); /* no GC between two instructions */
    if (!loop) return NULL;
    loop->head = head;

    for (;;) {
        struct vm_loop *first = __atomic_load_n(&body->loops, __ATOMIC_ACQUIRE);
        struct vm_loop *found = vm_loop_find(body, head);
        if (found) {
            free(loop);
            return found;
        }
        loop->next = first;
        if (__atomic_compare_exchange_n(&body->loops, &first, loop, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
            return loop;
        }
    }
}

/* The loop with that head, made if there is none.  NULL: no memory. */
static struct vm_loop *
vm_loop_of(struct rb_iseq_constant_body *body, const VALUE *head)
{
    struct vm_loop *loop = vm_loop_find(body, head);
    return loop ? loop : vm_loop_add(body, head);
}

static inline bool
vm_loop_settled_p(const struct vm_loop *loop, const rb_iseq_t *iseq)
{
    return loop->settled_epoch == ISEQ_BODY(iseq)->loop_epoch + 1;
}

/*
 * Turns after which a loop is compiled.  Each version of a method for one block
 * makes the next dearer: YJIT looks through all of them.  `loop_versions` is the
 * number of those made, or decided on; any Ractor writes it.
 */
static inline uint64_t
vm_loop_threshold(const rb_iseq_t *iseq, const rb_iseq_t *block_iseq)
{
    uint64_t threshold = rb_yjit_loop_threshold;
    if (!block_iseq) return threshold;
    return threshold + threshold * __atomic_load_n(&ISEQ_BODY(iseq)->loop_versions, __ATOMIC_RELAXED) / 8;
}

static inline void
vm_loop_version_decided(const rb_iseq_t *iseq)
{
    __atomic_fetch_add(&ISEQ_BODY(iseq)->loop_versions, 1, __ATOMIC_RELAXED);
}

#define VM_LOOP_HOT UINT32_MAX /* turns, under the head NULL */

/* Whether code that is for any block has called this one often. */
static bool
vm_loop_hot_p(const rb_iseq_t *block_iseq)
{
    const struct vm_loop *loop = vm_loop_find(ISEQ_BODY(block_iseq), NULL);
    return loop && __atomic_load_n(&loop->turns, __ATOMIC_RELAXED) == VM_LOOP_HOT;
}

/* Whether the loop is to be compiled after that many turns in the interpreter. */
static bool
vm_loop_compile_p(uint32_t turns, const rb_iseq_t *iseq, const rb_iseq_t *block_iseq)
{
    return turns >= vm_loop_threshold(iseq, block_iseq) || (block_iseq && vm_loop_hot_p(block_iseq));
}

/* Compiles the loop of the frame on top.  Another Ractor may have done so meanwhile. */
static void
vm_loop_compile(struct vm_loop *loop, rb_execution_context_t *ec, const rb_iseq_t *block_iseq)
{
    const rb_iseq_t *iseq = ec->cfp->iseq;

    RB_VM_LOCK_ENTER();
    rb_vm_barrier();
    if (!vm_loop_settled_p(loop, iseq)) {
        uint32_t epoch = ISEQ_BODY(iseq)->loop_epoch; /* should compiling throw code away, try again */
        loop->func = rb_yjit_gen_loop_entry(iseq, ec, block_iseq);
        if (block_iseq && !vm_loop_hot_p(block_iseq)) vm_loop_version_decided(iseq);
        loop->turns = 0;
        loop->settled_epoch = epoch + 1;
    }
    RB_VM_LOCK_LEAVE();
}

/* The code to enter at the head that the frame on top has just come back to, or NULL. */
static rb_jit_func_t
vm_loop_func(rb_execution_context_t *ec, const rb_control_frame_t *cfp)
{
    const rb_iseq_t *block_iseq = vm_loop_inlined_block(cfp);
    struct rb_iseq_constant_body *body = ISEQ_BODY(block_iseq ? block_iseq : cfp->iseq);

    /* The frame may have escaped before YJIT was enabled; its code could think otherwise. */
    if (UNLIKELY(VM_ENV_ESCAPED_P(cfp->ep))) vm_env_escaped(cfp->iseq);

    struct vm_loop *loop = vm_loop_of(body, cfp->pc);
    if (!loop) return NULL;

    if (!vm_loop_settled_p(loop, cfp->iseq)) {
        uint32_t turns = __atomic_load_n(&loop->turns, __ATOMIC_RELAXED) + 1;
        __atomic_store_n(&loop->turns, turns, __ATOMIC_RELAXED);
        if (!vm_loop_compile_p(turns, cfp->iseq, block_iseq)) return NULL;
        vm_loop_compile(loop, ec, block_iseq);
        if (!vm_loop_settled_p(loop, cfp->iseq)) return NULL;
    }
    return loop->func;
}

/*
 * Whether the code of this frame, which is for any block and has just called
 * one, is to leave for the interpreter.  If compiled code called it, that is
 * left too; so there only the yield that makes the block hot does so.
 */
static bool
vm_loop_leaves_p(const rb_control_frame_t *cfp)
{
    const rb_iseq_t *block_iseq = vm_loop_inlined_block(cfp);
    if (!block_iseq || !rb_yjit_loop_entry_p) return false;

    struct vm_loop *loop = vm_loop_of(ISEQ_BODY(block_iseq), NULL);
    if (!loop) return false;

    uint32_t turns = __atomic_load_n(&loop->turns, __ATOMIC_RELAXED);
    if (turns == VM_LOOP_HOT) return rb_yjit_returns_to_c_p(cfp);

    bool hot = turns + 1 >= vm_loop_threshold(cfp->iseq, block_iseq);
    __atomic_store_n(&loop->turns, hot ? VM_LOOP_HOT : turns + 1, __ATOMIC_RELAXED);
    if (hot) vm_loop_version_decided(cfp->iseq);
    return hot;
}

NOINLINE(static bool vm_loop_yields_to_hot_block_p(const rb_control_frame_t *cfp));
static bool
vm_loop_yields_to_hot_block_p(const rb_control_frame_t *cfp)
{
    const rb_iseq_t *block_iseq = vm_loop_inlined_block(cfp);
    return block_iseq && vm_loop_hot_p(block_iseq);
}

/* Whether the interpreter is to run this call itself, as its block is hot. */
static inline bool
vm_loop_keeps_interpreting_p(const rb_control_frame_t *cfp)
{
    return UNLIKELY(ISEQ_BODY(cfp->iseq)->builtin_attrs & BUILTIN_ATTR_INLINE_BLOCK) && vm_loop_yields_to_hot_block_p(cfp);
}

/* A turn of a loop: the frame on top is at its head.  What it returns is above. */
NOINLINE(static VALUE vm_loop_turn(rb_execution_context_t *ec, rb_control_frame_t *cfp));
static VALUE
vm_loop_turn(rb_execution_context_t *ec, rb_control_frame_t *cfp)
{
    rb_jit_func_t func = vm_loop_func(ec, cfp);
    return func ? func(ec, cfp) : Qundef;
}

/*
 * Last in a branch instruction that jumps by +dst+ and has +pops+ operands on
 * the stack, which the instruction's trailer would pop.
 */
#define VM_LOOP_TURN(dst, pops) do { \
    if (UNLIKELY(rb_yjit_loop_entry_p) && (dst) < 0) { /* without YJIT one test */ \
        VALUE loop_result; \
        POPN(pops); \
        loop_result = vm_loop_turn(ec, GET_CFP()); \
        if (!UNDEF_P(loop_result)) THROW_EXCEPTION(loop_result); \
        RESTORE_REGS(); \
        NEXT_INSN(); \
    } \
} while (0)

/* YJIT has thrown code of +iseq+ away.  VM lock, all other Ractors at a barrier. */
void
rb_vm_loops_forget(const rb_iseq_t *iseq)
{
    ISEQ_BODY(iseq)->loop_epoch++;
}

/* +body+ is being freed. */
void
rb_vm_loops_free(const struct rb_iseq_constant_body *body)
{
    struct vm_loop *loop, *next;

    for (loop = body->loops; loop; loop = next) {
        next = loop->next;
        free(loop);
    }
}

#else
# define vm_loop_keeps_interpreting_p(cfp) false
# define VM_LOOP_TURN(dst, pops) /* none */
#endif /* USE_YJIT */

#endif /* LOCKFREE_VM_LOOP_ENTRY_H */
