# snippets.rb - reads test/soak/snippets/, one file a core class or library, one expression a line.
#
# A line that begins with # is a comment; `#require LIBRARY` names what the snippets of the file need, and is loaded by
# the main Ractor.  `EXPRESSION #: REASON` says that a Ractor may not do this, and why: then it must raise
# Ractor::IsolationError or UnsafeError, or say that a method is a Proc's of another Ractor, in each but main.  EDGE_INT, EDGE_STR and so on stand for an argument at an edge;
# such a line gives as many snippets as VARIANTS, drawn by the seed.  What can be seen of the value, by inspect, must be
# the same at each run.  A snippet is the body of a method of Snippets (child.rb), whose helpers it can call.

Snippet = Struct.new(:id, :source, :denied, :libraries) do
  def file = id[/\A\w+/]
  def to_s = "#{id}  #{source}"
end

class Snippet
  VARIANTS = 3
  DISTURBANCE = "disturbances"
  EDGES = {
    "EDGE_INT" => %w[0 1 -1 2 31 64 -129 255 (2**30) (2**31-1) (-2**31) (2**62-1) (2**62) (-2**62) (-2**62-1) (2**64)
                     (10**40) (-10**40)],
    "EDGE_SMALL" => %w[0 1 -1 2 3 -3 7 100 -100],
    "EDGE_COUNT" => %w[0 1 2 3 5 17 100],
    "EDGE_FLOAT" => %w[0.0 -0.0 1.5 -2.25 1e-300 1e300 Float::INFINITY -Float::INFINITY Float::NAN Float::EPSILON 0.1
                       Float::MAX Float::MIN],
    "EDGE_NUM" => %w[0 1 -1 (2**64) (-2**64) 0.5 -1.5 1e20 (1/3r) (-7/2r) 2i 1.5e-7],
    "EDGE_STR" => ['""', '"a"', '"abc def"', '"é"', '"日本語テキスト"', '("x"*23)', '("x"*24)', '("ab"*400)', '"\0\0"', '"\xff".b',
                   '"\xff"', '"12abc"', '"😀"', '" \t pad \n"', '"a".encode("UTF-16LE")', '"é".encode("ISO-8859-1")',
                   '"日本".encode("EUC-JP")', '"ｱｲｳ".encode("Shift_JIS")', '"abc".encode("US-ASCII")'],
    "EDGE_UTF8" => ['""', '"a"', '"abc def"', '"é"', '"日本語テキスト"', '("x"*23)', '("x"*24)', '("ab"*400)', '"\0\0"', '"12abc"', '"😀"',
                    '" \t pad \n"', '"ÀÉÎõü"', '"ßſŉ"', '"e\u0301"', '"ΑΣ"', '"İı"'],
    "EDGE_ARY" => ["[]", "[1]", "[1,2,3]", "(1..20).to_a", "([3,1,2]*50)", '["b","a","c"]', "[[1,2],[3,4]]", "[1.5,2r,3]",
                   "([0]*1000)", "[:a,:b,:a]"],
    "EDGE_HASH" => ["{}", "{a: 1}", '{"k"=>1, "l"=>2}', "{1=>2, 1.0=>3, 1r=>4}", "(1..8).to_h { [_1, _1] }",
                    "(1..9).to_h { [_1, _1.to_s] }", '(1..300).to_h { ["k#{_1}", _1] }', "{[1]=>[2], nil=>nil}"],
    "EDGE_ANY" => ["nil", "true", "0", "2**70", "1.5", '"s"', ":s", "[1, [2]]", "{a: [1]}", "(1..3)", "1r", "2i", "/x/i",
                   "Object", "'é'"]
  }.freeze

  # All snippets, by their id; a line that holds an edge stands for several.
  def self.load(folder, seed)
    random = Random.new(seed)
    Dir[File.join(folder, "*.rb")].sort.flat_map { |path| read(path, random) }.to_h { |snippet| [snippet.id, snippet] }
  end

  def self.read(path, random)
    libraries = []
    File.readlines(path, chomp: true, encoding: "UTF-8").each_with_index.flat_map do |line, i|
      libraries << $1 if line =~ /\A#require (\S+)/
      next [] if line.empty? || line.start_with?("#")

      id = "#{File.basename(path, '.rb')}:#{i + 1}"
      expression, denied = line.split(/\s+#: /, 2)
      variants(expression, random).each_with_index.map do |source, variant|
        new(variant.zero? ? id : "#{id}.#{variant}", source, denied, libraries)
      end
    end
  end

  def self.variants(expression, random)
    return [expression] unless expression =~ /EDGE_[A-Z]/

    Array.new(VARIANTS) do
      expression.gsub(/EDGE_[A-Z]+\d?/) { |name| EDGES.fetch(name).sample(random: random) }
    end.uniq
  end
end
