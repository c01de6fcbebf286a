#ifndef LOCKFREE_GC_UNMAP_H
#define LOCKFREE_GC_UNMAP_H
/**********************************************************************

  gc/unmap.h - pages of the heap go back where a process may have no more mappings

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of gc/default/default.c.
 *
 * Problem.  Pages of the heap that lie side by side are one mapping.  Who unmaps one
 * in the middle makes it two, which Linux refuses (ENOMEM) where a process has all
 * that it may have, as with many Fibers (thread/guard_page.h).  Upstream ends the process
 * with a [BUG]: for giving memory back.
 *
 * Solution.  The memory goes back, and the addresses stay, of which there are enough:
 * 64 kB for each page that goes back there, which a limit of RLIMIT_AS counts.
 */

#ifdef HAVE_MMAP

/* munmap of +size+ bytes from +start+ on, in which the heap has nothing left.  0, or -1 and errno.  Any Ractor. */
static int
gc_unmap(void *start, size_t size)
{
    if (munmap(start, size) == 0) return 0;
    return errno == ENOMEM ? madvise(start, size, MADV_DONTNEED) : -1;
}

#endif

#endif /* LOCKFREE_GC_UNMAP_H */
