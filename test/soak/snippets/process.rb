[Process.pid == $$, Process.ppid.class, Process.uid.class, Process.gid.class, Process.euid.class, Process.egid.class, Process.getpgid(0).class, Process.getpgrp.class, Process.getsid.class, Process.getpriority(Process::PRIO_PROCESS, 0).class, Process.getrlimit(:NOFILE).class, Process.groups.class, Process.maxgroups.class, Process.argv0.class, Process.times.class]
pid = Process.spawn("exit 3"); [Process.wait(pid) == pid, $?.exitstatus, Process.last_status.exitstatus]
pid = spawn("exit 1"); Process.waitpid2(pid).then { |_, s| [s.exited?, s.exitstatus, s.success?, s.signaled?, s.stopped?, s.coredump?, s.termsig, s.stopsig, s.pid == pid, s.to_i, s == 256, s.inspect.sub(/\d{2,}/, ""), s.to_s.sub(/\d{2,}/, "")] }
pid = spawn("sleep 50"); Process.kill(:KILL, pid); Process.wait2(pid)[1].then { |s| [s.signaled?, s.termsig, s.success?] }
pid = spawn("exit 0"); Process.waitpid(pid); $?.success?
pid = spawn("exit 0"); Process::Status.wait(pid).exitstatus
pid = spawn("exit 0"); t = Process.detach(pid); [t.pid == pid, t.value.exitstatus]
(Process.wait(2**22) rescue $!.class)
(Process.kill(0, 2**22) rescue $!.class)
Process.kill(0, $$)
spawn({ "A" => "1" }, "exit $A").then { |pid| Process.wait2(pid)[1].exitstatus }
r, w = IO.pipe; pid = spawn("echo out", out: w); w.close; Process.wait(pid); r.read
[Process::UID.eid.class, Process::UID.rid.class, Process::GID.eid.class, Process::GID.rid.class, Process::UID.from_name("root"), Process::GID.from_name("root"), Process::UID.re_exchangeable?, Process::UID.sid_available?, Process::GID.re_exchangeable?, Process::GID.sid_available?]
[Process::Sys.getuid.class, Process::Sys.geteuid.class, Process::Sys.getgid.class, Process::Sys.getegid.class]
[(Process.uid = Process.uid).class, (Process.gid = Process.gid).class, (Process.euid = Process.euid).class, (Process.egid = Process.egid).class]
[Process.setpriority(Process::PRIO_PROCESS, 0, Process.getpriority(Process::PRIO_PROCESS, 0)), (Process.setpgid(0, 0) rescue $!.class).class, (Process.setsid rescue $!.class).class]
Process.setrlimit(:CORE, *Process.getrlimit(:CORE))
[Signal.list.size > 20, Signal.signame(9), Signal.signame(2), Signal.list["INT"]]
Signal.trap("USR1") { }.class.name.size > 3
[ENV["PATH"].class, ENV.fetch("ZORK", 1), ENV.key?("PATH"), ENV.to_h.class, ENV.keys.class, ENV.values.class, ENV.size.class, ENV.empty?, ENV.include?("TZ"), ENV.has_key?("X"), ENV.member?("X"), ENV.value?("UTC"), ENV.has_value?("zork"), ENV.key("UTC"), ENV.inspect.class, ENV.to_a.class, ENV.assoc("TZ"), ENV.rassoc("UTC").class, ENV.values_at("TZ"), ENV.slice("TZ"), ENV.except("TZ").key?("TZ"), ENV.select { |k, v| k == "TZ" }, ENV.filter { false }, ENV.reject { true }, ENV.find { |k, v| k == "TZ" }, ENV.map { 1 }.sum.class, ENV.each { }.class, ENV.each_pair { }.class, ENV.each_key { }.class, ENV.each_value { }.class, ENV.rehash, ENV.to_s, ENV.to_hash.class, ENV.invert.class, (ENV.freeze rescue $!.class), (ENV.clone rescue $!.class), (ENV.dup rescue $!.class)]
k = "SOAK#{Ractor.current.object_id}_#{Thread.current.object_id}"; [ENV[k] = "1", ENV[k], ENV.store(k, "2"), ENV.fetch(k), ENV.delete(k), ENV[k], ENV.update(k => "3").class, ENV[k], ENV.merge!(k => "4").class, ENV[k], ENV.delete_if { |n, _| n == k }.class, ENV.keep_if { true }.class, ENV.reject! { false }, ENV.select! { true }, ENV.filter! { true }]
[RUBY_VERSION, RUBY_ENGINE, RUBY_PATCHLEVEL, RUBY_PLATFORM.class, RUBY_DESCRIPTION.class, RUBY_COPYRIGHT.class]
Process.warmup
`true`.then { $?.to_i }
system("true")
system("zork_none_cmd")
Process.clock_gettime(:zork) rescue $!.class
