# ffi.rb - calls the C library
#
# Gems: ffi:1.17.0

require "ffi"

ROUNDS = 20000

module CLibrary
  extend FFI::Library
  ffi_lib FFI::Library::LIBC
  attach_function :strlen, [:string], :size_t
end

def work(i)
  memory = FFI::MemoryPointer.new(:int, 4).write_array_of_int([i, 2, 3, 4])
  [CLibrary.strlen("é" * i), memory.read_array_of_int(4)]
end
