#ifndef LOCKFREE_CLASS_ID_TABLE_FILTER_H
#define LOCKFREE_CLASS_ID_TABLE_FILTER_H
/**********************************************************************

  class/id_table_filter.h - whether a table of names has never had a name, without its lock

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of id_table.c.
 *
 * Problem.  A table of names, as of the methods of a class, is changed under a lock,
 * and may move while it grows: who looks into it needs that lock.
 *
 * Solution.  A Bloom filter (Bloom, 1970) of one hash function and 32 bits, in
 * what is padding on 64 bits: for each name that is put into the table its bit is set, before
 * it is there, and stays, even if the name is removed or the table grows.  A bit that
 * is not set says that no name of that bit has ever been in the table; one that is set
 * says nothing.  A table of one name answers 31 of 32 others.  With the lock, no bit at
 * all says that nothing has ever been in it.
 *
 * Orders.  Who puts a name in stores the bit, relaxed, with the table's lock held.  Who
 * asks loads acquire: what it loads after that is not older.  Who knows by
 * anything else that the name was put in sees the bit.
 */

#include "id_table.h"
#include "internal/compilers.h"

#define ID_TABLE_FILTER_BITS 5

static inline unsigned int
id_table_filter_bit(id_key_t key)
{
    return 1U << ((uint32_t)key * 0x9E3779B1U >> (32 - ID_TABLE_FILTER_BITS)); /* Knuth's multiplicative hashing */
}

/* With the table's lock. */
static inline void
id_table_filter_add(unsigned int *filter, id_key_t key)
{
    __atomic_store_n(filter, *filter | id_table_filter_bit(key), __ATOMIC_RELAXED);
}

static inline bool
id_table_filter_lacks(const unsigned int *filter, id_key_t key)
{
    return !(__atomic_load_n(filter, __ATOMIC_ACQUIRE) & id_table_filter_bit(key));
}

#endif /* LOCKFREE_CLASS_ID_TABLE_FILTER_H */
