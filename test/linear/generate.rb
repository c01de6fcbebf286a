# generate.rb - random cases.  A case is made from (seed, number) alone.

require_relative "model"

# +kind+: of what class or module; +prefix+: operations of main before all else; +threads+: operations of main and of
# one to three Ractors; +suffix+: what each of them looks at when all is over.
Case = Struct.new(:kind, :prefix, :threads, :suffix) do
  # All cases with one operation less, or one Ractor; large pieces first.
  def smaller
    without = ->(list) { list.each_index.map { |i| list.dup.tap { |rest| rest.delete_at(i) } } }
    workers = threads.size > 2 ? without.(threads.drop(1)).map { |rest| [threads[0], *rest] } : []
    shorter = threads.each_index.flat_map do |i|
      without.(threads[i]).map { |thread| threads.dup.tap { |all| all[i] = thread } }
    end
    [Case.new(kind, prefix, threads, []), Case.new(kind, [], threads, suffix)].reject { |smaller| smaller == self } +
      (workers + shorter).map { |all| Case.new(kind, prefix, all, suffix) } +
      without.(prefix).map { |rest| Case.new(kind, rest, threads, suffix) } +
      without.(suffix).map { |rest| Case.new(kind, prefix, threads, rest) }
  end
end

# The names that stand for other ones in each repeat, so that layouts are new.
Case::FRESH = (Array.new(12) { |i| :"@f#{i}" } + Array.new(4) { |i| :"@@f#{i}" }).freeze

class Generator
  # What is done to: what the code of an operation calls `m`.
  KINDS = %i[class module clone singleton].freeze
  FIXED = Array.new(6) { |i| :"@v#{i}" }.freeze
  FIXED_CVARS = Array.new(3) { |i| :"@@c#{i}" }.freeze

  READS = { get: 45, defined: 15, list: 12, copy: 6, frozen?: 4, cget: 10, cdefined: 3, clist: 4 }.freeze
  WRITES = { set: 45, remove: 16, cset: 10, cremove: 4, freeze: 3, collect: 1 }.freeze
  REFUSED = { set: 1, remove: 1, cset: 1, cremove: 1 }.freeze

  NAMELESS = %i[list clist copy frozen? freeze collect].freeze
  CVAR_KINDS = %i[cget cdefined clist cset cremove].freeze

  # +without+: kinds of operations to leave out, and :cvars for class variables, which are main's alone in stock.
  def initialize(seed, number, without: [])
    @without = without.include?(:cvars) ? [*without, *CVAR_KINDS] : without
    @random = Random.new(seed * 1_000_003 + number)
    @kind = pick(KINDS)
    @ivars = (FIXED.sample(rand(1..6), random: @random) + Case::FRESH.first(pick([0, 0, 2, 5, 12]))).freeze
    @cvars = FIXED_CVARS.first(rand(1..3)) + Case::FRESH.last(4).first(rand(0..4))
    @serial = 0
  end

  def make
    prefix = Array.new(pick([0, 1, 2, 3, 4, 6, 8, 10, 12, 16])) { operation(weighted({ set: 4, cset: 1 })) }
    main = Array.new(rand(1..7)) { operation(weighted(rand(5) > 0 ? WRITES : READS)) }
    workers = Array.new(pick([1, 1, 1, 2, 2, 3])) do
      Array.new(rand(1..8)) { operation(weighted(rand(20) > 0 ? READS : REFUSED)) }
    end
    Case.new(@kind, prefix, [main, *workers], suffix)
  end

  private

  def rand(...) = @random.rand(...)
  def pick(list) = list[rand(list.size)]

  def weighted(weights)
    weights = weights.except(*@without)
    at = rand(weights.values.sum)
    weights.each { |kind, weight| return kind if (at -= weight) < 0 }
  end

  def suffix
    (%i[list clist frozen?] - @without).map { |kind| operation(kind) } +
      { get: @ivars.first(8), cget: @cvars.first(4) }.except(*@without).flat_map do |kind, names|
        names.map { |name| operation(kind, name) }
      end
  end

  def operation(kind, name = nil)
    kind = :list if kind == :copy && @kind == :singleton
    name ||= pick(kind.start_with?("c") ? @cvars : @ivars) unless NAMELESS.include?(kind)
    value, code = new_value if %i[set cset].include?(kind)
    Operation.new(kind, name, value, pick(ways(kind, name, code)))
  end

  # A value, and the expression that makes it.
  def new_value
    n = @serial += 1
    pick([[n, n.to_s]] * 4 + [[[n], "[#{n}].freeze"]] * 3 + [[[n], "Ractor.make_shareable([#{n}])"]] +
         [[[n, :unshareable], "[#{n}, :unshareable]"]] * 2 + [[nil, "nil"]])
  end

  # The expressions that do the same.  In them `m` is the class, and `n` the names that stand for fresh ones.
  def ways(kind, name, value)
    fresh = Case::FRESH.index(name)
    dynamic = fresh ? "n[#{fresh}]" : ":#{name}"
    literal = name.to_s.delete("@") unless fresh
    code = WAYS.fetch(kind).map { |way| way.gsub("NAME", dynamic).gsub("VALUE", value.to_s) }
    return code if fresh || !name || (kind.start_with?("c") && @kind != :clone)

    code + LITERAL_WAYS.fetch(kind, []).map { |way| way.gsub("NAME", literal).gsub("VALUE", value.to_s) }
  end

  WAYS = {
    get: ["m.instance_variable_get(NAME)"],
    defined: ["m.instance_variable_defined?(NAME)"],
    list: ["m.instance_variables"],
    copy: ["m.dup.then { |d| d.instance_variables.map { |x| [x, d.instance_variable_get(x)] } }"],
    frozen?: ["m.frozen?"],
    cget: ["m.class_variable_get(NAME)"],
    cdefined: ["m.class_variable_defined?(NAME)"],
    clist: ["m.class_variables"],
    set: ["(m.instance_variable_set(NAME, VALUE); :set)"],
    cset: ["(m.class_variable_set(NAME, VALUE); :set)"],
    remove: ["m.remove_instance_variable(NAME)"],
    cremove: ["m.remove_class_variable(NAME)"],
    freeze: ["(m.freeze; :frozen)"],
    collect: ["GC.start"] * 9 + ["(GC.compact if GC.respond_to?(:compact); nil)"],
  }.freeze

  # What only a name that stands in the text can be done with: Reads, and Template for class variables.
  LITERAL_WAYS = {
    get: ["m.get_NAME", "m.NAME", "m.call_NAME"],
    defined: ["m.known_NAME"],
    set: ["(m.set_NAME(VALUE); :set)", "(m.NAME = VALUE; :set)"],
    cget: ["m.allocate.get_NAME"],
    cdefined: ["m.allocate.known_NAME"],
    cset: ["(m.allocate.set_NAME(VALUE); :set)"],
  }.freeze
end
