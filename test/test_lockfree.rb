# frozen_string_literal: true
# test_lockfree.rb - lockfree.c: what this Ruby says of itself, and that it says the rest as stock does.

require "test/unit"
require "open3"
require "rbconfig"
require_relative "minirubies"

class TestLockfree < Test::Unit::TestCase
  include LockfreeMinirubies

  ROOT = File.dirname(__dir__)
  TREE = $LOADED_FEATURES.grep(%r{/tool/lib/envutil\.rb\z}) { |file| File.dirname(file, 3) }.first

  # What +ruby+, or else ours, prints; where that is its own name, nothing.
  def printed(*args, ruby: EnvUtil.rubybin)
    out, status = Open3.capture2e({ "RUBYOPT" => nil, "RUBY_YJIT_ENABLE" => nil }, ruby, "--disable-gems", *args)
    assert_predicate(status, :success?, "#{ruby} #{args.inspect}\n#{out}")
    out.gsub(ruby, "")
  end

  def test_version
    assert_equal("constant", defined?(RubyVM::Lockfree))
    assert_instance_of(Module, RubyVM::Lockfree)
    assert_match(/\A\d+\.\d+\.\d+\z/, RubyVM::Lockfree::VERSION)
    assert_predicate(RubyVM::Lockfree::VERSION, :frozen?)
    assert_send([Ractor, :shareable?, RubyVM::Lockfree::VERSION])
  end

  def test_version_from_a_ractor
    assert_ractor(<<~'RUBY')
      ractor = Ractor.new do
        [defined?(RubyVM::Lockfree), RubyVM::Lockfree::VERSION, RUBY_DESCRIPTION.include?(" +LOCKFREE ")]
      end
      assert_equal(["constant", RubyVM::Lockfree::VERSION, true], ractor.take)
    RUBY
  end

  def test_version_is_that_of_the_header_and_the_changelog
    header = File.read("#{ROOT}/lockfree.h").scan(/^#define RUBY_LOCKFREE_VERSION "(.*)"$/)
    assert_equal([[RubyVM::Lockfree::VERSION]], header)
    assert_equal(RubyVM::Lockfree::VERSION, File.read("#{ROOT}/CHANGELOG.md")[/^## \[(\d[^\]]*)\]/, 1])
  end

  def test_signature_names_each_constant
    names = File.read("#{ROOT}/sig/lockfree.rbs").scan(/^  ([A-Z]\w*):/).flatten
    assert_equal(RubyVM::Lockfree.constants.map(&:to_s).sort, names.sort)
  end

  def test_signature_is_valid
    gems = [File.dirname(EnvUtil.rubybin), TREE].map { |folder| "#{folder}/.bundle" }.join(File::PATH_SEPARATOR)
    out, status = Open3.capture2e({ "GEM_PATH" => gems }, EnvUtil.rubybin, "-W0", "-e", <<~'RUBY', "#{ROOT}/sig")
      begin
        require "rbs"
        require "rbs/cli"
      rescue LoadError
        exit 3
      end
      RBS::CLI.new(stdout: $stdout, stderr: $stderr).run(["-I", ARGV.first, "validate"])
    RUBY
    omit "rbs is not built" if status.exitstatus == 3
    assert_predicate(status, :success?, out)
  end

  def test_mark_stands_before_those_of_options
    options = [[], %w[--parser=parse.y]]
    options += [%w[--yjit], %w[--yjit --parser=parse.y]] if defined?(RubyVM::YJIT.enable)
    options.each do |option|
      line = printed(*option, "-v")
      assert_match(/\) \+LOCKFREE(?: \+[^\[\]]+)? \[#{Regexp.quote(RUBY_PLATFORM)}\]$/, line)
      assert_equal(line, printed(*option, "--version"))
      assert_equal(line, printed(*option, "-e", "puts RUBY_DESCRIPTION"))
      assert_equal(printed(*option, "-v", ruby: stock), line.sub(" +LOCKFREE", ""))
    end
  end

  def test_mark_when_yjit_is_enabled_later
    omit "no YJIT" unless defined?(RubyVM::YJIT.enable)
    assert_equal(printed("--yjit", "-v"), printed("-e", "RubyVM::YJIT.enable; puts RUBY_DESCRIPTION"))
  end

  def test_all_else_is_said_as_in_stock
    constants = 'puts Object.constants.grep(/\ARUBY_(?!DESCRIPTION)/).sort.map { |name| "#{name}=#{eval(name.to_s)}" }'
    [["-e", constants], %w[-h], %w[--copyright]].each do |args|
      assert_equal(printed(*args, ruby: stock), printed(*args))
    end
  end

  def test_rbconfig_is_that_of_stock
    assert_equal("3.4.0", RbConfig::CONFIG["ruby_version"])
    folder = File.dirname(stock)
    omit "no build of stock's" unless File.exist?("#{folder}/config.status")
    settings = { arch: RbConfig::CONFIG["arch"], version: RUBY_VERSION, install_name: "ruby", so_name: "ruby" }
    %w[UNICODE_VERSION UNICODE_EMOJI_VERSION].each { |name| settings[name.downcase] = RbConfig::CONFIG[name] }
    expected = Dir.chdir(folder) do
      options = settings.map { |pair| "-#{pair.join("=")}" }
      printed("-I#{TREE}/lib", "#{TREE}/tool/mkconfig.rb", *options, ruby: stock).lines
    end
    actual = File.readlines($LOADED_FEATURES.grep(%r{/rbconfig\.rb\z}).first)
    arguments = /CONFIG\["configure_args"\]/
    omit "stock is configured otherwise" unless expected.grep(arguments) == actual.grep(arguments)
    assert_equal(expected, actual)
  end
end
