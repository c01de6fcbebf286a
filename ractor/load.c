/**********************************************************************

  ractor/load.c - load encodings and transcoders for every Ractor

  Licence: see LICENSE.

**********************************************************************/

/*
 * Whoever is the first to use an encoding loads its file.  What load.c keeps of
 * the files that are loaded, and of those that are being loaded, is for main's
 * threads: two Ractors that load one file at once hang, or one of them is told
 * that it cannot be loaded.  As with Kernel#require, main loads it for others.
 */

#include "internal.h"
#include "internal/load.h"
#include "ractor_core.h"

int rb_require_internal_silent(VALUE fname); /* load.c */
VALUE rb_ractor_require_silent(VALUE fname); /* ractor/load.h */
int rb_require_silent_any_ractor(VALUE fname);

/* Any Ractor; another than main waits for main.  +fname+ is frozen.  Returns 1
 * if it was loaded, 0 if it had been before, something else on failure.  Passes
 * on whatever is not an exception: the end of the thread. */
int
rb_require_silent_any_ractor(VALUE fname)
{
    int state;
    VALUE loaded;

    if (rb_ractor_main_p()) return rb_require_internal_silent(fname);

    loaded = rb_protect(rb_ractor_require_silent, fname, &state);
    if (!state) return FIX2INT(loaded);
    if (!rb_obj_is_kind_of(rb_errinfo(), rb_eException)) rb_jump_tag(state);

    rb_set_errinfo(Qnil);
    return -1;
}
