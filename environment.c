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

/* Whether +value+ is right.  Any Ractor.  [ENV-LIST] R1 to R4; synchronises with env_change_end
 * and env_publish_locked. */
static bool
env_walk_published(const char *name, const char **value)
{
    const unsigned int seq = __atomic_load_n(&env_seq, __ATOMIC_ACQUIRE);
    char **list = __atomic_load_n(&env_list, __ATOMIC_ACQUIRE);

    if ((seq & 1) || !list || list != env_environ_load_relaxed()) return false;

    *value = env_walk(list, name);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&env_seq, __ATOMIC_RELAXED) == seq;
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

/* env_find, with several Ractors. */
const char *
rb_env_find_several_ractors(const char *name)
{
    const char *value;

    if (env_walk_published(name, &value)) return value;

    RB_VM_LOCK_ENTER();
    if (!env_list || environ != env_list) {
        env_change_begin();
        env_publish_locked();
        env_change_end();
    }
    value = getenv(name);
    RB_VM_LOCK_LEAVE();
    return value;
}

#endif /* glibc */
