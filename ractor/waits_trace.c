/**********************************************************************

  ractor/waits_trace.c - what Ractors do and wait for, as a file to look at

  Licence: see LICENSE.

**********************************************************************/

/* What and why: ractor/waits_trace.h. */

#include "internal.h"
#include "vm_core.h"
#include <fcntl.h>
#include "lockfree/ractor/waits_trace.h"

#ifdef RUBY_THREAD_PTHREAD_H

#define TRACE_BUFFER 16384
#define TRACE_RESERVE 4096          /* for what comes while it may not be written */
#define TRACE_LINE 1024             /* of one event, at most */
#define TRACE_WRITTEN_AFTER 100000000 /* ns */
#define TRACE_FILE_MAX ((size_t)1 << 28)

struct ractor_trace {
    uint64_t id, written_at;
    long native_thread;
    size_t len, left_out;
    char buffer[TRACE_BUFFER];
};

/* Written before the program begins, and in the child of a fork. */
static struct {
    int fd;
    char *file;
    long pid;
} ractor_trace_file = { .fd = -1 };

/* Of the file; by whoever writes. */
static size_t ractor_trace_written;

bool
ractor_trace_p(void)
{
    return ractor_trace_file.fd >= 0;
}

/* ---- the file */

static void
trace_write(const char *lines, size_t len)
{
    if (!ractor_trace_p()) return;
    if (__atomic_fetch_add(&ractor_trace_written, len, __ATOMIC_RELAXED) > TRACE_FILE_MAX) return;
    while (len > 0) {
        ssize_t n = write(ractor_trace_file.fd, lines, len);
        if (n <= 0) break; /* a full disk, say: the rest is lost, and the program goes on */
        lines += n;
        len -= n;
    }
}

static void
trace_open(const char *file)
{
    ractor_trace_file.pid = (long)getpid();
    ractor_trace_file.fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (!ractor_trace_p()) {
        fprintf(stderr, "ruby: --ractor-trace: cannot write %s: %s\n", file, strerror(errno));
        return;
    }
    __atomic_store_n(&ractor_trace_written, 0, __ATOMIC_RELAXED);
    trace_write("[\n", 2);
}

/* Main, before the program begins. */
void
ractor_trace_open(const char *file)
{
    ractor_trace_file.file = strdup(file);
    if (ractor_trace_file.file) trace_open(file);
}

/* The child, as the first thing: it has a file of its own. */
void
ractor_trace_atfork(void)
{
    char file[PATH_MAX];

    if (!ractor_trace_p()) return;
    close(ractor_trace_file.fd);
    snprintf(file, sizeof(file), "%s.%ld", ractor_trace_file.file, (long)getpid());
    trace_open(file);
}

/* Main, when the others have ended, and their buffers are written. */
void
ractor_trace_close(void)
{
    char line[TRACE_LINE];

    if (!ractor_trace_p()) return;
    bool full = __atomic_load_n(&ractor_trace_written, __ATOMIC_RELAXED) > TRACE_FILE_MAX;
    __atomic_store_n(&ractor_trace_written, 0, __ATOMIC_RELAXED); /* there is room for this */
    int len = snprintf(line, sizeof(line), "{\"ph\":\"M\",\"pid\":%ld,\"name\":\"process_labels\","
                       "\"args\":{\"labels\":\"%s\"}}]\n", ractor_trace_file.pid,
                       full ? "the file was full, the end is left out" : "whole");
    trace_write(line, len);
    close(ractor_trace_file.fd);
    ractor_trace_file.fd = -1;
}

/* ---- lines */

void
ractor_trace_flush(struct ractor_trace *trace, uint64_t now)
{
    if (!trace || trace->len == 0) return;
    if (trace->len < TRACE_BUFFER - TRACE_RESERVE && now - trace->written_at < TRACE_WRITTEN_AFTER) return;
    trace_write(trace->buffer, trace->len);
    trace->len = 0;
    trace->written_at = now;
}

/* Where the next line begins, or NULL where there is no room for any. */
static char *
trace_line(struct ractor_trace *trace)
{
    if (trace->len + TRACE_LINE <= TRACE_BUFFER) return trace->buffer + trace->len;
    trace->left_out++;
    return NULL;
}

/* What is in quotes, as far as +end+. */
static char *
trace_string(char *to, const char *end, const char *string)
{
    for (; *string && to + 8 < end; string++) {
        unsigned char c = *string;
        if (c == '"' || c == '\\') *to++ = '\\';
        if (c >= 0x20 && c != 0x7f) *to++ = c;
        else to += sprintf(to, "\\u%04x", c);
    }
    return to;
}

/* Not the method: whoever waits for the VM lock may not look its name up. */
static char *
trace_place(char *to, const char *end, const char *key, const struct ractor_waits_place *place)
{
    if (!place->path || !*place->path) return to;
    to += sprintf(to, ",\"%s\":\"", key);
    to = trace_string(to, end - 20, place->path);
    return to + sprintf(to, ":%d\"", place->line);
}

/* Microseconds, as the format has them. */
#define TRACE_TIME "%"PRIu64".%03u"
#define TRACE_TIME_ARGS(ns) (ns) / 1000, (unsigned int)((ns) % 1000)

/* +trace+ was in +state+, where +at+ says, for +ns+; because of +by+, if that is known. */
void
ractor_trace_slice(struct ractor_trace *trace, enum ractor_waits_state state, const struct ractor_waits_place *at,
                   uint64_t begun, uint64_t ns, const struct ractor_waits_place *by)
{
    char *line = trace_line(trace), *to = line, *end = line + TRACE_LINE;
    if (!line) return;

    to += sprintf(to, "{\"ph\":\"X\",\"pid\":%ld,\"tid\":%"PRIu64",\"ts\":" TRACE_TIME ",\"dur\":" TRACE_TIME
                  ",\"name\":\"%s\",\"args\":{\"thread\":%ld", ractor_trace_file.pid, trace->id, TRACE_TIME_ARGS(begun),
                  TRACE_TIME_ARGS(ns), ractor_waits_state_names[state], trace->native_thread);
    to = trace_place(to, end - 400, "at", at);
    if (by && (by->path || by->what)) {
        to = trace_place(to, end - 100, "by", by);
        to += sprintf(to, ",\"cause\":\"%s\"", ractor_waits_cause_names[by->what]);
    }
    to += sprintf(to, "}},\n");
    trace->len += to - line;
}

/* An end of the arrow +id+, in the slice that +at+ lies in. */
void
ractor_trace_arrow(struct ractor_trace *trace, bool begins, const char *kind, uint64_t id, uint64_t at)
{
    char *line = trace_line(trace);
    if (!line) return;

    trace->len += sprintf(line, "{\"ph\":\"%s\",\"pid\":%ld,\"tid\":%"PRIu64",\"ts\":" TRACE_TIME
                          ",\"name\":\"%s\",\"cat\":\"%s\",\"id\":\"%s%"PRIu64"\"%s},\n",
                          begins ? "s" : "f", ractor_trace_file.pid, trace->id, TRACE_TIME_ARGS(at), kind, kind, kind, id,
                          begins ? "" : ",\"bp\":\"e\"");
}

/* ---- Ractors come and go */

/* The track of a Ractor; NULL if nobody traces, or there is no memory. */
struct ractor_trace *
ractor_trace_new(uint64_t id, const char *name)
{
    struct ractor_trace *trace = ractor_trace_p() ? malloc(sizeof(*trace)) : NULL;
    if (!trace) return NULL;

    trace->id = id;
    trace->written_at = 0;
    trace->len = trace->left_out = 0;
    trace->native_thread = 0;

    char *to = trace->buffer, *end = to + TRACE_LINE;
    to += sprintf(to, "{\"ph\":\"M\",\"pid\":%ld,\"tid\":%"PRIu64",\"name\":\"thread_name\","
                  "\"args\":{\"name\":\"Ractor %"PRIu64" ", ractor_trace_file.pid, id, id);
    to = trace_string(to, end - 10, name);
    to += sprintf(to, "\"}},\n");
    trace->len = to - trace->buffer;
    return trace;
}

/* +written+: what is left of it, too. */
void
ractor_trace_free(struct ractor_trace *trace, bool written)
{
    if (trace && written) trace_write(trace->buffer, trace->len);
    free(trace);
}

/* The native thread that carries it from now on. */
void
ractor_trace_carried_by(struct ractor_trace *trace, long tid)
{
    trace->native_thread = tid;
}

#endif /* RUBY_THREAD_PTHREAD_H */
