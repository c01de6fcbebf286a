# worker.rb - one process of test/gems/run: loads a gem's tests, runs them, writes down what came of each.
#
# Usage: ruby worker.rb RECORD RUNNER GEMS FILE...
#
# RUNNER is minitest, test-unit or rspec; GEMS are NAME:VERSION, with commas between.  RECORD gets a line for each test
# as it begins and as it fails, so that a crash leaves the name of the one that ran, and a last line `end`.

record, runner, gems, *files = ARGV
RECORD = File.open(record, "w")
RECORD.sync = true
RECORD_PID = Process.pid

# Addresses and folders differ from run to run.
def RECORD.note(kind, name, why = nil)
  return unless Process.pid == RECORD_PID

  clean = ->(text) { text.to_s.dup.force_encoding("BINARY").gsub(/0x\h{6,}/n, "0x").gsub(/[\t\n\r ]+/n, " ")[0, 300] }
  puts [kind, clean[name], *(clean[why] if why)].join("\t")
end

gems.split(",").each { |one| gem(*one.split(":", 2).then { |name, version| [name, "= #{version}"] }) }

if runner == "rspec"
  require "rspec/core"
  class RecordRSpec
    RSpec::Core::Formatters.register self, :example_started, :example_failed, :message

    def initialize(*) = nil
    def example_started(event) = RECORD.note("run", "#{event.example.id} #{event.example.full_description}")

    def example_failed(event)
      RECORD.note("fail", "#{event.example.id} #{event.example.full_description}",
                  event.exception.then { |error| "#{error.class}: #{error.message}" })
    end

    def message(event) = RECORD.note("say", event.message)
  end
end

case runner
when "rspec"
  ARGV.replace([])
  status = RSpec::Core::Runner.run(["--order", "defined", "--format", "RecordRSpec", "--format", "progress", *files])
  RECORD.note("end", status)
  $stdout.flush
  exit!(0)
when "minitest"
  require "minitest"
  class RecordMinitest < Minitest::AbstractReporter
    def prerecord(test_class, name) = RECORD.note("run", "#{test_class}##{name}")

    def record(result)
      return if result.passed? || result.skipped?

      error = result.failure
      error = error.error if error.respond_to?(:error)
      RECORD.note("fail", "#{result.klass}##{result.name}", "#{error.class}: #{error.message}")
    end

    def report = RECORD.note("end", 0)
  end
  # Added to what a suite may have put in place of the reporters.
  Minitest.singleton_class.prepend(Module.new do
    def init_plugins(options)
      super
      reporter << RecordMinitest.new
    end
  end)
  ARGV.replace(%w[--seed 1])
  require "minitest/autorun"
  files.each { |file| load File.expand_path(file) }
when "test-unit"
  require "test/unit"
  require "test/unit/testcase"
  require "test/unit/testresult"
  Test::Unit::TestCase.prepend(Module.new do
    def run(result)
      RECORD.note("run", name)
      super
    end
  end)
  Test::Unit::TestResult.prepend(Module.new do
    def add_failure(fault)
      RECORD.note("fail", fault.test_name, fault.message)
      super
    end

    def add_error(fault)
      RECORD.note("fail", fault.test_name, fault.message)
      super
    end
  end)
  ARGV.replace([])
  Test::Unit.at_exit { RECORD.note("end", 0) }
  files.each { |file| load File.expand_path(file) }
else
  abort "no runner #{runner}"
end
