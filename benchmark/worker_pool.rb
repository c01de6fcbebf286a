# worker_pool.rb - W workers align annotated texts with reference texts and return the moved annotations.
#
#   ruby [--yjit] -I GEM/lib... worker_pool.rb WAY WORKERS DOCUMENTS
#
# WAY: serial; threads; processes (forked, Marshal over pipes); or ractors-copy, ractors-shareable, ractors-move, which
# differ in how a document is passed: copied, made shareable, or moved. Main sends the documents to a pipe Ractor, from
# which the workers take them. The gem is text_alignment; it needs string-similarity, ruby-dictionary and diff-lcs 1.x.
# Prints seconds, garbage collections, and objects allocated, of all processes together; JSON as in measure.rb.

require_relative "measure"
begin
  require "text_alignment"
rescue LoadError => error
  abort "worker_pool.rb: #{error.message}: gem install text_alignment, or give the folders of the gems with -I"
end

# Constants of the gem that hold unfrozen Strings: a Ractor may read them once they are shareable.
Ractor.make_shareable(TextAlignment::CHAR_MAPPING)
Ractor.make_shareable(TextAlignment::LCSMin::PLACEHOLDER_CHAR)

# Documents like abstracts of papers: 1,500 to 3,000 characters, 20 to 60 annotations. The annotated text differs from
# the reference as such texts do: Greek letters spelled out, other line breaks, words that were corrected.
class Documents
  GREEK = { "α" => "alpha", "β" => "beta", "γ" => "gamma", "κ" => "kappa" }.freeze
  TYPES = %w[Protein Disease Species Cell].freeze

  def initialize
    @random = Random.new(20_250_716)
    @words = Array.new(2000) { Array.new(pick(2..11)) { (97 + @random.rand(26)).chr }.join }
    @words += GREEK.keys.flat_map { |letter| [letter, "NF-#{letter}B", "TNF-#{letter}"] * 4 }
  end

  def next
    reference = sentences(pick(1500..3000))
    text = annotated(reference)
    { text: text, reference: reference, denotations: denotations(text) }
  end

  private

  def pick(range) = @random.rand(range)
  def word = @words[(@words.size * @random.rand**2).to_i]

  def sentences(length)
    text = +""
    while text.size < length
      text << Array.new(pick(8..24)) { word }.join(" ").capitalize << (@random.rand < 0.2 ? ".\n" : ". ")
    end
    text
  end

  def annotated(reference)
    text = reference.gsub(/[αβγκ]/, GREEK).gsub("\n", "\n\n")
    text.gsub(/[a-z]{5,}/) { |word| @random.rand < 0.02 ? word.tr("aeiou", "eioua") : word }
  end

  def denotations(text)
    found = []
    text.scan(/\w{4,}/) { found << Regexp.last_match.offset(0) }
    found.sample(pick(20..60), random: @random).sort.each_with_index.map do |(from, to), i|
      { id: "T#{i}", span: { begin: from, end: to }, obj: TYPES[i % TYPES.size].dup }
    end
  end
end

module Align
  def self.call(document)
    alignment = TextAlignment::TextAlignment.new(document[:reference])
    alignment.align(document[:text], document[:denotations])
    alignment.transform_hdenotations(document[:denotations])
  end
end

module Pool
  def self.serial(documents, _) = documents.map { |document| Align.call(document) }

  def self.threads(documents, workers)
    queue = Queue.new(documents).close
    threads = Array.new(workers) do
      Thread.new do
        done = []
        while (document = queue.pop)
          done << Align.call(document)
        end
        done
      end
    end
    threads.flat_map(&:value)
  end

  # Each child gets its share through a pipe, and answers through another: the results, and last its counts.
  def self.processes(documents, workers)
    children = Array.new(workers) { |i| child(documents.each_slice(workers).filter_map { |slice| slice[i] }) }
    answers = children.map { |thread, pid| thread.value.tap { Process.wait(pid) } }
    answers.each { |*, counts| Counts.add(counts) }
    answers.flat_map { |*done, _| done }
  end

  def self.child(share)
    requests, to_child = IO.pipe(binmode: true)
    from_child, answers = IO.pipe(binmode: true)
    pid = fork do
      [to_child, from_child].each(&:close)
      counts = Counts.now
      Marshal.dump(Align.call(Marshal.load(requests)), answers) until requests.eof?
      Marshal.dump(Counts.since(counts), answers)
      answers.close
      exit!(true)
    end
    [requests, answers].each(&:close)
    writer = Thread.new { share.each { |document| Marshal.dump(document, to_child) }.then { to_child.close } }
    reader = Thread.new do
      answered = []
      answered << Marshal.load(from_child) until from_child.eof?
      writer.join
      answered
    end
    [reader, pid]
  end

  def self.ractors_copy(documents, workers) = ractors(documents, workers, move: false)
  def self.ractors_move(documents, workers) = ractors(documents, workers, move: true)
  def self.ractors_shareable(documents, workers)
    ractors(documents.each { |document| Ractor.make_shareable(document) }, workers, move: false)
  end

  def self.ractors(documents, workers, move:)
    pipe = Ractor.new(move) { |move| loop { Ractor.yield(Ractor.receive, move: move) } }
    pool = Array.new(workers) do
      Ractor.new(pipe) do |pipe|
        done = []
        while (document = pipe.take) != :end
          done << Align.call(document)
        end
        done
      end
    end
    documents.each { |document| pipe.send(document, move: move) }
    workers.times { pipe.send(:end) }
    pool.flat_map(&:take)
  end
end

module Counts
  NAMES = { "minor GCs" => :minor_gc_count, "major GCs" => :major_gc_count, "objects" => :total_allocated_objects }.freeze
  @children = Hash.new(0)

  def self.now = NAMES.transform_values { |key| GC.stat(key) }
  def self.since(before) = now.to_h { |name, count| [name, count - before[name] + @children[name]] }
  def self.add(counts) = counts.each { |name, count| @children[name] += count }
end

way, workers, count = Measure.arguments(3)
ways = %w[serial threads processes ractors-copy ractors-shareable ractors-move]
abort "worker_pool.rb: no way #{way.inspect}; there are: #{ways.join(', ')}" unless ways.include?(way)
generator = Documents.new
documents = Array.new(count.to_i) { generator.next }
annotations = documents.sum { |document| document[:denotations].size }
Align.call(generator.next) # what is autoloaded or compiled at the first call
GC.start
before = Counts.now
done = nil
taken = Measure.seconds { done = Pool.public_send(way.tr("-", "_"), documents, workers.to_i) }
counts = Counts.since(before)
done.size == count.to_i or abort "worker_pool.rb: #{done.size} of #{count} documents came back"
Measure.print("time" => [taken, "s"], **counts.transform_values { |number| [number, "count"] },
              "annotations kept" => [done.sum(&:size) * 100.0 / annotations, "%"])
