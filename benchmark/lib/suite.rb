# suite.rb - the seven workloads: which programs run with which arguments, and how much work they are given.
#
# A case is one command line; its rows are what the program prints. `workers` 0 is one thread, no Ractor. Speed-up is over
# the case named in `base` with no workers.

module Suite
  Workload = Struct.new(:id, :title, :about, :program, :need, :binaries, :jits, :rounds, :cases, keyword_init: true)
  Case = Struct.new(:name, :workers, :arguments, :base, keyword_init: true)

  # How much work: chosen so that a case takes some tenths of a second on one core, in the full run.
  SIZES = {
    full: { rounds: 5, limit: 120, turns: 8_000_000, reads: 2_000_000, writes: 160_000, removals: 16_000, n: 7_207_200,
            documents: 60, records: 1_000_000, classes: 10_000, workers: [1, 2, 4, 6, 8], read_workers: [1, 2, 4, 6, 8],
            ranges: [1, 2, 4, 7, 8, 16], pool: [1, 2, 4, 6, 8], variables: [10, 100, 1000, 16_000],
            class_variables: [0, 1, 3, 8, 50], jruby: [1, 2, 4, 8], jruby_rounds: 3 },
    quick: { rounds: 3, limit: 30, turns: 2_000_000, reads: 500_000, writes: 32_000, removals: 1000, n: 2_402_400,
             documents: 10, records: 50_000, classes: 10_000, workers: [1, 2, 4, 8], read_workers: [2, 8],
             ranges: [2, 4, 16], pool: [2, 8], variables: [10, 1000], class_variables: [0, 8], jruby: [4],
             jruby_rounds: 1 },
  }.freeze

  RECEIVERS = %w[module class 100-subclasses complex-class].freeze
  WAYS = %w[literal attr_reader instance_variable_get defined].freeze
  POOL = %w[threads processes ractors-copy ractors-shareable ractors-move].freeze
  CRUBY = %w[stock ours].freeze
  JITS = %w[interpreter YJIT].freeze

  # What the summary shows: label, workload, case, workers, value.
  HEADLINES = [
    ["Mod.compute, one thread", "reads", "Mod.compute", 0, "time"],
    ["Mod.compute, 8 Ractors", "reads", "Mod.compute", 8, "time"],
    ["`attr_reader` of a class, 8 Ractors", "reads", "class attr_reader", 8, "time"],
    ["`@x` of 100 subclasses, 8 Ractors", "reads", "100-subclasses literal", 8, "time"],
    ["Sum of squares, 4 Ractors", "sum", "sum of squares", 4, "time"],
    ["Worker pool, serial", "pool", "serial", 0, "time"],
    ["Worker pool, 2 Ractors, copied", "pool", "ractors-copy", 2, "time"],
    ["Worker pool, 2 processes", "pool", "processes", 2, "time"],
    ["Overwriting, 10 variables, a Ractor reads", "writes", "overwrite 10, a Ractor reads", 1, "a write"],
    ["RSS with 10,000 classes of 8 variables", "memory", "8 variables", 0, "RSS with 10000 classes"],
  ].freeze

  module_function

  def workloads(quick)
    s = SIZES.fetch(quick ? :quick : :full)
    [reads(s, quick), writes(s), sum(s), pool(s), kyoto(s), memory(s), jruby(s)].each do |workload|
      workload.rounds ||= s[:rounds]
      workload.binaries ||= CRUBY
      workload.jits ||= JITS
    end
  end

  def limit(quick) = SIZES.fetch(quick ? :quick : :full)[:limit]

  # One thread, then each number of workers: the program takes KIND WORKERS.
  def parallel(name, kind, workers, before, after)
    [0, *workers].map do |count|
      how = count.zero? ? ["serial", 1] : [kind, count]
      Case.new(name: name, workers: count, base: name, arguments: [*before, *how, *after])
    end
  end

  # The quick run reads each receiver by literal, and the class in all ways.
  def reads(s, quick)
    names = RECEIVERS.product(WAYS)
    names.select! { |receiver, way| way == "literal" || receiver == "class" } if quick
    cases = parallel("Mod.compute", "ractors", s[:workers], ["Mod.compute"], [s[:turns]])
    cases += names.map { |pair| pair.join(" ") }.flat_map do |name|
      parallel(name, "ractors", s[:read_workers], [name], [s[:reads]])
    end
    Workload.new(id: "reads", program: "class_ivar_read.rb", cases: cases, title: "Reads of a class's variables", about: <<~HTML)
      Mod.compute sums three instance variables of a module in a block, #{count(s[:turns])} times. The others read one variable
      #{count(s[:reads])} times, ten reads a turn, on a module, a class, a hundred subclasses in turn, and a class that has a
      table in place of a shape. The work is cut into equal parts, one for each Ractor.
    HTML
  end

  def writes(s)
    cases = %w[overwrite append remove].product(s[:variables], [0, 1]).map do |operation, variables, readers|
      Case.new(name: "#{operation} #{variables}#{', a Ractor reads' if readers == 1}", workers: readers,
               arguments: [operation, variables, readers, operation == "remove" ? s[:removals] : s[:writes]])
    end
    Workload.new(id: "writes", program: "class_ivar_write.rb", cases: cases, title: "Writes by main", about: <<~HTML)
      Main overwrites, appends and removes the instance variables of classes that have 10 to #{count(s[:variables].last)},
      alone and while a Ractor reads those of another class.
    HTML
  end

  def sum(s)
    cases = parallel("sum of squares", "ractors", s[:ranges], [], [s[:n]])
    Workload.new(id: "sum", program: "sum_of_squares.rb", cases: cases, title: "Sum of squares", about: <<~HTML)
      The squares of 0...N are added up, N = #{count(s[:n])}, cut into equal ranges, one for each Ractor. No class is read:
      this is what Ractors can do where nothing is shared.
    HTML
  end

  def pool(s)
    cases = [["serial", 0], *POOL.product(s[:pool])].map do |way, count|
      Case.new(name: way, workers: count, base: "serial", arguments: [way, [count, 1].max, s[:documents]])
    end
    Workload.new(id: "pool", program: "worker_pool.rb", need: :text_alignment, cases: cases,
                 title: "A worker pool behind a pipe Ractor", about: <<~HTML)
      Main sends #{s[:documents]} annotated documents to a pipe Ractor, from which workers take them; they align each with its
      reference text (the gem text_alignment) and return the moved annotations. The same job on one thread, by threads, and
      by forked processes with Marshal over pipes. Two constants of the gem need <code>Ractor.make_shareable</code>; see the
      program.
    HTML
  end

  def kyoto(s)
    cases = [["serial", 0], ["threads", 4], ["ractors", 4], ["ractors-by-main", 4]].map do |way, count|
      Case.new(name: way, workers: count, base: "serial", arguments: [way, [count, 1].max, s[:records]])
    end
    Workload.new(id: "kyoto", program: "kyoto_cabinet.rb", need: :kyotocabinet, rounds: 3, cases: cases,
                 title: "A C extension that leaves the lock", about: <<~HTML)
      Kyoto Cabinet (the gem kyotocabinet-ruby): set, get and remove #{count(s[:records])} records in memory. The gem leaves the
      interpreter's lock for each call. It is not marked safe for Ractors: a call from one raises, as the row
      <code>ractors</code> says. The answer is to let main make the calls for the Ractors: <code>ractors-by-main</code>.
    HTML
  end

  def memory(s)
    cases = s[:class_variables].map { |n| Case.new(name: "#{n} variables", workers: 0, arguments: [n, s[:classes]]) }
    Workload.new(id: "memory", program: "class_memory.rb", cases: cases, title: "Memory", about: <<~HTML)
      What is resident after boot, what a class with instance variables adds to it, and how long a full collection takes,
      with #{count(s[:classes])} classes.
    HTML
  end

  def jruby(s)
    cases = parallel("Mod.compute", "threads", s[:jruby], ["class_ivar_read.rb", "Mod.compute"], [s[:turns]])
    cases += parallel("sum of squares", "threads", s[:jruby], ["sum_of_squares.rb"], [s[:n]])
    Workload.new(id: "jruby", need: :jruby, binaries: %w[jruby], jits: %w[JVM], rounds: s[:jruby_rounds], cases: cases,
                 title: "JRuby", about: <<~HTML)
      Mod.compute and the sum of squares with JRuby's threads, which run in parallel: what a user may pick instead. The ratio
      is stock's time on YJIT, with as many Ractors, to JRuby's. Starting JRuby, some seconds, is not counted.
    HTML
  end

  # 8,000,000
  def count(number) = number.to_s.gsub(/(?<=\d)(?=(\d{3})+\z)/, ",")
end
