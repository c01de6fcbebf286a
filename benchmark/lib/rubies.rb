# rubies.rb - the binaries that are compared: how to start each from its build folder, and what it is.

require "digest"

class Ruby
  OPTIONS = { "interpreter" => [], "YJIT" => %w[--yjit] }.freeze

  attr_reader :name, :folder, :headers, :libraries, :command

  def initialize(build, name, source)
    @name = name
    @folder = File.join(build, name)
    @headers = File.join(build, source, "include")
    @libraries = [File.join(build, source, "lib"), @folder, *Dir[File.join(@folder, ".ext", "{common,*-*}")].sort]
    @command = [File.join(@folder, "ruby"), *@libraries.map { |path| "-I#{path}" }, "--disable-gems"]
    whole = File.executable?(@command[0]) && Dir.exist?(File.join(@folder, ".ext", "common", "json"))
    whole or abort "#{File.basename($PROGRAM_NAME)}: #{@folder} holds no ruby with its extensions: `make ruby stock-ruby` builds both"
  end

  def arch_headers = Dir[File.join(@folder, ".ext", "include", "*-*")].first

  # The command line of a program.
  def start(jit, program, folders, arguments)
    [*@command, *OPTIONS.fetch(jit), *folders.map { |path| "-I#{path}" }, program, *arguments.map(&:to_s)]
  end

  # Changes whenever the binary does.
  def identity
    @made ||= File.mtime(@command[0])
    @identity ||= Digest::SHA256.file(@command[0]).hexdigest
  end

  # Whether it was built anew since it was identified.
  def replaced? = !File.executable?(@command[0]) || File.mtime(@command[0]) != @made

  def version(jit = "interpreter") = IO.popen([@command[0], *OPTIONS.fetch(jit), "-v"], &:read).chomp

  def compiler
    script = 'puts RbConfig::CONFIG.values_at("CC_VERSION_MESSAGE", "CC").compact.first.lines.first'
    IO.popen([*@command, "-rrbconfig", "-e", script], &:read).chomp
  end
end

class JRuby
  attr_reader :name

  def initialize(command)
    @command = command
    @name = "jruby"
  end

  def start(_, program, folders, arguments) = [*@command, *folders.map { |path| "-I#{path}" }, program, *arguments.map(&:to_s)]
  def identity = Digest::SHA256.hexdigest(version)
  def replaced? = false
  def version(*) = @version ||= IO.popen([*@command, "-v"], &:read).chomp
end
