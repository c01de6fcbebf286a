#ifndef LOCKFREE_FILE_UMASK_H
#define LOCKFREE_FILE_UMASK_H
/**********************************************************************

  file_umask.h - the file mode creation mask, looked at without changing it

  Licence: see LICENSE.

**********************************************************************/

/*
 * POSIX has one call, which sets the mask and returns the old one.  File.umask
 * sets it to 0 and back, and what another Ractor makes in between is there for
 * all to write.  Linux 4.7 and later have it in /proc/self/status: umask(2).
 */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "vm_sync.h"

/* The mask of the process.  Any Ractor.  With one Ractor, or where the system does not say, by setting it. */
static inline mode_t
umask_look(void)
{
    unsigned int mask;

    if (rb_multi_ractor_p()) {
        char status[512], *line = NULL;
        const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

        if (fd >= 0) {
            const ssize_t size = read(fd, status, sizeof(status) - 1);
            close(fd);
            status[size > 0 ? size : 0] = '\0';
            line = strstr(status, "\nUmask:");
        }
        if (line && sscanf(line, "\nUmask: %o", &mask) == 1) return (mode_t)mask;
    }
    mask = umask(0);
    umask((mode_t)mask);
    return (mode_t)mask;
}

#endif /* LOCKFREE_FILE_UMASK_H */
