#ifndef LOCKFREE_EXT_NSS_ENTRY_H
#define LOCKFREE_EXT_NSS_ENTRY_H
/**********************************************************************

  ext/nss_entry.h - services, hosts, users and groups that several Ractors look up

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of the extensions socket and etc.
 *
 * Problem.  getservbyname(3), getpwuid(3) and their like return a record that the C
 * library's name service has once.  Upstream, which says that socket is safe, reads it
 * where another Ractor has the next one written: the port of another service, or names
 * in memory that is freed; and says that etc is not.
 *
 * Solution.  Linux has each of them with memory of the caller's: a buffer that
 * the GC frees, twice as long as long as the entry does not fit.  Elsewhere they
 * are called as they are: Android, macOS and the BSDs have the record once a thread.
 */

#include "ruby/ruby.h"
#include <errno.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <unistd.h>

/* Memory for one entry, on the machine stack of who asks. */
struct nss_entry {
    union {
        struct servent service;
        struct hostent host;
        struct passwd user;
        struct group group;
    } as;
    VALUE buffer; /* found there by the GC */
};

#if defined(__linux__) && !defined(__ANDROID__)
# define NSS_REENTRANT 1
#else
# define NSS_REENTRANT 0
#endif

/* Returns what +call+ finds, that of a reentrant function, which is evaluated with +memory+ and +size+ until the entry fits, or
 * NULL; where there is none, what +once+ finds. */
#if NSS_REENTRANT
# define NSS_ENTRY_MAX ((size_t)1 << 30)
# define NSS_ENTRY_FIND(type, entry, call, once) do { \
    type *found = NULL; \
    int error = ERANGE; \
    for (size_t size = 1024; error == ERANGE && size <= NSS_ENTRY_MAX; size *= 2) { \
        char *memory = rb_alloc_tmp_buffer(&(entry)->buffer, (long)size); \
        error = (call); \
    } \
    return error ? NULL : found; \
} while (0)
#else
# define NSS_ENTRY_FIND(type, entry, call, once) return (once)
#endif

/* The service +name+ of +protocol+, or NULL.  Any Ractor; the strings live as long as +entry+. */
static inline struct servent *
nss_service_by_name(struct nss_entry *entry, const char *name, const char *protocol)
{
    NSS_ENTRY_FIND(struct servent, entry, getservbyname_r(name, protocol, &entry->as.service, memory, size, &found),
                   getservbyname(name, protocol));
}

/* The service at +port+, in the order of the network, of +protocol+, or NULL.  As above. */
static inline struct servent *
nss_service_by_port(struct nss_entry *entry, int port, const char *protocol)
{
    NSS_ENTRY_FIND(struct servent, entry, getservbyport_r(port, protocol, &entry->as.service, memory, size, &found),
                   getservbyport(port, protocol));
}

/* The host +name+, or NULL and h_errno.  As above. */
static inline struct hostent *
nss_host_by_name(struct nss_entry *entry, const char *name)
{
    NSS_ENTRY_FIND(struct hostent, entry, gethostbyname_r(name, &entry->as.host, memory, size, &found, &h_errno),
                   gethostbyname(name));
}

/* The host at +address+ of +family+, or NULL and h_errno.  As above. */
static inline struct hostent *
nss_host_by_address(struct nss_entry *entry, const void *address, socklen_t length, int family)
{
    NSS_ENTRY_FIND(struct hostent, entry, gethostbyaddr_r(address, length, family, &entry->as.host, memory, size, &found, &h_errno),
                   gethostbyaddr(address, length, family));
}

/* Who is logged in at the terminal, in +name+ of +size+ bytes, or NULL.  Any Ractor. */
static inline char *
nss_login(char *name, size_t size)
{
#if NSS_REENTRANT
    return getlogin_r(name, size) == 0 ? name : NULL;
#else
    return getlogin();
#endif
}

/* The user +uid+, or NULL.  Any Ractor; the strings live as long as +entry+. */
static inline struct passwd *
nss_user_by_id(struct nss_entry *entry, uid_t uid)
{
    NSS_ENTRY_FIND(struct passwd, entry, getpwuid_r(uid, &entry->as.user, memory, size, &found), getpwuid(uid));
}

/* The user +name+, or NULL.  As above. */
static inline struct passwd *
nss_user_by_name(struct nss_entry *entry, const char *name)
{
    NSS_ENTRY_FIND(struct passwd, entry, getpwnam_r(name, &entry->as.user, memory, size, &found), getpwnam(name));
}

/* The group +gid+, or NULL.  As above. */
static inline struct group *
nss_group_by_id(struct nss_entry *entry, gid_t gid)
{
    NSS_ENTRY_FIND(struct group, entry, getgrgid_r(gid, &entry->as.group, memory, size, &found), getgrgid(gid));
}

/* The group +name+, or NULL.  As above. */
static inline struct group *
nss_group_by_name(struct nss_entry *entry, const char *name)
{
    NSS_ENTRY_FIND(struct group, entry, getgrnam_r(name, &entry->as.group, memory, size, &found), getgrnam(name));
}

#endif /* LOCKFREE_EXT_NSS_ENTRY_H */
