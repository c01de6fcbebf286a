# mspec_in_ractors.rb - mspec with its state in the Ractor that runs, not in variables of its modules.
#
# mspec's contexts, examples, guards and matchers are used as they are.  What MSpec, Mock and ScratchPad keep in instance
# variables of theirs is kept in a SpecRun, one for each Ractor; constants of mspec are made shareable.  MSpec's actions
# (formatters, tags, filters) are left away: a SpecRun writes what becomes of each example to a log of its own, before
# the next one begins, so that a crash loses nothing.
#
# Lines of a log, tab between the parts:
#
#   file PATH                            begins
#   begin KEY                            an example begins
#   pass|skip KEY                        and ends
#   may-not|fail|left-out KEY REASON
#   broken may-not|fail REASON           the file stopped at its top level: what follows there is never seen
#   done PATH

ENV["MSPEC_RUNNER"] = "1"
$LOAD_PATH.unshift File.join(SPEC, "mspec/lib")
require "mspec"
require "pp"

# What one Ractor, or the thread of main, has of mspec.
class SpecRun
  attr_accessor :context, :env, :expectation, :scratch, :temporary, :evaluate_text
  attr_reader :shared, :mocks, :stubs, :objects, :messages, :number, :thread

  def self.current = Ractor.current[:spec_run]

  # Runs +paths+; the files are evaluated in the caller's binding, which is of no method, or `using` would not work.
  def self.start(binding, number, folder, paths)
    File.open(File.join(folder, "#{number}.log"), "wb") do |log|
      run = new(log, number, SOURCES, LEFT_OUT, binding)
      paths.each { |path| run.file(path) }
      run.flush
    end
    nil
  end

  # +left_out+: by path and line of a block, why it is not run.  +sources+: by path, the files.
  def initialize(log, number, sources, left_out, binding = nil)
    @thread = Thread.current
    @binding = binding
    @log = log
    @number = number
    @sources = sources
    @left_out = left_out
    @shared = {}
    @evaluated = {}
    @broken = {}
    @temporary = 0
    @out = +""
    Ractor.current[:spec_run] = self
    reset_mocks
  end

  def reset_mocks
    @mocks = Hash.new { |hash, key| hash[key] = [] }
    @stubs = Hash.new { |hash, key| hash[key] = [] }
    @objects = {}
  end

  def file(path)
    @path = path
    @keys = Hash.new(0)
    @messages = {}.compare_by_identity
    @context = @scratch = @example = @shared_path = nil
    @env = MSpecEnv.new
    write("file", path)
    flush
    begin
      evaluate(path)
    rescue Exception => error
      write("broken", *reason(error))
    end
    write("done", path)
  end

  # In place of require_relative.  Main has loaded the fixtures; shared examples are blocks, and each Ractor has its own.
  def needs(path, from)
    path = File.expand_path(path, File.dirname(from)).delete_suffix(".rb") + ".rb"
    return unless @sources.key?(path)
    return write("broken", *@broken[path]) if @broken[path]
    return if @evaluated[path]

    @evaluated[path] = true
    outer, @context = @context, nil
    @shared_path, outer_path = path, @shared_path
    evaluate(path)
    @context, @shared_path = outer, outer_path
  end

  def evaluate(path)
    @binding.eval(@sources.fetch(path), path, 1)
  end

  # What mspec calls actions.

  def before(state)
    @outcome = nil
    @example = state
    @waiting&.delete(state)
    write("begin", @key = key(state))
    flush
  end

  def after(_state)
    write(*(@outcome || ["pass"]).then { |kind, *rest| [kind, @key, *rest] })
    @example = nil
  end

  def tagged(state) = write("left-out", key(state), why_left_out(state))

  def enter(_description)
    @waiting = @context.examples.dup
    @outcome = nil
  end

  # Those that a failed `before :all` has kept from running.
  def leave
    @waiting.each { |state| write((@outcome || ["fail"])[0], key(state), *(@outcome || ["not run"])[1..]) }
    @waiting = nil
  end

  def failed(_location, error)
    outcome = error.is_a?(SkippedSpecError) ? ["skip"] : reason(error)
    unless @example || @waiting # a describe
      @broken[@shared_path] = outcome if @shared_path
      return write("broken", *outcome)
    end
    @outcome ||= outcome
  end

  def why_left_out(state)
    blocks = [state.example, *state.context.pre(:all), *state.context.pre(:each), *state.context.post(:each)]
    blocks.each do |block|
      path, line = block&.source_location
      why = path && @left_out[path]&.[](line)
      return why if why
    end
    nil
  end

  def flush
    @log.syswrite(@out)
    @out.clear
  end

  private

  def key(state)
    text = state.description.b.gsub(/\s+/n, " ")
    number = (@keys[text] += 1)
    number == 1 ? text : "#{text} (#{number})"
  end

  DENIED = /non-main Ractor|un-shareable Proc|not shareable|unshareable|non-shareable|not from main Ractor/i

  # "may-not" if it says that Ractors may not do it, or "fail"; and what it says.
  def reason(error)
    at = error
    5.times do
      break unless at

      text = (at.message.to_s.b rescue "?")
      return ["may-not", line(at, text)] if Ractor::Error === at || text.match?(DENIED)
      at = (at.cause rescue nil)
    end
    ["fail", line(error, (error.message.to_s.b rescue "?"))]
  end

  def line(error, text)
    where = (error.backtrace || []).find { |one| one.include?("/spec/ruby/") && !one.include?("/mspec/") }
    "#{error.class}: #{text.dump[1...-1][0, 300]} (#{where.to_s[/[^\/]+\/[^\/]+:\d+/]})"
  end

  def write(*parts) = @out << parts.join("\t").b << "\n"
end

class Object
  private def spec_needs(path, from) = SpecRun.current.needs(path, from)
end

module MSpec
  class << self
    def current = SpecRun.current.context
    def register_current(state) = SpecRun.current.context = state
    def clear_current = register_current(nil)
    def register_shared(state) = SpecRun.current.shared[state.to_s] = state
    def retrieve_shared(description) = SpecRun.current.shared[description.to_s]
    def expectation = SpecRun.current.expectation = true
    def expectation? = SpecRun.current.expectation
    def clear_expectations = SpecRun.current.expectation = false
    def guarded? = false
    def guard = nil
    def unguard = nil
    def mode?(_mode) = false
    def feature_enabled?(_feature) = true
    def register(_symbol, _action) = nil
    def unregister(_symbol, _action) = nil
    def randomize? = false
    def repeat = yield
    def register_exit(_code) = nil
    def subprocesses = []

    def actions(action, *args)
      case action
      when :before, :after, :tagged, :enter, :leave then SpecRun.current.public_send(action, *args)
      end
    end

    def protect(location, &block)
      SpecRun.current.env.instance_exec(&block)
      true
    rescue Exception => error
      SpecRun.current.failed(location, error)
      false
    end
  end
end

class ExampleState
  def filtered? = !SpecRun.current.why_left_out(self).nil?
end

module Mock
  def self.reset = SpecRun.current.reset_mocks
  def self.objects = SpecRun.current.objects
  def self.mocks = SpecRun.current.mocks
  def self.stubs = SpecRun.current.stubs
end

module ScratchPad
  def self.clear = SpecRun.current.scratch = nil
  def self.record(value) = SpecRun.current.scratch = value
  def self.<<(value)
    SpecRun.current.scratch << value
  end
  def self.recorded = SpecRun.current.scratch
end

class RaiseErrorMatcher
  remove_const :FAILURE_MESSAGE_FOR_EXCEPTION
  # In place of a Hash, which no Ractor could reach.
  module FAILURE_MESSAGE_FOR_EXCEPTION
    def self.[]=(error, message)
      SpecRun.current.messages[error] = message
    end
  end
end

class SpecEvaluate
  def self.desc=(text)
    SpecRun.current.evaluate_text = text
  end
  def self.desc = SpecRun.current.evaluate_text || "evaluates "
end

# A folder for each Ractor, and a number for each name.
def tmp(name, uniquify = true)
  run = SpecRun.current
  folder = File.join(SPEC_TEMP_DIR, "r#{run.number}")
  mkdir_p(folder) unless Dir.exist?(folder)
  if uniquify && !name.empty?
    slash = name.rindex("/")
    name = name.dup.insert(slash ? slash + 1 : 0, "#{run.temporary += 1}-")
  end
  File.join(folder, name)
end

VersionGuard::FULL_RUBY_VERSION.to_i # keeps it, before it is frozen
PlatformGuard.wsl?
VersionGuard.kernel_version.freeze
RbConfig::LIMITS.then { |limits| Ractor.make_shareable(limits) } if defined?(RbConfig::LIMITS)

# Those of mspec, not those of fixtures: what a fixture holds is part of what is tested.
def make_constants_shareable(owner, seen = {})
  owner.constants(false).each do |name|
    next if owner.autoload?(name) || !owner.const_source_location(name)&.first&.include?("/mspec/")

    value = owner.const_get(name)
    if Module === value
      make_constants_shareable(value, seen.merge!(value => true)) unless seen[value]
      value.instance_variables.each do |variable|
        held = value.instance_variable_get(variable)
        Ractor.make_shareable(held) if String === held
      end
    else
      Ractor.make_shareable(value)
    end
  rescue Ractor::Error, FrozenError
    nil # says so when it is used
  end
end
make_constants_shareable(Object)
