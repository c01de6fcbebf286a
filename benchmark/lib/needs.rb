# needs.rb - what benchmarks need beside the rubies: gems, an extension, Java. Each is made once, in the build folder, with
# its version written here; what cannot be had raises Missing, and the report states the reason.

require "fileutils"

class Needs
  Missing = Class.new(StandardError)

  GEMS = {
    "text_alignment" => "0.12.12", "string-similarity" => "2.1.0", "ruby-dictionary" => "1.1.1", "diff-lcs" => "1.6.2",
    "kyotocabinet-ruby" => "1.27.1", "jruby-jars" => "9.4.15.0", # the last JRuby that runs on Java 17
    "benchmark_driver" => "0.16.5",
  }.freeze

  def initialize(build, rubies)
    @gems = File.join(build, "gems")
    @extension = File.join(build, "report", "kyotocabinet")
    @log = File.join(build, "report", "needs.log")
    @rubies = rubies
    [@gems, File.dirname(@log)].each { |folder| FileUtils.mkdir_p(folder) }
  end

  # Folders for -I: text_alignment and what it requires. (activesupport is not needed by this version.)
  def text_alignment
    %w[text_alignment string-similarity ruby-dictionary diff-lcs].map { |name| File.join(gem(name), "lib") }
  end

  # The folder of the extension. The gem is from 2011, and Ruby has changed since: what extconf.rb and the compiler are
  # told makes up for that, its source stays as it is. One object serves stock and ours: their ABI is the same.
  def kyotocabinet
    object = File.join(@extension, "kyotocabinet.so")
    return [@extension] if File.exist?(object)

    File.exist?("/usr/include/kcpolydb.h") or raise Missing, "the library is not installed (Debian: libkyotocabinet-dev)"
    source = gem("kyotocabinet-ruby")
    FileUtils.mkdir_p(@extension)
    ruby = @rubies.fetch("stock")
    extconf = ["-rrbconfig", "-e", EXTCONF, ruby.headers, ruby.arch_headers, ruby.folder, File.join(source, "extconf.rb")]
    run("configuring kyotocabinet-ruby", [*ruby.command, *extconf], chdir: @extension)
    run("compiling kyotocabinet-ruby", ["make", "CXXFLAGS=#{CXXFLAGS}"], chdir: @extension)
    [@extension]
  end

  # A ruby that is not installed keeps its headers elsewhere; Config was RbConfig; the check for a C++ header wants g++.
  EXTCONF = <<~RUBY.freeze
    headers, arch_headers, folder, extconf = ARGV
    { "rubyhdrdir" => headers, "rubyarchhdrdir" => arch_headers, "libdir" => folder, "CC" => "g++" }.each do |name, value|
      RbConfig::CONFIG[name] = RbConfig::MAKEFILE_CONFIG[name] = value
    end
    Config = RbConfig
    $0 = extconf
    load extconf
  RUBY
  # ruby.h has templates and may not be included within extern "C"; a function was renamed.
  CXXFLAGS = "-O2 -fPIC -w -include kcpolydb.h -include ruby.h -include ruby/thread.h " \
             "'-Drb_thread_blocking_region(f,p,u,q)=rb_thread_call_without_gvl((void*(*)(void*))(f),p,u,q)'".freeze

  # The gem's folder; for upstream's benchmarks.
  def benchmark_driver = gem("benchmark_driver")

  # The command that starts JRuby.
  def jruby
    java = ENV["PATH"].split(":").map { |folder| File.join(folder, "java") }.find { |path| File.executable?(path) } or
      raise Missing, "there is no java here (Debian: default-jre-headless)"
    [java, "-cp", Dir[File.join(gem("jruby-jars"), "lib", "*.jar")].sort.join(":"), "org.jruby.Main"]
  end

  private

  # The folder of the gem's files. An extension of it is tried for the system's Ruby; the files stay if that fails.
  def gem(name)
    folder = File.join(@gems, "gems", "#{name}-#{GEMS.fetch(name)}")
    return folder if File.directory?(folder)

    begin
      run("installing the gem #{name} #{GEMS.fetch(name)}",
          %W[gem install --no-document --ignore-dependencies --install-dir #{@gems} #{name} --version #{GEMS.fetch(name)}])
    rescue Missing
      raise unless File.directory?(folder)
    end
    folder
  end

  def run(what, command, chdir: @gems)
    $stderr.puts "#{File.basename($PROGRAM_NAME)}: #{what}"
    system(*command, chdir: chdir, in: File::NULL, %i[out err] => [@log, "a"]) or raise Missing, "#{what} failed (see #{@log})"
  end
end
