#ifndef LOCKFREE_RACTOR_WAITS_TRACE_H
#define LOCKFREE_RACTOR_WAITS_TRACE_H
/**********************************************************************

  ractor/waits_trace.h - what Ractors do and wait for, as a file to look at

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of ractor/waits.c, which calls it where it counts.
 *
 * The file is in the Trace Event Format, as an array, whose closing bracket may be
 * missing: so it is whole at each moment, as far as it got.  Each Ractor is a track,
 * each state a slice of it; an arrow leads from who stops all to those who stand,
 * and from who sends a message to who has waited for it.
 *
 * Representation.  Each Ractor has a buffer of lines, which whoever counts for it
 * fills.  When it is nearly full, and from time to time, it goes into a queue, and
 * the Ractor has an empty one.  Not while the guard is held: the buffer has room for
 * what comes up there.  A thread of the system, which is none of Ruby's, writes what is
 * in the queue.  So nobody who has a lock, and no Ractor that others wait for to
 * stand, waits for a slow disk or a full pipe.
 *
 * The queue's lock is held for some stores, or while one buffer's lines go behind those of
 * the last one; with it nothing else is called and no other lock is taken.
 *
 * The file has a limit, and so has the queue.  What finds no room is left out, and the
 * end of the file says so.  At exit main waits for the rest to be written, but not
 * for long where the file takes nothing.
 *
 *                            who                                   with
 *   slice, arrow, flush,     who counts for the Ractor             as ractor/waits.h says
 *   carried_by
 *   new, free                its creator; its last thread, main    the same
 *   open, close              main: before the program, at its end  nothing
 *   atfork                   the child, as the first thing         -
 *   fd_p (ractor/waits.h)    any Ractor, a signal's handler        nothing
 */

#include "lockfree/ractor/waits.h"

struct ractor_trace;

/* ractor/waits_report.c */
extern const char *const ractor_waits_state_names[RACTOR_WAITS_STATES], *const ractor_waits_cause_names[RACTOR_WAITS_CAUSES];

/* The next character of +from+, up to +end+, as JSON has it in quotes: at most ..._CHAR bytes.  A byte that is none of UTF-8's
 * is given by its number.  What is after it is stored in +to+; returns what is after it in +from+. */
#define RACTOR_WAITS_CHAR 6
const char *ractor_waits_json_char(char **to, const char *from, const char *end);

/* How many of the +len+ bytes are there within +most+, if no character of UTF-8 is cut. */
size_t ractor_waits_cut(const char *string, size_t len, size_t most);

void ractor_trace_open(const char *file);
void ractor_trace_close(void);
void ractor_trace_atfork(void);

struct ractor_trace *ractor_trace_new(uint64_t id, const char *name);
void ractor_trace_free(struct ractor_trace *trace, bool written);
void ractor_trace_carried_by(struct ractor_trace *trace, long tid);
void ractor_trace_slice(struct ractor_trace *trace, enum ractor_waits_state state, const struct ractor_waits_place *at,
                        uint64_t begun, uint64_t ns, const struct ractor_waits_place *by);
void ractor_trace_arrow(struct ractor_trace *trace, bool begins, const char *kind, uint64_t id, uint64_t at);
void ractor_trace_flush(struct ractor_trace *trace, uint64_t now);

#endif /* LOCKFREE_RACTOR_WAITS_TRACE_H */
