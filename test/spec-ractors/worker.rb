# worker.rb - runs spec files in one process: in a thread of main, or spread over Ractors.
#
#   ruby worker.rb JOB
#
# JOB is a marshalled Hash, which run has written: what to run, how, and into which folder the logs go.

JOB = Marshal.load(File.binread(ARGV.fetch(0)))
SPEC = JOB.fetch(:spec).freeze
ARGV.clear
$VERBOSE = false
Warning[:deprecated] = true # as mspec has it
require_relative "mspec_in_ractors"

# The text of each file.  A require_relative becomes a call that evaluates shared examples in the Ractor which asks, and
# does nothing for fixtures: they are there.
def sources(paths)
  paths.to_h do |path|
    text = File.binread(path)
    text.gsub!(/^(\s*)require_relative (['"])([^'"#]+)\2/n) { "#{$1}spec_needs('#{$3}', __FILE__)" }
    [path, text.force_encoding("UTF-8")]
  end
end

def load_all(fixtures, libraries)
  libraries.each do |name|
    require name
  rescue LoadError
    nil # miniruby has no extensions
  end
  SpecRun.new(File.open(File::NULL, "w"), 0, {}, {}) # for what fixtures do when they are loaded
  ["#{SPEC}/ruby/spec_helper.rb", *fixtures].each do |path|
    require path
  rescue Exception => error
    warn "#{path}: #{error.class}: #{error.message.lines.first}"
  end
  CODE_LOADING_DIR.freeze
  return unless defined?(TracePointSpec)

  # The thread of the run, not the one that loads this.
  def TracePointSpec.target_thread? = Thread.current == SpecRun.current.thread
end

# Deals the files out, so that a run can be repeated, and waits.
def serve(ractors)
  paths = JOB.fetch(:files)
  ractors.each_with_index do |ractor, number|
    ractor.send([number, JOB.fetch(:folder), number.step(paths.size - 1, ractors.size).map { |at| paths[at] }])
  end
  ractors.each do |ractor|
    ractor.take
  rescue Ractor::RemoteError => error
    warn "a Ractor ended: #{error.cause.full_message(highlight: false)}"
  end
end

load_all(JOB.fetch(:fixtures), JOB.fetch(:libraries))
SOURCES = Ractor.make_shareable(sources(JOB.fetch(:sources)))
LEFT_OUT = Ractor.make_shareable(JOB.fetch(:left_out))
if JOB.fetch(:ractors) == 0
  Thread.new { SpecRun.start(binding, 0, JOB.fetch(:folder), JOB.fetch(:files)) }.join
else
  # The binding in which files are evaluated is that of this block, which sees no method and no variable.
  serve(Array.new(JOB.fetch(:ractors)) { Ractor.new { SpecRun.start(binding, *Ractor.receive) } })
end
$stdout.puts "finished"
$stdout.flush
