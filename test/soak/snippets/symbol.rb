[:a <=> :b, :a <=> 1, :a == :a, :a === :b, :abc =~ /b/, $~, :abc.match(/c/), :abc.match?(/z/)]
[:abc[1], :abc[0, 2], :abc.slice(1..), :abc[/c/]]
[:aBc.capitalize, :aBc.downcase, :aBc.upcase, :aBc.swapcase, :é.upcase]
[:a.casecmp(:A), :a.casecmp?(:A), :a.casecmp("a")]
[:a.empty?, :"".empty?, :é.encoding, :a.encoding]
[:abc.end_with?("c"), :abc.start_with?("a")]
[:a.id2name, :a.to_s, :a.name, :a.name.frozen?, :a.inspect, :"a b".inspect, :"é".inspect, :[]=.inspect, :"9a".inspect]
[:a.intern, :a.to_sym, :abc.length, :abc.size]
[:a.next, :az.succ]
[:upcase.to_proc.call("a"), %w[a b].map(&:upcase), :+.to_proc.call(1, 2), (:upcase.to_proc.call rescue $!.message)]
[:upcase.to_proc.lambda?, :upcase.to_proc.arity, :upcase.to_proc.parameters]
Symbol.all_symbols.size > 1000
"dyn_#{Random.rand(1_000_000)}".to_sym.to_proc.lambda?
%i[b a c].sort
:a.hash == :a.hash
Array.new(50) { |i| :"s#{i}" }.uniq.size
Array.new(50) { "t#{Random.rand(10**12)}".to_sym }.map(&:to_s).map(&:size).min > 1
:a.frozen? && :"b#{1}".frozen?
EDGE_UTF8.to_sym.inspect
{ "a b": 1, c: 2 }.keys
:sym.to_proc == :sym.to_proc
