#ifndef LOCKFREE_VM_CACHE_WAYS_H
#define LOCKFREE_VM_CACHE_WAYS_H
/**********************************************************************

  vm/cache_ways.h - where a Ractor's own cache keeps an entry

  Licence: see LICENSE.

**********************************************************************/

/*
 * Problem.  A table with one place for each key loses, of two keys that have the same place, one
 * to the other at each turn of a loop that asks for both; and each loss is a look-up under the VM
 * lock.  Of 60 keys in 256 places some twelve have another one's, and which goes by where classes
 * lie: a program that scales in one process does not in the next.
 *
 * Solution.  A key is in one of four places next to each other, or in none, as in a processor's cache with four
 * ways.  Of 60 keys in 256 places one at most is too many, as a rule; who keeps the table makes it larger then, or
 * gives up what has been there longest.
 *
 * CACHE_SET(table, bits, hash) are the CACHE_WAYS places of keys with that hash, whose upper bits tell keys apart, in
 * a table of 2 to the +bits+ entries, of which there are four or more.  Who moves each to the next place, CACHE_SET_SHIFT,
 * gives up what has been there longest, and has the first one free.
 */

#define CACHE_WAYS 4
#define CACHE_SET(table, bits, hash) (&(table)[(uint32_t)(hash) >> (32 - (bits)) & -CACHE_WAYS])
#define CACHE_SET_SHIFT(set, type) MEMMOVE((set) + 1, (set), type, CACHE_WAYS - 1)

#endif /* LOCKFREE_VM_CACHE_WAYS_H */
