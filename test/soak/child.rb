# child.rb - runs snippets: in the process under test, started by test/soak/run.
#
# Usage: RUBY child.rb serial|alone|mix JOB OUT
#
# JOB is a Hash, marshalled.  serial: each snippet twice in the main Ractor, the first time with the methods that are
# called written down; alone: each in a Ractor of its own, one after the other; both append to OUT what they saw, so that
# a crash leaves the rest.  mix: several Ractors at once; what differs from what is expected is printed.

# What snippets see as self.
class Snippets
  # The path of a file that is not there: not by `rand`, which snippets seed.
  def path = "t#{Random.urandom(12).unpack1('H*')}"

  # Yields the path of a file of +content+; it is removed afterwards.
  def file(content = "line 1\nline 2\n")
    name = path
    File.binwrite(name, content)
    yield name
  ensure
    File.unlink(name) if name && File.exist?(name)
  end

  # Yields the path of an empty folder; it is removed afterwards.
  def folder
    name = path
    Dir.mkdir(name)
    yield name
  ensure
    Dir.each_child(name) { |child| File.unlink("#{name}/#{child}") }
    Dir.rmdir(name)
  end

  # What the block raises, to be looked at.
  def raised
    yield
    nil
  rescue Exception => error
    error
  end
end

module Soak
  @leaving = false
  DENIED = [Ractor::IsolationError, Ractor::UnsafeError].freeze

  def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def self.define(number, id, source)
    Snippets.class_eval("def s#{number}\n#{source}\nend", id, 0)
  rescue SyntaxError => error
    Snippets.class_eval("def s#{number} = raise(SyntaxError, #{error.message.dump})")
  end

  # What can be seen of a snippet's value, as bytes.
  def self.observe(number)
    Thread.current[:raised] = nil
    seen = see(number).b
    seen.include?("0x") ? seen.gsub(/0x\h{8,}/n, "0x") : seen
  end

  def self.see(number)
    Snippets.new.__send__(:"s#{number}").inspect
  rescue *DENIED => error
    "denied #{error.class}: #{error.message}"
  rescue Exception => error
    Thread.current[:raised] = error
    denied = error.message.start_with?("defined with an un-shareable Proc")
    "#{denied ? 'denied' : 'raised'} #{error.class}: #{error.message}"
  end

  def self.serial(job, out)
    calls = {}
    known = {}
    plain = RubyVM::InstructionSequence.compile_option
    trace = TracePoint.new(:call, :c_call) do |point|
      [point.method_id, point.callee_id].each do |name|
        called = [point.defined_class, name]
        calls[called] = true unless known[called]
      end
    end
    job[:snippets].each_with_index do |(id, source, _), i|
      out.syswrite Marshal.dump([:at, id])
      # `1 + 1` is a call only without the instruction of its own.
      RubyVM::InstructionSequence.compile_option = { specialized_instruction: false }
      define(i, id, source)
      trace.enable
      first = observe(i)
      trace.disable
      RubyVM::InstructionSequence.compile_option = plain
      define(i, id, source)
      out.syswrite Marshal.dump([id, first, observe(i)])
      calls.each { |(owner, name), _| out.syswrite Marshal.dump([:call, describe(owner), name.to_s]) }
      calls.each { |called, _| known[called] = true }.clear
    end
  end

  # A class's or module's name; with a dot, if it is the singleton class of one.
  def self.describe(owner)
    return owner.name unless owner.singleton_class?

    object = owner.attached_object
    "#{object.name}." if object.is_a?(Module) && object.name
  rescue NoMethodError, TypeError
    nil
  end

  def self.alone(job, out)
    job[:snippets].each_with_index do |(id, source, _), i|
      out.syswrite Marshal.dump([:at, id])
      define(i, id, source)
      out.syswrite Marshal.dump([id, Ractor.new(i) { |number| Soak.observe(number) }.take])
    end
  end

  # Runs the phases, one after the other by the clock, in an order of +number+'s own.  How many snippets it ran.
  def self.run(number, job, start)
    random = Random.new(job[:seed] * 1009 + number)
    share = job[:seconds].to_f / job[:phases].size
    count = 0
    job[:phases].each_with_index do |phase, k|
      until now >= start + share * (k + 1)
        phase.shuffle(random: random).each do |i|
          count += 1
          check(number, job, i)
          break if now >= start + share * (k + 1)
        end
      end
    end
    count
  end

  def self.check(number, job, i)
    got = observe(i)
    expected = job[:snippets][i][number.zero? ? 2 : 3]
    return if got == expected || denied?(got) && denied?(expected) # of several reasons it says the one it meets first
    return if leaving?

    $stdout.syswrite "DIFFERENT #{job[:snippets][i][0]} in Ractor #{number}\n  got #{got[0, 500]}\n  not #{expected[0, 500]}\n" \
                     "#{Thread.current[:raised]&.full_message(highlight: false)}\n"
    exit!(1)
  end

  def self.denied?(seen) = seen.start_with?("denied ")

  # From here on Ractors are killed in the middle of what they do: what an `ensure` then raises is no difference.
  def self.leave = @leaving = true
  def self.leaving? = @leaving

  # Says which phase it is, so that a crash can be told by what ran.
  def self.announce(job, start)
    share = job[:seconds].to_f / job[:phases].size
    job[:phases].each_index do |k|
      wait = start + share * k - now
      sleep wait if wait > 0
      $stdout.syswrite "phase #{k}\n"
    end
  end

  def self.mix(job)
    job[:snippets].each_with_index { |(id, source, _), i| define(i, id, source) }
    Ractor.make_shareable(job)
    start = now
    ractors = (1..job[:ractors]).map do |number|
      Ractor.new(number, job, start) { |n, shared, from| Soak.run(n, shared, from) }
    end
    job[:main] ? run(0, job, start) : announce(job, start)
    return leave if job[:leave]

    puts "done #{ractors.sum(&:take)}"
  end
end

Warning[:experimental] = false
$stdout.sync = true
word, job, out = ARGV
ARGV.clear # `gets` reads the files that it names
job = Marshal.load(File.binread(job))
job[:libraries].each { |library| require library }
case word
when "serial" then File.open(out, "wb") { |file| Soak.serial(job, file) }
when "alone" then File.open(out, "wb") { |file| Soak.alone(job, file) }
when "mix" then Soak.mix(job)
end
