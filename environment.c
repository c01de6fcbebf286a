/**********************************************************************

  environment.c - variables of the environment, read while others set them

  Licence: see LICENSE.

**********************************************************************/

/* What and why: environment.h. */

#include "lockfree/environment.h"

#if defined(__GLIBC__) && !defined(__UCLIBC__)
#include <string.h>
#include <unistd.h>

static unsigned int env_seq; /* odd while somebody sets a variable */
static char **env_list;      /* NULL: no Ractor has looked yet */
static size_t env_capacity;  /* of env_list; VM lock */

/* ---- who reads ------------------------------------------------------ */

/* What `environ` is: C stores it as it likes. */
static inline char **
env_environ_load_relaxed(void)
{
    return __atomic_load_n(&environ, __ATOMIC_RELAXED);
}

/* The value in +list+, or NULL.  Any Ractor: it may be changed meanwhile, and is not freed. */
static const char *
env_walk(char **list, const char *name)
{
    const size_t len = strlen(name);
    const char first = name[0], second = len > 1 ? name[1] : '=';
    const char *entry;

    if (len == 0) return NULL;
    for (; (entry = __atomic_load_n(list, __ATOMIC_RELAXED)) != NULL; list++) {
        if (entry[0] != first || entry[1] != second) continue;
        if (strncmp(entry, name, len) == 0 && entry[len] == '=') return entry + len + 1;
    }
    return NULL;
}

/* `environ` where it is an array of ours, and the number it has been read at; NULL where the VM lock
 * is needed.  Any Ractor.  [ENV-LIST] R1, R2; synchronises with env_change_end and env_publish_locked. */
static char **
env_published(unsigned int *seq)
{
    *seq = __atomic_load_n(&env_seq, __ATOMIC_ACQUIRE);
    char **list = __atomic_load_n(&env_list, __ATOMIC_ACQUIRE);

    return (*seq & 1) || list != env_environ_load_relaxed() ? NULL : list;
}

/* Whether what has been read since env_published is right.  Any Ractor.  [ENV-LIST] R4. */
static bool
env_unchanged_p(unsigned int seq)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&env_seq, __ATOMIC_RELAXED) == seq;
}

/* How many entries +list+ has.  As many as there is room for are copied, with a NULL.  Any Ractor, as env_walk. */
static size_t
env_copy(char **to, size_t room, char **list)
{
    size_t count = 0;
    char *entry;

    for (; (entry = __atomic_load_n(&list[count], __ATOMIC_RELAXED)) != NULL; count++) {
        if (count + 1 < room) to[count] = entry;
    }
    if (room > 0) to[count < room ? count : room - 1] = NULL;
    return count;
}

/* ---- who sets ------------------------------------------------------- */

/* [ENV-LIST] W1.  A child whose parent was in the middle of it may find it odd. */
static void
env_change_begin(void)
{
    __atomic_store_n(&env_seq, env_seq | 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

/* [ENV-LIST] W4.  Synchronises with env_walk_published. */
static void
env_change_end(void)
{
    __atomic_store_n(&env_seq, env_seq + 1, __ATOMIC_RELEASE);
}

/* Makes `environ` an array of ours, with what is there.  VM lock, within a change.  Without
 * memory it stays what it is, and readers take the lock. */
static void
env_publish_locked(void)
{
    char **from = environ, **list = env_list;
    size_t count = 0;

    while (from && from[count]) count++;
    if (count + 2 > env_capacity) { /* a NULL, and one that stays */
        if (!(list = calloc((count + 2) * 2, sizeof(char *)))) return;
        env_capacity = (count + 2) * 2;
        __atomic_store_n(&env_list, list, __ATOMIC_RELEASE); /* [ENV-LIST] W3 */
    }
    for (size_t i = 0; i < count; i++) __atomic_store_n(&list[i], from[i], __ATOMIC_RELAXED);
    __atomic_store_n(&list[count], NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&environ, list, __ATOMIC_RELEASE); /* for C that calls getenv() */
}

/* setenv(), or unsetenv() if +value+ is NULL: what they return.  Any Ractor, VM lock. */
int
rb_env_set_locked(const char *name, const char *value)
{
    if (!rb_multi_ractor_p()) return value ? setenv(name, value, 1) : unsetenv(name);

    ASSERT_vm_locking();
    env_change_begin();
    const int result = value ? setenv(name, value, 1) : unsetenv(name);
    if (env_list && environ != env_list) env_publish_locked();
    env_change_end();
    return result;
}

/* Has what an extension set, or what there is when the first one looks, in an array of ours.  VM lock. */
static void
env_publish_missing_locked(void)
{
    ASSERT_vm_locking();
    if (env_list && environ == env_list) return;

    env_change_begin();
    env_publish_locked();
    env_change_end();
}

/* env_find, with several Ractors. */
const char *
rb_env_find_several_ractors(const char *name)
{
    unsigned int seq;
    char **list = env_published(&seq);
    const char *value;

    if (list) {
        value = env_walk(list, name);
        if (env_unchanged_p(seq)) return value;
    }

    RB_VM_LOCK_ENTER();
    env_publish_missing_locked();
    value = getenv(name);
    RB_VM_LOCK_LEAVE();
    return value;
}

/* ENV_ENTRIES_BEGIN, with several Ractors.  They are counted first: making room for them is a safe point. */
char **
rb_env_entries_several_ractors(volatile VALUE *copy)
{
    char *none = NULL, **list, **entries = NULL;
    size_t room = 0;
    unsigned int seq;

    while ((list = env_published(&seq)) != NULL) {
        const size_t count = env_copy(entries, room, list);
        if (!env_unchanged_p(seq)) break;
        if (count < room) return entries;
        if (entries) break;
        room = count + 1;
        entries = rb_alloc_tmp_buffer(copy, room * sizeof(char *));
    }
    if (entries) rb_free_tmp_buffer(copy);

    RB_VM_LOCK_ENTER();
    env_publish_missing_locked();
    list = environ ? environ : &none;
    room = env_copy(NULL, 0, list) + 1;
    entries = rb_alloc_tmp_buffer(copy, room * sizeof(char *));
    env_copy(entries, room, list);
    RB_VM_LOCK_LEAVE();
    return entries;
}

#endif /* glibc */
