# memory_probe.rb - what the process holds when it ends, after a full collection; loaded with -r.
#
# Writes lines `name number` to the file that MEMORY_RECORD names: resident memory in kB, what of it is no file's (the
# kernel may take pages of the binary away meanwhile), what is the GC's; bytes of compiled code and of the pages that hold
# it. YJIT forgets the outlined bytes of a page that is full to the last one, a tenth of the pages or more, so that a sum
# of a few hundred of them says less than that of pages. The environment variable goes, so that the processes that this
# one starts write nothing.

if (record = ENV.delete("MEMORY_RECORD"))
  owner = Process.pid
  at_exit do
    next unless Process.pid == owner

    GC.start
    status = File.read("/proc/self/status")
    figures = {
      "RSS, kB" => status[/^VmRSS:\s*(\d+)/, 1],
      "anonymous, kB" => status[/^RssAnon:\s*(\d+)/, 1],
      "GC's pages, kB" => GC.stat(:heap_allocated_pages) * GC::INTERNAL_CONSTANTS[:HEAP_PAGE_SIZE] / 1024
    }
    if RubyVM.const_defined?(:YJIT) && RubyVM::YJIT.enabled?
      code = RubyVM::YJIT.runtime_stats
      inline, outlined = code.values_at(:inline_code_size, :outlined_code_size)
      figures.update("inline code, B" => inline, "outlined code, B" => outlined, "code, B" => inline + outlined,
                     "code's pages, B" => code.fetch(:code_region_size))
    end
    File.write(record, figures.map { |name, number| "#{name} #{number}\n" }.join)
  end
end
