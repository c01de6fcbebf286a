# frozen_string_literal: true
# ext/test_ssl_defaults.rb - ext/ssl_defaults.h, ractor/main_constant.h: TLS in Ractors, by the defaults that main has set.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeSSLDefaults < Test::Unit::TestCase
  include LockfreeAssertRactors

  # A server in main, whose certificate nobody knows: PORT, and CERTIFICATE, the name of its file. #get verifies it.
  SERVER = <<~'RUBY'
    require "net/http"
    require "openssl"
    require "fileutils"
    require "tempfile"
    require "tmpdir"

    KEY = OpenSSL::PKey::EC.generate("prime256v1")
    CERT = OpenSSL::X509::Certificate.new.tap do |cert|
      cert.version, cert.serial, cert.public_key = 2, 1, KEY
      cert.subject = cert.issuer = OpenSSL::X509::Name.parse("/CN=localhost")
      cert.not_before, cert.not_after = Time.now - 60, Time.now + 3600
      extensions = OpenSSL::X509::ExtensionFactory.new(cert, cert)
      cert.add_extension(extensions.create_extension("basicConstraints", "CA:TRUE", true))
      cert.add_extension(extensions.create_extension("subjectAltName", "DNS:localhost,IP:127.0.0.1"))
      cert.sign(KEY, "SHA256")
    end
    file = Tempfile.new
    file.write(CERT.to_pem)
    file.close
    CERTIFICATE = file.path.dup.freeze

    def serve(server)
      while (tcp = server.to_io.accept)
        Thread.new(tcp) do |tcp|
          Thread.current.report_on_exception = false
          ssl = OpenSSL::SSL::SSLSocket.new(tcp, server.instance_variable_get(:@ctx))
          ssl.accept
          nil until ssl.gets.chomp.empty?
          ssl.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
          ssl.close
        rescue OpenSSL::SSL::SSLError, SystemCallError
        ensure
          tcp.close
        end
      end
    end

    def server(cert, key)
      context = OpenSSL::SSL::SSLContext.new
      context.cert, context.key = cert, key
      OpenSSL::SSL::SSLServer.new(TCPServer.new("127.0.0.1", 0), context)
    end

    in_main = server(CERT, KEY)
    PORT = in_main.to_io.addr[1]
    Thread.new { serve(in_main) }

    def get(port = PORT, **options)
      http = Net::HTTP.new("127.0.0.1", port)
      http.use_ssl = true
      options.each { |name, value| http.public_send(:"#{name}=", value) }
      http.get("/").body
    rescue OpenSSL::SSL::SSLError, Ractor::IsolationError
      "#{$!.class}: #{$!.message}"
    end

    def in_ractors(count = 4) = Array.new(count) { Ractor.new { get } }.map(&:take).uniq
  RUBY

  def assert_tls(program)
    assert_ractors(SERVER + program)
  end

  def test_verified_by_a_file
    assert_tls(<<~'RUBY')
      ractors = Array.new(4) { Ractor.new { Array.new(5) { get(ca_file: CERTIFICATE) } } }
      assert_equal([["hello"] * 5] * 4, ractors.map(&:take))
      assert_equal(["hello"] * 2, Array.new(2) { Ractor.new { get(verify_mode: OpenSSL::SSL::VERIFY_NONE) } }.map(&:take))
    RUBY
  end

  def test_what_main_trusts_is_trusted
    assert_tls(<<~'RUBY')
      assert_match(/certificate verify failed/, get)
      in_ractors.each { assert_match(/certificate verify failed/, _1) }
      OpenSSL::SSL::SSLContext::DEFAULT_CERT_STORE.add_cert(CERT)
      assert_equal(["hello"], in_ractors)

      $VERBOSE = nil
      OpenSSL::SSL::SSLContext.const_set(:DEFAULT_CERT_STORE, OpenSSL::X509::Store.new)
      in_ractors.each { assert_match(/certificate verify failed/, _1) }
      OpenSSL::SSL::SSLContext::DEFAULT_CERT_STORE.add_file(CERTIFICATE)
      assert_equal(["hello"], in_ractors)

      folder = Dir.mktmpdir
      File.write("#{folder}/#{CERT.subject.hash.to_s(16).rjust(8, "0")}.0", CERT.to_pem)
      OpenSSL::SSL::SSLContext.const_set(:DEFAULT_CERT_STORE, OpenSSL::X509::Store.new)
      OpenSSL::SSL::SSLContext::DEFAULT_CERT_STORE.add_path(folder)
      assert_equal(["hello"], in_ractors)
      OpenSSL::SSL::SSLContext::DEFAULT_CERT_STORE.time = Time.now + 1_000_000
      in_ractors.each { assert_match(/certificate has expired/, _1) }
      FileUtils.rm_rf(folder)

      OpenSSL::SSL::SSLContext.const_set(:DEFAULT_CERT_STORE, nil)
      assert_match(/DEFAULT_CERT_STORE is no OpenSSL::X509::Store/, Ractor.new { OpenSSL::SSL.main_default_cert_store rescue $!.message }.take)
    RUBY
  end

  REVOCATIONS = <<~'RUBY'
    LIST = OpenSSL::X509::CRL.new.tap do |list|
      list.version, list.issuer = 1, CERT.subject
      list.last_update, list.next_update = Time.now - 60, Time.now + 3600
      list.sign(KEY, "SHA256")
    end
    def revoke(serial)
      revoked = OpenSSL::X509::Revoked.new
      revoked.serial, revoked.time = serial, Time.now
      LIST.add_revoked(revoked)
      LIST.sign(KEY, "SHA256")
    end
    store = OpenSSL::SSL::SSLContext::DEFAULT_CERT_STORE
    store.add_cert(CERT)
    store.add_crl(LIST)
    store.flags = OpenSSL::X509::V_FLAG_CRL_CHECK
  RUBY

  # The list is main's object as well.
  def test_what_main_revokes_is_revoked
    assert_tls(REVOCATIONS + <<~'RUBY')
      assert_equal(["hello"], in_ractors)
      revoke(CERT.serial)
      assert_match(/certificate revoked/, get)
      in_ractors.each { assert_match(/certificate revoked/, _1) }
    RUBY
  end

  def test_racing_with_what_main_changes
    assert_tls(REVOCATIONS + <<~'RUBY')
      ractors = Array.new(4) { Ractor.new { Array.new(20) { get } } }
      other = OpenSSL::X509::Certificate.new(CERT.to_pem)
      other.subject = OpenSSL::X509::Name.parse("/CN=other")
      store.add_cert(other)
      changer = Thread.new { (2..).each { |serial| revoke(serial); other.public_key = KEY; other.sign(KEY, "SHA256"); Thread.pass } }
      results = ractors.flat_map(&:take)
      changer.kill
      assert_equal([], results.uniq - ["hello"] - results.grep(/CRL signature failure/)) # between add_revoked and sign
      assert_include(results, "hello")
    RUBY
  end

  # A context of main's adds to the default store what it is given after set_params.
  def test_a_folder_of_a_context_of_main
    assert_tls(<<~'RUBY')
      folder = Dir.mktmpdir
      $VERBOSE = nil
      OpenSSL::SSL::SSLContext.const_set(:DEFAULT_CERT_STORE, OpenSSL::X509::Store.new)
      mine = OpenSSL::SSL::SSLContext.new
      mine.set_params
      mine.ca_path = folder
      mine.setup
      File.write("#{folder}/#{CERT.subject.hash.to_s(16).rjust(8, "0")}.0", CERT.to_pem)
      assert_equal(["hello"], in_ractors)
      assert_equal("hello", get)
      FileUtils.rm_rf(folder)
    RUBY
  end

  # Both were added before, by another object; the address of the second one may be that of the next certificate.
  def test_an_object_that_the_store_does_not_take
    assert_tls(<<~'RUBY')
      store = OpenSSL::SSL::SSLContext::DEFAULT_CERT_STORE
      store.add_cert(CERT)
      200.times { store.add_cert(OpenSSL::X509::Certificate.new(CERT.to_pem)) }
      GC.start
      200.times { OpenSSL::X509::Certificate.new(CERT.to_pem) }
      assert_equal(["hello"], in_ractors)
    RUBY
  end

  def test_a_store_that_cannot_be_copied
    assert_tls(<<~'RUBY')
      context = OpenSSL::SSL::SSLContext
      in_ractor = Ractor.new(PORT) do |port|
        loop do
          Ractor.receive
          refused = OpenSSL::SSL.main_default_cert_store rescue $!.message
          Ractor.yield([refused, OpenSSL.errors, get(ca_file: CERTIFICATE)])
        end
      end
      $VERBOSE = nil
      ask = -> { in_ractor.send(nil).take }
      context.const_set(:DEFAULT_CERT_STORE, OpenSSL::X509::Store.new)
      context::DEFAULT_CERT_STORE.add_crl(OpenSSL::X509::CRL.new)
      assert_equal(["can not copy main's DEFAULT_CERT_STORE: one of its certificates or CRLs is not complete", [], "hello"], ask.call)
      context.const_set(:DEFAULT_CERT_STORE, Class.new(OpenSSL::X509::Store).new)
      assert_equal("can not copy main's DEFAULT_CERT_STORE: it has methods of its own", ask.call[0])
      context.const_set(:DEFAULT_CERT_STORE, OpenSSL::X509::Store.new.tap { |store| def store.verify(*) = false })
      assert_equal("can not copy main's DEFAULT_CERT_STORE: it has methods of its own", ask.call[0])
    RUBY
  end

  # OpenSSL calls it where a side with a certificate builds its chain: it is main's Proc.
  def test_a_callback_of_main
    assert_tls(<<~'RUBY')
      OpenSSL::SSL::SSLContext::DEFAULT_CERT_STORE.verify_callback = proc { true }
      in_ractors.each { assert_match(/IsolationError: .*verify_callback/, _1) }
      OpenSSL::SSL::SSLContext::DEFAULT_CERT_STORE.verify_callback = nil
      in_ractors.each { assert_match(/certificate verify failed/, _1) }
    RUBY
  end

  def test_what_main_forbids_is_forbidden
    assert_tls(<<~'RUBY')
      OpenSSL::SSL::SSLContext::DEFAULT_CERT_STORE.add_cert(CERT)
      defaults = OpenSSL::SSL::SSLContext::DEFAULT_PARAMS
      assert_equal(["hello"], in_ractors)

      defaults[:ciphers] = +"AES128-SHA"
      defaults[:max_version] = :TLS1_2
      assert_match(/SSLError/, get) # an RSA cipher
      in_ractors.each { assert_match(/SSLError/, _1) }
      defaults.delete(:max_version)
      defaults.delete(:ciphers)
      assert_equal(["hello"], in_ractors)

      defaults[:alpn_protocols] = [+"http/1.1"]
      assert_equal(["hello"], in_ractors)
      defaults[:verify_callback] = ->(ok, _) { ok } # it is main's
      assert_equal("hello", get)
      in_ractors.each { assert_match(/IsolationError: .*DEFAULT_PARAMS/, _1) }
      defaults[:verify_callback] = Ractor.make_shareable(nil.instance_eval { ->(ok, _) { false } })
      in_ractors.each { assert_match(/certificate verify failed/, _1) }
      defaults.delete(:verify_callback)

      same = [+"a"]
      { cyclic: [].tap { _1 << _1 }, wide: 16.times.inject(same) { |a, _| [a, a] } }.each_value do |value| # as in main
        defaults[:ciphers] = value
        [get, *in_ractors(1)].each { assert_match(/Error/, _1) }
      end
      { subclass: Class.new(String).new("a"), own: (+"a").tap { |a| def a.to_s = "b" } }.each_value do |value|
        defaults[:ciphers] = value
        in_ractors(1).each { assert_match(/IsolationError: .*DEFAULT_PARAMS/, _1) }
      end
      defaults.delete(:ciphers)
      [proc { def defaults.merge(_) = super.merge(min_version: :TLS1_3) },
       proc { OpenSSL::SSL::SSLContext.const_set(:DEFAULT_PARAMS, Class.new(Hash)[defaults.to_a]) }].each do |change|
        $VERBOSE = nil
        OpenSSL::SSL::SSLContext.const_set(:DEFAULT_PARAMS, defaults = defaults.to_a.to_h)
        assert_equal(["hello"], in_ractors(1))
        change.call
        in_ractors(1).each { assert_match(/IsolationError: .*DEFAULT_PARAMS/, _1) }
      end
    RUBY
  end

  def test_nothing_is_added_to_what_main_trusts
    assert_tls(<<~'RUBY')
      def connect(port)
        mine = OpenSSL::SSL::SSLContext.new
        mine.set_params
        yield mine
        socket = OpenSSL::SSL::SSLSocket.new(TCPSocket.new("127.0.0.1", port), mine)
        socket.hostname = "localhost"
        socket.connect
        :connected
      rescue OpenSSL::SSL::SSLError
        :refused
      ensure
        socket&.io&.close
      end
      add = Ractor.new(PORT) { |port| connect(port) { _1.cert_store.add_file(CERTIFICATE) } }
      assert_equal(:connected, add.take)
      assert_equal(:connected, Ractor.new(PORT) { |port| connect(port) { _1.ca_file = CERTIFICATE } }.take)
      assert_equal(:refused, connect(PORT) {})
      assert_equal(:refused, Ractor.new(PORT) { |port| connect(port) {} }.take)

      OpenSSL::SSL::SSLContext::DEFAULT_CERT_STORE.add_cert(CERT)
      assert_equal(:connected, Ractor.new(PORT) { |port| connect(port) {} }.take)
      assert_equal(:refused, Ractor.new(PORT) { |port| connect(port) { _1.cert_store = nil } }.take)
      assert_equal(:refused, Ractor.new(PORT) { |port| connect(port) { _1.cert_store = OpenSSL::X509::Store.new } }.take)
    RUBY
  end

  def test_a_server_in_a_ractor
    assert_tls(<<~'RUBY')
      port = Ractor.new(CERT.to_pem, KEY.to_pem) do |cert, key|
        mine = server(OpenSSL::X509::Certificate.new(cert), OpenSSL::PKey.read(key))
        Ractor.yield(mine.to_io.addr[1])
        serve(mine)
      end.take
      assert_equal("hello", get(port, ca_file: CERTIFICATE))
      assert_equal("hello", Ractor.new(port) { |port| get(port, ca_file: CERTIFICATE) }.take)
    RUBY
  end

  def test_parameters_for_diffie_hellman
    assert_ractors(<<~'RUBY')
      require "openssl"
      require "socket"
      $VERBOSE = nil
      def handshake
        key = OpenSSL::PKey::RSA.new(2048)
        cert = OpenSSL::X509::Certificate.new
        cert.serial, cert.subject, cert.issuer, cert.public_key = 1, OpenSSL::X509::Name.parse("/CN=a"), OpenSSL::X509::Name.parse("/CN=a"), key
        cert.not_before, cert.not_after = Time.now - 60, Time.now + 60
        cert.sign(key, "SHA256")
        here, there = UNIXSocket.pair
        server, client = OpenSSL::SSL::SSLContext.new, OpenSSL::SSL::SSLContext.new
        server.cert, server.key = cert, key
        client.max_version, client.ciphers = :TLS1_2, "DHE-RSA-AES128-GCM-SHA256"
        accepting = Thread.new { OpenSSL::SSL::SSLSocket.new(there, server).accept }
        socket = OpenSSL::SSL::SSLSocket.new(here, client).connect
        accepting.join
        [socket.cipher[0], socket.tmp_key.params["p"].num_bits]
      end
      assert_equal([handshake] * 2, Array.new(2) { Ractor.new { handshake } }.map(&:take))
    RUBY
  end

  def test_names_of_certificates
    assert_ractors(<<~'RUBY')
      require "openssl"
      def names = [OpenSSL::X509::Name.parse("/C=DE/CN=x").to_a, OpenSSL::X509::Name.parse_rfc2253("DC=a,CN=b").to_der,
                   OpenSSL::X509::Name.new.add_entry("emailAddress", "a@b").to_a]
      assert_equal([names] * 4, Array.new(4) { Ractor.new { names } }.map(&:take))
      OpenSSL::X509::Name::OBJECT_TYPE_TEMPLATE["CN"] = OpenSSL::ASN1::PRINTABLESTRING
      assert_equal(OpenSSL::ASN1::PRINTABLESTRING, names[0][1][2])
      assert_equal([names] * 4, Array.new(4) { Ractor.new { names } }.map(&:take))
      OpenSSL::X509::Name::OBJECT_TYPE_TEMPLATE.default_proc = proc { OpenSSL::ASN1::UTF8STRING }
      assert_equal(Ractor::IsolationError, Ractor.new { names rescue $!.class }.take)
    RUBY
  end

  # The keys come and go, and the Hash grows from a small one to a table, while it is copied.
  def test_racing_with_main
    assert_ractors(<<~'RUBY')
      require "openssl"
      defaults = OpenSSL::SSL::SSLContext::DEFAULT_PARAMS
      kept = defaults.keys
      ractors = Array.new(4) do
        Ractor.new(kept) do |kept|
          2_000.times.count do
            copy = OpenSSL::SSL.main_default_params
            kept.all? { copy.key?(_1) } && copy.all? { |key, value| kept.include?(key) || value == key.to_s * 20 } or raise copy.inspect
          end
        end
      end
      changer = Thread.new do
        loop do
          20.times { |i| defaults[:"key#{i}"] = "key#{i}" * 20 }
          20.times { |i| defaults.delete(:"key#{i}") }
        end
      end
      assert_equal([2_000] * 4, ractors.map(&:take))
      changer.kill
    RUBY
  end
end
