/**********************************************************************

  benchmark/lib/sharing.c - counts the cache lines that Ractors share

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  Two cores cannot show what 64 would.  But operations whose memory
 * accesses do not conflict scale on any machine that keeps its caches coherent
 * (Clements et al., "The Scalable Commutativity Rule", SOSP 2013): no line is
 * written by one core and touched by another.  That can be counted on one core.
 *
 * Solution.  A build of CRuby in which gcc calls a function before each load and
 * store (-fsanitize=thread), and this file in place of ThreadSanitizer's library.
 * A thread between Sharing.begin and Sharing.end keeps for itself which lines it
 * reads and writes, from where and how often.  Sharing.report puts the threads'
 * tables together.  Nothing is recorded of who comes first: a conflict is there
 * whether or not it comes at a bad moment.
 *
 * What it does not see: what the C library and the kernel do, but for memcpy,
 * memmove, memset and memcmp; Rust; code that YJIT makes.
 *
 * Orders.  A table belongs to its thread until Sharing.end; the list of tables has
 * a mutex.  Who calls report has waited for those threads.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64
#define CAPACITY 4096   /* of a new table; a power of two */
#define CALLERS 6
#define FRAME_MAX 65536 /* bytes of a frame; more: what looks like a frame is none */

struct entry {
    uintptr_t line, pc;         /* line == 0: free */
    uint32_t reads, writes;
    uintptr_t callers[CALLERS]; /* of the first time */
};

struct table {
    struct table *next;
    struct entry *entries;
    size_t capacity, count;
    unsigned int number;
};

static __thread struct table *current __attribute__((tls_model("initial-exec")));

static struct {
    pthread_mutex_t lock;
    struct table *first;
    unsigned int count;
} tables = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- while a thread records */

static struct entry *
find(struct entry *entries, size_t capacity, uintptr_t line, uintptr_t pc)
{
    uint64_t hash = (line / LINE) * 0x9E3779B97F4A7C15u ^ pc * 0xC2B2AE3D27D4EB4Fu;
    for (size_t i = hash >> 20;; i++) {
        struct entry *entry = &entries[i & (capacity - 1)];
        if (!entry->line || (entry->line == line && entry->pc == pc)) return entry;
    }
}

static void *
clear_memory(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        fputs("sharing: no memory for the table of a thread\n", stderr);
        abort();
    }
    return memory;
}

static void
grow(struct table *table)
{
    size_t capacity = table->capacity * 2;
    struct entry *entries = clear_memory(capacity, sizeof(*entries));

    for (size_t i = 0; i < table->capacity; i++) {
        struct entry *entry = &table->entries[i];
        if (entry->line) *find(entries, capacity, entry->line, entry->pc) = *entry;
    }
    free(table->entries);
    table->entries = entries;
    table->capacity = capacity;
}

/* Who has called the function with that frame, up to where frames end, or one has none. */
static void
note_callers(struct entry *entry, const uintptr_t *frame)
{
    for (int i = 0; i < CALLERS; i++) {
        const uintptr_t *next = (const uintptr_t *)frame[0];
        if (next <= frame || (uintptr_t)next - (uintptr_t)frame > FRAME_MAX || (uintptr_t)next % sizeof(uintptr_t)) return;
        entry->callers[i] = next[1] - 1;
        frame = next;
    }
}

static void
record(uintptr_t address, size_t size, bool write, uintptr_t pc, const uintptr_t *frame)
{
    struct table *table = current;
    uintptr_t last = (address + size - 1) & ~(uintptr_t)(LINE - 1);

    for (uintptr_t line = address & ~(uintptr_t)(LINE - 1); line <= last; line += LINE) {
        struct entry *entry = find(table->entries, table->capacity, line, pc);
        if (!entry->line) {
            if (table->count >= table->capacity / 2) {
                grow(table);
                entry = find(table->entries, table->capacity, line, pc);
            }
            entry->line = line;
            entry->pc = pc;
            note_callers(entry, frame);
            table->count++;
        }
        if (write) entry->writes++;
        else       entry->reads++;
    }
}

#define PC() ((uintptr_t)__builtin_return_address(0) - 1)
#define RECORD(address, size, write) do { \
    if (__builtin_expect(current != NULL, 0) && (size) > 0) record((uintptr_t)(address), (size), (write), PC(), __builtin_frame_address(0)); \
} while (0)

/* ---- what gcc calls */

void __tsan_init(void) {}
void __tsan_func_entry(void *pc) {}
void __tsan_func_exit(void) {}
void __tsan_atomic_signal_fence(int order) {}
void __tsan_atomic_thread_fence(int order) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_vptr_update(void **p, void *value) { RECORD(p, sizeof(*p), true); }
void __tsan_vptr_read(void **p) { RECORD(p, sizeof(*p), false); }
void __tsan_read_range(void *p, size_t size) { RECORD(p, size, false); }
void __tsan_write_range(void *p, size_t size) { RECORD(p, size, true); }

#define PLAIN(size) \
    void __tsan_read##size(void *p) { RECORD(p, size, false); } \
    void __tsan_write##size(void *p) { RECORD(p, size, true); } \
    void __tsan_unaligned_read##size(void *p) { RECORD(p, size, false); } \
    void __tsan_unaligned_write##size(void *p) { RECORD(p, size, true); } \
    void __tsan_volatile_read##size(void *p) { RECORD(p, size, false); } \
    void __tsan_volatile_write##size(void *p) { RECORD(p, size, true); }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

#define FETCH(bits, name) \
    uint##bits##_t __tsan_atomic##bits##_fetch_##name(volatile uint##bits##_t *p, uint##bits##_t value, int order) \
    { \
        RECORD(p, bits / 8, true); \
        return __atomic_fetch_##name(p, value, __ATOMIC_SEQ_CST); \
    }
#define COMPARE_EXCHANGE(bits, strength) \
    int __tsan_atomic##bits##_compare_exchange_##strength(volatile uint##bits##_t *p, uint##bits##_t *expected, \
                                                          uint##bits##_t value, int success, int failure) \
    { \
        RECORD(p, bits / 8, true); \
        return __atomic_compare_exchange_n(p, expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    }
#define ATOMIC(bits) \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *p, int order) \
    { \
        RECORD(p, bits / 8, false); \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST); \
    } \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *p, uint##bits##_t value, int order) \
    { \
        RECORD(p, bits / 8, true); \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST); \
    } \
    uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t *p, uint##bits##_t value, int order) \
    { \
        RECORD(p, bits / 8, true); \
        return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST); \
    } \
    FETCH(bits, add) FETCH(bits, sub) FETCH(bits, and) FETCH(bits, or) FETCH(bits, xor) FETCH(bits, nand) \
    COMPARE_EXCHANGE(bits, strong) COMPARE_EXCHANGE(bits, weak) \
    uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(volatile uint##bits##_t *p, uint##bits##_t expected, \
                                                              uint##bits##_t value, int success, int failure) \
    { \
        RECORD(p, bits / 8, true); \
        __atomic_compare_exchange_n(p, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        return expected; \
    }
ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

/* ---- and the linker, in place of these: --wrap */

void *__real_memcpy(void *to, const void *from, size_t size);
void *__real_memmove(void *to, const void *from, size_t size);
void *__real_memset(void *to, int byte, size_t size);
int __real_memcmp(const void *a, const void *b, size_t size);

void *
__wrap_memcpy(void *to, const void *from, size_t size)
{
    RECORD(from, size, false);
    RECORD(to, size, true);
    return __real_memcpy(to, from, size);
}

void *
__wrap_memmove(void *to, const void *from, size_t size)
{
    RECORD(from, size, false);
    RECORD(to, size, true);
    return __real_memmove(to, from, size);
}

void *
__wrap_memset(void *to, int byte, size_t size)
{
    RECORD(to, size, true);
    return __real_memset(to, byte, size);
}

int
__wrap_memcmp(const void *a, const void *b, size_t size)
{
    RECORD(a, size, false);
    RECORD(b, size, false);
    return __real_memcmp(a, b, size);
}

/* ---- the report */

struct touch {
    struct entry entry;
    unsigned int number;        /* of the thread */
};

static int
compare_touches(const void *a, const void *b)
{
    const struct touch *x = a, *y = b;
    if (x->entry.line != y->entry.line) return x->entry.line < y->entry.line ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Some touches of one line: whether one thread writes it, and another touches it. */
static bool
shared_p(const struct touch *touches, size_t count)
{
    unsigned int writer = 0;
    bool written = false;

    for (size_t i = 0; i < count && !written; i++) {
        written = touches[i].entry.writes > 0;
        writer = touches[i].number;
    }
    for (size_t i = 0; i < count; i++) {
        if (written && touches[i].number != writer) return true;
    }
    return false;
}

static void
print_place(FILE *file, uintptr_t address)
{
    Dl_info info;
    if (dladdr((void *)address, &info) && info.dli_fname) {
        fprintf(file, " %s+0x%lx", info.dli_fname, (unsigned long)(address - (uintptr_t)info.dli_fbase));
    }
    else {
        fputs(" -", file);
    }
}

static struct touch *
gather(size_t *count)
{
    *count = 0;
    for (struct table *table = tables.first; table; table = table->next) *count += table->count;
    struct touch *touches = clear_memory(*count + 1, sizeof(*touches)), *touch = touches;

    for (struct table *table = tables.first; table; table = table->next) {
        for (size_t i = 0; i < table->capacity; i++) {
            if (table->entries[i].line) *touch++ = (struct touch){ table->entries[i], table->number };
        }
    }
    qsort(touches, *count, sizeof(*touches), compare_touches);
    return touches;
}

/* A line of text for each place in the program, and thread, that touches a line of memory that is shared: the line's
 * address, the thread, how often it reads and writes, the place, and its callers. */
static bool
report(const char *path)
{
    FILE *file = fopen(path, "w");
    size_t count;
    if (!file) return false;

    struct touch *touches = gather(&count);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i; next < count && touches[next].entry.line == touches[i].entry.line; next++) continue;
        if (!shared_p(&touches[i], next - i)) continue;
        for (size_t k = i; k < next; k++) {
            const struct entry *entry = &touches[k].entry;
            fprintf(file, "0x%lx", (unsigned long)entry->line);
            fprintf(file, " %u %u %u", touches[k].number, entry->reads, entry->writes);
            print_place(file, entry->pc);
            for (int c = 0; c < CALLERS && entry->callers[c]; c++) print_place(file, entry->callers[c]);
            fputc('\n', file);
        }
    }
    free(touches);
    return fclose(file) == 0;
}

/* ---- what Ruby sees: module Sharing.  In programs that are no Ruby, as those of configure, these symbols are 0. */

typedef unsigned long VALUE;
#define WEAK __attribute__((weak))
WEAK VALUE rb_define_module(const char *name);
WEAK void rb_define_module_function(VALUE module, const char *name, VALUE (*func)(), int argc);
WEAK char *rb_string_value_cstr(volatile VALUE *string);
WEAK void rb_sys_fail(const char *message);
WEAK void __real_Init_marshal(void);

/* Sharing.begin: this thread records from here on.  Any Ractor. */
static VALUE
sharing_begin(VALUE self)
{
    struct table *table = clear_memory(1, sizeof(*table));
    table->capacity = CAPACITY;
    table->entries = clear_memory(CAPACITY, sizeof(*table->entries));

    pthread_mutex_lock(&tables.lock);
    table->next = tables.first;
    table->number = tables.count++;
    tables.first = table;
    pthread_mutex_unlock(&tables.lock);
    current = table;
    return self;
}

/* Sharing.end: no more.  Whether this is the thread that began; if not, the Ractor has changed its native thread. */
static VALUE
sharing_end(VALUE self)
{
    bool same = current != NULL;
    current = NULL;
    return same ? 0x14 : 0; /* Qtrue, Qfalse */
}

/* Sharing.report(path): writes what is shared.  After all have ended. */
static VALUE
sharing_report(VALUE self, VALUE path)
{
    if (!report(rb_string_value_cstr(&path))) rb_sys_fail("Sharing.report");
    return self;
}

void
__wrap_Init_marshal(void)
{
    __real_Init_marshal();
    VALUE module = rb_define_module("Sharing");
    rb_define_module_function(module, "begin", sharing_begin, 0);
    rb_define_module_function(module, "end", sharing_end, 0);
    rb_define_module_function(module, "report", sharing_report, 1);
}
