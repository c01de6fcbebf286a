e = RuntimeError.new("m"); [e == RuntimeError.new("m"), e.message, e.to_s, e.inspect, e.full_message(highlight: false), e.detailed_message, e.backtrace, e.backtrace_locations, e.cause, e.exception.equal?(e), e.exception("n").message, e.set_backtrace(["a:1"]), e.backtrace, e.respond_to?(:message)]
[Exception.exception("x").message, Exception.to_tty?, RuntimeError.new.message, RuntimeError.new(nil).message.class, RuntimeError.new("a\nb").inspect, RuntimeError.new("").inspect]
begin; begin; raise "a"; rescue; raise "b"; end; rescue => e; [e.cause.message, e.backtrace.size > 0, e.backtrace_locations[0].lineno, e.full_message(highlight: false, order: :top).lines.size > 1]; end
begin; raise "a", cause: nil; rescue => e; e.cause; end
begin; [1].fetch(9); rescue IndexError => e; [e.message, e.class.ancestors.first(3)]; end
begin; { a: 1 }.fetch(:b); rescue KeyError => e; [e.key, e.receiver]; end
begin; zork; rescue NameError => e; [e.name, e.receiver.class, e.message[/zork/], e.local_variables.class]; end
begin; nil.zork(1, 2); rescue NoMethodError => e; [e.name, e.args, e.private_call?, e.message]; end
begin; "a".freeze << "b"; rescue FrozenError => e; [e.receiver, e.message]; end
begin; loop { raise StopIteration, "x" }; [].each.next; rescue StopIteration => e; [e.result, e.message]; end
begin; File.open("/zork/none"); rescue SystemCallError => e; [e.errno, e.class, e.message, Errno::ENOENT === e, SystemCallError === e, SystemCallError.new(2).class, SystemCallError.new("x", 13).message, (SystemCallError === Errno::EPERM.new)]; end
[Errno::EAGAIN.new.message, Errno::EPERM::Errno, Errno::ENOENT.new("x", "y").message, Errno.constants.size > 50, SystemCallError.new(99999).message]
begin; throw :zork; rescue UncaughtThrowError => e; [e.tag, e.value, e.to_s]; end
begin; { a: 1 } => { b: }; rescue NoMatchingPatternKeyError => e; [e.key, e.matchee, e.message]; end
begin; 1 => String; rescue NoMatchingPattern, NoMatchingPatternError => e; e.message; end rescue $!.class
begin; eval("1 +"); rescue SyntaxError => e; [e.path, e.message.class]; end
begin; require "zork_none"; rescue LoadError => e; [e.path, e.message]; end
begin; proc { return 1 }.then { |pr| Thread.new { pr.call }.tap { _1.report_on_exception = false }.join }; rescue LocalJumpError => e; [e.reason, e.exit_value, e.message]; end
begin; raise SignalException, "INT"; rescue SignalException => e; [e.signo, e.signm, e.message]; end
begin; raise Interrupt; rescue Interrupt => e; [e.message, e.signo]; end
begin; exit 2; rescue SystemExit => e; [e.status, e.success?]; end
begin; "\xff".encode("UTF-16"); rescue EncodingError => e; [e.class, e.error_bytes, e.readagain_bytes, e.incomplete_input?, e.source_encoding, e.destination_encoding, e.source_encoding_name, e.destination_encoding_name]; end
begin; "é".encode("US-ASCII"); rescue EncodingError => e; [e.error_char, e.source_encoding, e.destination_encoding, e.source_encoding_name, e.destination_encoding_name]; end
begin; Integer("z"); rescue => e; e.full_message(highlight: true).include?("z"); end
begin; raise Class.new(StandardError) { def initialize(a) = super("got #{a}") }.new(5); rescue => e; e.message; end
begin; def deep_raise(n) = n.zero? ? raise("deep") : deep_raise(n - 1); deep_raise(100); rescue => e; [e.message, e.backtrace.size > 100]; end
begin; def forever = forever; forever; rescue SystemStackError => e; e.message; end
begin; 1 / 0; rescue ZeroDivisionError, TypeError => e; e.message; else 1; ensure 2; end
begin; Float("x"); rescue ArgumentError; $!.message; end
begin; raise TypeError; rescue => e; e.message; end
begin; raise "x"; rescue => e; e.backtrace_locations.first.then { |l| [l.lineno, l.label.class, l.base_label.class, l.path.class, l.absolute_path.class, l.to_s.class, l.inspect.class] }; end
caller_locations(0, 1)[0].then { |l| [l.lineno, l.base_label, l.label, l.to_s.class, l.inspect.class, l.path.class, l.absolute_path.class] }.drop(3)
e = (raise "x" rescue $!); Marshal.load(Marshal.dump(e)).message
begin; obj = Object.new; obj.instance_variable_get("bad name"); rescue NameError => e; [e.name, e.message]; end
200.times.map { |i| begin; raise "e#{i}"; rescue => e; e.message.size; end }.sum
[StandardError.new("a").then { |x| x.exception(5).message }, (raise 5 rescue $!.message), (raise nil rescue $!.message)]
x = [1, 2, 3].each { |i| begin; next if i == 1; break i * 10; ensure @q = i; end }; [x, @q]
warn("x") if false
[NameError.new("a", :b, receiver: 1).receiver, NoMethodError.new("a", :b, [1]).args, KeyError.new("a", receiver: {}, key: 1).key, FrozenError.new("a", receiver: 1).receiver, StopIteration.new.result, SystemExit.new(true, "x").status, UncaughtThrowError.instance_method(:tag).name]
begin; ObjectSpace::WeakMap.new.fetch; rescue NoMethodError => e; e.message.class; end
begin; String.zork_method; rescue => e; e.message; end
