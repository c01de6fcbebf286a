#ifndef LOCKFREE_EXT_NETDB_ENTRY_H
#define LOCKFREE_EXT_NETDB_ENTRY_H
/**********************************************************************

  ext/netdb_entry.h - services and hosts that several Ractors look up

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of the socket extension.
 *
 * Problem.  getservbyname(3) and its like return a record that the C library has
 * once.  Upstream, which says that the extension is safe, reads it where another
 * Ractor has the next one written: the port of another service, or names in
 * memory that is freed.
 *
 * Solution.  Linux has each of them with memory of the caller's: a buffer that
 * the GC frees, twice as long as long as the entry does not fit.  Elsewhere they
 * are called as they are: Android, macOS and the BSDs have the record once a thread.
 */

#include "ruby/ruby.h"
#include <errno.h>
#include <netdb.h>

/* Memory for one entry, on the machine stack of who asks. */
struct netdb_entry {
    union {
        struct servent service;
        struct hostent host;
    } as;
    VALUE buffer; /* found there by the GC */
};

#if defined(__linux__) && !defined(__ANDROID__)
# define NETDB_REENTRANT 1
#endif

#ifdef NETDB_REENTRANT

#define NETDB_ENTRY_MAX (1 << 20)

/* Evaluates +call+, that of a reentrant function, with +memory+ and +size+ until the entry fits.
 * What it found, or NULL. */
#define NETDB_ENTRY_FIND(type, entry, call) do { \
    type *found = NULL; \
    int error = ERANGE; \
    for (size_t size = 1024; error == ERANGE && size <= NETDB_ENTRY_MAX; size *= 2) { \
        char *memory = rb_alloc_tmp_buffer(&(entry)->buffer, (long)size); \
        error = (call); \
    } \
    return error ? NULL : found; \
} while (0)

#endif

/* The service +name+ of +protocol+, or NULL.  Any Ractor; the strings live as long as +entry+. */
static inline struct servent *
netdb_service_by_name(struct netdb_entry *entry, const char *name, const char *protocol)
{
#ifdef NETDB_REENTRANT
    NETDB_ENTRY_FIND(struct servent, entry,
                     getservbyname_r(name, protocol, &entry->as.service, memory, size, &found));
#else
    return getservbyname(name, protocol);
#endif
}

/* The service at +port+, in the order of the network, of +protocol+, or NULL.  As above. */
static inline struct servent *
netdb_service_by_port(struct netdb_entry *entry, int port, const char *protocol)
{
#ifdef NETDB_REENTRANT
    NETDB_ENTRY_FIND(struct servent, entry,
                     getservbyport_r(port, protocol, &entry->as.service, memory, size, &found));
#else
    return getservbyport(port, protocol);
#endif
}

/* The host +name+, or NULL and h_errno.  As above. */
static inline struct hostent *
netdb_host_by_name(struct netdb_entry *entry, const char *name)
{
#ifdef NETDB_REENTRANT
    NETDB_ENTRY_FIND(struct hostent, entry,
                     gethostbyname_r(name, &entry->as.host, memory, size, &found, &h_errno));
#else
    return gethostbyname(name);
#endif
}

/* The host at +address+ of +family+, or NULL and h_errno.  As above. */
static inline struct hostent *
netdb_host_by_address(struct netdb_entry *entry, const void *address, socklen_t length, int family)
{
#ifdef NETDB_REENTRANT
    NETDB_ENTRY_FIND(struct hostent, entry,
                     gethostbyaddr_r(address, length, family, &entry->as.host, memory, size, &found, &h_errno));
#else
    return gethostbyaddr(address, length, family);
#endif
}

#endif /* LOCKFREE_EXT_NETDB_ENTRY_H */
