/**********************************************************************

  ractor/waits_trace.c - what Ractors do and wait for, as a file to look at

  Licence: see LICENSE.

**********************************************************************/

/* What and why: ractor/waits_trace.h. */

#include "internal.h"
#include "ruby/encoding.h"
#include "hrtime.h"
#include "vm_core.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#ifdef HAVE_FLOCK
# include <sys/file.h>
#endif
#include "lockfree/ractor/waits_trace.h"

#ifdef RUBY_THREAD_PTHREAD_H

#define TRACE_BUFFER 16384
#define TRACE_RESERVE 4096          /* for what comes while it may not be handed over */
#define TRACE_LINE 1024             /* of one event, at most */
#define TRACE_WRITTEN_AFTER 100000000 /* ns */
#define TRACE_QUEUE 256             /* buffers; as many more as Ractors hand one over at the same moment */
#define TRACE_FILE_MAX ((size_t)1 << 28)
#define TRACE_PATIENCE 5000         /* ms at exit, in which no buffer is written */
#define TRACE_PATIENCE_IN_ALL 60000 /* ms at exit */

struct trace_buffer {
    struct trace_buffer *next;      /* in the queue */
    size_t len;
    char lines[TRACE_BUFFER];
};

struct ractor_trace {
    uint64_t id, handed_over_at;
    long native_thread;
    size_t left_out;                /* events */
    struct trace_buffer *buffer;
};

/* Written before the program begins, by main at its end, and in the child of a fork. */
static struct {
    bool open;
    char *path;
    long pid;
} trace_file;

/* The queue, with its lock.  The first buffer stays in it until it is written. */
static struct {
    rb_nativethread_lock_t lock;
    rb_nativethread_cond_t filled, emptied;
    struct trace_buffer *first, *last;
    unsigned int waiting, written;  /* buffers; the latter goes round */
    size_t left_out;
    bool closing, closed;
} trace_queue;

/* The writer's own. */
static struct {
    int fd, error;
    size_t size;
} trace_out;

/* The descriptor, or -1.  Relaxed: stored by trace_reserve, loaded by any Ractor in rb_ractor_trace_fd_p. */
static int trace_reserved_fd = -1;

static void
trace_reserve(int fd)
{
    __atomic_store_n(&trace_reserved_fd, fd, __ATOMIC_RELAXED);
}

/* As rb_reserved_fd_p: a program that closes all descriptors leaves this one open, or its next file would get our lines.
 * Any Ractor, and the child of a fork. */
bool
rb_ractor_trace_fd_p(int fd)
{
    return fd >= 0 && fd == __atomic_load_n(&trace_reserved_fd, __ATOMIC_RELAXED);
}

/* ---- strings */

size_t
ractor_waits_cut(const char *string, size_t len, size_t most)
{
    size_t begins = most;

    if (len <= most) return len;
    while (begins > 0 && most - begins < 3 && (string[begins] & 0xc0) == 0x80) begins--;
    return (string[begins] & 0xc0) == 0x80 ? most : begins;
}

const char *
ractor_waits_json_char(char **to, const char *from, const char *end)
{
    unsigned char c = *from;
    int len = c < 0x80 ? 1 : rb_enc_precise_mbclen(from, end, rb_utf8_encoding());

    if (c < 0x20 || c == 0x7f || !MBCLEN_CHARFOUND_P(len)) {
        *to += sprintf(*to, "\\u%04x", c);
        return from + 1;
    }
    if (c == '"' || c == '\\') *(*to)++ = '\\';
    memcpy(*to, from, len);
    *to += len;
    return from + len;
}

/* ---- the thread that writes */

static void
trace_write(const char *lines, size_t len)
{
    while (len > 0 && !trace_out.error) {
        ssize_t n = write(trace_out.fd, lines, len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) trace_out.error = errno; /* a full disk, say: the rest is lost, and the program goes on */
        if (n < 0) break;
        lines += n;
        len -= n;
    }
}

static void
trace_write_buffer(const struct trace_buffer *buffer)
{
    trace_out.size += buffer->len;
    if (trace_out.size <= TRACE_FILE_MAX) trace_write(buffer->lines, buffer->len);
}

/* Beyond the limit of the file: there is room for this. */
static void
trace_write_end(size_t left_out)
{
    char line[TRACE_LINE], label[100] = "whole";

    if (trace_out.size > TRACE_FILE_MAX) snprintf(label, sizeof(label), "the file was full, the end is left out");
    else if (left_out > 0) snprintf(label, sizeof(label), "%"PRIuSIZE" events left out: they came faster than the file took them", left_out);
    int len = snprintf(line, sizeof(line), "{\"ph\":\"M\",\"cat\":\"__metadata\",\"pid\":%ld,\"tid\":0,\"ts\":0,\"name\":\"process_labels\","
                       "\"args\":{\"labels\":\"%s\"}}]\n", trace_file.pid, label);
    trace_write(line, len);
    if (close(trace_out.fd) != 0 && !trace_out.error) trace_out.error = errno;
}

/* Waits for a buffer; NULL: there are no more. */
static struct trace_buffer *
trace_queue_wait(size_t *left_out)
{
    rb_native_mutex_lock(&trace_queue.lock);
    while (!trace_queue.first && !trace_queue.closing) rb_native_cond_wait(&trace_queue.filled, &trace_queue.lock);
    struct trace_buffer *buffer = trace_queue.first;
    *left_out = trace_queue.left_out;
    rb_native_mutex_unlock(&trace_queue.lock);
    return buffer;
}

/* The first one is written; or all. */
static void
trace_queue_written(bool all)
{
    rb_native_mutex_lock(&trace_queue.lock);
    struct trace_buffer *buffer = trace_queue.first;
    if (all) {
        trace_queue.closed = true;
    }
    else {
        trace_queue.first = buffer->next;
        trace_queue.waiting--;
        trace_queue.written++;
    }
    rb_native_cond_signal(&trace_queue.emptied);
    rb_native_mutex_unlock(&trace_queue.lock);
    free(buffer);
}

static void *
trace_writer(void *arg)
{
    struct trace_buffer *buffer;
    size_t left_out;

    trace_write("[\n", 2);
    while ((buffer = trace_queue_wait(&left_out)) != NULL) {
        trace_write_buffer(buffer);
        trace_queue_written(false);
    }
    trace_write_end(left_out);
    trace_queue_written(true);
    return NULL;
}

/* Ruby's signals are for Ruby's threads.  0, or an errno. */
static int
trace_start_writer(void)
{
    sigset_t all, before;
    pthread_t thread;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, trace_writer, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) pthread_detach(thread);
    return error;
}

/* ---- the file */

static void
trace_cannot_write(const char *file, int error)
{
    fprintf(stderr, "ruby: --ractor-trace: cannot write %s: %s\n", file, strerror(error));
}

#define TRACE_FLAGS (O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC)

static void
trace_file_with_pid(char *file, size_t size)
{
    snprintf(file, size, "%s.%ld", trace_file.path, (long)getpid());
}

/* As +file+, or, where another Ruby is writing that, as RUBYOPT gives it to those that a program starts, as FILE.PID. */
static int
trace_open_file(const char *file)
{
    int fd = open(file, TRACE_FLAGS, 0666);
#ifdef HAVE_FLOCK
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        char own[PATH_MAX];
        close(fd);
        trace_file_with_pid(own, sizeof(own));
        fd = open(own, TRACE_FLAGS, 0666);
    }
#endif
    if (fd >= 0 && ftruncate(fd, 0) != 0) errno = 0; /* a pipe, say */
    return fd;
}

/* What was in the queue is a parent's. */
static void
trace_open(const char *file)
{
    memset(&trace_queue, 0, sizeof(trace_queue));
    rb_native_mutex_initialize(&trace_queue.lock);
    rb_native_cond_initialize(&trace_queue.filled);
    rb_native_cond_initialize(&trace_queue.emptied);
    memset(&trace_out, 0, sizeof(trace_out));
    trace_file.pid = (long)getpid();
    trace_out.fd = trace_open_file(file);
    int error = trace_out.fd < 0 ? errno : trace_start_writer();

    trace_file.open = error == 0;
    trace_reserve(error ? -1 : trace_out.fd);
    if (trace_file.open) return;
    trace_cannot_write(file, error);
    if (trace_out.fd >= 0) close(trace_out.fd);
}

/* Main, before the program begins. */
void
ractor_trace_open(const char *file)
{
    if (trace_file.open) return; /* given twice: the first one */
    trace_file.path = strdup(file);
    if (trace_file.path) trace_open(file);
}

/* The child, as the first thing: it has a file and a thread of its own.  The parent's queue is not its own to free. */
void
ractor_trace_atfork(void)
{
    char file[PATH_MAX];

    if (!trace_file.open) return;
    close(trace_out.fd);
    trace_file_with_pid(file, sizeof(file));
    trace_open(file);
}

/* Until all is written, or nothing for TRACE_PATIENCE.  With the lock.  Returns whether all is. */
static bool
trace_await_writer(void)
{
    const rb_hrtime_t began = rb_hrtime_now();
    rb_hrtime_t last = began;
    unsigned int written = trace_queue.written;

    while (!trace_queue.closed) {
        rb_hrtime_t now = rb_hrtime_now();
        if (written != trace_queue.written) {
            written = trace_queue.written;
            last = now;
        }
        if (now - last >= TRACE_PATIENCE * RB_HRTIME_PER_MSEC || now - began >= TRACE_PATIENCE_IN_ALL * RB_HRTIME_PER_MSEC) return false;
        rb_native_cond_timedwait(&trace_queue.emptied, &trace_queue.lock, TRACE_PATIENCE / 10);
    }
    return true;
}

/* Main, when the others have ended, and have handed over what they had.  Holds no lock. */
void
ractor_trace_close(void)
{
    if (!trace_file.open) return;
    trace_file.open = false;

    rb_native_mutex_lock(&trace_queue.lock);
    trace_queue.closing = true;
    rb_native_cond_signal(&trace_queue.filled);
    bool closed = trace_await_writer();
    rb_native_mutex_unlock(&trace_queue.lock);

    if (closed) trace_reserve(-1);
    if (!closed) fprintf(stderr, "ruby: --ractor-trace: %s takes no more, the end is left out\n", trace_file.path);
    else if (trace_out.error) trace_cannot_write(trace_file.path, trace_out.error);
}

/* ---- lines */

static size_t
trace_events(const struct trace_buffer *buffer)
{
    size_t events = 0;
    for (size_t i = 0; i < buffer->len; i++) events += buffer->lines[i] == '\n';
    return events;
}

/* With the lock.  The last buffer of the queue, which nobody writes yet, has what +buffer+ has, if there is one with room. */
static bool
trace_queue_append(const struct trace_buffer *buffer)
{
    struct trace_buffer *last = trace_queue.last;

    if (!trace_queue.first || trace_queue.first == last || last->len + buffer->len > TRACE_BUFFER) return false;
    memcpy(last->lines + last->len, buffer->lines, buffer->len);
    last->len += buffer->len;
    return true;
}

/* With the lock. */
static void
trace_queue_push(struct trace_buffer *buffer)
{
    buffer->next = NULL;
    if (trace_queue.first) trace_queue.last->next = buffer;
    else trace_queue.first = buffer;
    trace_queue.last = buffer;
    trace_queue.waiting++;
    rb_native_cond_signal(&trace_queue.filled);
}

/* To the queue, if it has room.  +last+: the Ractor needs no other buffer, and what finds no room is lost; else it waits for
 * room, and for memory, and fills the one that it has.  With the next buffer ready before the lock is taken: a child that is
 * forked in between has either of them once. */
static void
trace_hand_over(struct ractor_trace *trace, bool last)
{
    struct trace_buffer *buffer = trace->buffer, *next = NULL;

    rb_native_mutex_lock(&trace_queue.lock);
    bool appended = trace_queue_append(buffer), room = !appended && trace_queue.waiting < TRACE_QUEUE;
    trace_queue.left_out += trace->left_out + (appended || room || !last ? 0 : trace_events(buffer));
    rb_native_mutex_unlock(&trace_queue.lock);

    trace->left_out = 0;
    if (appended) buffer->len = 0;
    if (!room || (!last && !(next = malloc(sizeof(*next))))) return;
    if (next) next->len = 0;
    trace->buffer = next;

    rb_native_mutex_lock(&trace_queue.lock);
    trace_queue_push(buffer);
    rb_native_mutex_unlock(&trace_queue.lock);
}

void
ractor_trace_flush(struct ractor_trace *trace, uint64_t now)
{
    size_t len = trace->buffer->len;
    if (len == 0 || (len < TRACE_BUFFER - TRACE_RESERVE && now - trace->handed_over_at < TRACE_WRITTEN_AFTER)) return;
    trace_hand_over(trace, false);
    trace->handed_over_at = now;
}

/* Where the next line begins, or NULL where there is no room for any. */
static char *
trace_line(struct ractor_trace *trace)
{
    struct trace_buffer *buffer = trace->buffer;
    if (buffer->len + TRACE_LINE <= TRACE_BUFFER) return buffer->lines + buffer->len;
    trace->left_out++;
    return NULL;
}

/* What is in quotes, as far as +end+. */
static char *
trace_string(char *to, const char *end, const char *string)
{
    const char *string_end = string + strlen(string);

    while (string < string_end && to + RACTOR_WAITS_CHAR < end) string = ractor_waits_json_char(&to, string, string_end);
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

    to += sprintf(to, "{\"ph\":\"X\",\"cat\":\"ractor\",\"pid\":%ld,\"tid\":%"PRIu64",\"ts\":" TRACE_TIME ",\"dur\":" TRACE_TIME
                  ",\"name\":\"%s\",\"args\":{\"thread\":%ld", trace_file.pid, trace->id, TRACE_TIME_ARGS(begun),
                  TRACE_TIME_ARGS(ns), ractor_waits_state_names[state], trace->native_thread);
    to = trace_place(to, end - 400, "at", at);
    if (by && (by->path || by->what)) {
        to = trace_place(to, end - 100, "by", by);
        to += sprintf(to, ",\"cause\":\"%s\"", ractor_waits_cause_names[by->what]);
    }
    to += sprintf(to, "}},\n");
    trace->buffer->len += to - line;
}

/* An end of the arrow +id+, in the slice that +at+ lies in. */
void
ractor_trace_arrow(struct ractor_trace *trace, bool begins, const char *kind, uint64_t id, uint64_t at)
{
    char *line = trace_line(trace);
    if (!line) return;

    trace->buffer->len += sprintf(line, "{\"ph\":\"%s\",\"pid\":%ld,\"tid\":%"PRIu64",\"ts\":" TRACE_TIME
                          ",\"name\":\"%s\",\"cat\":\"%s\",\"id\":\"%s%"PRIu64"\"%s,\"args\":{}},\n",
                          begins ? "s" : "f", trace_file.pid, trace->id, TRACE_TIME_ARGS(at), kind, kind, kind, id,
                          begins ? "" : ",\"bp\":\"e\"");
}

/* ---- Ractors come and go */

/* The track of a Ractor; NULL if nobody traces, or there is no memory. */
struct ractor_trace *
ractor_trace_new(uint64_t id, const char *name)
{
    struct ractor_trace *trace = trace_file.open ? calloc(1, sizeof(*trace)) : NULL;
    if (!trace) return NULL;
    trace->buffer = malloc(sizeof(*trace->buffer));
    if (!trace->buffer) {
        free(trace);
        return NULL;
    }
    trace->id = id;

    char *to = trace->buffer->lines, *end = to + TRACE_LINE;
    to += sprintf(to, "{\"ph\":\"M\",\"cat\":\"__metadata\",\"pid\":%ld,\"tid\":%"PRIu64",\"ts\":0,\"name\":\"thread_name\","
                  "\"args\":{\"name\":\"Ractor %"PRIu64" ", trace_file.pid, id, id);
    to = trace_string(to, end - 10, name);
    to += sprintf(to, "\"}},\n");
    trace->buffer->len = to - trace->buffer->lines;
    return trace;
}

/* +written+: what is left of it is to be, too. */
void
ractor_trace_free(struct ractor_trace *trace, bool written)
{
    if (!trace) return;
    if (written && trace_file.open) trace_hand_over(trace, true);
    free(trace->buffer);
    free(trace);
}

/* The native thread that carries it from now on. */
void
ractor_trace_carried_by(struct ractor_trace *trace, long tid)
{
    trace->native_thread = tid;
}

#endif /* RUBY_THREAD_PTHREAD_H */
