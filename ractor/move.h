#ifndef LOCKFREE_RACTOR_MOVE_H
#define LOCKFREE_RACTOR_MOVE_H
/**********************************************************************

  ractor/move.h - what `move: true` needs of CRuby, and gives it

  Licence: see LICENSE.

**********************************************************************/

#include "internal.h"

/* ractor/move.c */
VALUE rb_ractor_move_prepare(VALUE obj);
VALUE rb_ractor_move_commit(VALUE plan);
void rb_ractor_move_end(VALUE plan);
VALUE rb_ractor_move(VALUE obj);
bool rb_thread_fd_waited_p(int fd); /* waiting_fd.h */
NORETURN(void rb_ractor_raise_moved(void));

/* ractor.c, patched: static in upstream */
extern VALUE rb_cRactorMovedObject;
extern VALUE rb_eRactorError;
extern VALUE rb_eRactorMovedError;

/* Whether +obj+, any value, was moved.  The Ractor whose it is or was.  What is frozen keeps its type; the class of what
 * is hidden is 0, as rb_cRactorMovedObject is until there is one. */
static inline bool
rb_ractor_moved_p(VALUE obj)
{
    return !RB_SPECIAL_CONST_P(obj) && RBASIC_CLASS(obj) == rb_cRactorMovedObject && rb_cRactorMovedObject;
}

/* Raises if +obj+ was moved while C code let Ruby run. */
static inline void
rb_ractor_check_moved(VALUE obj)
{
    if (UNLIKELY(rb_ractor_moved_p(obj))) rb_ractor_raise_moved();
}

#endif /* LOCKFREE_RACTOR_MOVE_H */
