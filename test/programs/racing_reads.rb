# racing_reads.rb - main writes variables of modules by every path, Ractors read them by every path.
#
#   ruby racing_reads.rb [seconds [readers [paths]]]
#
# A value names its variable and carries a stamp that grows with each write, so that a reader knows a value of another
# variable, one that is older than what it has seen, one that is not filled yet, one that it may not have, and one that is
# missing although its variable is never removed.  With each new target main says what it had set the class variables and
# constants to, and nobody may see an older value from then on.  In the end all must see what main set last.  Prints
# "reads: N, writes: N, wrong: N" and a count of each kind.
#
# paths: some of literal,attr,get,defined,list,object,cvar,const,late; all of them if not given.  Stock denies Ractors
# cvar.  object makes objects of the Ractor's own, so that all Ractors make shapes.  late: every tenth value is set first,
# and then filled and made shareable, while Ractors look whether it is.  complex, only if it is named: the modules have no
# shape, but a table each.

require_relative "exhaust_shapes"

$VERBOSE = nil
SECONDS = (ARGV[0] || 2).to_f
READERS = (ARGV[1] || 2).to_i
PATHS = (ARGV[2] || "literal,attr,get,defined,list,object,cvar,const,late").split(",").map(&:to_sym).freeze
VARIABLES = 24
NAMES = Array.new(VARIABLES) { |i| :"@v#{i}" }.freeze

# Every third variable is removed and set again, the others are only overwritten.
def removable?(i) = i % 3 == 2

# Stamp and variable: a number, or an array whose contents must be seen with it.
def value(stamp, i) = stamp.odd? ? number(stamp, i) : Ractor.make_shareable([number(stamp, i), "filled"])
def number(stamp, i) = stamp * VARIABLES + i

# How a module is read: extends each target, so that all share its inline caches.
module Readers
  VARIABLES.times do |i|
    attr_reader :"v#{i}"
    class_eval("def literal#{i} = @v#{i}; def defined#{i} = defined?(@v#{i})", __FILE__, __LINE__)
  end
end

# Class variables and constants of one owner each; their sites are here.
class Scoped
  VARIABLES.times do |i|
    class_variable_set(:"@@v#{i}", i)
    const_set(:"V#{i}", i)
    class_eval("def self.cvar#{i} = @@v#{i}; def self.const#{i} = V#{i}", __FILE__, __LINE__)
  end
end

# Two layouts at the same sites.
class Pair
  attr_accessor :one, :two
end

# The target of the moment, which is itself a variable that main overwrites, and the numbers of the newest values of
# Scoped when it was set; nil at the end, when +last+ has what all variables of Scoped were set to.
module Current
  class << self
    attr_accessor :target, :newest, :last
  end
end

# Where the last number of a value of Scoped is kept: ~i for constants.
def key_of(path, i) = path == :const ? ~i : i

class Reader
  def initialize
    @reads = 0
    @wrong = Hash.new(0)
    @last = Hash.new(0) # of class variables and constants
  end

  def run
    last = previous = nil
    while (target = Current.target)
      unless target.equal?(previous)
        last, previous = Hash.new(0), target
        @last.merge!(Current.newest) { |_, seen, set| [seen, set].max }
        layout(target)
      end
      PATHS.each do |path|
        case path
        when :late, :complex # are main's
        when :list then list(target)
        when :object then object
        when :defined then VARIABLES.times { |i| defined(target, i) }
        else VARIABLES.times { |i| get(path, target, i, last) }
        end
      end
    end
    finish
    [@reads, @wrong]
  end

  private

  PREFIXES = { literal: "literal", attr: "v", defined: "defined", cvar: "cvar", const: "const" }
  SITES = Ractor.make_shareable(PREFIXES.transform_values { |prefix| Array.new(VARIABLES) { |i| :"#{prefix}#{i}" } })

  def get(path, target, i, last)
    @reads += 1
    case path
    when :get then check(path, i, target.instance_variable_get(NAMES[i]), last)
    when :cvar, :const then check(path, i, Scoped.__send__(SITES[path][i]), @last)
    else check(path, i, target.__send__(SITES[path][i]), last)
    end
  rescue Ractor::IsolationError # main has not finished it
  rescue NameError
    @wrong[:"#{path}: not set"] += 1 unless path == :cvar && removable?(i)
  end

  def check(path, i, value, last)
    @wrong[:"#{path}: unshareable"] += 1 unless Ractor.shareable?(value)
    if value.is_a?(Array)
      @wrong[:"#{path}: not filled"] += 1 unless value.size == 2 && value[1] == "filled"
      value = value[0]
    end
    return if value.nil? && removable?(i) || value == :last
    return @wrong[:"#{path}: another's, or none"] += 1 unless value.is_a?(Integer) && value % VARIABLES == i

    key = key_of(path, i)
    @wrong[:"#{path}: older"] += 1 if value < last[key]
    last[key] = value
  end

  def defined(target, i)
    @reads += 1
    found = target.__send__(SITES[:defined][i])
    @wrong[:"defined: not set"] += 1 unless found == "instance-variable" || found.nil? && removable?(i)
  end

  # one snapshot: no name twice, none that is always there missing
  def list(target)
    @reads += 1
    names = target.instance_variables
    @wrong[:"list: twice"] += 1 if names.uniq.size != names.size
    @wrong[:"list: missing"] += 1 unless VARIABLES.times.all? { |i| removable?(i) || names.include?(NAMES[i]) }
  end

  # of a class of its own: one that has seen many layouts gives its objects no shape
  def object
    object = Class.new.new
    numbers = Array.new(12) { |i| (@reads * 7 + i * i) % VARIABLES }.uniq
    numbers.each { |i| object.instance_variable_set(NAMES[i], i) }
    @wrong[:object] += 1 unless numbers.all? { |i| object.instance_variable_get(NAMES[i]) == i }
    pair(true)
    pair(false)
  end

  def pair(ordered)
    pair = Pair.new
    pair.one = 1 if ordered
    pair.two = 2
    pair.one = 1
    @wrong[:pair] += 1 unless pair.one == 1 && pair.two == 2
  end

  # Layouts that nobody has made before, one behind the other and from one parent: all Ractors come to them at once, and
  # look while another makes the next step.
  def layout(target)
    names = target.instance_variable_get(:@layout) or return
    klass = Class.new
    [names, *names[1, 6].map { |name| [names[0], name] }].each do |order|
      object = klass.new
      order.each_with_index do |name, i|
        object.instance_variable_set(name, i)
        @wrong[:layout] += 1 unless object.instance_variable_get(order[i / 2]) == i / 2
      end
    end
  end

  def finish
    %i[cvar const].intersection(PATHS).each do |path|
      VARIABLES.times do |i|
        value = Scoped.__send__(SITES[path][i])
        @wrong[:"#{path}: outdated"] += 1 unless value == Current.last
      end
    end
  end
end

class Writer
  def initialize
    @random = Random.new
    @stamp = @layouts = 0
    @newest = {}
  end

  # The next target, filled and made known.
  def fill
    target = Module.new { extend Readers }
    target.instance_variable_set(:@layout, next_layout)
    VARIABLES.times { |i| overwrite(target, i) }
    publish(target)
  end

  # What happens to a target; returns the number of writes.
  def run(target)
    100.times do |round|
      20.times { overwrite(target, @random.rand(VARIABLES)) }
      scoped(@random.rand(VARIABLES))
      extra = :"@extra#{round / 2}"
      case @random.rand(4)
      when 0 then remove(target, NAMES[@random.rand(VARIABLES / 3) * 3 + 2])
      when 1 then target.instance_variable_set(extra, round)
      when 2 then remove(target, extra)
      end
      toggle(target)
    end
    100 * 27
  end

  def finish
    VARIABLES.times do |i|
      Scoped.const_set(:"V#{i}", :last)
      Scoped.class_variable_set(:"@@v#{i}", :last)
    end
    Current.last = :last
  end

  private

  def publish(target)
    Current.newest = Ractor.make_shareable(@newest.dup)
    Current.target = target
  end

  # Names that no object has had; not for ever, as there are only so many shapes.  By eval: what to_sym makes gets its
  # number at the first use, and two Ractors race for that in stock too.
  def next_layout
    @layouts += 1
    Ractor.make_shareable(eval("%i[#{Array.new(16) { |i| "@layout#{@layouts}_#{i}" }.join(' ')}]")) if @layouts < 2000
  end

  def stamped(i) = value(@stamp += 1, i)

  def overwrite(target, i)
    return target.instance_variable_set(NAMES[i], stamped(i)) unless @stamp % 10 == 0 && PATHS.include?(:late)

    value = [number(@stamp += 1, i)]
    target.instance_variable_set(NAMES[i], value)
    Ractor.make_shareable(value << +"filled")
  end

  # The last of a layout that readers have met, away and there again: what is appended is read at once.  The first makes
  # room for the second.
  def toggle(target)
    last = [VARIABLES - 4, VARIABLES - 1]
    last.each { |i| remove(target, NAMES[i]) }
    last.each { |i| overwrite(target, i) }
  end

  def remove(target, name)
    target.remove_instance_variable(name) if target.instance_variable_defined?(name)
  end

  def scoped(i)
    Scoped.const_set(:"V#{i}", stamped(i))
    note(:const, i)
    name = :"@@v#{i}"
    return Scoped.remove_class_variable(name) if removable?(i) && Scoped.class_variable_defined?(name)

    Scoped.class_variable_set(name, stamped(i))
    note(:cvar, i)
  end

  def note(path, i) = @newest[key_of(path, i)] = number(@stamp, i)
end

exhaust_shapes if PATHS.include?(:complex)
writer = Writer.new
target = writer.fill
readers = Array.new(READERS) { Ractor.new { Reader.new.run } }
finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + SECONDS
writes = 0
while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
  writes += writer.run(target)
  target = writer.fill
end
writer.finish
Current.target = nil

reads, wrong = readers.map(&:take).transpose
wrong = wrong.reduce { |all, one| all.merge(one) { |_, a, b| a + b } }
puts "reads: #{reads.sum}, writes: #{writes}, wrong: #{wrong.values.sum} #{wrong.inspect unless wrong.empty?}"
