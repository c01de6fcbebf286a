#ifndef LOCKFREE_SORT_OBJECTS_H
#define LOCKFREE_SORT_OBJECTS_H
/**********************************************************************

  sort_objects.h - a collection that moves objects while they are sorted

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of array.c and enum.c.
 *
 * Problem.  ruby_qsort is the C library's where that has qsort_r, and glibc's merges in a
 * second array, which is malloc's from 1024 bytes on.  A comparison that calls Ruby code
 * comes to safe points; a compaction there, this Ractor's or another's, moves objects,
 * and the GC finds their addresses in the array, but not in the second one, which is
 * then copied over it: other objects, or a crash.
 *
 * Solution.  The objects stay where they are while they are sorted: a copy of the array is
 * in a buffer that the GC marks as it does the stack.  Smaller second arrays are on the
 * stack themselves.
 */

#include "internal/imemo.h"
#include "ruby/util.h"

#define SORT_OBJECTS_ON_STACK 1024 /* bytes: less is on glibc's stack */

/* Whether any of +cnt+ values is an object: others are compared without a call, or with one that cannot move them. */
static inline bool
sort_objects_any_p(const VALUE *values, size_t cnt)
{
    for (size_t i = 0; i < cnt; i++) {
        if (!RB_SPECIAL_CONST_P(values[i])) return true;
    }
    return false;
}

/* Sorts +cnt+ elements of +words+ values each by +compare+, which is given +data+, and may raise. */
static inline void
sort_objects(VALUE *values, size_t cnt, size_t words, int (*compare)(const void *, const void *, void *), void *data)
{
    VALUE buffer = 0;

    if (cnt * words * sizeof(VALUE) >= SORT_OBJECTS_ON_STACK && sort_objects_any_p(values, cnt * words)) {
        rb_alloc_tmp_buffer2(&buffer, (long)(cnt * words), sizeof(VALUE));
        /* not by what that returns: the compiler takes it for memory that nobody else reads, and leaves the copy out */
        MEMCPY(RB_IMEMO_TMPBUF_PTR(buffer), values, VALUE, cnt * words);
    }
    ruby_qsort(values, cnt, words * sizeof(VALUE), compare, data);
    ALLOCV_END(buffer);
}

#endif /* LOCKFREE_SORT_OBJECTS_H */
