/**********************************************************************

  ractor/waits.c - what each Ractor waits for, how long, and because of which line

  Licence: see LICENSE.

**********************************************************************/

/* What and why, who may and with which lock: ractor/waits.h.  What is told of it: ractor/waits_report.c. */

#include "internal.h"
#include "internal/hash.h"
#include "iseq.h"
#include "ractor_core.h"
#include "vm_core.h"
#include "vm_sync.h"
#include "lockfree/cache_line.h"
#include "lockfree/ractor/waits_clock.h"
#include "lockfree/ractor/waits_trace.h"

#ifdef RUBY_THREAD_PTHREAD_H

#include "insns.inc"

#define WAITS_NEVER UINT64_MAX
#define WAITS_NESTED 4              /* compiles, collects meanwhile, waits for the lock or stops others */
#define WAITS_LINES 8
#define WAITS_CALLS 32
#define WAITS_CALL_FRAMES 3
#define WAITS_RECORDS_MIN 16        /* powers of two, like the next two */
#define WAITS_RECORDS_MAX 512       /* of a Ractor */
#define WAITS_ENDED_RECORDS 4096    /* of all that have ended */
#define WAITS_ENDED_ROWS 256
#define WAITS_PATHS 4096
#define WAITS_PATH_LEN 1000
#define WAITS_FRAMES 40             /* of C, to look through for one of Ruby */

/* Open addressing; at.path == NULL: free.  At most three quarters are used. */
struct waits_table {
    struct ractor_waits_record *records;
    unsigned int capa, cnt;
    struct ractor_waits_sum dropped;
};

/* Where a frame was: what is known of an instruction, or of a method, which lies where no other one does until a sweep. */
struct waits_line {
    const void *key;            /* the word before the pc, or the iseq's body */
    unsigned int sweeps;
    struct ractor_waits_place place;
};

/* A line that has called one of Ruby's own methods, as one does that reads a file in a loop: what waits_here has come to, and
 * what such calls have waited for that is not in the table yet, nor in the states' sums. */
struct waits_call {
    const VALUE *pc;
    const rb_callable_method_entry_t *me;
    struct ractor_waits_place place;
    struct ractor_waits_sum sum;
    enum ractor_waits_state state; /* of that */
    unsigned int sweeps;
};

#define WAITS_ALIGNED __attribute__((aligned(64))) /* code */

/* A call that blocks for a moment needs the first cache line, and that of the call. */
struct ractor_waits {
    CACHE_LINES_BEGIN enum ractor_waits_state state;
    int works_at;               /* the cause, if others wait now, of what it is doing; or RACTOR_WAITS_OTHER */
    uint64_t since;             /* or WAITS_NEVER: not counted, nothing has passed */
    struct waits_call *call;    /* where it came into the state; or NULL: at */
    struct ractor_trace *trace; /* or NULL */
    unsigned int depth;
    bool unsettled;             /* what lock_wait says is not in the table yet */
    struct ractor_waits_sum states[RACTOR_WAITS_STATES];
    struct ractor_waits_place at;

    struct {
        uint64_t begun, lock_ns, stop_ns, stop_begun;
        struct ractor_waits_place at, giver, stopper;
    } lock_wait;                /* the last one */

    CACHE_LINES_BEGIN struct waits_call calls[WAITS_CALLS];
    struct waits_line lines[WAITS_LINES];
    struct waits_table table;

    struct {
        enum ractor_waits_state state;
        struct waits_call *call;
        struct ractor_waits_place at;
        int works_at;
    } outer[WAITS_NESTED];

    unsigned int gives;         /* of the lock, as the wait for it began; and how long there had been stops */
    uint64_t stopped_ns;

    uint64_t begun, before;     /* counted since, and before counting was disabled */
    uint64_t message;           /* for which it is made ready: an arrow's number, or 0 */
};

/* Stored with all others stopped. */
bool rb_ractor_waits_on = false;

/* Those that have ended, and the time of the process.  VM lock. */
static struct {
    bool ever;
    uint64_t begun, before;
    struct waits_table table;
    struct ractor_waits_row *rows, others;
    size_t rows_cnt;
    uint64_t others_cnt;
} waits_ended;

/* The copies of paths; only added to.  Its own lock, with which nothing is called but malloc. */
static struct {
    rb_nativethread_lock_t lock;
    char *paths[WAITS_PATHS];
    unsigned int cnt;
} waits_paths = { .lock = RB_NATIVETHREAD_LOCK_INIT };

/* How many sweeps have begun while somebody counted: where an iseq or a method entry lay before, another may lie now. */
static unsigned int waits_sweeps;

static inline unsigned int
waits_sweeps_now(void)
{
    return __atomic_load_n(&waits_sweeps, __ATOMIC_RELAXED);
}

/* Nothing has been freed or moved yet of what is not marked; and what runs is.  All others stand. */
void
rb_ractor_waits_sweep_start(void)
{
    __atomic_store_n(&waits_sweeps, waits_sweeps_now() + 1, __ATOMIC_RELAXED);
}

/* ---- lines */

/* The copy of +path+, or of what stands for it where there are too many or no memory. */
static const char *
waits_path(const char *path, long len)
{
    const char *copy = "(others)";
    uint32_t hash = 2166136261u; /* FNV-1a */

    len = (long)ractor_waits_cut(path, strnlen(path, len), WAITS_PATH_LEN);
    for (long i = 0; i < len; i++) hash = (hash ^ (unsigned char)path[i]) * 16777619u;

    rb_native_mutex_lock(&waits_paths.lock);
    for (unsigned int i = hash;; i++) {
        char **slot = &waits_paths.paths[i % WAITS_PATHS];
        if (*slot) {
            if (strncmp(*slot, path, len) != 0 || (*slot)[len]) continue;
        }
        else {
            if (waits_paths.cnt >= WAITS_PATHS / 4 * 3 || !(*slot = malloc(len + 1))) break;
            memcpy(*slot, path, len);
            (*slot)[len] = '\0';
            waits_paths.cnt++;
        }
        copy = *slot;
        break;
    }
    rb_native_mutex_unlock(&waits_paths.lock);
    return copy;
}

/* The cause that the instruction before +pos+ is, which is running. */
static int
waits_cause_of_insn(const rb_iseq_t *iseq, size_t pos)
{
    const VALUE *encoded = ISEQ_BODY(iseq)->iseq_encoded;
#if OPT_DIRECT_THREADED_CODE || OPT_CALL_THREADED_CODE
    const void * const *addresses = rb_vm_get_insns_address_table();
# define IS_INSN(insn, len) (pos >= (len) && encoded[pos - (len)] == (VALUE)addresses[BIN(insn)])
#else
# define IS_INSN(insn, len) (pos >= (len) && encoded[pos - (len)] == BIN(insn))
#endif
    if (IS_INSN(definemethod, 3) || IS_INSN(definesmethod, 3)) return RACTOR_WAITS_METHOD;
    if (IS_INSN(defineclass, 4)) return RACTOR_WAITS_CLASS;
    if (IS_INSN(setconstant, 2)) return RACTOR_WAITS_CONSTANT;
    if (IS_INSN(intern, 1)) return RACTOR_WAITS_SYMBOL;
#undef IS_INSN
    return RACTOR_WAITS_OTHER;
}

/* What is known of the instruction before +pc+, in +iseq+. */
static struct ractor_waits_place
waits_place_of(const rb_iseq_t *iseq, const VALUE *pc)
{
    const struct rb_iseq_constant_body *body = ISEQ_BODY(iseq);
    struct ractor_waits_place place = { .line = body->location.first_lineno > 0 ? body->location.first_lineno : 1 };
    VALUE path = rb_iseq_path(iseq);

    if (pc) {
        size_t pos = pc - body->iseq_encoded;
        int line = rb_iseq_line_no(iseq, pos - 1);
        if (line > 0) place.line = line;
        place.what = waits_cause_of_insn(iseq, pos);
    }
    place.path = waits_path(RSTRING_PTR(path), RSTRING_LEN(path));
    return place;
}

/* The line of a frame of Ruby.  Compiled code does not store the pc before all that it calls: one that is none of the
 * method's, and may be another one's, gives the method's first line. */
static struct ractor_waits_place
waits_line(struct ractor_waits *w, const rb_iseq_t *iseq, const VALUE *pc)
{
    const struct rb_iseq_constant_body *body = ISEQ_BODY(iseq);
    bool within = pc > body->iseq_encoded && pc <= body->iseq_encoded + body->iseq_size;
    const void *key = within ? (const void *)(pc - 1) : body;
    struct waits_line *known = &w->lines[((uintptr_t)key >> 3) % WAITS_LINES];

    if (known->key != key || known->sweeps != waits_sweeps_now()) {
        *known = (struct waits_line){ .key = key, .sweeps = waits_sweeps_now(), .place = waits_place_of(iseq, within ? pc : NULL) };
    }
    return known->place;
}

static bool
waits_internal_p(const rb_iseq_t *iseq)
{
    VALUE path = rb_iseq_path(iseq);
    return RSTRING_LEN(path) > 10 && memcmp(RSTRING_PTR(path), "<internal:", 10) == 0;
}

/* The topmost line of the program in +ec+, and which of Ruby's own methods runs, called from there.  For the running thread
 * itself, before it stands: nobody moves what its frames refer to. */
static struct ractor_waits_place
waits_here(struct ractor_waits *w, const rb_execution_context_t *ec)
{
    ID mid = 0;
    int what = RACTOR_WAITS_OTHER;

    if (!ec || !ec->vm_stack || !ec->cfp) goto unknown;
    const rb_control_frame_t *cfp = ec->cfp, *end = RUBY_VM_END_CONTROL_FRAME(ec);

    for (int i = 0; i < WAITS_FRAMES && RUBY_VM_VALID_CONTROL_FRAME_P(cfp, end); i++) {
        bool ruby = cfp->iseq && VM_FRAME_RUBYFRAME_P(cfp);
        if (ruby && !waits_internal_p(cfp->iseq)) {
            struct ractor_waits_place place = waits_line(w, cfp->iseq, cfp->pc);
            place.mid = mid;
            if (mid) place.what = what;
            if (w->works_at) place.what = w->works_at;
            return place;
        }
        const rb_callable_method_entry_t *me = ruby || VM_FRAME_CFRAME_P(cfp) ? rb_vm_frame_method_entry(cfp) : NULL;
        if (me && me->def) {
            if (!mid || mid == idInitialize) mid = me->def->original_id;
            bool class_new = mid == idInitialize && (me->owner == rb_cClass || me->owner == rb_cModule);
            if (class_new || cfp->self == rb_cStruct) what = RACTOR_WAITS_CLASS;
        }
        cfp = RUBY_VM_PREVIOUS_CONTROL_FRAME(cfp);
    }
  unknown:
    return (struct ractor_waits_place){ .mid = mid, .what = w->works_at ? w->works_at : what };
}

static void waits_call_settle(struct ractor_waits *w, struct waits_call *call);

/* Puts into +call+ what +ec+ is in, in +me+ of C that +caller+ has called; NULL: its frames have to be looked at. */
NOINLINE(static struct waits_call *waits_call_fill(struct ractor_waits *w, struct waits_call *call, const rb_execution_context_t *ec,
                                                   const rb_control_frame_t *caller, const rb_callable_method_entry_t *me));

static struct waits_call *
waits_call_fill(struct ractor_waits *w, struct waits_call *call, const rb_execution_context_t *ec,
                const rb_control_frame_t *caller, const rb_callable_method_entry_t *me)
{
    if (!me->def || me->def->original_id == idInitialize || waits_internal_p(caller->iseq)) return NULL;
    waits_call_settle(w, call);
    *call = (struct waits_call){ .pc = caller->pc, .me = me, .sweeps = waits_sweeps_now(), .place = waits_here(w, ec) };
    return call;
}

/* The call that +ec+ is in; NULL: its frames have to be looked at.  The same instruction has called the same method before,
 * and has come to the same place, unless a sweep has begun since. */
static inline struct waits_call *
waits_call_of(struct ractor_waits *w, const rb_execution_context_t *ec)
{
    if (UNLIKELY(!ec || !ec->vm_stack || !ec->cfp || w->works_at)) return NULL;
    const rb_control_frame_t *cfp = ec->cfp, *caller = RUBY_VM_PREVIOUS_CONTROL_FRAME(cfp);
    if (UNLIKELY(VM_FRAME_TYPE(cfp) != VM_FRAME_MAGIC_CFUNC || cfp->self == rb_cStruct)) return NULL;

    for (int i = 1; UNLIKELY(VM_FRAME_TYPE(caller) == VM_FRAME_MAGIC_CFUNC); i++) { /* #puts calls #write */
        if (i == WAITS_CALL_FRAMES || caller->self == rb_cStruct) return NULL;
        caller = RUBY_VM_PREVIOUS_CONTROL_FRAME(caller);
    }
    if (UNLIKELY(!caller->iseq || !VM_FRAME_RUBYFRAME_P(caller))) return NULL;

    const rb_callable_method_entry_t *me = (const rb_callable_method_entry_t *)cfp->ep[VM_ENV_DATA_INDEX_ME_CREF];
    if (UNLIKELY(!me)) return NULL;

    struct waits_call *call = &w->calls[((uintptr_t)caller->pc >> 3) % WAITS_CALLS];
    if (UNLIKELY(call->pc != caller->pc || call->me != me || call->sweeps != waits_sweeps_now())) {
        return waits_call_fill(w, call, ec, caller, me);
    }
    return call;
}

/* ---- the table of a Ractor */

static bool
waits_same_place_p(const struct ractor_waits_place *a, const struct ractor_waits_place *b)
{
    return a->path == b->path && a->line == b->line && a->mid == b->mid && a->what == b->what;
}

/* The record of +at+ and +by+, or where it is to be. */
static struct ractor_waits_record *
waits_find(const struct waits_table *table, const struct ractor_waits_place *at, const struct ractor_waits_place *by)
{
    size_t hash = (size_t)at->path + (size_t)at->line * 31 + (size_t)at->mid + (size_t)at->what * 7;
    hash = hash * 31 + (size_t)by->path + (size_t)by->line * 31 + (size_t)by->mid + (size_t)by->what * 7;
    hash = (hash ^ (hash >> 17)) * 0x9E3779B1u;

    for (size_t i = hash >> 4;; i++) {
        struct ractor_waits_record *record = &table->records[i & (table->capa - 1)];
        if (!record->at.path || (waits_same_place_p(&record->at, at) && waits_same_place_p(&record->by, by))) return record;
    }
}

static void
waits_sum_add(struct ractor_waits_sum *sum, const struct ractor_waits_sum *other)
{
    sum->count += other->count;
    sum->ns += other->ns;
}

static bool
waits_known_p(const struct waits_table *table, const struct ractor_waits_place *at, const struct ractor_waits_place *by)
{
    return table->capa > 0 && waits_find(table, at, by)->at.path != NULL;
}

/* Adds +sum+ to the record of +at+ and +by+.  If there is none, one is free. */
static void
waits_put(struct waits_table *table, const struct ractor_waits_place *at, const struct ractor_waits_place *by,
          const struct ractor_waits_sum *sum)
{
    struct ractor_waits_record *record = waits_find(table, at, by);

    if (!record->at.path) {
        *record = (struct ractor_waits_record){ .at = *at, .by = *by };
        table->cnt++;
    }
    waits_sum_add(&record->sum, sum);
}

/* For qsort. */
static int
waits_longer_first(const void *a, const void *b)
{
    uint64_t a_ns = ((const struct ractor_waits_record *)a)->sum.ns, b_ns = ((const struct ractor_waits_record *)b)->sum.ns;
    return (a_ns < b_ns) - (a_ns > b_ns);
}

static inline bool
waits_table_crowded_p(const struct waits_table *table)
{
    return table->cnt >= table->capa / 4 * 3;
}

/* Whether another place takes others out. */
static inline bool
waits_table_prunes_p(const struct waits_table *table, unsigned int max)
{
    return table->capa >= max && waits_table_crowded_p(table);
}

/* Makes room: a larger table, or where that is too large one without the shorter half, as the lines are that load a program.
 * Whether there is memory. */
static bool
waits_table_grow(struct waits_table *table, unsigned int max)
{
    bool prune = waits_table_prunes_p(table, max);
    unsigned int kept = prune ? table->cnt / 2 : table->cnt;
    struct waits_table next = { .capa = prune ? table->capa : table->capa ? table->capa * 2 : WAITS_RECORDS_MIN,
                                .dropped = table->dropped };

    if (!(next.records = calloc(next.capa, sizeof(*next.records)))) return false;
    if (prune) qsort(table->records, table->capa, sizeof(*table->records), waits_longer_first);
    for (unsigned int i = 0; i < table->capa; i++) {
        struct ractor_waits_record *record = &table->records[i];
        if (!record->at.path) continue;
        if (next.cnt < kept) {
            *waits_find(&next, &record->at, &record->by) = *record;
            next.cnt++;
        }
        else {
            waits_sum_add(&next.dropped, &record->sum);
        }
    }

    struct ractor_waits_record *records = table->records;
    *table = next;
    free(records); /* after it: a child may be forked in between */
    return true;
}

/* To what +at+ waited for because of +by+. */
static void
waits_record(struct waits_table *table, unsigned int max, const struct ractor_waits_place *at,
             const struct ractor_waits_place *by, const struct ractor_waits_sum *sum)
{
    if (waits_table_crowded_p(table) && !waits_known_p(table, at, by) && !waits_table_grow(table, max)) {
        waits_sum_add(&table->dropped, sum);
    }
    else {
        waits_put(table, at, by, sum);
    }
}

static const struct ractor_waits_place waits_nobody;

/* What +at+ is in the table.  A place that is not known counts, too, as one without a line. */
static struct ractor_waits_place
waits_place_in(const struct ractor_waits_place *at, enum ractor_waits_state state)
{
    struct ractor_waits_place place = *at;
    place.what = state;
    if (!place.path) place.path = ""; /* in C, or a thread that begins or ends */
    return place;
}

/* Whether such calls have waited for anything that is yet to be put in the table: +sum+, at +at+. */
static bool
waits_call_take(struct ractor_waits *w, struct waits_call *call, struct ractor_waits_place *at, struct ractor_waits_sum *sum)
{
    if (call->sum.count == 0 && call->sum.ns == 0) return false;
    *at = waits_place_in(&call->place, call->state);
    *sum = call->sum;
    waits_sum_add(&w->states[call->state], sum);
    MEMZERO(&call->sum, struct ractor_waits_sum, 1);
    return true;
}

/* Before those that are short are taken out: what calls have waited for is there, which may be long.  A quarter is free, or
 * less, where there was no memory to take others out. */
static void
waits_calls_put(struct ractor_waits *w)
{
    struct ractor_waits_place at;
    struct ractor_waits_sum sum;

    STATIC_ASSERT(room, WAITS_CALLS < WAITS_RECORDS_MAX / 8);
    for (int i = 0; i < WAITS_CALLS && w->table.cnt < WAITS_RECORDS_MAX / 8 * 7; i++) {
        if (waits_call_take(w, &w->calls[i], &at, &sum)) waits_put(&w->table, &at, &waits_nobody, &sum);
    }
}

static void
waits_add(struct ractor_waits *w, const struct ractor_waits_place *at, const struct ractor_waits_place *by,
          const struct ractor_waits_sum *sum)
{
    if (waits_table_prunes_p(&w->table, WAITS_RECORDS_MAX) && !waits_known_p(&w->table, at, by)) waits_calls_put(w);
    waits_record(&w->table, WAITS_RECORDS_MAX, at, by, sum);
}

static void
waits_note(struct ractor_waits *w, const struct ractor_waits_place *at, enum ractor_waits_state state,
           const struct ractor_waits_place *by, uint64_t ns, unsigned int count)
{
    struct ractor_waits_place place = waits_place_in(at, state);
    waits_add(w, &place, by, &(struct ractor_waits_sum){ .count = count, .ns = ns });
}

static void
waits_call_settle(struct ractor_waits *w, struct waits_call *call)
{
    struct ractor_waits_place at;
    struct ractor_waits_sum sum;

    if (waits_call_take(w, call, &at, &sum)) waits_add(w, &at, &waits_nobody, &sum);
}

static void
waits_calls_settle(struct ractor_waits *w)
{
    for (int i = 0; i < WAITS_CALLS; i++) waits_call_settle(w, &w->calls[i]);
}

/* ---- transitions */

/* How long ago +begun+ was: somebody may have read the clock since +now+, and a clock may have been given up for one that is
 * a little behind. */
static inline uint64_t
waits_between(uint64_t begun, uint64_t now)
{
    return now > begun ? now - begun : 0;
}

/* Where it came into the present state. */
static const struct ractor_waits_place *
waits_at(const struct ractor_waits *w)
{
    return w->call ? &w->call->place : &w->at;
}

static void
waits_trace_lock(struct ractor_waits *w, uint64_t begun, uint64_t ended)
{
    if (ended <= begun) return;
    ractor_trace_slice(w->trace, RACTOR_WAITS_FOR_LOCK, &w->lock_wait.at, begun, ended - begun, &w->lock_wait.giver);
}

/* The last wait for the lock, as slices: the stops in it as one, which lies where the last of them began, if there is room. */
static void
waits_trace_settled(struct ractor_waits *w)
{
    uint64_t begun = w->lock_wait.begun, ended = begun + w->lock_wait.lock_ns + w->lock_wait.stop_ns;
    uint64_t stop = w->lock_wait.stop_begun > begun ? w->lock_wait.stop_begun : begun;

    if (w->lock_wait.stop_ns == 0) {
        waits_trace_lock(w, begun, ended);
        return;
    }
    if (stop + w->lock_wait.stop_ns > ended) stop = ended - w->lock_wait.stop_ns;
    waits_trace_lock(w, begun, stop);
    ractor_trace_slice(w->trace, RACTOR_STANDS, &w->lock_wait.at, stop, w->lock_wait.stop_ns, &w->lock_wait.stopper);
    if (stop >= w->lock_wait.stop_begun) ractor_trace_arrow(w->trace, false, "stop", w->lock_wait.stop_begun, stop);
    waits_trace_lock(w, stop + w->lock_wait.stop_ns, ended);
}

/* What the last wait for the lock has cost. */
static void
waits_settle_lock(struct ractor_waits *w)
{
    w->unsettled = false;
    if (w->trace) waits_trace_settled(w);
    if (w->lock_wait.lock_ns > 0) {
        waits_note(w, &w->lock_wait.at, RACTOR_WAITS_FOR_LOCK, &w->lock_wait.giver, w->lock_wait.lock_ns, 1);
    }
    if (w->lock_wait.stop_ns > 0) {
        waits_note(w, &w->lock_wait.at, RACTOR_STANDS, &w->lock_wait.stopper, w->lock_wait.stop_ns, 1);
    }
}

static inline void
waits_settle(struct ractor_waits *w)
{
    if (w->unsettled) waits_settle_lock(w);
}

/* How long ago something was added last; now it is. */
static inline uint64_t
waits_elapsed(struct ractor_waits *w, uint64_t now)
{
    uint64_t ns = waits_between(w->since, now);
    w->since += ns;
    return ns;
}

/* Adds what has passed in the present state; +ended+: the state is left, and not only interrupted.  A call was counted as it
 * began. */
static void
waits_pass(struct ractor_waits *w, uint64_t now, bool ended)
{
    uint64_t begun = w->since, ns = waits_elapsed(w, now);

    if (w->trace && ns > 0) ractor_trace_slice(w->trace, w->state, waits_at(w), begun, ns, NULL);
    if (w->call) {
        w->call->sum.ns += ns;
        return;
    }
    w->states[w->state].ns += ns;
    if (w->state != RACTOR_RUNS) waits_note(w, &w->at, w->state, &waits_nobody, ns, ended);
}

/* All that has passed until +now+ is in the table, as far as anybody counts; +ended+: as above. */
static void
waits_settle_until(struct ractor_waits *w, uint64_t now, bool ended)
{
    waits_settle(w);
    if (RACTOR_WAITS_ON()) waits_pass(w, now, ended);
    waits_calls_settle(w);
}

static void
waits_enter(struct ractor_waits *w, enum ractor_waits_state state, const struct ractor_waits_place *at)
{
    w->state = state;
    w->states[state].count++;
    w->at = *at;
    w->call = NULL;
}

static inline void
waits_enter_call(struct ractor_waits *w, enum ractor_waits_state state, struct waits_call *call)
{
    if (UNLIKELY(call->state != state)) {
        waits_call_settle(w, call);
        call->state = state;
    }
    call->sum.count++;
    w->state = state;
    w->call = call;
}

/* From the present state, to come back to it.  +ec+ NULL: at the same line. */
static void
waits_push(struct ractor_waits *w, const rb_execution_context_t *ec, enum ractor_waits_state state, int works_at)
{
    waits_settle(w);
    if (w->depth < WAITS_NESTED) {
        w->outer[w->depth].state = w->state;
        w->outer[w->depth].call = w->call;
        w->outer[w->depth].at = w->at;
        w->outer[w->depth].works_at = w->works_at;
    }
    w->depth++;
    if (works_at) w->works_at = works_at;

    struct ractor_waits_place at = ec ? waits_here(w, ec) : *waits_at(w);
    uint64_t now = waits_now();
    waits_pass(w, now, false);
    if (ec && w->trace) ractor_trace_flush(w->trace, now);
    waits_enter(w, state, &at);
}

/* Back to what was interrupted.  Nothing was, where counting began meanwhile. */
static void
waits_pop(struct ractor_waits *w)
{
    if (w->depth == 0) return;
    if (--w->depth >= WAITS_NESTED) return;
    w->state = w->outer[w->depth].state;
    w->call = w->outer[w->depth].call;
    w->at = w->outer[w->depth].at;
    w->works_at = w->outer[w->depth].works_at;
}

/* Where the Ractor of +th+ counts, if that is its running thread. */
static struct ractor_waits *
waits_of_running(const rb_thread_t *th)
{
    if (!th) return NULL;
    const struct rb_thread_sched *sched = &th->ractor->threads.sched;
    return sched->running == th && sched->is_running ? th->ractor->waits : NULL;
}

static const rb_thread_t *
waits_current_thread(void)
{
    const rb_execution_context_t *ec = rb_current_execution_context(false);
    return ec ? rb_ec_thread_ptr(ec) : NULL;
}

void
rb_ractor_waits_begin(rb_thread_t *th, enum ractor_waits_state state)
{
    struct ractor_waits *w = waits_of_running(th);
    if (w) waits_push(w, th->ec, state, 0);
}

void
rb_ractor_waits_end(rb_thread_t *th)
{
    struct ractor_waits *w = waits_of_running(th);
    if (!w) return;
    waits_pass(w, waits_now(), true);
    waits_pop(w);
}

/* +th+ is about to sleep for the lock. */
void
rb_ractor_waits_lock_queue(rb_thread_t *th, const struct rb_vm_lock *lock)
{
    struct ractor_waits *w = waits_of_running(th);
    if (!w) return;

    const struct ractor_waits_blame *blame = &lock->waits;
    w->gives = blame->gives;
    w->stopped_ns = blame->stopped_ns;
    if (lock->stopper && w->since > blame->stop_begun) w->stopped_ns += w->since - blame->stop_begun;
}

/* +th+ has the lock.  What of the wait there were stops is due to the last of these, the rest to who gave the lock last. */
void
rb_ractor_waits_lock_end(rb_thread_t *th, const struct rb_vm_lock *lock)
{
    struct ractor_waits *w = waits_of_running(th);
    if (!w || w->state != RACTOR_WAITS_FOR_LOCK) return;

    const struct ractor_waits_blame *blame = &lock->waits;
    uint64_t now = waits_now(), ns = waits_between(w->since, now);
    uint64_t stop_ns = blame->stopped_ns > w->stopped_ns ? blame->stopped_ns - w->stopped_ns : 0;
    if (stop_ns > ns) stop_ns = ns;

    w->unsettled = true;
    w->lock_wait.begun = w->since;
    w->lock_wait.stop_begun = blame->stop_begun;
    w->lock_wait.at = w->at;
    w->lock_wait.giver = blame->gives != w->gives ? blame->giver : waits_nobody;
    w->lock_wait.stopper = blame->stopper;
    w->lock_wait.stop_ns = stop_ns;
    w->lock_wait.lock_ns = ns - stop_ns;
    w->states[RACTOR_STANDS].count += stop_ns > 0;
    w->states[RACTOR_STANDS].ns += stop_ns;
    w->states[RACTOR_WAITS_FOR_LOCK].ns += ns - stop_ns;
    w->since = now;
    waits_pop(w);
}

/* +th+ is to be the running thread, but all stand.  Its frames are the stopper's, who may be moving what they refer to: it
 * is at the line where it stopped running. */
void
rb_ractor_waits_ready_stands(rb_thread_t *th)
{
    struct ractor_waits *w = th->ractor->waits;
    if (w) waits_push(w, NULL, RACTOR_STANDS, 0);
}

/* +th+ may go on after a stop. */
void
rb_ractor_waits_stand_end(rb_thread_t *th, const struct rb_vm_lock *lock)
{
    struct ractor_waits *w = th->ractor->waits;
    if (!w || w->state != RACTOR_STANDS) return;

    uint64_t now = waits_now(), ns = waits_between(w->since, now);
    waits_note(w, &w->at, RACTOR_STANDS, &lock->waits.stopper, ns, 1);
    if (w->trace) {
        uint64_t stop = lock->waits.stop_begun;
        ractor_trace_slice(w->trace, RACTOR_STANDS, &w->at, w->since, ns, &lock->waits.stopper);
        ractor_trace_arrow(w->trace, false, "stop", stop, stop > w->since && stop < now ? stop : w->since);
    }
    w->states[RACTOR_STANDS].ns += ns;
    w->since = now;
    waits_pop(w);
}

/* +th+ is about to ask all others to stand. */
void
rb_ractor_waits_stop_begin(rb_thread_t *th, struct rb_vm_lock *lock)
{
    struct ractor_waits *w = waits_of_running(th);
    bool known = w && w->state == RACTOR_STOPS_OTHERS;

    lock->waits.stopper = known ? w->at : waits_nobody;
    lock->waits.stop_begun = waits_now(); /* those that went on first have nothing to do with it */
    if (known && w->trace) ractor_trace_arrow(w->trace, true, "stop", lock->waits.stop_begun, lock->waits.stop_begun);
}

/* The others may go on.  A stop that was asked for before counting began is the enabler's, and has no beginning. */
void
rb_ractor_waits_stop_end(struct rb_vm_lock *lock)
{
    if (lock->waits.stop_begun > 0) lock->waits.stopped_ns += waits_between(lock->waits.stop_begun, waits_now());
    rb_ractor_waits_give(lock, &lock->waits.stopper);
}

/* What the current thread does, for whom it makes wait. */
void
rb_ractor_waits_here(struct ractor_waits_place *place)
{
    const rb_thread_t *th = waits_current_thread();
    struct ractor_waits *w = waits_of_running(th);
    if (w) *place = waits_here(w, th->ec);
}

void
rb_ractor_waits_give(struct rb_vm_lock *lock, const struct ractor_waits_place *giver)
{
    lock->waits.giver = *giver;
    lock->waits.gives++;
}

/* ---- what a Ractor does for all */

static void
waits_begin_work(enum ractor_waits_state state, int cause)
{
    const rb_thread_t *th = waits_current_thread();
    struct ractor_waits *w = waits_of_running(th);
    if (w) waits_push(w, th->ec, state, cause);
}

void
rb_ractor_waits_collect(bool marks)
{
    waits_begin_work(RACTOR_COLLECTS, marks ? RACTOR_WAITS_COLLECT : RACTOR_WAITS_SWEEP);
}

/* +file+ is that of YJIT which asks. */
void
rb_ractor_waits_compile(const char *file)
{
    bool invalidates = file && strstr(file, "invariants.rs");
    waits_begin_work(RACTOR_COMPILES, invalidates ? RACTOR_WAITS_INVALIDATE : RACTOR_WAITS_COMPILE);
}

/* Of those two. */
void
rb_ractor_waits_done(void)
{
    struct ractor_waits *w = waits_of_running(waits_current_thread());
    if (!w || w->depth == 0) return;
    waits_pass(w, waits_now(), true);
    waits_pop(w);
}

/* ---- the running thread */

/* What a thread that sleeps, with its Ractor's lock or none, waits for. */
static enum ractor_waits_state
waits_state_of_sleeper(const rb_thread_t *th)
{
    int status = th ? th->ractor_wait.status : wait_none;

    if (LIKELY(status == wait_none)) return RACTOR_BLOCKS;
    if (status & wait_taking) return RACTOR_TAKES;
    if (status & wait_receiving) return RACTOR_RECEIVES;
    return status & wait_yielding ? RACTOR_YIELDS : RACTOR_BLOCKS;
}

/* The present state is over, and what it interrupted. */
static void
waits_switch(struct ractor_waits *w)
{
    uint64_t now = waits_now();

    waits_settle(w);
    waits_pass(w, now, true);
    if (w->trace) ractor_trace_flush(w->trace, now);
    w->depth = 0;
    w->works_at = RACTOR_WAITS_OTHER;
}

/* Whether there is no more to a transition than what has passed.  What comes by twice for a byte that goes through a pipe is as
 * little code as can be, all the rest lies elsewhere: the kernel has just taken the place of both in the processor's caches. */
static inline bool
waits_plain_p(const struct ractor_waits *w)
{
    return !w->trace && !w->unsettled && w->depth == 0 && w->works_at == RACTOR_WAITS_OTHER;
}

/* +call+ NULL: +ec+ is at a place that is yet to be looked for. */
NOINLINE(static void waits_leave(struct ractor_waits *w, enum ractor_waits_state state, struct waits_call *call,
                                 const rb_execution_context_t *ec));

static void
waits_leave(struct ractor_waits *w, enum ractor_waits_state state, struct waits_call *call, const rb_execution_context_t *ec)
{
    struct ractor_waits_place at = call ? waits_nobody : waits_here(w, ec);

    waits_switch(w);
    if (call) {
        w->at = waits_nobody;
        waits_enter_call(w, state, call);
    }
    else {
        waits_enter(w, state, &at);
    }
}

/* +th+, the current one, lets go of its Ractor, which +next+ is to run, or nobody. */
WAITS_ALIGNED void
rb_ractor_waits_leave(rb_thread_t *th, const rb_thread_t *next)
{
    struct ractor_waits *w = th->ractor->waits;
    if (!w) return;

    enum ractor_waits_state state = UNLIKELY(next != NULL) ? RACTOR_WAITS_TO_RUN : waits_state_of_sleeper(th);
    struct waits_call *call = waits_call_of(w, th->ec);
    if (UNLIKELY(!call || w->state != RACTOR_RUNS || !waits_plain_p(w))) {
        waits_leave(w, state, call, th->ec);
        return;
    }
    w->states[RACTOR_RUNS].ns += waits_elapsed(w, waits_now());
    waits_enter_call(w, state, call);
}

/* The message that +th+ has waited for is here, from the current Ractor. */
static void
waits_trace_message(struct ractor_waits *w, const rb_thread_t *th)
{
    int by = th->ractor_wait.wakeup_status;
    struct ractor_waits *sender = waits_of_running(waits_current_thread());
    if (by != wakeup_by_send && by != wakeup_by_yield && by != wakeup_by_take) return;
    if (!sender || !sender->trace || sender == w) return;

    w->message = w->since << 8 | (rb_ractor_id(th->ractor) & 0xff); /* no other's */
    ractor_trace_arrow(sender->trace, true, "message", w->message, w->since);
    ractor_trace_flush(sender->trace, w->since); /* it may send for long, and wait for nothing */
}

/* +th+ is to run, and nobody of its Ractor does. */
void
rb_ractor_waits_ready(rb_thread_t *th)
{
    struct ractor_waits *w = th->ractor->waits;
    if (!w) return;
    waits_switch(w);
    waits_enter(w, RACTOR_WAITS_TO_RUN, waits_at(w));
    if (w->trace && th->ractor_wait.status != wait_none) waits_trace_message(w, th);
}

/* Which native thread carries +th+. */
static void
waits_trace_carrier(struct ractor_waits *w, const rb_thread_t *th)
{
#ifdef RB_THREAD_T_HAS_NATIVE_ID
    ractor_trace_carried_by(w->trace, (long)th->nt->tid);
#endif
}

NOINLINE(static void waits_resume(struct ractor_waits *w, const rb_thread_t *th));

static void
waits_resume(struct ractor_waits *w, const rb_thread_t *th)
{
    waits_switch(w);
    waits_enter(w, RACTOR_RUNS, &waits_nobody);
    if (!w->trace) return;

    waits_trace_carrier(w, th);
    if (w->message) ractor_trace_arrow(w->trace, false, "message", w->message, w->since);
    w->message = 0;
}

/* +th+, the current one, runs. */
WAITS_ALIGNED void
rb_ractor_waits_resume(rb_thread_t *th)
{
    struct ractor_waits *w = th->ractor->waits;
    if (!w || w->state == RACTOR_RUNS) return;

    struct waits_call *call = w->call;
    if (UNLIKELY(!call || !waits_plain_p(w))) {
        waits_resume(w, th);
        return;
    }
    call->sum.ns += waits_elapsed(w, waits_now());
    w->call = NULL; /* and at is nobody's, as it was before the call */
    w->state = RACTOR_RUNS;
    w->states[RACTOR_RUNS].count++;
}

/* ---- Ractors come and go */

static void
waits_copy_name(char *name, size_t size, const rb_ractor_t *r)
{
    size_t len = 0;
    if (RB_TYPE_P(r->name, T_STRING)) {
        len = ractor_waits_cut(RSTRING_PTR(r->name), RSTRING_LEN(r->name), size - 1);
        memcpy(name, RSTRING_PTR(r->name), len);
    }
    name[len] = '\0';
}

/* Forgets what calls have come to, and have waited for. */
static void
waits_forget_calls(struct ractor_waits *w)
{
    w->at = *waits_at(w);
    w->call = NULL;
    for (int i = 0; i < WAITS_NESTED; i++) {
        if (w->outer[i].call) w->outer[i].at = w->outer[i].call->place;
        w->outer[i].call = NULL;
    }
    MEMZERO(w->calls, struct waits_call, WAITS_CALLS);
}

/* Whoever makes it ready while the flag is off, or is about to be on, adds nothing. */
static void
waits_begin_at(struct ractor_waits *w, uint64_t now)
{
    w->begun = now;
    w->since = RACTOR_WAITS_ON() ? now : WAITS_NEVER;
}

static struct ractor_waits *
waits_alloc(void)
{
    return cache_lines_calloc(sizeof(struct ractor_waits));
}

static void
waits_start(struct ractor_waits *w, const rb_ractor_t *r, enum ractor_waits_state state, uint64_t now)
{
    char name[sizeof(((struct ractor_waits_row *)0)->name)];

    waits_copy_name(name, sizeof(name), r);
    if (!w->trace) w->trace = ractor_trace_new(rb_ractor_id(r), name);
    if (w->trace && state == RACTOR_RUNS) waits_trace_carrier(w, r->threads.sched.running);
    waits_forget_calls(w);
    MEMZERO(w->lines, struct waits_line, WAITS_LINES); /* iseqs may have been freed while nobody counted */
    w->message = 0;
    w->state = state;
    waits_begin_at(w, now);
    w->depth = 0;
    w->works_at = RACTOR_WAITS_OTHER;
    w->at = waits_nobody;
    w->unsettled = false;
}

/* +r+ is in the VM's list, and has not run yet.  VM lock, or there is one Ractor. */
void
rb_ractor_waits_started(rb_ractor_t *r)
{
    if (!RACTOR_WAITS_ON() || r->waits) return;
    struct ractor_waits *w = waits_alloc();
    if (!w) return;
    waits_start(w, r, RACTOR_WAITS_TO_RUN, waits_now());
    r->waits = w;
}

static uint64_t
waits_counted(uint64_t begun, uint64_t before, uint64_t now)
{
    return before + (RACTOR_WAITS_ON() ? waits_between(begun, now) : 0);
}

static void
waits_fill_row(struct ractor_waits_row *row, const rb_ractor_t *r, bool alive, uint64_t now)
{
    const struct ractor_waits *w = r->waits;

    *row = (struct ractor_waits_row){ .id = rb_ractor_id(r), .alive = alive, .ns = waits_counted(w->begun, w->before, now) };
    waits_copy_name(row->name, sizeof(row->name), r);
    MEMCPY(row->states, w->states, struct ractor_waits_sum, RACTOR_WAITS_STATES);
    if (RACTOR_WAITS_ON()) row->states[w->state].ns += waits_between(w->since, now);
}

static void
waits_add_row(struct ractor_waits_row *sum, const struct ractor_waits_row *row)
{
    sum->ns += row->ns;
    for (int i = 0; i < RACTOR_WAITS_STATES; i++) waits_sum_add(&sum->states[i], &row->states[i]);
}

static void
waits_merge(struct waits_table *into, const struct waits_table *table)
{
    for (unsigned int i = 0; i < table->capa; i++) {
        const struct ractor_waits_record *record = &table->records[i];
        if (record->at.path) waits_record(into, WAITS_ENDED_RECORDS, &record->at, &record->by, &record->sum);
    }
    waits_sum_add(&into->dropped, &table->dropped);
}

/* Takes it away from whoever is about to make a thread of +r+ ready. */
static struct ractor_waits *
waits_take(rb_ractor_t *r)
{
    rb_native_mutex_lock(&r->threads.sched.lock_);
    struct ractor_waits *w = r->waits;
    r->waits = NULL;
    rb_native_mutex_unlock(&r->threads.sched.lock_);
    return w;
}

static void
waits_free(struct ractor_waits *w)
{
    if (w) {
        free(w->table.records);
        ractor_trace_free(w->trace, true);
    }
    free(w);
}

/* The last thread of +r+ has let go of it.  VM lock. */
void
rb_ractor_waits_ended(rb_ractor_t *r)
{
    if (!r->waits) return;

    rb_native_mutex_lock(&r->threads.sched.lock_);
    struct ractor_waits_row row;
    uint64_t now = waits_now();
    waits_settle_until(r->waits, now, true);
    waits_fill_row(&row, r, false, now);
    rb_native_mutex_unlock(&r->threads.sched.lock_);
    struct ractor_waits *w = waits_take(r);

    if (waits_ended.rows && waits_ended.rows_cnt < WAITS_ENDED_ROWS) {
        waits_ended.rows[waits_ended.rows_cnt++] = row;
    }
    else {
        waits_add_row(&waits_ended.others, &row);
        waits_ended.others_cnt++;
    }
    waits_merge(&waits_ended.table, &w->table);
    waits_free(w);
}

/* +r+ is freed. */
void
rb_ractor_waits_free(rb_ractor_t *r)
{
    waits_free(r->waits);
    r->waits = NULL;
}

/* ---- for all, from any Ractor */

/* Stops all, so that nobody counts but who makes a thread ready, which needs the lock of its scheduler. */
#define WAITS_ALL_STAND_BEGIN() RB_VM_LOCK_ENTER(); { rb_vm_barrier();
#define WAITS_ALL_STAND_END() } RB_VM_LOCK_LEAVE()

static enum ractor_waits_state
waits_state_now(const rb_ractor_t *r)
{
    const struct rb_thread_sched *sched = &r->threads.sched;

    if (!sched->running) return waits_state_of_sleeper(r->threads.main);
    return sched->is_running ? RACTOR_RUNS : RACTOR_WAITS_TO_RUN;
}

/* Whether there is anything to be told.  Any Ractor: benign, it becomes true once. */
bool
rb_ractor_waits_ever(void)
{
    return __atomic_load_n(&waits_ended.ever, __ATOMIC_RELAXED);
}

/* Counts from now on, in addition to what was counted before.  Whether there is memory. */
bool
rb_ractor_waits_enable(void)
{
    rb_vm_t *vm = GET_VM();
    rb_ractor_t *r;
    bool done = true;

    WAITS_ALL_STAND_BEGIN();
    if (!RACTOR_WAITS_ON()) {
        if (!waits_ended.ever) waits_clock_calibrate();
        uint64_t now = waits_now();
        if (!waits_ended.rows) waits_ended.rows = calloc(WAITS_ENDED_ROWS, sizeof(*waits_ended.rows));
        __atomic_store_n(&waits_ended.ever, true, __ATOMIC_RELAXED);
        waits_ended.begun = now;
        MEMZERO(&vm->ractor.sync.vm_lock.waits, struct ractor_waits_blame, 1);
        __atomic_store_n(&rb_ractor_waits_on, true, __ATOMIC_RELAXED);
        ccan_list_for_each(&vm->ractor.set, r, vmlr_node) {
            rb_native_mutex_lock(&r->threads.sched.lock_);
            if (!r->waits) r->waits = waits_alloc();
            if (r->waits) waits_start(r->waits, r, waits_state_now(r), now);
            else done = false;
            rb_native_mutex_unlock(&r->threads.sched.lock_);
        }
    }
    WAITS_ALL_STAND_END();
    return done;
}

/* What was counted stays. */
void
rb_ractor_waits_disable(void)
{
    rb_vm_t *vm = GET_VM();
    rb_ractor_t *r;

    WAITS_ALL_STAND_BEGIN();
    if (RACTOR_WAITS_ON()) {
        waits_ended.before += waits_between(waits_ended.begun, waits_now());
        ccan_list_for_each(&vm->ractor.set, r, vmlr_node) {
            rb_native_mutex_lock(&r->threads.sched.lock_);
            struct ractor_waits *w = r->waits;
            if (w) {
                uint64_t now = waits_now();
                waits_settle_until(w, now, true);
                w->before += waits_between(w->begun, now);
                w->since = WAITS_NEVER; /* who makes it ready before the flag is off, or as soon as it is on again, adds nothing */
            }
            rb_native_mutex_unlock(&r->threads.sched.lock_);
        }
        __atomic_store_n(&rb_ractor_waits_on, false, __ATOMIC_RELAXED);
    }
    WAITS_ALL_STAND_END();
}

/* What has passed until now, which it returns, counts, and is in the timeline, as far as anybody counts. */
static uint64_t
waits_pass_until_now(struct ractor_waits *w)
{
    uint64_t now = waits_now();

    waits_settle_until(w, now, false);
    if (RACTOR_WAITS_ON() && w->trace) ractor_trace_flush(w->trace, now); /* it may do nothing more for long */
    return now;
}

static void
waits_table_clear(struct waits_table *table)
{
    free(table->records);
    MEMZERO(table, struct waits_table, 1);
}

static void
waits_forget_ended(uint64_t now)
{
    waits_table_clear(&waits_ended.table);
    MEMZERO(&waits_ended.others, struct ractor_waits_row, 1);
    waits_ended.rows_cnt = 0;
    waits_ended.others_cnt = 0;
    waits_ended.begun = now;
    waits_ended.before = 0;
}

static void
waits_forget(struct ractor_waits *w, uint64_t now)
{
    waits_table_clear(&w->table);
    waits_forget_calls(w);
    MEMZERO(w->states, struct ractor_waits_sum, RACTOR_WAITS_STATES);
    w->unsettled = false;
    waits_begin_at(w, now);
    w->before = 0;
}

/* Main, when the others have ended: what they have left to be written is. */
void
rb_ractor_waits_trace_end(void)
{
    rb_ractor_t *r;

    WAITS_ALL_STAND_BEGIN();
    ccan_list_for_each(&GET_VM()->ractor.set, r, vmlr_node) {
        rb_native_mutex_lock(&r->threads.sched.lock_);
        if (r->waits) {
            ractor_trace_free(r->waits->trace, true);
            r->waits->trace = NULL;
        }
        rb_native_mutex_unlock(&r->threads.sched.lock_);
    }
    WAITS_ALL_STAND_END();
    ractor_trace_close();
}

/* Forgets what was counted. */
void
rb_ractor_waits_reset(void)
{
    rb_vm_t *vm = GET_VM();
    rb_ractor_t *r;

    WAITS_ALL_STAND_BEGIN();
    waits_forget_ended(waits_now());
    ccan_list_for_each(&vm->ractor.set, r, vmlr_node) {
        rb_native_mutex_lock(&r->threads.sched.lock_);
        if (r->waits) waits_forget(r->waits, waits_pass_until_now(r->waits));
        rb_native_mutex_unlock(&r->threads.sched.lock_);
    }
    WAITS_ALL_STAND_END();
}

/* The child, as the first thing: what it counts begins now. */
void
rb_ractor_waits_atfork(rb_ractor_t *cr)
{
    rb_ractor_t *r;
    uint64_t now = waits_now();

    rb_native_mutex_initialize(&waits_paths.lock);
    waits_forget_ended(now);
    ractor_trace_atfork();
    ccan_list_for_each(&GET_VM()->ractor.set, r, vmlr_node) {
        if (r->waits) {
            ractor_trace_free(r->waits->trace, false); /* the parent writes it */
            r->waits->trace = NULL;
        }
        if (r != cr) rb_ractor_waits_free(r);
    }
    if (cr->waits) {
        waits_forget(cr->waits, now);
        waits_start(cr->waits, cr, RACTOR_RUNS, now);
    }
}

/* Room for what is there, while all stand.  malloc's, for the GC may not run. */
static bool
waits_snapshot_alloc(struct ractor_waits_snapshot *snapshot)
{
    size_t rows = waits_ended.rows_cnt, records = waits_ended.table.cnt;
    rb_ractor_t *r;

    ccan_list_for_each(&GET_VM()->ractor.set, r, vmlr_node) {
        rb_native_mutex_lock(&r->threads.sched.lock_);
        rows++;
        if (r->waits) {
            waits_settle(r->waits);
            waits_calls_settle(r->waits);
            records += r->waits->table.cnt + WAITS_NESTED; /* who is made ready meanwhile, and the present state */
        }
        rb_native_mutex_unlock(&r->threads.sched.lock_);
    }
    snapshot->records_capa = records;
    snapshot->rows = calloc(rows + 1, sizeof(*snapshot->rows)); /* none of either: no memory means NULL */
    snapshot->records = calloc(records + 1, sizeof(*snapshot->records));
    return snapshot->rows && snapshot->records;
}

static void
waits_snapshot_table(struct ractor_waits_snapshot *snapshot, const struct waits_table *table)
{
    for (unsigned int i = 0; i < table->capa && snapshot->records_cnt < snapshot->records_capa; i++) {
        if (table->records[i].at.path) snapshot->records[snapshot->records_cnt++] = table->records[i];
    }
    waits_sum_add(&snapshot->dropped, &table->dropped);
}

static void
waits_snapshot_ractor(struct ractor_waits_snapshot *snapshot, rb_ractor_t *r)
{
    rb_native_mutex_lock(&r->threads.sched.lock_);
    if (r->waits) {
        uint64_t now = waits_pass_until_now(r->waits); /* not before who has made it ready meanwhile */
        waits_fill_row(&snapshot->rows[snapshot->rows_cnt++], r, true, now);
        waits_snapshot_table(snapshot, &r->waits->table);
    }
    rb_native_mutex_unlock(&r->threads.sched.lock_);
}

/* +only+, if it has ended, and there was room for its row.  What its lines have waited for is with that of the others. */
static void
waits_snapshot_ended(struct ractor_waits_snapshot *snapshot, const rb_ractor_t *only)
{
    for (size_t i = 0; i < waits_ended.rows_cnt; i++) {
        if (waits_ended.rows[i].id == rb_ractor_id(only)) snapshot->rows[snapshot->rows_cnt++] = waits_ended.rows[i];
    }
}

/* What has been counted, for all Ractors or for +only+.  Whether there is memory; the caller frees both arrays. */
bool
rb_ractor_waits_snapshot(struct ractor_waits_snapshot *snapshot, const rb_ractor_t *only)
{
    bool done;
    rb_ractor_t *r;

    MEMZERO(snapshot, struct ractor_waits_snapshot, 1);
    WAITS_ALL_STAND_BEGIN();
    uint64_t now = waits_now();
    done = waits_snapshot_alloc(snapshot);
    if (done) {
        if (only) waits_snapshot_ended(snapshot, only);
        snapshot->on = RACTOR_WAITS_ON();
        snapshot->ns = waits_counted(waits_ended.begun, waits_ended.before, now);
        ccan_list_for_each(&GET_VM()->ractor.set, r, vmlr_node) {
            if (!only || r == only) waits_snapshot_ractor(snapshot, r);
        }
        if (!only) {
            MEMCPY(snapshot->rows + snapshot->rows_cnt, waits_ended.rows, struct ractor_waits_row, waits_ended.rows_cnt);
            snapshot->rows_cnt += waits_ended.rows_cnt;
            snapshot->others = waits_ended.others;
            snapshot->others_cnt = waits_ended.others_cnt;
            waits_snapshot_table(snapshot, &waits_ended.table);
        }
    }
    WAITS_ALL_STAND_END();
    return done;
}

#endif /* RUBY_THREAD_PTHREAD_H */
