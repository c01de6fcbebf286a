# frozen_string_literal: true
# ractor/test_c_code.rb - what C code of a Ractor gives to the VM to keep, while other Ractors collect garbage.

require "test/unit"
require "tmpdir"

class TestLockfreeRactorCCode < Test::Unit::TestCase
  SOURCE = <<~'C'
    #include "ruby.h"
    #include "ruby/debug.h"
    #include "ruby/io.h"
    #include <unistd.h>

    static int freed;

    static void
    at_end(VALUE data)
    {
        if (RARRAY_LEN(data) != 1) rb_bug("other data");
    }

    static void
    at_event(rb_event_flag_t event, VALUE data, VALUE self, ID id, VALUE klass)
    {
    }

    static VALUE
    keep_at_end(VALUE mod)
    {
        rb_set_end_proc(at_end, rb_ary_new_from_args(1, INT2FIX(7)));
        return Qnil;
    }

    static VALUE
    keep_at_event(VALUE mod)
    {
        rb_add_event_hook(at_event, RUBY_EVENT_FIBER_SWITCH, rb_ary_new_from_args(1, INT2FIX(7)));
        return Qnil;
    }

    static VALUE
    close_pipe(VALUE mod)
    {
        int ends[2];

        if (rb_pipe(ends) < 0) rb_sys_fail("pipe");
        VALUE reader = rb_io_fdopen(ends[0], 0, "r"), writer = rb_io_fdopen(ends[1], 1, "w");
        rb_io_write(writer, rb_str_new_cstr("line\n"));
        rb_io_flush(writer);
        VALUE line = rb_io_gets(reader);
        rb_io_close(writer);
        rb_io_close(rb_obj_dup(reader));
        rb_io_close(reader);
        return line;
    }

    static void
    free_alone(void *data)
    {
        static int inside;

        if (__atomic_exchange_n(&inside, 1, __ATOMIC_SEQ_CST)) rb_bug("two Ractors free at once");
        usleep(20);
        __atomic_store_n(&inside, 0, __ATOMIC_SEQ_CST);
        freed++; // with no lock
        xfree(data);
    }

    static VALUE
    make_data(VALUE mod)
    {
        static const rb_data_type_t type = { "data", { 0, free_alone } };

        return rb_data_typed_object_wrap(rb_cObject, xmalloc(100), &type);
    }

    static VALUE
    count_freed(VALUE mod)
    {
        return INT2FIX(freed);
    }

    void
    Init_keeps(void)
    {
        VALUE keeps = rb_define_module("Keeps");

        rb_ext_ractor_safe(true);
        rb_define_module_function(keeps, "at_end", keep_at_end, 0);
        rb_define_module_function(keeps, "at_event", keep_at_event, 0);
        rb_define_module_function(keeps, "close_pipe", close_pipe, 0);
        rb_define_module_function(keeps, "data", make_data, 0);
        rb_define_module_function(keeps, "freed", count_freed, 0);
    }
  C

  # Runs +code+ with that extension.
  def assert_extension(code)
    tree = File.expand_path("../../..", Test::Unit::CoreAssertions.instance_method(:assert_separately).source_location[0])
    headers = [File.join(tree, "include"), *Dir[File.join(RbConfig::TOPDIR || ".", ".ext/include/*"), ".ext/include/*"]]
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "keeps.c"), SOURCE)
      object = File.join(folder, "keeps.#{RbConfig::CONFIG["DLEXT"]}")
      built = system(*RbConfig::CONFIG["CC"].split, "-shared", "-fPIC", "-w", *headers.map { |header| "-I#{header}" },
                     "-o", object, File.join(folder, "keeps.c"))
      omit("no compiler: #{RbConfig::CONFIG["CC"]}") if built.nil?
      assert(built, "keeps.c does not compile")
      assert_separately(%w[-W:no-experimental --disable-gems -r] + [object], code, timeout: 60)
    end
  end

  def assert_keeps(name)
    assert_extension(<<~RUBY)
      ractors = Array.new(4) do
        Ractor.new { 6_000.times { |i| Keeps.#{name}; GC.start(full_mark: false) if i % 4 == 0; [i] * 10 }; GC.start; 7 }
      end
      assert_equal([7] * 4, ractors.map(&:take))
    RUBY
  end

  # Marked by the list it is in, where it comes after others have been waited for.  Unmarked before: "try to mark T_NONE object".
  def test_racing_end_proc_and_collect
    assert_keeps("at_end")
  end

  def test_racing_event_hook_and_collect
    assert_keeps("at_event")
  end

  # What is closed is on no stack but that of the function which closes it.  Before: a crash, or a file that stays open.
  def test_racing_close_and_collect
    assert_extension(<<~'RUBY')
      ractors = Array.new(4) { Ractor.new { Ractor.receive; Array.new(50) { Keeps.close_pipe }.uniq } }
      GC.stress = true
      ractors.each { |ractor| ractor.send(:go) }
      closed = ractors.map(&:take)
      GC.stress = false
      assert_equal([["line\n"]] * 4, closed)
    RUBY
  end

  # A function that frees, and was not said to do so at once, is called by one Ractor at a time, as its extension may have no lock.
  def test_racing_free_and_free
    assert_extension(<<~'RUBY')
      module Finalizer; def self.call(id) = nil; end
      called = []
      ractors = Array.new(4) do
        Ractor.new do
          2_000.times { |i| data = Keeps.data; ObjectSpace.define_finalizer(data, Finalizer) if i % 3 == 0; GC.start if i % 200 == 0 }
        end
      end
      finalizer = proc { called << 1 }
      2_000.times { |i| data = Keeps.data; ObjectSpace.define_finalizer(data, finalizer) if i % 3 == 0 }
      ractors.each(&:take)
      GC.start
      assert_include(9_900..10_000, Keeps.freed)
      assert_include(600..667, called.size)
    RUBY
  end
end
