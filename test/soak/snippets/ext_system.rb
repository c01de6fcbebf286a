#require etc
#require monitor
#require io/console
#require io/wait
#require io/nonblock
#require socket
#require tempfile
#require tmpdir
#require fileutils
#require objspace
#require fiddle
#require pty
#require rbconfig
#require coverage
#require continuation
#require fcntl
[Etc.getpwuid(0).name, Etc.getpwnam("root").uid, Etc.getgrgid(0).name, Etc.getgrnam("root").gid, Etc.getlogin.class, Etc.nprocessors.class, Etc.uname[:sysname], Etc.sysconf(Etc::SC_PAGESIZE).class, Etc.confstr(Etc::CS_PATH).class, Etc.systmpdir, Etc.sysconfdir]
Etc.passwd { |x| break x.name.class } #: the library does not say that it is safe
Etc.group { |x| break x.name.class } #: the library does not say that it is safe
[Etc.setpwent, Etc.getpwent.class, Etc.endpwent] #: the library does not say that it is safe
Array.new(5) { Etc.getpwuid(0).name }.uniq
m = Monitor.new; [m.synchronize { m.synchronize { 5 } }, m.mon_enter, m.mon_locked?, m.mon_owned?, m.mon_exit, m.try_enter, m.exit, m.enter, m.exit]
m = Monitor.new; c = m.new_cond; ok = false; t = Thread.new { m.synchronize { c.wait_until { ok }; :done } }; m.synchronize { ok = true; c.broadcast }; t.value
o = Object.new.extend(MonitorMixin); [o.mon_synchronize { 1 }, o.synchronize { 2 }]
n = 0; m = Monitor.new; Array.new(4) { Thread.new { 20.times { m.synchronize { n += 1 } } } }.each(&:join); n
IO.console.class.name.class
r, w = IO.pipe; [r.ready?.class, r.nonblock?, w.nonblock { 1 }, (r.nonblock = true), r.nread] rescue $!.class
a, b = UNIXSocket.pair; a << "hello"; a.close_write; [b.read, b.close, a.close]
a, b = UNIXSocket.pair; [a.send("x", 0), b.recv(1), b.send("yz", 0), a.recvfrom(2)[0], a.write("q"), b.recv_nonblock(1), (b.recv_nonblock(1) rescue $!.class.ancestors.include?(IO::WaitReadable)), a.shutdown, b.read]
a, b = Socket.pair(:UNIX, :STREAM); a.puts "line"; [b.gets, a.local_address.class, a.getsockopt(:SOCKET, :SNDBUF).int.class, a.setsockopt(:SOCKET, :KEEPALIVE, true), a.close, b.close]
s = TCPServer.new("127.0.0.1", 0); t = Thread.new { c = s.accept; c.puts c.gets; c.close }; c = TCPSocket.new("127.0.0.1", s.addr[1]); c.puts "tcp"; r = c.gets; c.close; t.join; s.close; r
u = UDPSocket.new; u.bind("127.0.0.1", 0); v = UDPSocket.new; v.send("udp", 0, "127.0.0.1", u.addr[1]); u.recvfrom(10)[0]
pa = path; s = UNIXServer.new(pa); c = UNIXSocket.new(pa); d = s.accept; d << "ux"; d.close; r = c.read; [c, s].each(&:close); File.unlink(pa); r
[Addrinfo.tcp("127.0.0.1", 80).inspect, Addrinfo.tcp("127.0.0.1", 80).ip_address, Addrinfo.unix("/x").unix_path, Socket.sockaddr_in(80, "127.0.0.1").bytesize, Socket.unpack_sockaddr_in(Socket.sockaddr_in(80, "127.0.0.1")), Socket.gethostname.class, Socket.getaddrinfo("127.0.0.1", 80).size > 0, Socket.ip_address_list.class, Socket.getservbyname("http"), IPSocket.getaddress("127.0.0.1")]
Addrinfo.getaddrinfo("127.0.0.1", 80, nil, :STREAM).map(&:ip_port)
Socket.getnameinfo(["AF_INET", 80, "127.0.0.1"], Socket::NI_NUMERICHOST | Socket::NI_NUMERICSERV)
(TCPSocket.new("127.0.0.1", 1) rescue $!.class)
Socket.tcp_server_sockets("127.0.0.1", 0) { |l| l.size.tap { l.each(&:close) } ; break 1 }
Tempfile.create("soak") { |f| f << "x"; f.flush; File.size(f.path) }
t = Tempfile.new("soak"); t.write("abc"); t.rewind; [t.read, t.size, t.length, t.close, t.unlink, t.path]
Tempfile.open("soak") { |f| f.puts 1; f.class.name }
Dir.mktmpdir { |d| File.write("#{d}/a", "1"); Dir.children(d) }
Dir.tmpdir.class
folder { |d| FileUtils.mkdir_p("#{d}/x/y"); FileUtils.touch("#{d}/x/y/z"); FileUtils.cp("#{d}/x/y/z", "#{d}/q"); FileUtils.mv("#{d}/q", "#{d}/r"); FileUtils.rm_rf("#{d}/x"); FileUtils.rm("#{d}/r"); Dir.empty?(d) }
[ObjectSpace.memsize_of("a").class, ObjectSpace.memsize_of_all.class, ObjectSpace.count_objects_size.class, ObjectSpace.count_nodes.class, ObjectSpace.count_tdata_objects.class, ObjectSpace.count_imemo_objects.class, ObjectSpace.reachable_objects_from([1, "a"]).class, ObjectSpace.count_symbols.class, ObjectSpace.dump("a").class] #: the library does not say that it is safe
ObjectSpace.trace_object_allocations { o = Object.new; [ObjectSpace.allocation_sourceline(o).class, ObjectSpace.allocation_class_path(o).class, ObjectSpace.allocation_method_id(o).class, ObjectSpace.allocation_generation(o).class, ObjectSpace.allocation_sourcefile(o).class] }.size #: the library does not say that it is safe
file { |f| File.open(f, "w") { |io| ObjectSpace.dump_all(output: io).class } } #: the library does not say that it is safe
ObjectSpace.reachable_objects_from_root.class #: the library does not say that it is safe
ObjectSpace.trace_object_allocations_start.class.then { ObjectSpace.trace_object_allocations_stop } #: the library does not say that it is safe
Fiddle::Pointer.malloc(8, Fiddle::RUBY_FREE).then { |x| x[0, 2] = "ab"; [x[0, 2], x.size, x.null?] } #: the library does not say that it is safe
Fiddle::Function.new(Fiddle.dlopen(nil)["strlen"], [Fiddle::TYPE_VOIDP], Fiddle::TYPE_INT).call("four") #: the library does not say that it is safe
Fiddle::SIZEOF_INT
PTY.open { |m, s| [m.class, s.tty?] } #: the library does not say that it is safe
PTY.spawn("echo pty") { |r, w, pid| x = r.gets; Process.wait(pid); x.class.name.class } #: the library does not say that it is safe
RbConfig::CONFIG["MAJOR"]
RbConfig.ruby.class
[Coverage.running?, Coverage.supported?(:lines)] #: the library does not say that it is safe
callcc { |k| k.call(5) } #: the library does not say that it is safe
Fcntl::F_GETFD
file { |f| File.open(f, "r+") { |io| io.fcntl(Fcntl::F_GETFD).class } }
