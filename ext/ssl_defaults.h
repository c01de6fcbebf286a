#ifndef LOCKFREE_EXT_SSL_DEFAULTS_H
#define LOCKFREE_EXT_SSL_DEFAULTS_H
/**********************************************************************

  ext/ssl_defaults.h - the defaults of TLS, as main has set them, for every Ractor

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of ext/openssl/ossl_x509store.c.
 *
 * Problem.  SSLContext#set_params, and so Net::HTTP, needs DEFAULT_PARAMS and
 * DEFAULT_CERT_STORE, which are main's.  Programs change both.  SSLSocket#gets needs $/.
 *
 * Solution.  Both are copied, as they are when a Ractor asks: ractor/main_constant.h.
 *
 *   what a store has         in the copy
 *   certificates and lists   the same, by reference, if they come from files: nobody changes them, OpenSSL counts their
 *   of revoked ones (CRLs)   references atomically and locks what it notes in them.  What Ruby has an object of as
 *                            well, since add_cert or add_crl, may be changed by it at any time: a duplicate, which is kept
 *                            for the next copy, and made again where what it says has changed.
 *   folders to look in       the same
 *   flags, time, purpose ... the same
 *   verify_callback, methods are main's: such a store is refused
 *   of its own
 *
 * What Ruby has an object of, and the folders, OpenSSL does not tell: they are noted, in the store's ex_data.  The Ractor
 * that has the store writes there; who copies it reads and writes while that one stands.
 *
 * Limits.  What main adds or revokes later does not count for a context that is made.  Parameters and certificates are
 * copied one after the other.  What Ruby has an object of counts as it would if it were written and read: where Ruby has
 * made or changed it since, OpenSSL goes in main by what it has noted of it before, or has not.  In the default folder a
 * certificate has to have the name that c_rehash gives it.
 */

#include "ruby/ractor.h"
#include "ruby/st.h"
#include "ruby/util.h"
#include "../ractor/main_constant.h"

static VALUE ossl_x509store_alloc(VALUE klass);
static VALUE ossl_x509store_initialize(int argc, VALUE *argv, VALUE self);
static VALUE ossl_x509store_add_path(VALUE self, VALUE dir);

/* A certificate or a CRL of which Ruby has an object as well. */
struct ossl_x509store_alias {
    X509 *cert, *cert_copy;
    X509_CRL *crl, *crl_copy; /* one of the two pairs; the copy is NULL before the first, or where it could not be made */
    unsigned char *der;       /* what the copy was made of */
    int der_len;
};

struct ossl_x509store_notes {
    st_table *aliases; /* by X509 or X509_CRL, which are kept, so that no other gets that address; or NULL */
    char **dirs;       /* as X509_LOOKUP_add_dir wants them */
    int dirs_cnt;
};

static int store_ex_notes_idx;

static int
ossl_x509store_alias_free(st_data_t object, st_data_t ptr, st_data_t arg)
{
    struct ossl_x509store_alias *alias = (struct ossl_x509store_alias *)ptr;

    X509_free(alias->cert);
    X509_free(alias->cert_copy);
    X509_CRL_free(alias->crl);
    X509_CRL_free(alias->crl_copy);
    OPENSSL_free(alias->der);
    xfree(alias);
    return ST_CONTINUE;
}

/* A store goes: whoever drops the last reference. */
static void
ossl_x509store_notes_free(void *parent, void *ptr, CRYPTO_EX_DATA *ad, int idx, long argl, void *argp)
{
    struct ossl_x509store_notes *notes = ptr;
    if (!notes) return;

    for (int i = 0; i < notes->dirs_cnt; i++) xfree(notes->dirs[i]);
    xfree(notes->dirs);
    if (notes->aliases) {
        st_foreach(notes->aliases, ossl_x509store_alias_free, 0);
        st_free_table(notes->aliases);
    }
    xfree(notes);
}

static struct ossl_x509store_notes *
ossl_x509store_notes(X509_STORE *store)
{
    struct ossl_x509store_notes *notes = X509_STORE_get_ex_data(store, store_ex_notes_idx);

    if (!notes) {
        notes = ZALLOC(struct ossl_x509store_notes);
        X509_STORE_set_ex_data(store, store_ex_notes_idx, notes);
    }
    return notes;
}

/* X509_STORE_add_cert or X509_STORE_add_crl: Ruby has an object of +cert+ or +crl+, of which the other is NULL, as well.  That is
 * noted before others may stand, and forgotten where the store has had an equal one, and has not taken this one. */
static int
ossl_x509store_add(X509_STORE *store, X509 *cert, X509_CRL *crl)
{
    struct ossl_x509store_notes *notes = ossl_x509store_notes(store);
    st_data_t object = cert ? (st_data_t)cert : (st_data_t)crl, noted = 0;
    const int had = sk_X509_OBJECT_num(X509_STORE_get0_objects(store));

    if (!notes->aliases) notes->aliases = st_init_numtable();
    if (!st_is_member(notes->aliases, object)) {
        struct ossl_x509store_alias *alias = ZALLOC(struct ossl_x509store_alias);

        noted = (st_data_t)alias;
        if (cert) X509_up_ref(alias->cert = cert); else X509_CRL_up_ref(alias->crl = crl);
        st_insert(notes->aliases, object, noted);
    }

    const int added = cert ? X509_STORE_add_cert(store, cert) : X509_STORE_add_crl(store, crl);
    if (noted && sk_X509_OBJECT_num(X509_STORE_get0_objects(store)) == had) {
        st_delete(notes->aliases, &object, &noted);
        ossl_x509store_alias_free(object, noted, 0);
    }
    return added;
}

/* What +alias+ is in +store+ if it is +object+ there, or NULL.  All others stand. */
static struct ossl_x509store_alias *
ossl_x509store_alias(const struct ossl_x509store_notes *notes, const void *object)
{
    st_data_t alias = 0;

    if (notes && notes->aliases) st_lookup(notes->aliases, (st_data_t)object, &alias);
    return (struct ossl_x509store_alias *)alias;
}

/* Makes the copy of +alias+, with the trust settings of a certificate, unless there is one of what it says.  All others stand. */
static bool
ossl_x509store_alias_copy(struct ossl_x509store_alias *alias)
{
    unsigned char *der = NULL;
    const int len = alias->cert ? i2d_X509_AUX(alias->cert, &der) : i2d_X509_CRL(alias->crl, &der);
    const unsigned char *read = der;

    if (len <= 0) return false;
    if (alias->der && len == alias->der_len && !memcmp(der, alias->der, len)) {
        OPENSSL_free(der);
        return alias->cert_copy || alias->crl_copy;
    }
    OPENSSL_free(alias->der);
    alias->der = der;
    alias->der_len = len;
    X509_free(alias->cert_copy);
    X509_CRL_free(alias->crl_copy);
    alias->cert_copy = alias->cert ? d2i_X509_AUX(NULL, &read, len) : NULL;
    alias->crl_copy = alias->crl ? d2i_X509_CRL(NULL, &read, len) : NULL;
    return alias->cert_copy || alias->crl_copy;
}

/* +store+ will look in +dirs+. */
void
ossl_x509store_note_dirs(X509_STORE *store, const char *dirs)
{
    struct ossl_x509store_notes *notes = ossl_x509store_notes(store);

    for (int i = 0; i < notes->dirs_cnt; i++) {
        if (!strcmp(notes->dirs[i], dirs)) return;
    }
    REALLOC_N(notes->dirs, char *, notes->dirs_cnt + 1);
    notes->dirs[notes->dirs_cnt] = ruby_strdup(dirs);
    notes->dirs_cnt++;
}

#if defined(__GLIBC__)
char *secure_getenv(const char *name); /* <stdlib.h> has it for those who ask for GNU's extensions */
#endif

/* +store+ will look where OpenSSL looks, which trusts no environment that whoever started the program could make more of. */
static void
ossl_x509store_note_default_dirs(X509_STORE *store)
{
#if defined(__GLIBC__)
    const char *dirs = secure_getenv(X509_get_default_cert_dir_env());
#elif defined(HAVE_ISSETUGID)
    const char *dirs = issetugid() ? NULL : getenv(X509_get_default_cert_dir_env());
#else
    const char *dirs = getenv(X509_get_default_cert_dir_env());
#endif

    if (!dirs) dirs = X509_get_default_cert_dir();
    if (*dirs) ossl_x509store_note_dirs(store, dirs);
}

struct ossl_x509store_copy {
    VALUE dirs;          /* an Array, or Qfalse: there is no store */
    const char *refused; /* why it can't be copied */
    STACK_OF(X509) *certs;
    STACK_OF(X509_CRL) *crls;
    X509_VERIFY_PARAM *param;
};

/* Takes what +value+, a Store, has into a copy.  All others stand. */
static void
ossl_x509store_take(VALUE value, void *arg)
{
    struct ossl_x509store_copy *copy = arg;
    if (!rb_typeddata_is_kind_of(value, &ossl_x509store_type)) return;

    X509_STORE *store = RTYPEDDATA_DATA(value);
    struct ossl_x509store_notes *notes = X509_STORE_get_ex_data(store, store_ex_notes_idx);
    VALUE proc = (VALUE)X509_STORE_get_ex_data(store, store_ex_verify_cb_idx);
    STACK_OF(X509_OBJECT) *objects = X509_STORE_get0_objects(store);

    copy->dirs = rb_ary_new();
    if (RTEST(proc)) copy->refused = "it has a verify_callback";
    if (RBASIC_CLASS(value) != cX509Store) copy->refused = "it has methods of its own";
    if (copy->refused) return;

    for (int i = 0; notes && i < notes->dirs_cnt; i++) rb_ary_push(copy->dirs, rb_str_new_cstr(notes->dirs[i]));
    for (int i = 0; i < sk_X509_OBJECT_num(objects); i++) {
        X509_OBJECT *object = sk_X509_OBJECT_value(objects, i);
        X509 *cert = X509_OBJECT_get0_X509(object);
        X509_CRL *crl = X509_OBJECT_get0_X509_CRL(object);
        struct ossl_x509store_alias *alias = ossl_x509store_alias(notes, cert ? (void *)cert : crl);

        if (alias) {
            if (!ossl_x509store_alias_copy(alias)) copy->refused = "one of its certificates or CRLs is not complete";
            cert = alias->cert_copy;
            crl = alias->crl_copy;
        }
        if (cert && X509_up_ref(cert) && !sk_X509_push(copy->certs, cert)) copy->refused = "no memory";
        if (crl && X509_CRL_up_ref(crl) && !sk_X509_CRL_push(copy->crls, crl)) copy->refused = "no memory";
    }
    if (X509_VERIFY_PARAM_set1(copy->param, X509_STORE_get0_param(store)) != 1) copy->refused = "X509_VERIFY_PARAM_set1";
}

/* Fills the store of +args+[1] with the copy +args+[0]. */
static VALUE
ossl_x509store_fill(VALUE ptr)
{
    VALUE *args = (VALUE *)ptr, self = args[1];
    struct ossl_x509store_copy *copy = (struct ossl_x509store_copy *)args[0];
    X509_STORE *store = GetX509StorePtr(self);

    for (int i = 0; i < sk_X509_num(copy->certs); i++) {
        X509 *cert = sk_X509_value(copy->certs, i);
        if (X509_STORE_add_cert(store, cert) != 1) ossl_raise(eX509StoreError, "X509_STORE_add_cert");
    }
    for (int i = 0; i < sk_X509_CRL_num(copy->crls); i++) {
        if (X509_STORE_add_crl(store, sk_X509_CRL_value(copy->crls, i)) != 1) ossl_raise(eX509StoreError, "X509_STORE_add_crl");
    }
    if (X509_STORE_set1_param(store, copy->param) != 1) ossl_raise(eX509StoreError, "X509_STORE_set1_param");
    for (long i = 0; i < RARRAY_LEN(copy->dirs); i++) ossl_x509store_add_path(self, RARRAY_AREF(copy->dirs, i));
    return self;
}

/* Copies main's DEFAULT_CERT_STORE into the store of +args+[1]. */
static VALUE
ossl_x509store_copy_default(VALUE ptr)
{
    struct ossl_x509store_copy *copy = (struct ossl_x509store_copy *)((VALUE *)ptr)[0];
    VALUE context = rb_path2class("OpenSSL::SSL::SSLContext");

    if (!copy->certs || !copy->crls || !copy->param) ossl_raise(eX509StoreError, "no memory");
    rb_ractor_with_constant(context, rb_intern("DEFAULT_CERT_STORE"), ossl_x509store_take, copy);
    if (!RTEST(copy->dirs)) rb_raise(rb_eTypeError, "DEFAULT_CERT_STORE is no OpenSSL::X509::Store");
    ossl_clear_error();
    if (copy->refused) {
        rb_raise(rb_path2class("Ractor::IsolationError"), "can not copy main's DEFAULT_CERT_STORE: %s", copy->refused);
    }
    return ossl_x509store_fill(ptr);
}

static VALUE
ossl_x509store_copy_free(VALUE ptr)
{
    struct ossl_x509store_copy *copy = (struct ossl_x509store_copy *)ptr;

    sk_X509_pop_free(copy->certs, X509_free);
    sk_X509_CRL_pop_free(copy->crls, X509_CRL_free);
    X509_VERIFY_PARAM_free(copy->param);
    return Qnil;
}

/* OpenSSL::SSL.main_default_cert_store: a new Store, a copy of DEFAULT_CERT_STORE.  Any Ractor but main; raises
 * Ractor::IsolationError where that can't be copied. */
static VALUE
ossl_ssl_s_main_default_cert_store(VALUE module)
{
    struct ossl_x509store_copy copy = {
        Qfalse, NULL, sk_X509_new_null(), sk_X509_CRL_new_null(), X509_VERIFY_PARAM_new()
    };
    VALUE args[2] = { (VALUE)&copy, ossl_x509store_initialize(0, NULL, ossl_x509store_alloc(cX509Store)) };
    VALUE store = rb_ensure(ossl_x509store_copy_default, (VALUE)args, ossl_x509store_copy_free, (VALUE)&copy);

    RB_GC_GUARD(copy.dirs);
    return store;
}

/* OpenSSL::SSL.main_default_params: a copy of DEFAULT_PARAMS.  Any Ractor but main. */
static VALUE
ossl_ssl_s_main_default_params(VALUE module)
{
    return rb_ractor_constant_hash(rb_path2class("OpenSSL::SSL::SSLContext"), rb_intern("DEFAULT_PARAMS"));
}

/* OpenSSL::Buffering.main_eol: $/.  Any Ractor; raises Ractor::IsolationError where main has set it to what is not shareable. */
static VALUE
ossl_buffering_s_main_eol(VALUE module)
{
    return rb_ractor_shareable_p(rb_rs) ? rb_rs : rb_gv_get("$/");
}

static void
ossl_define_main_defaults(void)
{
    VALUE ssl = rb_define_module_under(mOSSL, "SSL"), buffering = rb_define_module_under(mOSSL, "Buffering");

    store_ex_notes_idx = X509_STORE_get_ex_new_index(0, (void *)"store_ex_notes_idx", 0, 0, ossl_x509store_notes_free);
    if (store_ex_notes_idx < 0) ossl_raise(eOSSLError, "X509_STORE_get_ex_new_index");
    rb_define_singleton_method(ssl, "main_default_cert_store", ossl_ssl_s_main_default_cert_store, 0);
    rb_define_singleton_method(ssl, "main_default_params", ossl_ssl_s_main_default_params, 0);
    rb_define_singleton_method(buffering, "main_eol", ossl_buffering_s_main_eol, 0);
}

#endif /* LOCKFREE_EXT_SSL_DEFAULTS_H */
