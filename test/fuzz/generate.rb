# generate.rb - random programs over classes, modules and objects and what these keep in variables and constants.
#
# A program is an array of statements, each of one line, made from (seed, number) alone.  `k` holds what was made so
# far; C stands for one of it, V for a value, @i and @@i for an instance and a class variable, I for a constant, WAY and
# SITE for a change of a core method and for what calls it (prelude.rb).

class Program
  STATEMENTS = {
    # a new class, module, object
    "k << Class.new" => 4, "k << Class.new(C)" => 6, "k << Module.new" => 5, "k << C.singleton_class" => 4,
    "k << C.dup" => 4, "k << C.clone" => 4, "k << C.clone(freeze: true)" => 1, "k << C.clone(freeze: false)" => 1,
    "k << Struct.new(:a, :b)" => 2, "k << Struct.new(:a, keyword_init: true)" => 1, "k << Data.define(:a)" => 1,
    "k << C.new" => 4, "k << C.new(1, 2)" => 1, "k << C.allocate" => 1, "k << Object.new" => 1,
    "k << Class.new(C) { @i = V; @i = V; @i = V }" => 3, "k << Module.new { refine(C) { def refined = @i } }" => 1,
    "k << C.superclass" => 1, "Object.const_set(:NAMED, C)" => 2, "C.const_set(:Inner, C)" => 1,
    "class NAMED < Struct.new(:x); @i = V; @@i = V; I = V; self; end" => 1, "C.set_temporary_name('fake<1>')" => 1,
    # set
    "C.instance_variable_set(:@i, V)" => 22, "C.instance_eval { @i = V }" => 10, "C.instance_eval { @i ||= V }" => 4,
    "C.instance_eval { @i &&= V }" => 1, "C.instance_eval { @i, @i = V, V }" => 2, "C.attribute = V" => 5,
    "5.times.map { |i| C.instance_eval { @i = i } }" => 4,
    "k.map { |c| c.instance_eval { @i = V } rescue $!.class }" => 4,
    "k.map { |c| c.instance_variable_set(:@i, V) rescue $!.class }" => 2, "3.times.map { |i| C.attribute = i }" => 2,
    "12.times { |i| C.instance_variable_set(:\"@n\#{i}\", i) }" => 3,
    "C.instance_variable_set(:\"@r\#{k.size}\", V)" => 3,
    "60.times { |i| C.instance_variable_set(:\"@m\#{i}\", i) }" => 1, "C.instance_variable_set('i', V)" => 1,
    "k.each_with_index { |c, i| c.instance_variable_set(:\"@w\#{i}\", i) rescue 0 }.size" => 1,
    "C.instance_variables.each { |n| C.instance_variable_set(:\"\#{n}_\", V) }" => 1,
    "10.times { |i| C.new.instance_variable_set(:\"@v\#{i}\", i) }" => 1,
    # get
    "C.instance_variable_get(:@i)" => 8, "C.instance_variable_get('@i')" => 1, "C.instance_variable_get('i')" => 1,
    "C.instance_eval { [@i, @i, @i] }" => 6, "3.times.map { C.instance_eval { @i } }" => 5, "C.attribute" => 3,
    "k.map { |c| c.instance_eval { @i } }" => 5, "k.map { |c| c.instance_variable_get(:@i) }" => 2,
    "2.times.map { k.map { |c| c.attribute rescue $!.class } }" => 3, "C.instance_variable_get(nil)" => 1,
    "C.instance_variable_defined?(:@i)" => 3, "C.instance_eval { defined?(@i) }" => 3, "C.instance_variables" => 5,
    "k.map { |c| c.instance_eval { defined?(@i) } }" => 3, "C.literal" => 3,
    "k.map { |c| c.literal rescue $!.class }" => 3,
    "C.new.literal" => 2, "C.new(1, 2).then { |s| [s.to_a, s.a] }" => 1, "C.members" => 1, "C.inspect" => 1,
    "C.name" => 1,
    # remove
    "C.remove_instance_variable(:@i)" => 10, "C.instance_variables.each { |n| C.remove_instance_variable(n) }" => 1,
    "C.instance_variables.first(2).map { |n| C.remove_instance_variable(n) }" => 2,
    "C.remove_instance_variable(C.instance_variables.last || :@none)" => 2, "C.remove_instance_variable('i')" => 1,
    "5.times { |i| C.instance_variable_set(:@i, i); C.remove_instance_variable(:@i) }" => 1,
    # methods that read and write
    "C.singleton_class.attr_accessor(:i)" => 3, "C.singleton_class.attr_reader(:attribute)" => 2,
    "C.singleton_class.attr_accessor(:attribute)" => 3, "C.attr_accessor(:attribute)" => 2,
    "C.define_singleton_method(:literal) { @i }" => 3, "C.define_method(:literal) { [@i, defined?(@i)] }" => 2,
    "C.class_eval('def self.literal = [@i, defined?(@i), @i]')" => 3, "C.class_eval('def literal = (@i = V)')" => 1,
    "k.last(3).each { |c| c.extend(C) }.size" => 1,
    # class variables
    "C.class_variable_set(:@@i, V)" => 8, "C.class_variable_get(:@@i)" => 5, "C.class_variable_defined?(:@@i)" => 2,
    "C.class_variables" => 2, "C.class_variables(false)" => 2, "C.remove_class_variable(:@@i)" => 4,
    "C.class_eval('@@i = V')" => 3, "C.class_eval('@@i')" => 3, "C.class_eval('3.times.map { @@i }')" => 2,
    "C.class_eval('@@i ||= V')" => 2, "C.class_eval('defined?(@@i)')" => 1,
    "C.class_eval('3.times.map { |i| @@i = i }')" => 2,
    "20.times { |i| C.class_variable_set(:\"@@n\#{i}\", i) }" => 1, "C.class_variable_get(:i)" => 1,
    "C.class_eval('def self.literal = @@i')" => 1, "C.class_eval('def literal = [@@i, @i]')" => 1,
    # ancestors
    "C.include(C)" => 4, "C.extend(C)" => 3, "C.prepend(C)" => 2, "C.ancestors.size" => 1, "C.include?(C)" => 1,
    # constants
    "C.const_set(:I, V)" => 5, "C.const_get(:I)" => 4, "C.send(:remove_const, :I)" => 2, "C.constants.sort" => 2,
    "C.class_eval('I')" => 3, "C.class_eval('2.times.map { I }')" => 2, "C.const_defined?(:I)" => 1,
    "C.class_eval('I = V')" => 2, "C.autoload(:I, './there_is_no_such_file')" => 1, "C.autoload?(:I)" => 1,
    "C.private_constant(:I)" => 1, "C.class_eval('def self.literal = I')" => 1,
    "C.const_source_location(:I)&.size" => 1,
    # methods that interpreter and compiled code take for granted
    "core(:WAY, :SITE, V)" => 2,
    # Class#new, and what it calls
    "3.times.map { C.new.instance_variables }" => 3, "3.times.map { C.new(1, 2).class }" => 2, "made(C)" => 5,
    "own(C).class_eval('def initialize(*) = @i = V')" => 3, "own(C).class_eval('def initialize = @i = V')" => 3,
    "own(C).class_eval('def initialize(a, b = V) = (super(); @i = [a, b])')" => 2,
    "own(C).class_eval('def initialize(a = 1, k: V, &b) = @i = [a, k, b&.call]')" => 2,
    "own(C).define_method(:initialize) { |*a| @i = a }" => 1, "own(C).attr_writer(:initialize)" => 1,
    "own(C).send(:remove_method, :initialize)" => 2, "own(C).send(:undef_method, :initialize)" => 1,
    "own(C).prepend(Module.new { def initialize(*) = (super rescue 0; @i = V) })" => 1,
    "own(C).include(Module.new { def initialize(*) = @i = V })" => 1, "own(C).alias_method(:initialize, :itself)" => 1,
    "own(C).define_singleton_method(:new) { |*a| super(*a).tap { |one| one.instance_eval { @i = V } } }" => 1,
    "own(C).singleton_class.alias_method(:attribute, :new)" => 1, "own(C).singleton_class.undef_method(:new)" => 1,
    "own(C).singleton_class.remove_method(:new)" => 1, "own(C).private_class_method(:new)" => 1,
    "own(C).define_singleton_method(:allocate) { raise }" => 1, "own(C).extend(Module.new { def new(*) = [super] })" => 1,
    "Module.new { refine(own(C)) { def initialize(*) = @i = V } }" => 1, "GC.stress ? 0 : stress { made(C) }" => 1,
    "Module.new { refine(own(C).singleton_class) { def new(*) = V } }" => 1, "made(Class.new(own(C)))" => 2,
    # the rest
    "C.freeze" => 3, "C.frozen?" => 1, "Marshal.load(Marshal.dump(C)).equal?(C)" => 2, "C.itself.equal?(C)" => 1,
    "Marshal.load(Marshal.dump(C.new)).instance_variables" => 1,
    "C.dup.then { |d| [d.instance_variables, d.instance_eval { @i }] }" => 3,
    "C.clone.then { |d| [d.instance_variable_set(:@i, V), d.instance_eval { @i }, C.instance_eval { @i }] }" => 3,
    "C.dup.then { |d| [d.remove_instance_variable(:@i), d.instance_variables, C.instance_variables] }" => 2,
    "C.dup.class_variables(false)" => 1, "GC.start" => 1, "(GC.compact; 0) if GC.respond_to?(:compact) && RARELY" => 1,
    "stress { C.instance_variable_set(:@i, V) }" => 1, "stress { C.remove_instance_variable(:@i) }" => 1,
    "stress { C.dup.instance_variables }" => 1, "C.instance_variables == C.instance_variables" => 1,
    "Object.instance_method(:instance_variable_set).bind_call(C, :@i, V)" => 1,
    "C.send(:instance_variable_get, :@i)" => 1,
    "Thread.new { C.instance_eval { @i = V; @i } }.value" => 1, "Fiber.new { C.instance_eval { @i } }.resume" => 1,
  }.freeze

  VALUES = %w[1 2 -7 nil false :sym 2.5 "text" [1] {a:1} C C 10**30 [C] "frozen".freeze].freeze
  WAYS = %w[redefine remove undef alias prepend refine refine_late].freeze
  SITES = %w[to_s to_s to_s symbol nil kernel module less more at_most at_least while plus equal not nil? text append each
             map select times loop at key max size call new respond send get reader own make make initialize
             allocate].freeze
  IVARS = %w[@a @b @c @d @e @attribute].freeze

  def self.statements(seed, number)
    new(Random.new(seed * 1_000_003 + number), number).statements
  end

  def initialize(random, number)
    @random, @number = random, number
    @weights = STATEMENTS.values.sum
    # a program sticks to some of them, so that they meet
    @templates = STATEMENTS.to_a.sample(rand(20..STATEMENTS.size), random: @random)
    @total = @templates.sum(&:last)
    @made = 3
  end

  def statements
    ["k << Class.new", "k << Module.new", "k << Class.new(k[0])"] + Array.new(rand(20..90)) { statement }
  end

  private

  def rand(...) = @random.rand(...)
  def pick(list) = list[rand(list.size)]

  def template
    at = rand(@total)
    @templates.each { |text, weight| return text if (at -= weight) < 0 }
  end

  # The letters of a template, each time another choice.
  def statement
    text = template
    @made += 1 if text.start_with?("k <<")
    text.gsub(/\bV\b/) { pick(VALUES) }.gsub(/\bC\b/) { "k[#{rand(@made)}]" }
        .gsub(/@@i\b/) { pick(%w[@@a @@b @@c]) }.gsub(/@i\b/) { pick(IVARS) }.gsub(/\bI\b/) { pick(%w[A B]) }
        .gsub("WAY") { pick(WAYS) }.gsub("SITE") { pick(SITES) }.gsub("NAMED", "Program#{@number}_#{rand(4)}").gsub("RARELY", rand(20).zero?.to_s)
  end
end
