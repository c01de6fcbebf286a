#ifndef LOCKFREE_STRING_SYMBOL_INTERN_H
#define LOCKFREE_STRING_SYMBOL_INTERN_H
/**********************************************************************

  string/symbol_intern.h - one number for a name

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of symbol.c.
 *
 * Problem.  Upstream looks a name up, and if it is not there gives it the next
 * number, in two steps under the lock each.  Two Ractors that meet a new name at
 * once, in code that they parse or by rb_intern in C, got two numbers for it: a
 * method or a variable that one of them had defined was not found by the other,
 * nor by itself when it asked again.
 *
 * Solution.  Who has not found the name looks again with the lock held, and
 * keeps it until the name has its number.
 *
 * A name whose bytes are not of its encoding raises, and the message has what
 * String#inspect returns, which may be redefined.  Upstream, in String#to_sym,
 * ran that with the lock held: when it waited, or a thread took its turn, all
 * stood still.  Whether the bytes are right is looked at first, without the lock;
 * the String keeps the answer.
 */

/* Raises unless +str+ can be a name.  Any Ractor, without the lock. */
static void
symbol_check_name(VALUE str)
{
    (void)sym_check_asciionly(str, false);
}

/* The number of +str+, which was not there a moment ago.  Any Ractor.  What
 * intern_str raises besides (the table is full) lets go of the lock. */
static ID
intern_str_once(VALUE str, int mutable)
{
    ID id = 0;

    symbol_check_name(str);
    do {
        bool made_room = symbol_make_room();
        RB_VM_LOCK_ENTER();
        {
            VALUE sym = made_room || rb_multi_ractor_p() ? lookup_str_sym(str) : 0; /* no other thread has had a turn */
            if (sym) id = rb_sym2id(sym);
            else if (symbol_room_p()) id = intern_str(str, mutable);
        }
        RB_VM_LOCK_LEAVE();
    } while (!id);
    return id;
}

#endif /* LOCKFREE_STRING_SYMBOL_INTERN_H */
