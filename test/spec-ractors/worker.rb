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

# All encodings, and what transcodes them.
def load_encodings
  Encoding.list.each do |encoding|
    File.open(File::NULL, "rb", external_encoding: encoding, &:read)
    [["UTF-8", encoding.name], [encoding.name, "UTF-8"]].each do |pair|
      Encoding::Converter.new(*pair)
    rescue EncodingError
      nil
    end
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
  adapt_fixtures
end

# What fixtures keep in variables of their modules: each run has its own.
def adapt_fixtures
  if defined?(DirSpecs)
    def DirSpecs.mock_dir(names = ["dir_specs_mock"]) = File.join(tmp(""), names)
  end
  if defined?(TracePointSpec)
    def TracePointSpec.target_thread? = Thread.current == SpecRun.current.thread
  end
  SocketSpecs.ipv6_available? if defined?(SocketSpecs) # the answer stays
  return unless defined?(NetHTTPSpecs)

  def NetHTTPSpecs.start_server = Ractor.current[:spec_server] = NetHTTPSpecs::SmallHTTPServer.new("127.0.0.1")
  def NetHTTPSpecs.port = Ractor.current[:spec_server].port
  def NetHTTPSpecs.stop_server = Ractor.current[:spec_server]&.close
end

# Tables that hundreds of examples read, and none changes; without what cannot be shared, a Random.
def share_tables
  tables = [
    -> { MarshalSpec::DATA }, -> { MarshalSpec::DATA_19 }, -> { DirSpecs.mock_dir_files }, -> { TimeSpecs::Zones },
    -> { HashSpecs.frozen_hash }, -> { HashSpecs.empty_frozen_hash }, -> { ArraySpecs::CHI_SQUARED_CRITICAL_VALUES },
    -> { YAMLSpecs::MULTIDOCUMENT }, -> { URISpec::NORMALIZED_FORMS }
  ]
  Object.constants.grep(/\A(MD5|SHA\d+)Constants\z/).each do |digest|
    tables.concat(Object.const_get(digest).constants.map { |name| -> { Object.const_get(digest).const_get(name) } })
  end
  tables.each do |find|
    table = find.call
    table.select! { |_, value| shared?(value) } if Hash === table && !table.frozen?
    Ractor.make_shareable(table)
  rescue NameError
    nil # no file of the run wants it
  end
end

def shared?(value)
  Ractor.make_shareable(value)
rescue Ractor::Error
  false
end

# Deals the hands of files out, so that a run can be repeated, and waits.
def serve(ractors)
  hands = JOB.fetch(:hands)
  ractors.each_with_index do |ractor, number|
    ractor.send([number, JOB.fetch(:folder), number.step(hands.size - 1, ractors.size).flat_map { |at| hands[at] }])
  end
  ractors.each do |ractor|
    ractor.take
  rescue Ractor::RemoteError => error
    warn "a Ractor ended: #{error.cause.full_message(highlight: false)}"
  end
end

load_encodings if JOB.fetch(:preload)
load_all(JOB.fetch(:fixtures), JOB.fetch(:libraries))
share_tables
SOURCES = Ractor.make_shareable(sources(JOB.fetch(:sources)))
LEFT_OUT = Ractor.make_shareable(JOB.fetch(:left_out))
if JOB.fetch(:ractors) == 0
  Thread.new { SpecRun.start(binding, 0, JOB.fetch(:folder), JOB.fetch(:hands).flatten) }.join
else
  # The binding in which files are evaluated is that of this block, which sees no method and no variable.
  serve(Array.new(JOB.fetch(:ractors)) { Ractor.new { SpecRun.start(binding, *Ractor.receive) } })
end
$stdout.puts "finished"
$stdout.flush
