# mod_compute.rb - Mod.compute: three instance variables of a module, summed in a block.
#
#   ruby --disable-all [--yjit] mod_compute.rb serial|ractors [iterations [ractors]]
#
# The same work either way: ITERATIONS in one go on main, or cut into equal parts, one for each Ractor.  Put
# --disable-all first: after --yjit it turns YJIT off again.

module Mod
  @a = 1
  @b = 2
  @c = 3

  def self.compute(count)
    count.times { @a + @b + @c }
  end
end

if $PROGRAM_NAME == __FILE__
  mode, iterations, ractors = ARGV[0], (ARGV[1] || 8_000_000).to_i, (ARGV[2] || 8).to_i

  if ENV["EXPECT_YJIT"] && !(defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled?)
    abort "mod_compute.rb: YJIT is off (is --disable-all before --yjit?)"
  end

  case mode
  when "serial"
    Mod.compute(iterations)
  when "ractors"
    $VERBOSE = nil # Ractor's warning that it is experimental
    Array.new(ractors) { Ractor.new(iterations / ractors) { |count| Mod.compute(count) } }.each(&:take)
  else
    abort "usage: mod_compute.rb serial|ractors [iterations [ractors]]"
  end
end
