file { |f| [File.read(f), File.size(f), File.readlines(f, chomp: true), IO.read(f, 3, 2), File.foreach(f).to_a, File.binread(f, 2), IO.readlines(f).size] }
file { |f| [File.write(f, "abc"), File.binwrite(f, "d", 1), File.read(f), IO.write(f, "x", mode: "a"), File.read(f), IO.binread(f, 1, 1), IO.binwrite(f, "q")] }
file { |f| File.open(f) { |io| [io.gets, io.lineno, io.eof?, io.pos, io.tell, io.read(3), io.gets, io.eof, io.rewind, io.seek(2), io.readchar, io.getc, io.getbyte, io.readbyte, io.ungetc("z"), io.getc, io.ungetbyte(65), io.getbyte, (io.pos = 0), (io.lineno = 5), io.gets, io.lineno] } }
file { |f| File.open(f, "r+") { |io| [io << "X", io.write("Y", 1), io.print("p"), io.puts("q"), io.putc("r"), io.printf("%d", 3), io.flush.class, io.fsync, io.fdatasync, io.sync, (io.sync = true), io.rewind, io.read].values_at(1, 2, 3, 4, 5, 6, 9, 12) } }
file { |f| File.open(f) { |io| [io.each_line.to_a, io.rewind, io.each_char.first(3), io.rewind, io.each_byte.first(2), io.rewind, io.each(chomp: true).to_a, io.rewind, io.readlines.size, io.rewind, io.each_line("i").to_a, io.rewind] } }
file("é日\n") { |f| File.open(f) { |io| [io.each_codepoint.to_a, io.rewind, io.each_char.to_a, io.external_encoding, io.internal_encoding, io.set_encoding("UTF-8:UTF-16LE").class, io.rewind, io.read.encoding] } }
file("\uFEFFabc") { |f| File.open(f, "rb") { |io| [io.binmode?, io.set_encoding_by_bom, io.read, io.binmode.class] } }
file { |f| File.open(f, "r:UTF-8") { |io| [io.fileno.class, io.to_i.class, io.to_io.equal?(io), io.isatty, io.tty?, io.path.class, io.to_path.class, io.inspect.class, io.closed?, io.autoclose?, (io.autoclose = true), io.close_on_exec?, (io.close_on_exec = true), io.fcntl(1, 1).class, io.advise(:normal, 0, 0), io.stat.class, io.timeout, (io.timeout = 1), io.pid] } }
file { |f| File.open(f, "r+") { |io| [io.pread(3, 1), io.pwrite("ZZ", 0), io.pread(4, 0), io.sysread(3), io.sysseek(0), io.syswrite("W"), io.read_nonblock(2), io.readpartial(2), io.write_nonblock("n"), (io.pread(5, 999) rescue $!.class)] } }
file { |f| io = File.open(f); io.close; [io.closed?, io.close, (io.read rescue $!.message), io.inspect.class] }
r, w = IO.pipe; w << "abc\ndef"; w.close_write; [r.gets, r.read, r.read, r.read(1), r.close_read, r.closed?]
r, w = IO.pipe; [(r.read_nonblock(1) rescue $!.class), r.read_nonblock(1, exception: false), w.write_nonblock("x"), r.wait(1).class, r.wait_readable(1).class, w.wait_writable(1).class, r.wait_priority(0), r.readpartial(9), w.close, (r.readpartial(1) rescue $!.class)]
r, w = IO.pipe; t = Thread.new { r.read }; w << "threaded"; w.close; t.value
r, w = IO.pipe; t = Thread.new { r.gets }; Thread.pass; w.puts "line"; t.value
r, w = IO.pipe; t = Thread.new { Thread.current.report_on_exception = false; r.read }; Thread.pass until t.stop?; r.close; (t.value rescue $!.message)
IO.pipe { |r, w| w << "b"; w.close; r.read }
IO.popen("echo hi", &:read)
IO.popen(["cat"], "r+") { |io| io << "loop"; io.close_write; [io.read, io.pid.class] }
file("abc") { |f| r, w = IO.pipe; [IO.copy_stream(f, w), w.close, r.read] }
file("abc") { |f| g = path; n = IO.copy_stream(f, g); s = File.read(g); File.unlink(g); [n, s] }
file("abc") { |f| fd = IO.sysopen(f); io = IO.for_fd(fd); [io.read, io.close]; }
file("abc") { |f| io = IO.new(IO.sysopen(f), "r"); s = io.read(2); io.close; [s, IO.try_convert(io).equal?(io), IO.try_convert(1)] }
file("abc") { |f| a = File.open(f); b = File.open(f); b.read(1); a.reopen(b); s = a.read; a.close; b.close; s }
file("abc") { |f| IO.open(IO.sysopen(f)) { _1.read } }
r, w = IO.pipe; IO.select([r], [w], [], 0).map(&:size)
file("x") { |f| File.open(f) { |io| (io.ioctl(0x541B, 0) rescue $!.class).class } }
file { |f| File.open(f) { |io| [io.readline, io.readline, (io.readline rescue $!.class)] } }
file { |f| File.open(f) { |io| [io.readline("\n"), io.readline("e"), (io.readline(nil); io.readline("x") rescue $!.class)] } }
STDIN.class #: the object is the main Ractor's
ARGF.class #: ARGF is the main Ractor's
[$stdin.class, $stdout.fileno, $stderr.fileno]
$<.class #: ARGF is the main Ractor's
$stdin.fileno
file { |f| File.open(f) { |io| [io.atime.class, io.mtime.class, io.ctime.class, io.size, io.lstat.class, io.chmod(0600), io.chown(-1, -1), io.flock(File::LOCK_EX), io.flock(File::LOCK_UN), raised { io.birthtime }.class.name.size > 3] } }
file { |f| File.open(f, "r+") { |io| [io.truncate(3), io.size] } + [File.truncate(f, 1), File.size(f)] }
file { |f| [File.atime(f).class, File.mtime(f).class, File.ctime(f).class, raised { File.birthtime(f) }.class.name.size > 3, File.chmod(0644, f), File.chown(nil, nil, f), File.lchown(nil, nil, f), (File.lchmod(0644, f) rescue $!.class), File.utime(0, 0, f), File.lutime(1, 1, f), File.mtime(f).to_i] }
file { |f| [File.exist?(f), File.file?(f), File.directory?(f), File.empty?(f), File.zero?(f), File.size?(f), File.readable?(f), File.writable?(f), File.executable?(f), File.readable_real?(f), File.writable_real?(f), File.executable_real?(f), File.owned?(f), File.grpowned?(f).class, File.world_readable?(f).class, File.world_writable?(f), File.symlink?(f), File.pipe?(f), File.socket?(f), File.blockdev?(f), File.chardev?("/dev/null"), File.setuid?(f), File.setgid?(f), File.sticky?("/tmp").class, File.ftype(f), File.identical?(f, f)] }
file { |f| [FileTest.exist?(f), FileTest.file?(f), FileTest.directory?(f), FileTest.empty?(f), FileTest.zero?(f), FileTest.size?(f), FileTest.size(f), FileTest.readable?(f), FileTest.writable?(f), FileTest.executable?(f), FileTest.readable_real?(f), FileTest.writable_real?(f), FileTest.executable_real?(f), FileTest.owned?(f), FileTest.grpowned?(f).class, FileTest.world_readable?(f).class, FileTest.world_writable?(f), FileTest.symlink?(f), FileTest.pipe?(f), FileTest.socket?(f), FileTest.blockdev?(f), FileTest.chardev?("/dev/null"), FileTest.setuid?(f), FileTest.setgid?(f), FileTest.sticky?("/").class, FileTest.identical?(f, f)] }
file { |f| s = File.stat(f); [s.size, s.file?, s.directory?, s.ftype, s.mode.class, s.nlink, s.uid.class, s.gid.class, s.ino.class, s.dev.class, s.dev_major.class, s.dev_minor.class, s.rdev.class, s.rdev_major.class, s.rdev_minor.class, s.blksize.class, s.blocks.class, s.atime.class, s.mtime.class, s.ctime.class, raised { s.birthtime }.class.name.size > 3, s <=> s, s.inspect.class, s.zero?, s.size?, s.readable?, s.writable?, s.executable?, s.readable_real?, s.writable_real?, s.executable_real?, s.owned?, s.grpowned?.class, s.world_readable?.class, s.world_writable?, s.symlink?, s.pipe?, s.socket?, s.blockdev?, s.chardev?, s.setuid?, s.setgid?, s.sticky?, File::Stat.new(f).size, File.lstat(f).size].values_at(0, 1, 2, 3, 5, 23, 24, 37, 38) }
[File.absolute_path("a", "/x"), File.absolute_path?("/a"), File.basename("/a/b.rb", ".rb"), File.dirname("/a/b/c", 2), File.expand_path("./x/../b", "/") , File.extname("a.tar.gz"), File.join("a", "/b", ["c"]), File.split("/a/b"), File.path("a"), File.fnmatch("*.rb", "a.rb"), File.fnmatch?("**/x{a,b}", "p/xa", File::FNM_EXTGLOB)] rescue $!.class
file { |f| [File.realpath(f).class, File.realdirpath(f).class, File.expand_path(f).class] }
file { |f| g = path; File.symlink(f, g); r = [File.readlink(g) == f, File.symlink?(g), File.lstat(g).symlink?]; File.unlink(g); r }
file { |f| g = path; File.link(f, g); r = File.stat(g).nlink; File.delete(g); r }
file { |f| g = path; File.rename(f, g); r = File.exist?(g); File.rename(g, f); r }
g = path; [File.mkfifo(g), File.pipe?(g), File.unlink(g)]
File.umask.class
[(File.open("/zork/none") rescue $!.message), (File.read("/") rescue $!.class), (File.new("/zork", "zz") rescue $!.message)]
folder { |d| File.write("#{d}/a", ""); File.write("#{d}/b", ""); [Dir.children(d).sort, Dir.entries(d).sort, Dir.each_child(d).to_a.sort, Dir.glob("#{d}/*").size, Dir["#{d}/a"].size, Dir.empty?(d), Dir.exist?(d), Dir.foreach(d).to_a.size, Dir.glob("*", base: d).sort] }
folder { |d| File.write("#{d}/a", ""); x = Dir.open(d); r = [x.children, x.each_child.to_a, x.each.to_a.size, x.rewind.class, x.read.class, x.pos.class, x.tell.class, x.seek(0).class, (x.pos = 0), x.fileno.class, x.path == d, x.to_path == d, x.inspect.class, x.close, (x.read rescue $!.class)]; r }
folder { |d| Dir.open(d) { |x| Dir.for_fd(IO.sysopen(d)).close; x.class } }
d = path; [Dir.mkdir(d), Dir.exist?(d), Dir.rmdir(d), Dir.mkdir(d), Dir.unlink(d), Dir.mkdir(d), Dir.delete(d), (Dir.mkdir("/zork/none") rescue $!.class)]
[Dir.pwd.class, Dir.getwd.class, Dir.home.class, Dir.glob("/et{c}").size, (Dir.chroot("/zork") rescue $!.class)]
(Dir.chdir(".") { 1 } rescue 1)
Dir.glob("/etc/*.conf").size >= 0
b = IO::Buffer.new(16); [b.set_string("hello", 1), b.get_string(1, 5), b.set_value(:U8, 0, 65), b.get_value(:U8, 0), b.get_values([:U8, :u16], 0), b.set_values([:U8, :U8], 0, [1, 2]), b.size, b.slice(0, 4).size, b.each(:U8).first(2), b.each_byte.first(1), b.values(:U8).size, b.empty?, b.null?, b.valid?, b.internal?, b.external?, b.mapped?, b.readonly?, b.shared?, b.private?, b.locked?, b.locked { 1 }, b.inspect.class, b.to_s.class, b.hexdump.class, b.resize(32).size, b.clear.class, b.copy(IO::Buffer.for("ab")), b <=> b, (b & IO::Buffer.for("a")).size, (b | IO::Buffer.for("a")).size, (b ^ IO::Buffer.for("a")).size, (~b).size, b.and!(IO::Buffer.for("a")).class, b.or!(IO::Buffer.for("a")).class, b.xor!(IO::Buffer.for("a")).class, b.not!.class, b.transfer.size, b.free.class]
[IO::Buffer.for("abc").get_string, IO::Buffer.string(3) { |x| x.set_string("abc") }, IO::Buffer.size_of(:u32), IO::Buffer.size_of([:U8, :u16])]
file("abcdef") { |f| File.open(f, "r+") { |io| b = IO::Buffer.new(8); [b.read(io, 3), b.pread(io, 1, 2), b.write(io, 2), b.pwrite(io, 0, 2)] } }
file("abcdef") { |f| File.open(f) { |io| x = IO::Buffer.map(io, nil, 0, IO::Buffer::READONLY); r = [x.get_string, x.mapped?, x.readonly?]; x.free; r } }
file("a\0b\0") { |f| File.open(f) { |io| [io.gets("\0"), io.gets("\0", chomp: true)] } }
file("para1\n\n\npara2") { |f| File.readlines(f, "") }
file("x" * 100_000) { |f| [File.read(f).size, File.open(f).each_char.first(2)] }
[File::SEPARATOR, File::ALT_SEPARATOR, File::PATH_SEPARATOR, IO::SEEK_SET, File::RDONLY]
50.times.map { r, w = IO.pipe; w << "x"; w.close; r.read.tap { r.close } }.uniq
[IO.console_size.class] rescue $!.class
