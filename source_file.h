#ifndef LOCKFREE_SOURCE_FILE_H
#define LOCKFREE_SOURCE_FILE_H
/**********************************************************************

  source_file.h - the text of a file of Ruby is read where it is short

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of prism_compile.c.
 *
 * Problem.  Each file that is loaded is mapped, and unmapped when it has been compiled:
 * a page fault, and an interrupt of each processor that runs another Ractor, of which
 * all wait for the one lock of the process's mappings.
 *
 * Solution.  A file of up to SOURCE_FILE_READ bytes, as nearly all are, is read into
 * memory of malloc's; so is one that cannot be mapped, as some of the kernel's.  Zeros
 * follow, as in the last page of a mapping: prism looks a few bytes beyond a file that
 * ends in "$-", or is a byte order mark, or "#!r".
 */

enum {
    SOURCE_FILE_READ = 128 * 1024,
    SOURCE_FILE_ZEROS = 16
};

/* Reads the file +fd+ of +size+ bytes, from its beginning, where +fd+ is, into memory that +string+ then owns.  False where the file is
 * long, or cannot be read: +string+ is as it was.  Any Ractor. */
static bool
source_file_read(pm_string_t *string, int fd, size_t size)
{
    if (size > SOURCE_FILE_READ) return false;

    uint8_t *source = malloc(size + SOURCE_FILE_ZEROS); /* prism frees it so */
    size_t length = 0;

    if (!source) return false;
    while (length < size) {
        ssize_t got = read(fd, source + length, size - length);
        if (got > 0) {
            length += (size_t)got;
        }
        else if (got == 0) {
            break; /* it has become shorter */
        }
        else if (errno != EINTR) {
            free(source);
            return false;
        }
    }
    memset(source + length, 0, SOURCE_FILE_ZEROS);
    *string = (pm_string_t){ .type = PM_STRING_OWNED, .source = source, .length = length };
    return true;
}

#endif /* LOCKFREE_SOURCE_FILE_H */
