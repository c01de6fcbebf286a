#ifndef LOCKFREE_EXT_SSL_DEFAULTS_H
#define LOCKFREE_EXT_SSL_DEFAULTS_H
/**********************************************************************

  ext/ssl_defaults.h - the defaults of TLS, as main has set them, for every Ractor

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of ext/openssl/ossl_ssl.c.
 *
 * Problem.  SSLContext#set_params, and so Net::HTTP, needs DEFAULT_PARAMS and
 * DEFAULT_CERT_STORE, which are main's.  Programs change both.  SSLSocket#gets needs $/.
 *
 * Solution.  The parameters are copied.  The certificates are not: the context of another
 * Ractor has a reference to main's X509_STORE, whose contents OpenSSL locks and whose
 * references it counts atomically.  What main adds later counts there, too.
 *
 * Limits.  There is no Ruby object for that store, and SSLContext#cert_store is nil.
 * ca_file and ca_path that come after set_params would be added to it, for every Ractor:
 * that raises.  The store's verify_callback is not called, as it never is where the
 * context has its own, and a context of this extension always has.
 */

#include "ruby/ruby.h"
#include "ruby/ractor.h"
#include "../ractor/main_constant.h"

/* SSLContext.default_params, private: DEFAULT_PARAMS, or a copy.  Any Ractor. */
static VALUE
ossl_sslctx_s_default_params(VALUE klass)
{
    return rb_ractor_constant_hash(cSSLContext, rb_intern("DEFAULT_PARAMS"));
}

/* Buffering#default_eol, private: $/.  Any Ractor; raises Ractor::IsolationError where main has set it to what is not shareable. */
static VALUE
ossl_buffering_default_eol(VALUE self)
{
    return rb_ractor_shareable_p(rb_rs) ? rb_rs : rb_gv_get("$/");
}

struct ossl_sslctx_default_store {
    VALUE klass;
    X509_STORE *store; /* NULL: none has been found */
};

static void
ossl_sslctx_take_store(VALUE value, void *arg)
{
    struct ossl_sslctx_default_store *found = arg;

    if (!RTEST(rb_obj_is_kind_of(value, found->klass))) return;
    found->store = GetX509StorePtr(value);
    X509_STORE_up_ref(found->store);
}

/* Gives +ctx+ main's store where set_params has noted that it wants the default one.  Who makes the context ready, once. */
static void
ossl_sslctx_use_default_store(VALUE self, SSL_CTX *ctx)
{
    struct ossl_sslctx_default_store found = { Qnil, NULL };

    if (!RTEST(rb_attr_get(self, rb_intern("@default_cert_store"))) || !NIL_P(rb_attr_get(self, id_i_cert_store))) return;
    if (!NIL_P(rb_attr_get(self, id_i_ca_file)) || !NIL_P(rb_attr_get(self, id_i_ca_path))) {
        rb_raise(rb_path2class("Ractor::IsolationError"),
                 "can not add to main's default certificates from non-main Ractors: give ca_file and ca_path to set_params");
    }
    found.klass = rb_path2class("OpenSSL::X509::Store");
    rb_ractor_with_constant(cSSLContext, rb_intern("DEFAULT_CERT_STORE"), ossl_sslctx_take_store, &found);
    if (!found.store) ossl_raise(eSSLError, "DEFAULT_CERT_STORE is no OpenSSL::X509::Store");
    SSL_CTX_set_cert_store(ctx, found.store);
}

#endif /* LOCKFREE_EXT_SSL_DEFAULTS_H */
