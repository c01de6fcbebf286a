#ifndef LOCKFREE_GC_FILE_FREE_H
#define LOCKFREE_GC_FILE_FREE_H
/**********************************************************************

  gc/file_free.h - a file that is closed is freed at once

  Licence: see LICENSE.

**********************************************************************/

/*
 * Upstream puts every dead File by until a finalizer may run, which closes it: that may
 * wait, and writes what is left.  Of one that is closed, as after File.read or a block,
 * there is only memory left, which nobody else knows (gc/sweep_claim.h).
 */

#include "internal/io.h"
#include "ruby/io.h"

/* Whether +file+, which is dead, has nothing left to close.  Any Ractor, no lock. */
static inline bool
gc_file_closed_p(VALUE file)
{
    return !RFILE(file)->fptr || RFILE(file)->fptr->fd < 0;
}

/* Frees what +file+, which is dead, has, if that is closed; returns whether it is.  The same. */
static inline bool
gc_file_free_closed(VALUE file)
{
    if (!gc_file_closed_p(file)) return false;
    rb_io_fptr_finalize(RFILE(file)->fptr);
    return true;
}

#endif /* LOCKFREE_GC_FILE_FREE_H */
