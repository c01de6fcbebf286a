#ifndef LOCKFREE_THREAD_GUARD_PAGE_H
#define LOCKFREE_THREAD_GUARD_PAGE_H
/**********************************************************************

  thread/guard_page.h - a page at the end of a stack that is no mapping of its own

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of cont.c and thread_pthread.c.
 *
 * Problem.  A page that mprotect has made inaccessible is a mapping by itself, and so
 * is the stack behind it.  Linux lets a process have 65,530 by default
 * (vm.max_map_count): with 32,000 Fibers and Ractors the next one raises, a heap or an
 * arena that grows finds no memory, and a library cannot be loaded.  Each makes fork,
 * and a page fault in any Ractor, a little slower.
 *
 * Solution.  Linux 6.13 and later guards pages within a mapping: a mark where it looks
 * up a page anyway.  It stays when the memory around is given back (MADV_FREE,
 * MADV_DONTNEED), and in the child of a fork.  Where the system knows no such thing,
 * or refuses, as for memory that is locked, mprotect.
 */

#include <stddef.h>
#include <sys/mman.h>

#if defined(__linux__) && !defined(MADV_GUARD_INSTALL)
# define MADV_GUARD_INSTALL 102
#endif

/* Makes the +size+ bytes from +page+ on, both multiples of the system's page, raise a SIGSEGV in whoever comes to them; what was
 * there is lost.  0, or -1 and errno, as of mprotect.  Any thread; takes no lock. */
static inline int
guard_page(void *page, size_t size)
{
#ifdef MADV_GUARD_INSTALL
    if (madvise(page, size, MADV_GUARD_INSTALL) == 0) return 0;
#endif
    return mprotect(page, size, PROT_NONE);
}

#endif /* LOCKFREE_THREAD_GUARD_PAGE_H */
