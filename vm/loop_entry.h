#ifndef LOCKFREE_VM_LOOP_ENTRY_H
#define LOCKFREE_VM_LOOP_ENTRY_H
/**********************************************************************

  vm/loop_entry.h - a loop that is running changes over to compiled code

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
 * Representation.  One struct vm_loop per loop that has made a turn, named by
 * the address of its head.  Those of an instruction sequence lie in a table of
 * open addressing, with linear probing, which is made at the first turn and
 * never grows: it has room for as many loops as there are words in the sequence
 * that could be the offset of a backward branch.  So a turn takes the same time
 * in a method of three thousand loops as in one of a single loop.
 *
 * A method such as Integer#times or Array#each, which is marked `inline_block`,
 * is one loop for all who call it; compiled code of it is for one block.  So its
 * loops hang on the block that it yields to, in a list, and are counted and
 * compiled for each block.  The list is short: there are a dozen such methods.
 * Called from the interpreter, such a method has code that is for any block, and
 * calls it through the VM at each turn.  That counts too, under the head NULL;
 * at the threshold the block is hot, the frame leaves for the interpreter, and
 * comes by the branch there.  From then on the interpreter runs the calls of the
 * method for this block itself.
 *
 * Which turns are counted.  Most loops never get there, so a turn that is not
 * due costs next to nothing: one in VM_LOOP_STRIDE of a thread's turns, at random
 * distances, so that loops within one another all get their share, is looked up
 * and stands for all of these.  With a low threshold, which somebody asked for,
 * each is.  Where a loop of the instruction sequence has code, each turn is
 * looked up, since it may enter that.
 *
 * Who may what.  A loop is added by any Ractor with compare-and-swap, as is the
 * table.  `turns`
 * any Ractor writes, without order: one that is lost is counted again.  When
 * the loop is settled nobody counts any more.  The other fields are written
 * under the VM lock while all other Ractors wait at a barrier.  Those read them
 * with no safepoint in between, so they see all fields as of one writer, and no
 * code that was thrown away.
 *
 * Settled means that `func` was decided on since YJIT last threw code of the
 * loop's instruction sequence away (`loop_epoch` counts that).  A settled loop
 * without func is one for which there was no room.  One that YJIT refused,
 * because it does not compile the instruction at the head, stays refused as long
 * as that is the instruction there (tracing may put another in its place).
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
    rb_jit_func_t func;         /* NULL: none, see above */
    VALUE refused_insn;         /* what was at the head when YJIT refused it, or 0 */
    uint32_t settled_epoch;     /* loop_epoch + 1, or 0 */
    uint32_t turns;
};

struct vm_loop_table {
    uint32_t shift;             /* 64 - log2 of the number of slots */
    struct vm_loop slots[];     /* head NULL: free */
};

struct vm_block_loop {
    struct vm_loop loop;        /* head NULL: the block, called by code that is for any */
    struct vm_block_loop *next;
};

#define VM_LOOP_STRIDE 16               /* turns, on average */
#define VM_LOOP_EXACT_BELOW 1000        /* with a lower threshold each turn is counted */

/* yjit/loop_entry.rs.  Whether loops are counted; set once, when YJIT starts. */
extern bool rb_yjit_loop_entry_p;
extern uint64_t rb_yjit_loop_threshold;
rb_jit_func_t rb_yjit_gen_loop_entry(const rb_iseq_t *iseq, rb_execution_context_t *ec, const rb_iseq_t *block_iseq, bool *refused);
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

/* How many loops +body+ has at most: each has a branch with a negative offset.
 * Other words may look like one.  Another Ractor may change an instruction or a
 * cache meanwhile; neither looks so. */
static size_t
vm_loop_max(const struct rb_iseq_constant_body *body)
{
    const intptr_t size = body->iseq_size;
    size_t max = 0;

    for (intptr_t i = 0; i < size; i++) {
        intptr_t word = (intptr_t)__atomic_load_n(&body->iseq_encoded[i], __ATOMIC_RELAXED);
        max += word < 0 && word >= -size;
    }
    return max;
}

/* A table, at most two thirds full, unless another Ractor came first.  The
 * release pairs with vm_loop_of. */
static struct vm_loop_table *
vm_loop_table_add(struct rb_iseq_constant_body *body)
{
    size_t max = vm_loop_max(body);
    uint32_t bits = 1;
    while (((size_t)1 << bits) * 2 < max * 3) bits++;

    struct vm_loop_table *table = calloc(1, sizeof(*table) + (sizeof(table->slots[0]) << bits)), *first = NULL;
    if (!table) return NULL; /* no GC between two instructions */
    table->shift = 64 - bits;
    if (__atomic_compare_exchange_n(&body->loops, &first, table, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return table;
    free(table);
    return first;
}

/* The loop of +body+ with that head, made if there is none.  NULL: no memory.
 * The acquire pairs with vm_loop_table_add.  The head is claimed without order:
 * all else in the slot is zero since before the table was seen. */
static inline struct vm_loop *
vm_loop_of(struct rb_iseq_constant_body *body, const VALUE *head)
{
    struct vm_loop_table *table = __atomic_load_n(&body->loops, __ATOMIC_ACQUIRE);
    if (UNLIKELY(!table) && !(table = vm_loop_table_add(body))) return NULL;

    const uint64_t mask = UINT64_MAX >> table->shift;
    /* Fibonacci hashing: Knuth, The Art of Computer Programming 3, 6.4 */
    for (uint64_t i = (uint64_t)(head - body->iseq_encoded) * UINT64_C(0x9e3779b97f4a7c15) >> table->shift;; i = (i + 1) & mask) {
        struct vm_loop *loop = &table->slots[i];
        const VALUE *found = __atomic_load_n(&loop->head, __ATOMIC_RELAXED);
        if (LIKELY(found == head)) return loop;
        if (found) continue;
        if (__atomic_compare_exchange_n(&loop->head, &found, head, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return loop;
        if (found == head) return loop;
    }
}

/* The loop with that head that hangs on +body+, a block's.  The acquire pairs with vm_block_loop_of. */
static struct vm_block_loop *
vm_block_loop_find(const struct rb_iseq_constant_body *body, const VALUE *head)
{
    struct vm_block_loop *found = __atomic_load_n(&body->block_loops, __ATOMIC_ACQUIRE);

    while (found && found->loop.head != head) found = found->next;
    return found;
}

/* The same, made if there is none, unless another Ractor comes first.  NULL: no
 * memory.  The release pairs with vm_block_loop_find. */
static struct vm_loop *
vm_block_loop_of(struct rb_iseq_constant_body *body, const VALUE *head)
{
    struct vm_block_loop *found = vm_block_loop_find(body, head), *added;
    if (found) return &found->loop;
    if (!(added = calloc(1, sizeof(*added)))) return NULL;
    added->loop.head = head;

    for (;;) {
        struct vm_block_loop *first = __atomic_load_n(&body->block_loops, __ATOMIC_ACQUIRE);
        if ((found = vm_block_loop_find(body, head))) {
            free(added);
            return &found->loop;
        }
        added->next = first;
        if (__atomic_compare_exchange_n(&body->block_loops, &first, added, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
            return &added->loop;
        }
    }
}

static inline bool
vm_loop_settled_p(const struct vm_loop *loop, const rb_iseq_t *iseq)
{
    return loop->settled_epoch == ISEQ_BODY(iseq)->loop_epoch + 1 ||
        (loop->refused_insn && loop->refused_insn == __atomic_load_n(loop->head, __ATOMIC_RELAXED));
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
    const struct vm_block_loop *calls = vm_block_loop_find(ISEQ_BODY(block_iseq), NULL);
    return calls && __atomic_load_n(&calls->loop.turns, __ATOMIC_RELAXED) == VM_LOOP_HOT;
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
        bool refused = false;
        loop->func = rb_yjit_gen_loop_entry(iseq, ec, block_iseq, &refused);
        loop->refused_insn = refused ? *loop->head : 0;
        if (loop->func) __atomic_store_n(&ISEQ_BODY(iseq)->loop_entries, true, __ATOMIC_RELAXED);
        if (block_iseq && !vm_loop_hot_p(block_iseq)) vm_loop_version_decided(iseq);
        loop->turns = 0;
        loop->settled_epoch = epoch + 1;
    }
    RB_VM_LOCK_LEAVE();
}

/* Whether the turn that the frame on top has made is to be looked up.  The
 * running thread's own words; of the other, see loop_entries below. */
static inline bool
vm_loop_due_p(rb_execution_context_t *ec, const rb_iseq_t *iseq)
{
    return ec->loop_countdown-- <= 0 || __atomic_load_n(&ISEQ_BODY(iseq)->loop_entries, __ATOMIC_RELAXED);
}

/* How many turns the one that is looked up stands for.  Draws the distance to
 * the next one: 9 to 24 turns, by the linear congruential generator of Numerical
 * Recipes. */
static uint32_t
vm_loop_weight(rb_execution_context_t *ec, const rb_iseq_t *iseq)
{
    if (ec->loop_countdown >= 0) return 1; /* looked up because of an entry */
    if (rb_yjit_loop_threshold < VM_LOOP_EXACT_BELOW) {
        ec->loop_countdown = 0;
        return 1;
    }
    ec->loop_random = ec->loop_random * 1664525 + 1013904223;
    ec->loop_countdown = VM_LOOP_STRIDE / 2 + (ec->loop_random >> 28);
    return __atomic_load_n(&ISEQ_BODY(iseq)->loop_entries, __ATOMIC_RELAXED) ? 1 : VM_LOOP_STRIDE;
}

/* The code to enter at the head that the frame on top has just come back to, or NULL. */
static rb_jit_func_t
vm_loop_func(rb_execution_context_t *ec, const rb_control_frame_t *cfp)
{
    const uint32_t weight = vm_loop_weight(ec, cfp->iseq);
    const rb_iseq_t *block_iseq = vm_loop_inlined_block(cfp);

    /* The frame may have escaped before YJIT was enabled; its code could think otherwise. */
    if (UNLIKELY(VM_ENV_ESCAPED_P(cfp->ep))) vm_env_escaped(cfp->iseq);

    struct vm_loop *loop = block_iseq ? vm_block_loop_of(ISEQ_BODY(block_iseq), cfp->pc) : vm_loop_of(ISEQ_BODY(cfp->iseq), cfp->pc);
    if (!loop) return NULL;

    if (!vm_loop_settled_p(loop, cfp->iseq)) {
        uint32_t turns = __atomic_load_n(&loop->turns, __ATOMIC_RELAXED) + weight;
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

    struct vm_loop *loop = vm_block_loop_of(ISEQ_BODY(block_iseq), NULL);
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
    if (UNLIKELY(rb_yjit_loop_entry_p) && (dst) < 0 && vm_loop_due_p(ec, GET_ISEQ())) { /* without YJIT one test */ \
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
    __atomic_store_n(&ISEQ_BODY(iseq)->loop_entries, false, __ATOMIC_RELAXED);
}

/* +body+ is being freed. */
void
rb_vm_loops_free(const struct rb_iseq_constant_body *body)
{
    struct vm_block_loop *found, *next;

    for (found = body->block_loops; found; found = next) {
        next = found->next;
        free(found);
    }
    free(body->loops);
}

#else
# define vm_loop_keeps_interpreting_p(cfp) false
# define VM_LOOP_TURN(dst, pops) /* none */
#endif /* USE_YJIT */

#endif /* LOCKFREE_VM_LOOP_ENTRY_H */
