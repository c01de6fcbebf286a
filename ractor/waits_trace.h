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
 * fills.  It is written by one write(2) of whole lines, at the file's end
 * (O_APPEND), so that Ractors need no lock.  Not while the guard is held: the
 * buffer has room for what comes up there.  From time to time it is written
 * though it is not full.
 *
 * The file has a limit.  What comes later is left out, and the file says so.
 */

#include "lockfree/ractor/waits.h"

struct ractor_trace;

/* ractor/waits_report.c */
extern const char *const ractor_waits_state_names[RACTOR_WAITS_STATES], *const ractor_waits_cause_names[RACTOR_WAITS_CAUSES];

/* Whether somebody traces: written before the program begins.  Then waits are counted. */
bool ractor_trace_p(void);

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
