#ifndef LOCKFREE_RACTOR_MOVE_H
#define LOCKFREE_RACTOR_MOVE_H
/**********************************************************************

  ractor/move.h - what `move: true` needs of CRuby, and gives it

  Licence: see LICENSE.

**********************************************************************/

#include "internal.h"

struct rb_ractor_struct;

struct moved_pair {
    VALUE from;                 /* the sender's */
    VALUE to;                   /* its partner; 0 before prepare */
    st_table *table;            /* a Hash that compares by identity: its entries, with their new keys */
};

/* What moves.  On the stack, where the GC finds the pairs, or what has them. */
struct move_plan {
    struct moved_pair *pairs;
    size_t count;
    size_t capacity;
    size_t next;                /* what commit has not found a reference to yet */
    st_table *numbers;          /* object => index of its pair; NULL while there are few */
    VALUE holder;               /* marks the pairs that are not here, or 0 */
    bool committed;
    bool locked;                /* rb_ractor_move_enter took the VM lock */
    unsigned int lock_level;
    struct moved_pair few[16];
};

/* ractor/move.c */
void rb_ractor_move_prepare(struct move_plan *plan, VALUE obj);
void rb_ractor_move_enter(struct move_plan *plan);
VALUE rb_ractor_move_commit(struct move_plan *plan);
void rb_ractor_move_leave(struct move_plan *plan);
void rb_ractor_move_end(struct move_plan *plan);
VALUE rb_ractor_move(VALUE obj);
void rb_ractor_move_ended(struct rb_ractor_struct *cr);
void rb_ractor_move_atfork(struct rb_ractor_struct *cr);
VALUE rb_ractor_walk_unmoved(VALUE (*func)(VALUE), VALUE arg);
bool rb_thread_fd_waited_p(int fd); /* thread/waiting_fd.h */
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
