# redefined.rb - what calls and reads while it is redefined over and over: yjit/redefined.rs. Prints what came of it.

TURNS = 150

class Base
  def plain = 0
  def keywords(a, b: 1) = [a, b]
  def block = yield(0)
  def rest(*list) = list
end
class Sub < Base
  def plain = [super]
  def initialize(a = 0) = @a = a
end
module Holder; end

def answers(o, made)
  [o.plain, o.keywords(1, b: 2), o.block { |x| x + 1 }, o.rest(*made), Sub.new(3).inspect.sub(/0x\h+/, ""), Holder::NAME, o.send(:plain),
   o.respond_to?(:some), (o.some rescue $!.class), [o].map(&:plain), o.plain == [0], o.later(2)]
end

class Base
  def later(n) = n == 0 ? [] : [later(n - 1)]
  def method_missing(name, *) = name == :some ? :missing : super
  def respond_to_missing?(name, all) = name == :maybe
end

o = Sub.new
TURNS.times do |i|
  Holder.send(:remove_const, :NAME) if Holder.const_defined?(:NAME)
  Holder.const_set(:NAME, i)
  Base.class_eval do
    define_method(:plain) { i }
    class_eval("def keywords(a, b: #{i}) = [b, a, #{i}]; def block = yield(#{i}); def rest(*list) = list << #{i}") if i.odd?
    i % 3 == 0 ? define_method(:some) { i } : (remove_method(:some) if method_defined?(:some, false))
    private(:some) if i % 6 == 0
    class_eval("def later(n) = n == 0 ? [#{i}] : [later(n - 1)]") if i % 4 == 0
  end
  Sub.class_eval("def initialize(a = 0) = @#{"abcd"[i % 4]} = a") if i % 2 == 0
  p answers(o, [i]) if i % 7 == 0 || i > TURNS - 5
  answers(o, [i])
end

# Afterwards, with nothing redefined any more, and then once.
3.times { p answers(o, [1]) }
100.times { answers(o, [1]) }
class Base; def plain = :once; end
Holder.send(:remove_const, :NAME)
p((answers(o, [1]) rescue $!.class))
Holder::NAME = :back
p answers(o, [1])
module Refined
  refine(Sub) { def plain = [:refined, super] }
end
using Refined
p [o.plain, o.send(:plain), [o].map(&:plain)], answers(o, [1])
class Sub; prepend(Module.new { def plain = [:prepended, super] }); end
p [o.plain, o.send(:plain)], answers(o, [1])
def o.plain = :own
p answers(o, [1])
class Base; undef_method(:block); end
p((answers(o, [1]) rescue $!.class))
traced = []
TracePoint.new(:call) { |event| traced << event.method_id }.enable { o.later(1) }
p traced

def deep(n) = n == 0 ? 0 : 1 + deep(n - 1)
TURNS.times { |i| eval("def deep(n) = n == 0 ? #{i} : 1 + deep(n - 1)"); deep(20) }
p deep(2_000)
