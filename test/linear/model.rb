# model.rb - what a class's variables are when one thing happens after the other, and whether a history can be that.
#
# Written from the rules of the language and of Ractors alone; it knows nothing of how they are implemented.

# What is done to a class: +kind+ is a method of Model, +code+ the Ruby that does it.
Operation = Struct.new(:kind, :name, :value, :code)

# The variables of one class or module.  A model never changes.
class Model
  def initialize(ivars = {}, cvars = {}, frozen = false)
    @ivars, @cvars, @frozen = ivars, cvars, frozen
  end

  attr_reader :ivars, :cvars, :frozen

  # The model after +operation+, itself if nothing changes, and what must be observed: a value, or the class of the
  # exception.  +main+ says whether the main Ractor does it.
  def after(operation, main)
    name, value = operation.name, operation.value
    case operation.kind
    when :get then [self, readable(@ivars[name], main)]
    when :defined then [self, @ivars.key?(name)]
    when :list then [self, @ivars.keys]
    when :copy then [self, readable_copy(main)]
    when :frozen? then [self, @frozen]
    when :cget then [self, @cvars.key?(name) ? readable(@cvars[name], main) : NameError]
    when :cdefined then [self, @cvars.key?(name)]
    when :clist then [self, @cvars.keys]
    when :set, :cset then set(operation.kind, name, value, main)
    when :remove, :cremove then remove(operation.kind, name, main)
    when :freeze then [Model.new(@ivars, @cvars, true), :frozen]
    when :collect then [self, nil]
    end
  end

  def eql?(other)
    @frozen == other.frozen && @ivars.to_a == other.ivars.to_a && @cvars.to_a == other.cvars.to_a
  end

  def hash = [@ivars, @cvars, @frozen].hash

  private

  # An array that ends in :unshareable is not for other Ractors.
  def readable(value, main)
    main || !(value in [*, :unshareable]) ? value : Ractor::IsolationError
  end

  # All variables of a copy, in order.
  def readable_copy(main)
    @ivars.each_value { |value| return Ractor::IsolationError if readable(value, main) == Ractor::IsolationError }
    @ivars.to_a
  end

  def set(kind, name, value, main)
    return [self, FrozenError] if @frozen && (main || kind == :set)
    return [self, Ractor::IsolationError] unless main

    more = { name => value }
    [kind == :set ? Model.new(@ivars.merge(more), @cvars) : Model.new(@ivars, @cvars.merge(more)), :set]
  end

  def remove(kind, name, main)
    return [self, FrozenError] if @frozen
    return [self, Ractor::IsolationError] unless main

    variables = kind == :remove ? @ivars : @cvars
    return [self, NameError] unless variables.key?(name)

    rest = variables.except(name)
    [kind == :remove ? Model.new(rest, @cvars) : Model.new(@ivars, rest), variables[name]]
  end
end

# What was observed: +phases+ that happened one after the other, each of them threads that ran side by side, the first
# of them main's; a thread is pairs of an operation and its observation.
class History
  def initialize(*phases)
    @phases = phases
  end

  # Whether one order of all operations, in which each thread's stay in order and no phase begins before the last one is
  # over, explains every observation.
  def explained?
    models = [Model.new]
    @phases.each { |threads| models = models.flat_map { |model| ends(model, threads) }.uniq }
    !models.empty?
  end

  private

  # The models that +threads+, from +model+ on, may leave.  Depth first; a model is met once at a place.
  def ends(model, threads)
    found = []
    todo = [[model, threads.map { 0 }]]
    seen = {}
    while (here = todo.pop)
      next if seen[here]

      seen[here] = true
      found << here[0] if here[1] == threads.map(&:size)
      todo.concat(steps(*here, threads))
    end
    found
  end

  # What may happen next.  An operation that changes nothing and is explained now can be put here in whatever order
  # explains the rest, since nobody else notices: then it alone is followed.
  def steps(model, at, threads)
    threads.each_index.filter_map do |i|
      operation, observation = threads[i][at[i]]
      next unless operation

      later, expected = model.after(operation, i.zero?)
      next unless expected == observation

      step = [later, at.dup.tap { |place| place[i] += 1 }]
      return [step] if later.equal?(model)

      step
    end
  end
end
