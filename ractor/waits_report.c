/**********************************************************************

  ractor/waits_report.c - tells what Ractors wait for: RubyVM::Lockfree.waits, --ractor-stats

  Licence: see LICENSE.

**********************************************************************/

/*
 * What is counted, and how: ractor/waits.h.  doc/waits.md says how to read it.
 *
 * All that is told is made of one snapshot: a Hash, whose keys doc/waits.md
 * lists, and of which the JSON of --ractor-stats=FILE is the image; and, at the end of
 * the process, a page of text.
 */

#include "internal.h"
#include "internal/hash.h"
#include "internal/string.h"
#include "ractor_core.h"
#include "ruby/encoding.h"
#include "vm_core.h"
#include "lockfree/ractor/waits_trace.h"

#ifdef RUBY_THREAD_PTHREAD_H

#define REPORT_ROWS 20

const char *const ractor_waits_state_names[] = {
    "running", "collecting", "compiling", "stopping", "vm_lock", "stopped", "native_thread",
    "receive", "take", "yield", "blocked",
};
STATIC_ASSERT(ractor_waits_state_names, numberof(ractor_waits_state_names) == RACTOR_WAITS_STATES);

const char *const ractor_waits_cause_names[] = {
    "other", "collect", "sweep", "compile", "invalidate", "method", "class", "constant", "symbol", "fork",
};
STATIC_ASSERT(ractor_waits_cause_names, numberof(ractor_waits_cause_names) == RACTOR_WAITS_CAUSES);

/* Ruby's own methods that make others wait for what their names say.  Each list is one of the causes'. */
static const struct {
    int cause;
    const char *methods;
} ractor_waits_methods[] = {
    {RACTOR_WAITS_METHOD,
     " define_method define_singleton_method alias_method attr attr_reader attr_writer attr_accessor remove_method undef_method"
     " module_function public private protected public_class_method private_class_method ruby2_keywords refine using"
     " core#set_method_alias core#undef_method "},
    {RACTOR_WAITS_CLASS,
     " include prepend extend append_features prepend_features extend_object singleton_class define "},
    {RACTOR_WAITS_CONSTANT,
     " const_set remove_const autoload private_constant public_constant deprecate_constant "},
    {RACTOR_WAITS_SYMBOL,
     " to_sym intern "},
    {RACTOR_WAITS_FORK,
     " fork daemon "},
};

/* ---- records are sorted, and those that are the same made one */

/* The records of one line that waited, from +first+ on; or one, of one that made others wait. */
struct report_group {
    struct ractor_waits_record *first;
    size_t cnt;
    struct ractor_waits_sum sum;
};

struct report_groups {
    struct report_group *list;
    size_t cnt;
};

static int
compare_places(const struct ractor_waits_place *a, const struct ractor_waits_place *b)
{
    if (a->path != b->path) return a->path < b->path ? -1 : 1;
    if (a->line != b->line) return a->line < b->line ? -1 : 1;
    if (a->mid != b->mid) return a->mid < b->mid ? -1 : 1;
    return a->what - b->what;
}

static int
compare_by(const void *a, const void *b)
{
    return compare_places(&((const struct ractor_waits_record *)a)->by, &((const struct ractor_waits_record *)b)->by);
}

static int
compare_at(const void *a, const void *b)
{
    int order = compare_places(&((const struct ractor_waits_record *)a)->at, &((const struct ractor_waits_record *)b)->at);
    return order ? order : compare_by(a, b);
}

static int
compare_ns(const struct ractor_waits_sum *a, const struct ractor_waits_sum *b)
{
    return a->ns == b->ns ? 0 : a->ns > b->ns ? -1 : 1;
}

static int
compare_records(const void *a, const void *b)
{
    return compare_ns(&((const struct ractor_waits_record *)a)->sum, &((const struct ractor_waits_record *)b)->sum);
}

static int
compare_groups(const void *a, const void *b)
{
    return compare_ns(&((const struct report_group *)a)->sum, &((const struct report_group *)b)->sum);
}

static void
add_sum(struct ractor_waits_sum *to, const struct ractor_waits_sum *sum)
{
    to->count += sum->count;
    to->ns += sum->ns;
}

/* Sorts, and makes one of those that +compare+ says are the same.  How many are left. */
static size_t
unite_records(struct ractor_waits_record *records, size_t cnt, int (*compare)(const void *, const void *))
{
    size_t left = 0;

    if (cnt > 0) qsort(records, cnt, sizeof(*records), compare);
    for (size_t i = 0; i < cnt; i++) {
        if (left > 0 && compare(&records[left - 1], &records[i]) == 0) {
            add_sum(&records[left - 1].sum, &records[i].sum);
        }
        else {
            records[left++] = records[i];
        }
    }
    return left;
}

static bool
known_p(const struct ractor_waits_place *place)
{
    return place->path || place->mid || place->what;
}

/* By line that waited, in each by who made it wait, the longest first. */
static struct report_groups
group_waits(struct ractor_waits_snapshot *snapshot)
{
    struct report_groups groups = { .list = ALLOC_N(struct report_group, snapshot->records_cnt + 1) };
    struct ractor_waits_record *records = snapshot->records;

    snapshot->records_cnt = unite_records(records, snapshot->records_cnt, compare_at);
    for (size_t i = 0; i < snapshot->records_cnt; i++) {
        struct report_group *group = groups.cnt > 0 ? &groups.list[groups.cnt - 1] : NULL;
        if (!group || compare_places(&group->first->at, &records[i].at) != 0) {
            group = &groups.list[groups.cnt++];
            *group = (struct report_group){ .first = &records[i] };
        }
        group->cnt++;
        add_sum(&group->sum, &records[i].sum);
    }
    for (size_t i = 0; i < groups.cnt; i++) {
        qsort(groups.list[i].first, groups.list[i].cnt, sizeof(*records), compare_records);
    }
    if (groups.cnt > 0) qsort(groups.list, groups.cnt, sizeof(*groups.list), compare_groups);
    return groups;
}

/* By line that made others wait.  After group_waits, in +records+, which has room for all. */
static struct report_groups
group_culprits(const struct ractor_waits_snapshot *snapshot, struct ractor_waits_record *records)
{
    struct report_groups groups = { .list = ALLOC_N(struct report_group, snapshot->records_cnt + 1) };
    size_t cnt = 0;

    for (size_t i = 0; i < snapshot->records_cnt; i++) {
        if (known_p(&snapshot->records[i].by)) records[cnt++] = snapshot->records[i];
    }
    cnt = unite_records(records, cnt, compare_by);
    for (size_t i = 0; i < cnt; i++) {
        groups.list[groups.cnt++] = (struct report_group){ .first = &records[i], .cnt = 1, .sum = records[i].sum };
    }
    if (cnt > 0) qsort(groups.list, cnt, sizeof(*groups.list), compare_groups);
    return groups;
}

/* ---- a Hash */

static VALUE
sym(const char *name)
{
    return ID2SYM(rb_intern(name));
}

static void
set(VALUE hash, const char *key, VALUE value)
{
    rb_hash_aset(hash, sym(key), value);
}

static VALUE
seconds(uint64_t ns)
{
    return DBL2NUM((double)ns / 1e9);
}

static void
set_sum(VALUE hash, const struct ractor_waits_sum *sum)
{
    set(hash, "count", ULL2NUM(sum->count));
    set(hash, "seconds", seconds(sum->ns));
}

static const char *
cause_name(const struct ractor_waits_place *place)
{
    const char *name = place->mid && place->what == RACTOR_WAITS_OTHER ? rb_id2name(place->mid) : NULL;
    int cause = place->what;

    for (size_t i = 0; name && i < numberof(ractor_waits_methods); i++) {
        const char *found = ractor_waits_methods[i].methods;
        size_t len = strlen(name);
        while ((found = strstr(found, name)) && (found[-1] != ' ' || found[len] != ' ')) found++;
        if (found) cause = ractor_waits_methods[i].cause;
    }
    return ractor_waits_cause_names[cause];
}

static void
set_place(VALUE hash, const struct ractor_waits_place *place)
{
    bool line = place->path && *place->path;

    set(hash, "path", line ? rb_utf8_str_new_cstr(place->path) : Qnil);
    set(hash, "line", line ? INT2NUM(place->line) : Qnil);
    set(hash, "method", place->mid ? rb_id2sym(place->mid) : Qnil);
}

static VALUE
culprit_hash(const struct ractor_waits_record *record)
{
    VALUE hash = rb_hash_new();

    set_place(hash, &record->by);
    set(hash, "cause", sym(cause_name(&record->by)));
    set_sum(hash, &record->sum);
    return hash;
}

static VALUE
wait_hash(const struct report_group *group)
{
    VALUE hash = rb_hash_new(), by = rb_ary_new();

    set_place(hash, &group->first->at);
    set(hash, "state", sym(ractor_waits_state_names[group->first->at.what]));
    set_sum(hash, &group->sum);
    for (size_t i = 0; i < group->cnt; i++) {
        if (known_p(&group->first[i].by)) rb_ary_push(by, culprit_hash(&group->first[i]));
    }
    set(hash, "by", by);
    return hash;
}

static VALUE
states_hash(const struct ractor_waits_row *row)
{
    VALUE hash = rb_hash_new();

    for (int i = 0; i < RACTOR_WAITS_STATES; i++) {
        VALUE state = rb_hash_new();
        set_sum(state, &row->states[i]);
        set(hash, ractor_waits_state_names[i], state);
    }
    return hash;
}

static VALUE
ractor_hash(const struct ractor_waits_row *row)
{
    VALUE hash = rb_hash_new();

    set(hash, "id", ULL2NUM(row->id));
    set(hash, "name", *row->name ? rb_utf8_str_new_cstr(row->name) : Qnil);
    set(hash, "alive", RBOOL(row->alive));
    set(hash, "seconds", seconds(row->ns));
    set(hash, "states", states_hash(row));
    return hash;
}

static VALUE
others_hash(const struct ractor_waits_snapshot *snapshot)
{
    VALUE hash = rb_hash_new();

    set(hash, "count", ULL2NUM(snapshot->others_cnt));
    set(hash, "seconds", seconds(snapshot->others.ns));
    set(hash, "states", states_hash(&snapshot->others));
    return hash;
}

/* ---- one report: a Hash, and the same as text */

struct report {
    struct ractor_waits_snapshot snapshot;
    const rb_ractor_t *only;
    struct ractor_waits_record *culprit_records;
    struct report_groups waits, culprits;
    VALUE result;
    bool text;
};

static VALUE
report_hash(const struct report *report)
{
    const struct ractor_waits_snapshot *snapshot = &report->snapshot;
    VALUE hash = rb_hash_new(), ractors = rb_ary_new(), waits = rb_ary_new(), culprits = rb_ary_new(), dropped = rb_hash_new();

    for (size_t i = 0; i < snapshot->rows_cnt; i++) rb_ary_push(ractors, ractor_hash(&snapshot->rows[i]));
    for (size_t i = 0; i < report->waits.cnt; i++) rb_ary_push(waits, wait_hash(&report->waits.list[i]));
    for (size_t i = 0; i < report->culprits.cnt; i++) rb_ary_push(culprits, culprit_hash(report->culprits.list[i].first));
    set_sum(dropped, &snapshot->dropped);

    set(hash, "enabled", RBOOL(snapshot->on));
    set(hash, "seconds", seconds(snapshot->ns));
    set(hash, "ractors", ractors);
    set(hash, "others", others_hash(snapshot));
    set(hash, "waits", waits);
    set(hash, "culprits", culprits);
    set(hash, "dropped", dropped);
    return hash;
}

static void
cat_place(VALUE text, const struct ractor_waits_place *place)
{
    if (place->path && *place->path) rb_str_catf(text, "%s:%d", place->path, place->line);
    else rb_str_cat_cstr(text, "(no line)");
    if (place->mid) rb_str_catf(text, " %s", rb_id2name(place->mid));
}

static void
cat_sum(VALUE text, const char *indent, const struct ractor_waits_sum *sum)
{
    char line[60];
    snprintf(line, sizeof(line), "%s%10.6f s %8"PRIu64" times  ", indent, (double)sum->ns / 1e9, sum->count);
    rb_str_cat_cstr(text, line);
}

static void
cat_culprit(VALUE text, const char *indent, const struct ractor_waits_record *record)
{
    cat_sum(text, indent, &record->sum);
    cat_place(text, &record->by);
    rb_str_catf(text, " (%s)\n", cause_name(&record->by));
}

static void
cat_row(VALUE text, const char *name, const struct ractor_waits_row *row)
{
    char part[64];
    int len = (int)ractor_waits_cut(name, strlen(name), 20);

    snprintf(part, sizeof(part), "  %-20.*s %9.3f", len, name, (double)row->ns / 1e9);
    rb_str_cat_cstr(text, part);
    for (int i = 0; i < RACTOR_WAITS_STATES; i++) {
        snprintf(part, sizeof(part), " %5.1f", row->ns ? 100.0 * row->states[i].ns / row->ns : 0.0);
        rb_str_cat_cstr(text, part);
    }
    rb_str_cat_cstr(text, "\n");
}

static int
compare_rows(const void *a, const void *b)
{
    const struct ractor_waits_row *first = a, *second = b;
    return first->id < second->id ? -1 : first->id > second->id;
}

static void
cat_rows(VALUE text, struct ractor_waits_snapshot *snapshot)
{
    char name[80];
    size_t shown = snapshot->rows_cnt < REPORT_ROWS ? snapshot->rows_cnt : REPORT_ROWS;

    rb_str_cat_cstr(text, "  Ractor               seconds  runs%  coll  comp  stop  lock stood to-run recv  take yield block\n");
    if (snapshot->rows_cnt > 0) qsort(snapshot->rows, snapshot->rows_cnt, sizeof(*snapshot->rows), compare_rows);
    for (size_t i = 0; i < shown; i++) {
        snprintf(name, sizeof(name), "#%"PRIu64" %s", snapshot->rows[i].id, snapshot->rows[i].name);
        cat_row(text, name, &snapshot->rows[i]);
    }
    for (size_t i = shown; i < snapshot->rows_cnt; i++) {
        struct ractor_waits_row *row = &snapshot->rows[i], *sum = &snapshot->others;
        sum->ns += row->ns;
        for (int state = 0; state < RACTOR_WAITS_STATES; state++) add_sum(&sum->states[state], &row->states[state]);
        snapshot->others_cnt++;
    }
    if (snapshot->others_cnt > 0) {
        snprintf(name, sizeof(name), "%"PRIu64" others", snapshot->others_cnt);
        cat_row(text, name, &snapshot->others);
    }
}

/* Lines that wait for what a program waits for by design, or for what it should not have to. */
static void
cat_waits(VALUE text, const struct report *report, const char *title, bool by_design)
{
    int shown = 0;

    for (size_t i = 0; i < report->waits.cnt && shown < REPORT_ROWS; i++) {
        const struct report_group *group = &report->waits.list[i];
        if ((group->first->at.what >= RACTOR_RECEIVES) != by_design) continue;

        if (shown++ == 0) rb_str_cat_cstr(text, title);
        cat_sum(text, "  ", &group->sum);
        cat_place(text, &group->first->at);
        rb_str_catf(text, ": %s\n", ractor_waits_state_names[group->first->at.what]);
        for (size_t j = 0; j < group->cnt && j < 3; j++) {
            if (known_p(&group->first[j].by)) cat_culprit(text, "      by ", &group->first[j]);
        }
    }
}

static VALUE
report_text(struct report *report)
{
    struct ractor_waits_snapshot *snapshot = &report->snapshot;
    VALUE text = rb_utf8_str_new_cstr("");

    rb_str_catf(text, "***ractor-stats: what Ractors waited for***\n");
    cat_rows(text, snapshot);
    for (size_t i = 0; i < report->culprits.cnt && i < REPORT_ROWS; i++) {
        if (i == 0) rb_str_cat_cstr(text, "Lines that made other Ractors wait:\n");
        cat_culprit(text, "  ", report->culprits.list[i].first);
    }
    cat_waits(text, report, "Lines that waited, or worked for all:\n", false);
    cat_waits(text, report, "Lines that waited by design:\n", true);
    if (snapshot->dropped.count > 0) cat_sum(text, "  no room for the lines of ", &snapshot->dropped);
    return text;
}

static VALUE
report_make(VALUE arg)
{
    struct report *report = (struct report *)arg;
    struct ractor_waits_snapshot *snapshot = &report->snapshot;

    report->culprit_records = ALLOC_N(struct ractor_waits_record, snapshot->records_cnt + 1);
    report->waits = group_waits(snapshot);
    report->culprits = group_culprits(snapshot, report->culprit_records);
    report->result = report_hash(report);
    return report->text ? rb_assoc_new(report->result, report_text(report)) : report->result;
}

static VALUE
report_free(VALUE arg)
{
    struct report *report = (struct report *)arg;

    free(report->snapshot.rows);
    free(report->snapshot.records);
    xfree(report->culprit_records);
    xfree(report->waits.list);
    xfree(report->culprits.list);
    return Qnil;
}

/* The Hash, or an Array of it and the text.  Any Ractor. */
static VALUE
report_of(const rb_ractor_t *only, bool text)
{
    struct report report = { .only = only, .text = text };

    if (!rb_ractor_waits_snapshot(&report.snapshot, only)) {
        report_free((VALUE)&report);
        rb_memerror();
    }
    return rb_ensure(report_make, (VALUE)&report, report_free, (VALUE)&report);
}

/* ---- JSON */

static void
json_string(VALUE json, VALUE str)
{
    const char *from = RSTRING_PTR(str), *end = RSTRING_END(str);

    rb_str_cat_cstr(json, "\"");
    while (from < end) {
        char buffer[RACTOR_WAITS_CHAR], *to = buffer;
        from = ractor_waits_json_char(&to, from, end);
        rb_str_cat(json, buffer, to - buffer);
    }
    rb_str_cat_cstr(json, "\"");
    RB_GC_GUARD(str);
}

static void json_value(VALUE json, VALUE value);

static int
json_pair(VALUE key, VALUE value, VALUE json)
{
    if (RSTRING_PTR(json)[RSTRING_LEN(json) - 1] != '{') rb_str_cat_cstr(json, ",");
    json_value(json, key);
    rb_str_cat_cstr(json, ":");
    json_value(json, value);
    return ST_CONTINUE;
}

/* Of what report_hash has in it. */
static void
json_value(VALUE json, VALUE value)
{
    if (RB_TYPE_P(value, T_HASH)) {
        rb_str_cat_cstr(json, "{");
        rb_hash_foreach(value, json_pair, json);
        rb_str_cat_cstr(json, "}");
    }
    else if (RB_TYPE_P(value, T_ARRAY)) {
        rb_str_cat_cstr(json, "[");
        for (long i = 0; i < RARRAY_LEN(value); i++) {
            if (i > 0) rb_str_cat_cstr(json, ",\n");
            json_value(json, RARRAY_AREF(value, i));
        }
        rb_str_cat_cstr(json, "]");
    }
    else if (SYMBOL_P(value)) json_string(json, rb_sym2str(value));
    else if (RB_TYPE_P(value, T_STRING)) json_string(json, value);
    else if (NIL_P(value)) rb_str_cat_cstr(json, "null");
    else if (RB_FLOAT_TYPE_P(value)) rb_str_catf(json, "%.9f", RFLOAT_VALUE(value));
    else if (RB_INTEGER_TYPE_P(value)) rb_str_append(json, FIXNUM_P(value) ? rb_fix2str(value, 10) : rb_big2str(value, 10));
    else rb_str_cat_cstr(json, RTEST(value) ? "true" : "false");
}

/* ---- --ractor-stats */

/* Written as the command line is read. */
static struct {
    bool given;
    char *file;                 /* from the root, for the program may go elsewhere; or NULL: standard error */
    rb_pid_t pid;
} ractor_stats;

/* --ractor-trace=FILE.  The same. */
void
rb_ractor_waits_trace_option(const char *file)
{
    VALUE path = rb_file_expand_path(rb_utf8_str_new_cstr(file), Qnil);

    ractor_trace_open(StringValueCStr(path));
    rb_ractor_waits_disable(); /* main has no track, if it counts already */
    if (!rb_ractor_waits_enable()) rb_memerror();
}

/* --ractor-stats[=FILE].  Main, before the program begins. */
void
rb_ractor_waits_option(const char *file)
{
    ractor_stats.given = true;
    ractor_stats.pid = getpid();
    if (file && *file) {
        free(ractor_stats.file);
        VALUE path = rb_file_expand_path(rb_utf8_str_new_cstr(file), Qnil);
        ractor_stats.file = strdup(StringValueCStr(path));
    }
    if (!rb_ractor_waits_enable()) rb_memerror();
}

/* Whether it could be written; if not, says so. */
static bool
stats_write(const char *file, VALUE json)
{
    FILE *out = fopen(file, "w");
    bool done = out && fwrite(RSTRING_PTR(json), 1, RSTRING_LEN(json), out) == (size_t)RSTRING_LEN(json);

    if (out && fclose(out) != 0) done = false;
    if (!done) fprintf(stderr, "ruby: --ractor-stats: cannot write %s: %s\n", file, strerror(errno));
    return done;
}

/* A child that was forked has a file of its own: FILE.PID. */
static void
stats_report(void)
{
    VALUE both = report_of(NULL, true), json = rb_utf8_str_new_cstr("");
    if (ractor_stats.file) {
        VALUE file = rb_utf8_str_new_cstr(ractor_stats.file);
        if (getpid() != ractor_stats.pid) rb_str_catf(file, ".%ld", (long)getpid());
        json_value(json, RARRAY_AREF(both, 0));
        rb_str_cat_cstr(json, "\n");
        if (stats_write(StringValueCStr(file), json)) return;
    }
    fwrite(RSTRING_PTR(RARRAY_AREF(both, 1)), 1, RSTRING_LEN(RARRAY_AREF(both, 1)), stderr);
}

/* Main, when the others have ended.  Nothing is counted while the VM is taken down. */
void
rb_ractor_waits_at_exit(void)
{
    if (ractor_stats.given) stats_report();
    rb_ractor_waits_disable();
    rb_ractor_waits_trace_end();
}

/* ---- RubyVM::Lockfree */

/*
 *  call-seq:
 *    RubyVM::Lockfree.waits         -> hash or nil
 *    RubyVM::Lockfree.waits(ractor) -> hash or nil
 *
 *  What all Ractors have waited for, or one, since counting began: by
 *  waits_enable, or <tt>--ractor-stats</tt>.  nil if it never did.
 *
 *  doc/waits.md lists the keys, and says how to read it.  Stops all Ractors for a
 *  moment.
 */
static VALUE
lockfree_waits(int argc, VALUE *argv, VALUE self)
{
    VALUE ractor = rb_check_arity(argc, 0, 1) == 1 ? argv[0] : Qnil;

    if (!NIL_P(ractor) && !rb_ractor_p(ractor)) {
        rb_raise(rb_eTypeError, "wrong argument type %"PRIsVALUE" (expected Ractor)", rb_obj_class(ractor));
    }
    if (!rb_ractor_waits_ever()) return Qnil;
    VALUE hash = report_of(NIL_P(ractor) ? NULL : DATA_PTR(ractor), false);
    RB_GC_GUARD(ractor);
    return hash;
}

/*
 *  call-seq: RubyVM::Lockfree.waits_enable -> nil
 *
 *  From now on all Ractors count what they wait for.  What was counted before is kept.
 */
static VALUE
lockfree_waits_enable(VALUE self)
{
    if (!rb_ractor_waits_enable()) rb_memerror();
    return Qnil;
}

/*
 *  call-seq: RubyVM::Lockfree.waits_disable -> nil
 *
 *  Counts no more.  What was counted can still be asked for.
 */
static VALUE
lockfree_waits_disable(VALUE self)
{
    rb_ractor_waits_disable();
    return Qnil;
}

/*
 *  call-seq: RubyVM::Lockfree.waits_reset -> nil
 *
 *  Forgets what was counted, of all Ractors.
 */
static VALUE
lockfree_waits_reset(VALUE self)
{
    rb_ractor_waits_reset();
    return Qnil;
}

void
Init_ractor_waits(void)
{
    VALUE lockfree = rb_path2class("RubyVM::Lockfree");

    rb_define_singleton_method(lockfree, "waits", lockfree_waits, -1);
    rb_define_singleton_method(lockfree, "waits_enable", lockfree_waits_enable, 0);
    rb_define_singleton_method(lockfree, "waits_disable", lockfree_waits_disable, 0);
    rb_define_singleton_method(lockfree, "waits_reset", lockfree_waits_reset, 0);
}

#else /* there is nothing that counts */

void
rb_ractor_waits_option(const char *file)
{
    rb_warn("--ractor-stats is not there on this platform");
}

void
rb_ractor_waits_trace_option(const char *file)
{
    rb_warn("--ractor-trace is not there on this platform");
}

void
rb_ractor_waits_at_exit(void)
{
}

void
Init_ractor_waits(void)
{
    VALUE lockfree = rb_path2class("RubyVM::Lockfree");

    rb_define_singleton_method(lockfree, "waits", rb_f_notimplement, -1);
    rb_define_singleton_method(lockfree, "waits_enable", rb_f_notimplement, -1);
    rb_define_singleton_method(lockfree, "waits_disable", rb_f_notimplement, -1);
    rb_define_singleton_method(lockfree, "waits_reset", rb_f_notimplement, -1);
}
#endif
