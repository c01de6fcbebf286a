# in_ractors.rb - the same work in main and in COUNT Ractors at once; a line of JSON says how long, or why not.
#
# Usage: ruby in_ractors.rb PROGRAM GEMS COUNT
#
# PROGRAM requires its gem and defines work(i), whose result tells whether it went right, and ROUNDS of it, if not 20.

require "json"
program, gems, count = ARGV
gems.split(",").each { |one| gem(*one.split(":").then { |name, version| [name, "= #{version}"] }) }
load program
ROUNDS = 20 unless defined?(ROUNDS)
Warning[:experimental] = false
Thread.report_on_exception = false

def rounds(i) = Array.new(ROUNDS) { |round| work(i * ROUNDS + round) }

# The first error below the RemoteErrors.
def innermost(error)
  error = error.cause while error.is_a?(Ractor::RemoteError) && error.cause
  error
end

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

expected = Array.new(count.to_i) { |i| rounds(i) }
answer =
  begin
    times = Array.new(5) do
      from = now
      results = Array.new(count.to_i) { |i| Ractor.new(i) { |j| rounds(j) } }.map(&:take)
      raise "the result differs from main's" unless results == expected

      (now - from) * 1000
    end
    { ms: times.sort[2] }
  rescue Exception => error
    error = innermost(error)
    place = " (#{error.backtrace_locations&.first&.label})" if error.is_a?(Ractor::UnsafeError)
    { error: "#{error.class}: #{error.message.lines.first.to_s.strip}#{place}" }
  end
puts JSON.generate(answer)
$stdout.flush
exit!(0)
