# prelude.rb - runs programs, prints what each statement gives.  For every Ruby alike.

require_relative "../programs/exhaust_shapes"

$VERBOSE = nil
Thread.report_on_exception = false

def k = $made

def text(value) = value.inspect.gsub(/0x\h+/, "0x")

# Prints the value of a statement, or the error.
def o
  puts text(yield)
rescue Exception => error
  puts "#{error.class}: #{text(error.message.lines.first)}"
end

def stress
  GC.stress = 1 # collects the young only: that many whole collections take too long
  yield
ensure
  GC.stress = false
end

# All that can be seen of the variables of +one+.
def state(one)
  seen = [one.frozen?, one.instance_variables.map { |name| [name, one.instance_variable_get(name)] }]
  return seen unless one.is_a?(Module)

  seen << one.class_variables(false).map { |name| [name, (one.class_variable_get(name) rescue $!.class)] }
  seen << one.constants(false).sort
end

def program(number)
  puts "program #{number}"
  $made = []
  yield
  $made.each { |one| o { state(one) } }
  $stdout.flush
end

CoreBase = Class.new { @config = 1; singleton_class.attr_reader :config; def self.own = @config }
CORE_FAMILY = [CoreBase, *Array.new(8) { Class.new(CoreBase) { @config = 2 } }].freeze

# A class whose methods may be changed, since none but what programs make hangs on it.
def own(one) = one.is_a?(Class) && !one.singleton_class? && one.name.nil? ? one : Class.new

# What `new` gives at some sites that all programs share.
def made(one)
  [-> { one.new }, -> { one.new(1) }, -> { one.new(1, 2) }, -> { one.new(k: 3) }, -> { one.new { 4 } }, -> { one.send(:new) }].map do |site|
    2.times.map do
      object = site.call
      Module === object ? object.class : [object.class == one, object.instance_variables.map { |name| object.instance_variable_get(name) }]
    rescue NoMethodError, ArgumentError, FrozenError, TypeError, RuntimeError
      [$!.class, $!.backtrace_locations&.first(3)&.map(&:base_label)]
    end
  end
end

CorePoint = Class.new { def initialize(a, b) = (@a = a; @b = b) }

# What interpreter and compiled code take a shortcut for: a method, and an expression over x that calls it.
CORE_SITES = {
  to_s: [Integer, :to_s, '"<#{x}>"'], symbol: [Symbol, :to_s, '"<#{x}>"'], nil: [NilClass, :to_s, '"<#{x}>"'],
  kernel: [Kernel, :to_s, '"<#{x}>"'], module: [Module, :to_s, '"<#{Integer}#{x}>"'],
  less: [Integer, :<, "x < 3 ? :yes : :no"], more: [Integer, :>, "x > 3 ? :yes : :no"],
  at_most: [Comparable, :<=, "x <= 3 ? :yes : :no"], at_least: [Integer, :>=, "x >= 3 ? :yes : :no"],
  while: [Integer, :<, "i = 0; while i < 4; i += 1; break if i == 9; end; i"],
  plus: [Integer, :+, "x + 1"], equal: [Integer, :==, "x == 7 ? :yes : :no"], not: [BasicObject, :!, "!x"],
  nil?: [Kernel, :nil?, "x.nil?"], text: [String, :==, '"a#{x}" == "a7"'], append: [String, :<<, '(+"a") << "b"'],
  each: [Array, :each, "s = []; [x, 2].each { |e| s << e }; s"], map: [Array, :map, "[x, 2].map { |e| [e] }"],
  select: [Array, :select, "[x, 2].select { |e| e }"], times: [Integer, :times, "s = []; 3.times { |i| s << i }; s"],
  loop: [Kernel, :loop, "loop { break x }"], at: [Array, :[], "[x][0]"], key: [Hash, :[], "{ 1 => x }[1]"],
  max: [Array, :max, "[1, 2].max"], size: [String, :size, '"abc".size'], call: [Proc, :call, "proc { |y| y }.call(x)"],
  new: [Class, :new, "Object.new.class"], respond: [Kernel, :respond_to?, "x.respond_to?(:to_s)"],
  send: [Kernel, :send, "x.send(:itself)"], get: [Kernel, :instance_variable_get, "CoreBase.instance_variable_get(:@config)"],
  reader: [CoreBase.singleton_class, :config, "s = []; i = 0; while i < 9; s << CORE_FAMILY[i].config; i += 1; end; s"],
  make: [CorePoint.singleton_class, :new, "CorePoint.new(x, 2)"], initialize: [CorePoint, :initialize, "CorePoint.new(x, 2)"],
  allocate: [CorePoint.singleton_class, :allocate, "CorePoint.new(x, 2)"],
  own: [CoreBase.singleton_class, :own, "s = []; i = 0; while i < 9; s << CORE_FAMILY[i].own; i += 1; end; s"],
}.freeze

def core_call(x) = (core_site(x) rescue $!.class)

def core_change(way, owner, name)
  case way
  when :redefine then owner.class_eval("def #{name}(*) = :redefined")
  when :remove then owner.send(:remove_method, name)
  when :undef then owner.send(:undef_method, name)
  when :alias then owner.send(:alias_method, name, :class)
  when :prepend then owner.prepend(Module.new { class_eval("def #{name}(*) = :prepended") })
  when :refine_late then Refined.module_eval { refine(owner) { class_eval("def #{name}(*) = :refined") } }
  end
end

# What a site of a core method gives before and after a change of the method, in a process of its own.
def core(way, site, x)
  owner, name, expression = CORE_SITES.fetch(site)
  reader, writer = IO.pipe
  pid = fork do
    Object.const_set(:Refined, Module.new)
    Refined.module_eval { refine(owner) { class_eval("def #{way == :refine ? name : :unrelated}(*) = :refined") } }
    scope = "using Refined\n" if way == :refine || way == :refine_late
    RubyVM::InstructionSequence.compile("#{scope}def core_site(x) = (#{expression})").eval
    before = [core_call(x), core_call(x), core_call(x)]
    core_change(way, owner, name)
    after = [core_call(x), core_call(x), core_call(x)]
    writer.write([before, after].inspect)
  rescue Exception => error
    writer.write(error.class.name)
  ensure
    writer.close
    exit!
  end
  writer.close
  [reader.read, Process.wait2(pid).last.signaled?]
end
