#ifndef LOCKFREE_STRING_SYMBOL_FIND_H
#define LOCKFREE_STRING_SYMBOL_FIND_H
/**********************************************************************

  string/symbol_find.h - Symbols by name, and names by number, without a lock

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of symbol.c.
 *
 * Problem.  String#to_sym of a name that exists, Symbol#to_s, #name and #inspect,
 * and all C code that asks what an ID is called, take the VM lock.
 *
 * Representation.  Symbols by name: rb_symbol_table (string/table.h), whose objects
 * are the Symbols, static ones among them; a name is what the Symbol says.  Names
 * by number: symbols->ids, an Array of Arrays of ID_ENTRY_UNIT times
 * ID_ENTRY_SIZE, as in stock, but none of them ever grows: they are made at full
 * length, filled with nil, and a longer outer one takes the place of the old one,
 * which who reads it still has on the stack.
 *
 *                               who                  needs
 *   lookup_str_sym, _id         any Ractor           nothing
 *   get_id_serial_entry         any Ractor           nothing
 *   set_id_entry                who makes a number   the VM lock
 *   dsymbol_new_once            any Ractor           nothing
 *   register_static_sym         who has made a       the VM lock, since it looked for the name
 *                               number
 *   dsymbol_give_number         any Ractor           takes the VM lock
 *
 * Invariants.
 *   [1] A name has one Symbol: the one that is first in the table.  A dynamic one comes there
 *       without a lock; who comes second goes on with the first.
 *   [2] A Symbol has one number.  Whoever makes a number looks again for the name, or for the
 *       number of the Symbol, with the VM lock held, and keeps it until the number is there.
 *       Where a dynamic Symbol has come into the table meanwhile, it gets the number that was
 *       made for a static one, which nobody has seen.
 *   [3] A static Symbol is in `ids` before it is in the table, a dynamic one before its
 *       id has the number: who has either finds its name.
 *   [4] The coderange of a name is known when it comes into the table: to compare with
 *       it writes nothing.  That of the name that is looked for is looked at before.
 *   [5] A dynamic Symbol keeps its name: the collector marks it (pinned, as upstream's list
 *       of such names, which is retired, had it).
 *
 * Orders.
 *   ids, an Array in it, a name or Symbol in that
 *            release (symbol_ids_store_release), acquire (symbol_ids_load_acquire): what
 *            they are made of is there before them.
 *   id       of a dynamic Symbol: release in dsymbol_take_number, acquire in
 *            SYMBOL_PINNED_P and rb_sym2id: the entry in ids is there before the number.
 */

#include "lockfree/string/table.h"

/* ---- names by number ---------------------------------------------- */

static inline VALUE
symbol_ids_load_acquire(const VALUE *place)
{
    return __atomic_load_n(place, __ATOMIC_ACQUIRE); /* symbol_ids_store_release */
}

/* Stores +value+ in the Array +ary+, below its length.  Synchronises with symbol_ids_load_acquire. */
static inline void
symbol_ids_store_release(VALUE ary, size_t i, VALUE value)
{
    __atomic_store_n((VALUE *)RARRAY_CONST_PTR(ary) + i, value, __ATOMIC_RELEASE);
    RB_OBJ_WRITTEN(ary, Qundef, value);
}

/* An Array of +length+ nils, with the elements of +first+, if any, at its beginning. */
static VALUE
symbol_ids_new(size_t length, VALUE first)
{
    VALUE ary = rb_ary_hidden_new((long)length);

    for (size_t i = 0; i < length; i++) {
        rb_ary_push(ary, first && i < (size_t)RARRAY_LEN(first) ? RARRAY_AREF(first, (long)i) : Qnil);
    }
    return ary;
}

/* The Array that has the names and Symbols of the numbers from +idx+ * ID_ENTRY_UNIT on.  With the VM lock. */
static VALUE
symbol_ids_of_unit(rb_symbols_t *symbols, size_t idx)
{
    size_t length = (size_t)RARRAY_LEN(symbols->ids);

    if (idx >= length) {
        VALUE longer = symbol_ids_new(idx < length * 2 ? length * 2 : idx + 1, symbols->ids);
        __atomic_store_n(&symbols->ids, longer, __ATOMIC_RELEASE); /* symbol_ids_load_acquire; a root */
    }
    if (NIL_P(RARRAY_AREF(symbols->ids, (long)idx))) {
        VALUE unit = symbol_ids_new(ID_ENTRY_UNIT * ID_ENTRY_SIZE, 0);
        symbol_ids_store_release(symbols->ids, idx, unit);
    }
    return RARRAY_AREF(symbols->ids, (long)idx);
}

static void
set_id_entry(rb_symbols_t *symbols, rb_id_serial_t num, VALUE str, VALUE sym)
{
    ASSERT_vm_locking();
    RUBY_ASSERT_BUILTIN_TYPE(str, T_STRING);
    RUBY_ASSERT_BUILTIN_TYPE(sym, T_SYMBOL);

    VALUE ary = symbol_ids_of_unit(symbols, num / ID_ENTRY_UNIT);
    size_t pos = (num % ID_ENTRY_UNIT) * ID_ENTRY_SIZE;
    symbol_ids_store_release(ary, pos + ID_ENTRY_STR, str);
    symbol_ids_store_release(ary, pos + ID_ENTRY_SYM, sym);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* who keeps the number stores it plainly: get_id_serial_entry, by what hangs on it */
}

/* The name, or the Symbol, with the number +num+; 0: there is none.  Any Ractor. */
static VALUE
get_id_serial_entry(rb_id_serial_t num, const enum id_entry_type t)
{
    VALUE ids = symbol_ids_load_acquire(&ruby_global_symbols.ids);
    size_t idx = num / ID_ENTRY_UNIT, pos = (num % ID_ENTRY_UNIT) * ID_ENTRY_SIZE;
    if (idx >= (size_t)RARRAY_LEN(ids)) return 0;

    VALUE ary = symbol_ids_load_acquire(RARRAY_CONST_PTR(ids) + idx);
    if (NIL_P(ary)) return 0;

    VALUE result = symbol_ids_load_acquire(RARRAY_CONST_PTR(ary) + pos + t);
    return NIL_P(result) ? 0 : result;
}

/* Marks the names of all numbers as what must not move: C code has their bytes, by rb_id2name.  The collector, which will
 * compact; all others stand. */
void
rb_sym_pin_names(void)
{
    VALUE ids = ruby_global_symbols.ids;

    for (long i = 0; i < RARRAY_LEN(ids); i++) {
        VALUE unit = RARRAY_AREF(ids, i);
        if (NIL_P(unit)) continue;

        for (long pos = ID_ENTRY_STR; pos < RARRAY_LEN(unit); pos += ID_ENTRY_SIZE) rb_gc_mark(RARRAY_AREF(unit, pos));
    }
}

/* ---- Symbols by name ---------------------------------------------- */

static bool
symbol_same_p(VALUE sym, VALUE str)
{
    return !rb_str_hash_cmp(rb_sym2str(sym), str);
}

/* The Symbol that is called +str+, whose hash is +hash+; 0: none.  Any Ractor. */
static inline VALUE
symbol_find(st_index_t hash, VALUE str)
{
    return rb_string_table_find(&rb_symbol_table, hash, str, symbol_same_p);
}

/* The Symbol that is called +str+; 0: none.  Any Ractor. */
static VALUE
lookup_str_sym(const VALUE str)
{
    return symbol_find(rb_str_hash(str), str);
}

/* The number of the Symbol that is called +str+; 0: none.  Any Ractor. */
static ID
lookup_str_id(VALUE str)
{
    const VALUE sym = lookup_str_sym(str);

    if (!sym) return 0;
    if (STATIC_SYM_P(sym)) return STATIC_SYM2ID(sym);
    return SYMBOL_PINNED_P(sym) ? RSYMBOL(sym)->id : 0;
}

/* Whether there is room for one more Symbol, and for its name.  Any Ractor; others may take it. */
static bool
symbol_room_p(void)
{
    return rb_string_table_room_p(&rb_symbol_table) && rb_string_table_room_p(&rb_fstring_table);
}

/* There is room, for a moment.  Whether it had to be made, which may have run Ruby code, by a collection for want of memory:
 * so not with the VM lock, where NoMemoryError would end the process.  A safe point. */
static bool
symbol_make_room(void)
{
    bool made = false;

    for (; !rb_string_table_room_p(&rb_symbol_table); made = true) rb_string_table_grow(&rb_symbol_table);
    for (; !rb_string_table_room_p(&rb_fstring_table); made = true) rb_string_table_grow(&rb_fstring_table);
    return made;
}

/* ---- dynamic Symbols ---------------------------------------------- */

/*
 * The Symbol that is called +str+, which was that of no Symbol a moment ago.  Any Ractor.
 * There is no safe point from when the new one has a class until it is in the table, or has none again: ObjectSpace.each_object
 * meets one of each name.
 */
static VALUE
dsymbol_new_once(VALUE str)
{
    rb_encoding *const enc = rb_enc_get(str);
    /* An encoding that the flags have no room for is a variable, and to make that a safe point. */
    const VALUE klass = rb_enc_to_index(enc) < ENCODING_INLINE_MAX ? rb_cSymbol : 0;

    (void)rb_enc_str_coderange(str);
    int type = rb_str_symname_type(str, IDSET_ATTRSET_FOR_INTERN);
    VALUE sym = dsymbol_alloc(klass, str, enc, type < 0 ? ID_JUNK : type);

    for (;;) {
        RBASIC_SET_CLASS(sym, rb_cSymbol);
        VALUE found = rb_string_table_insert(&rb_symbol_table, string_table_symbol_hash(sym), sym, str, symbol_same_p);
        if (found == sym) return sym;

        rb_obj_hide(sym);
        if (found) return found;
        rb_string_table_grow(&rb_symbol_table);
    }
}

/* The ID of +sym+, whose number, of which it had none, is +num+.  It is never freed from now on.  With the VM lock. */
static ID
dsymbol_take_number(rb_symbols_t *symbols, VALUE sym, rb_id_serial_t num)
{
    ID id = RSYMBOL(sym)->id | (ID)num << ID_SCOPE_SHIFT;

    set_id_entry(symbols, num, RSYMBOL(sym)->fstr, sym);
    __atomic_store_n(&RSYMBOL(sym)->id, id, __ATOMIC_RELEASE); /* SYMBOL_PINNED_P, rb_sym2id */
    return id;
}

/* The ID of +sym+, which had no number a moment ago.  Any Ractor. */
NOINLINE(static ID dsymbol_give_number(VALUE sym));

static ID
dsymbol_give_number(VALUE sym)
{
    ID id;

    GLOBAL_SYMBOLS_ENTER(symbols);
    {
        id = RSYMBOL(sym)->id;
        if (!(id & ~ID_SCOPE_MASK)) {
            id = dsymbol_take_number(symbols, sym, rb_id_to_serial(next_id_base_with_lock(symbols)));
        }
    }
    GLOBAL_SYMBOLS_LEAVE();
    return id;
}

/* ---- static Symbols ----------------------------------------------- */

/*
 * The ID of what is called +str+, a String in the table: +id+, which is new, or that of the dynamic Symbol which has come
 * since the name was looked for.  With the VM lock, since then and since there was room.
 */
static ID
register_static_sym(rb_symbols_t *symbols, ID id, VALUE str)
{
    const rb_id_serial_t num = rb_id_to_serial(id);
    const VALUE sym = STATIC_ID2SYM(id);

    (void)rb_enc_str_coderange(str);
    set_id_entry(symbols, num, str, sym);

    VALUE found = rb_string_table_insert_last(&rb_symbol_table, rb_str_hash(str), sym, str, symbol_same_p);
    if (found == sym) return id;
    if (!DYNAMIC_SYM_P(found) || SYMBOL_PINNED_P(found)) {
        rb_bug("register_static_sym: %"PRIxVALUE" is called as %"PRIxVALUE" is", sym, found);
    }
    return dsymbol_take_number(symbols, found, num);
}

/* ---- all of them -------------------------------------------------- */

static int
symbol_push_without_number(VALUE *sym, void *ary)
{
    if (!STATIC_SYM_P(*sym) && !SYMBOL_PINNED_P(*sym)) rb_ary_push((VALUE)ary, *sym);
    return ST_CONTINUE;
}

/* Those that have numbers, by these, and the others. */
VALUE
rb_sym_all_symbols(void)
{
    VALUE ary;

    GLOBAL_SYMBOLS_ENTER(symbols);
    {
        rb_vm_barrier();
        ary = rb_ary_new_capa((long)rb_string_table_count(&rb_symbol_table)); /* no push collects */
        for (rb_id_serial_t num = 1; num && num <= symbols->last_id; num++) {
            VALUE sym = get_id_serial_entry(num, ID_ENTRY_SYM);
            if (sym) rb_ary_push(ary, sym);
        }
        rb_string_table_foreach(&rb_symbol_table, symbol_push_without_number, (void *)ary);
    }
    GLOBAL_SYMBOLS_LEAVE();

    return ary;
}

#endif /* LOCKFREE_STRING_SYMBOL_FIND_H */
