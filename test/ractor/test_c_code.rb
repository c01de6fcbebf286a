# frozen_string_literal: true
# ractor/test_c_code.rb - what C code of a Ractor gives to the VM to keep, while other Ractors collect garbage.

require "test/unit"
require "tmpdir"

class TestLockfreeRactorCCode < Test::Unit::TestCase
  SOURCE = <<~'C'
    #include "ruby.h"
    #include "ruby/debug.h"

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

    void
    Init_keeps(void)
    {
        VALUE keeps = rb_define_module("Keeps");

        rb_ext_ractor_safe(true);
        rb_define_module_function(keeps, "at_end", keep_at_end, 0);
        rb_define_module_function(keeps, "at_event", keep_at_event, 0);
    }
  C

  def assert_keeps(name)
    tree = File.expand_path("../../..", Test::Unit::CoreAssertions.instance_method(:assert_separately).source_location[0])
    headers = [File.join(tree, "include"), *Dir[File.join(RbConfig::TOPDIR || ".", ".ext/include/*"), ".ext/include/*"]]
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "keeps.c"), SOURCE)
      object = File.join(folder, "keeps.#{RbConfig::CONFIG["DLEXT"]}")
      built = system(*RbConfig::CONFIG["CC"].split, "-shared", "-fPIC", "-w", *headers.map { |header| "-I#{header}" },
                     "-o", object, File.join(folder, "keeps.c"))
      omit("no compiler: #{RbConfig::CONFIG["CC"]}") if built.nil?
      assert(built, "keeps.c does not compile")
      assert_separately(%w[-W:no-experimental --disable-gems -r] + [object], <<~RUBY, timeout: 60)
        ractors = Array.new(4) do
          Ractor.new { 6_000.times { |i| Keeps.#{name}; GC.start(full_mark: false) if i % 4 == 0; [i] * 10 }; GC.start; 7 }
        end
        assert_equal([7] * 4, ractors.map(&:take))
      RUBY
    end
  end

  # Marked by the list it is in, where it comes after others have been waited for.  Unmarked before: "try to mark T_NONE object".
  def test_racing_end_proc_and_collect
    assert_keeps("at_end")
  end

  def test_racing_event_hook_and_collect
    assert_keeps("at_event")
  end
end
