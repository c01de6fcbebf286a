# head.rb - what a run was: when, on which machine, with which binaries. It stands at the head of results.json.

require "etc"

module Head
  module_function

  # others: cores that other programs used meanwhile.
  def of(binaries, compiler, others)
    { "date" => Time.now.utc.strftime("%Y-%m-%d"), "commit" => commit, "binaries" => versions(binaries),
      "machine" => machine.merge("compiler" => compiler, "others" => others.round(2)) }
  end

  def machine
    release = File.exist?("/etc/os-release") ? File.read("/etc/os-release") : ""
    { "cpu" => File.read("/proc/cpuinfo")[/^model name\s*: (.*)/, 1] || RbConfig::CONFIG["host_cpu"],
      "cores" => Etc.nprocessors, "memory" => "#{(File.read('/proc/meminfo')[/\d+/].to_i / 1024.0**2).round} GiB",
      "system" => release[/^PRETTY_NAME="?([^"\n]*)/, 1] || Etc.uname[:sysname],
      "kernel" => "#{Etc.uname[:sysname]} #{Etc.uname[:release]}" }
  end

  def versions(binaries)
    binaries.values.flat_map do |binary|
      jits = binary.name == "jruby" ? {} : { "#{binary.name} with YJIT" => binary.version("YJIT") }
      { binary.name => "#{binary.version} (#{binary.identity[0, 12]})", **jits }.to_a
    end.to_h
  end

  def commit
    name = IO.popen(["git", "-C", __dir__, "describe", "--always", "--dirty", { err: File::NULL }], &:read).chomp
    name.empty? ? "unknown" : name
  rescue Errno::ENOENT
    "unknown"
  end
end
