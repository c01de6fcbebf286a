#require digest
#require digest/sha2
#require digest/rmd160
#require digest/bubblebabble
#require zlib
#require stringio
#require openssl
#require socket
#require securerandom
Digest::MD5.hexdigest("a")
Digest::SHA1.hexdigest(EDGE_STR)
Digest::SHA256.hexdigest("a" * 1000)
Digest::SHA384.base64digest("a")
Digest::SHA512.digest("a").bytesize
Digest::RMD160.hexdigest("a")
d = Digest::SHA256.new; d << "a"; d.update("b"); [d.hexdigest, d.length, d.digest_length, d.block_length, d.name, d == Digest::SHA256.new.update("ab"), d.reset.hexdigest, d.inspect, d.to_s, d.dup.hexdigest, d.digest!.size, d.hexdigest!.size]
Digest::SHA2.new(384).hexdigest("x")
Digest::MD5.bubblebabble("x") + Digest.hexencode("ab")
file("digest me") { |f| Digest::MD5.file(f).hexdigest }
Zlib::Inflate.inflate(Zlib::Deflate.deflate(EDGE_STR)) == EDGE_STR.b
Zlib.inflate(Zlib.deflate("abc" * 1000, 9)).size
Zlib.gunzip(Zlib.gzip("hello", level: 1))
[Zlib.crc32("abc"), Zlib.adler32("abc"), Zlib.crc_table.size, Zlib.crc32_combine(1, 2, 3), Zlib.zlib_version.class]
z = Zlib::Deflate.new; s = z << "ab"; s = z.deflate("abc" * 100, Zlib::SYNC_FLUSH); s << z.finish; z.close; Zlib::Inflate.new.inflate(s).size
o = StringIO.new(+""); Zlib::GzipWriter.wrap(o) { |g| g.write("gz"); g.mtime = 1; g.finish }.class
file { |f| Zlib::GzipWriter.open(f) { |g| g << "line\nb" }; Zlib::GzipReader.open(f) { |g| [g.gets, g.read, g.eof?] } }
(Zlib.inflate("garbage") rescue $!.class)
OpenSSL::Digest.hexdigest("SHA256", "a")
OpenSSL::Digest.new("SHA1").update("a").hexdigest
OpenSSL::HMAC.hexdigest("SHA256", "key", "data")
c = OpenSSL::Cipher.new("aes-128-cbc").encrypt; c.key = "k" * 16; c.iv = "i" * 16; e = c.update("secret") + c.final; d = OpenSSL::Cipher.new("aes-128-cbc").decrypt; d.key = "k" * 16; d.iv = "i" * 16; d.update(e) + d.final
OpenSSL::BN.new("123456789012345678901234567890").then { |b| [(b * b).to_s, (b % 97).to_i, b.mod_exp(3, 1000).to_s, b.num_bits, b.prime?] }
OpenSSL::PKCS5.pbkdf2_hmac("p", "salt", 10, 16, "SHA256").unpack1("H*")
OpenSSL::Random.random_bytes(8).size
OpenSSL::ASN1.decode(OpenSSL::ASN1::Sequence([OpenSSL::ASN1::Integer(5), OpenSSL::ASN1::UTF8String("x")]).to_der).value.map(&:value).map(&:to_s)
OpenSSL::KDF.hkdf("k", salt: "s", info: "i", length: 8, hash: "SHA256").size
OpenSSL::X509::Name.parse("/CN=x/O=y").to_s
a, b = UNIXSocket.pair; k = OpenSSL::PKey::EC.generate("prime256v1"); c = OpenSSL::X509::Certificate.new; c.serial = 1; c.subject = c.issuer = OpenSSL::X509::Name.parse("/CN=a"); c.public_key = k; c.not_before = Time.at(0); c.not_after = Time.at(2**32); c.sign(k, "SHA256"); x = OpenSSL::SSL::SSLContext.new; x.cert, x.key = c, k; t = Thread.new { s = OpenSSL::SSL::SSLSocket.new(b, x); s.accept; s.puts(s.gets.upcase); s.close }; y = OpenSSL::SSL::SSLContext.new; y.set_params(verify_mode: OpenSSL::SSL::VERIFY_NONE); s = OpenSSL::SSL::SSLSocket.new(a, y); s.connect; s.puts("hi"); r = s.gets; t.join; s.close; a.close; b.close; r
(OpenSSL::Cipher.new("zork") rescue $!.class)
OpenSSL::Digest::SHA512.new.digest("q").size
OpenSSL.fixed_length_secure_compare("a", "a")
OpenSSL::Cipher.ciphers.size > 10
k = OpenSSL::PKey::EC.generate("prime256v1"); k.dsa_verify_asn1("d" * 32, k.dsa_sign_asn1("d" * 32))
[SecureRandom.hex(4).size, SecureRandom.uuid.size, SecureRandom.random_number(1), SecureRandom.alphanumeric(5).size, SecureRandom.base64(3).size, SecureRandom.bytes(3).size, SecureRandom.urlsafe_base64.class, SecureRandom.random_bytes(2).size, SecureRandom.uuid_v7.size, SecureRandom.rand.class]
