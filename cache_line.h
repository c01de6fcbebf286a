#ifndef LOCKFREE_CACHE_LINE_H
#define LOCKFREE_CACHE_LINE_H
/**********************************************************************

  cache_line.h - memory that shares no cache line with anybody's

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  What Ractors write at each allocation, or for each message, is made by
 * the Ractor that starts them, one after the other, and malloc lays it side by side:
 * the end of one and the beginning of the next lie in one line of the caches, which
 * then goes to and fro between two processors that share nothing.  And the VM's
 * lock lay beside what all Ractors read.
 *
 * Solution.  Whole lines.  Two, since processors fetch pairs of them, and some have lines
 * of 128 bytes.
 */

#include "ruby/internal/config.h"
#include "ruby/internal/stdalign.h"
#include <stdlib.h>
#include <string.h>

#define CACHE_LINES_SIZE 128 /* bytes */

/* A member that begins a line, of a struct that is made by cache_lines_calloc. */
#ifdef HAVE_POSIX_MEMALIGN
# define CACHE_LINES_BEGIN RBIMPL_ALIGNAS(CACHE_LINES_SIZE)
#else
# define CACHE_LINES_BEGIN
#endif

/* As calloc(1, size), for free(); NULL: no memory. */
static inline void *
cache_lines_calloc(size_t size)
{
    size = (size + CACHE_LINES_SIZE - 1) / CACHE_LINES_SIZE * CACHE_LINES_SIZE;
#ifdef HAVE_POSIX_MEMALIGN
    void *memory;
    return posix_memalign(&memory, CACHE_LINES_SIZE, size) == 0 ? memset(memory, 0, size) : NULL;
#else
    return calloc(1, size);
#endif
}

#endif /* LOCKFREE_CACHE_LINE_H */
