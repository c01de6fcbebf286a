#ifndef LOCKFREE_ENVIRONMENT_H
#define LOCKFREE_ENVIRONMENT_H
/**********************************************************************

  environment.h - variables of the environment, read while others set them

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  ENV#[]= holds the VM lock while the C library moves its table, and
 * frees what it was in.  So who looks up a variable had to hold it as well:
 * ENV[], and C code that reads HOME or PATH, or File.expand_path("~") walks
 * memory that is free.
 *
 * What does not do.  A copy that each Ractor keeps, as old as a count of writers,
 * is wrong: an extension calls setenv() or putenv(), in the middle of Ruby code,
 * tells nobody, and the next ENV[] has to know.  A mutex of its own, or a
 * readers' lock, is written by each reader.
 *
 * Solution.  The list that all of C reads, `environ`, is walked itself, so that
 * nothing can be missed; but only where it is an array of ours, which is never
 * freed.  The C library is left to do what it does, to strings as to its lock:
 *
 *   replace   setenv() stores another string into the array, whoever made that
 *   delete    unsetenv() moves the rest of the array down, within it
 *   add       setenv() makes a larger array, copies ours, and sets `environ`.
 *             The new pointer is then copied to the end of ours, and `environ`
 *             set back: what setenv() will move or free next time is an array
 *             that no Ractor has ever walked.
 *
 * A sequence number is odd meanwhile.  A reader whose walk has not met with it
 * twice, even and the same, asks under the VM lock; so does one who finds in
 * `environ` what is not ours: an extension has added a variable, or all are
 * looked for for the first time.  He copies what is there into an array of ours.
 *
 * glibc frees no string that it has made, and changes none: so a value is read
 * after the walk, and turned into a String without a lock.  Other C libraries do
 * (musl frees it, those of BSD write over it): there all is as upstream has it.
 *
 * Who wants all of them (ENV.to_h, ENV.keys) copies the pointers first, and makes
 * Strings of those: what he gets was there at one moment.
 *
 *                        who                                needs
 *   env_find           any Ractor                         nothing; the VM lock if it met a writer
 *   ENV_ENTRIES_BEGIN  any Ractor                         the same
 *   rb_env_set_locked  any Ractor                         the VM lock
 *
 * An extension that calls setenv() beside Ractors that read races with them as
 * in stock, where it does not hold the VM lock either.  Beside Ractors that set a
 * variable, too: what it sets while `environ` is being set back may be lost.  One
 * that frees what it has given to putenv(), after a Ractor has replaced that,
 * may free what another one is about to copy.
 *
 * [ENV-LIST]
 *   reader                                writer, VM lock
 *   R1 seq, acquire: even                 W1 seq = odd, then a release fence
 *   R2 list, acquire; is `environ` it?    W2 setenv(), unsetenv(), and the copy
 *   R3 entries, relaxed                   W3 list, release
 *   R4 acquire fence, seq: as in R1       W4 seq = even, release
 *
 * R3 that sees W2 has W1 at R4, by the two fences: then whatever it has compared
 * is thrown away.  On arm64 that may be a string whose content is not there yet; a
 * name is compared up to the first byte that differs, within memory of malloc's.
 * R1 that reads W4 sees all strings that were set by then.  W3 is for an array that
 * is new: it is all NULL.  One may walk it while it is filled; the last element
 * stays NULL.
 *
 * One Ractor has none of this: its getenv() and setenv() are the C library's.
 * An array that has become too small stays allocated; the next one is twice as large.
 */

#include "internal.h"
#include <stdlib.h>
#include "vm_sync.h"

#if defined(__GLIBC__) && !defined(__UCLIBC__)
const char *rb_env_find_several_ractors(const char *name);
char **rb_env_entries_several_ractors(volatile VALUE *copy);
int rb_env_set_locked(const char *name, const char *value);

/* Whether env_find takes no lock, and its answer stays what it is, whoever sets the variable next. */
#  define env_kept_p() rb_multi_ractor_p()
#else
#  define rb_env_find_several_ractors(name) NULL
#  define rb_env_entries_several_ractors(copy) NULL
#  define rb_env_set_locked(name, value) ((value) ? setenv(name, value, 1) : unsetenv(name))
#  define env_kept_p() false
#endif

/* The value of +name+, or NULL.  Any Ractor.  Raises nothing; the VM lock, if it is taken, is a safe point. */
static inline const char *
env_find(const char *name)
{
    const char *value;

    if (env_kept_p()) return rb_env_find_several_ractors(name);

    RB_VM_LOCK_ENTER();
    value = getenv(name);
    RB_VM_LOCK_LEAVE();
    return value;
}

/*
 * Between the two, +entries+ is an array of "NAME=value" that ends with NULL, as it was at one moment.
 * Any Ractor.  Raises NoMemoryError.  For hash.c, whose GET_ENVIRON says where upstream finds them.
 */
#define ENV_ENTRIES_BEGIN(entries) { \
    const bool env_copied = env_kept_p(); \
    volatile VALUE env_entries_copy = 0; \
    unsigned int env_lock_level; \
    if (!env_copied) RB_VM_LOCK_ENTER_LEV(&env_lock_level); \
    char **const entries = env_copied ? rb_env_entries_several_ractors(&env_entries_copy) : GET_ENVIRON(environ)

#define ENV_ENTRIES_END() \
    if (env_copied) rb_free_tmp_buffer(&env_entries_copy); \
    else RB_VM_LOCK_LEAVE_LEV(&env_lock_level); \
}

#endif /* LOCKFREE_ENVIRONMENT_H */
