# frozen_string_literal: true
# test_source_file.rb - source_file.h: files of Ruby are read where they are short, and mapped where they are long.

require "test/unit"
require "tmpdir"

class TestLockfreeSourceFile < Test::Unit::TestCase
  READ = 128 * 1024
  PAGE = 4096

  def in_folder(&) = Dir.mktmpdir { |dir| Dir.chdir(dir, &) }

  # The last byte is the last one of what is read, or mapped, and a part of the program.
  def test_of_any_size
    in_folder do
      [1, PAGE - 1, PAGE, PAGE + 1, READ - 1, READ, READ + 1, READ + PAGE, 3 * READ].each do |size|
        text = size == 1 ? "1" : "$source_file_size = 7".rjust(size, "\n")
        File.write("sized.rb", text)
        assert_equal(size, File.size("sized.rb"))
        $source_file_size = nil
        load("./sized.rb")
        assert_equal(size == 1 ? nil : 7, $source_file_size, size.to_s)
      end
    end
  end

  def test_empty_and_what_is_no_file
    in_folder do
      File.write("empty.rb", "")
      assert(load("./empty.rb"))
      assert_raise(LoadError) { load("./none.rb") }
      Dir.mkdir("folder.rb")
      assert_raise(LoadError) { load("./folder.rb") }
    end
  end

  def test_what_comes_after_the_end
    in_folder do
      File.write("data.rb", "print DATA.read, __LINE__\n__END__\nafter")
      assert_in_out_err(["./data.rb"], "", ["after1"])
      File.write("wrong.rb", "a = 1\nb = (\n")
      error = assert_raise(SyntaxError) { load("./wrong.rb") }
      assert_match(/wrong\.rb:2/, error.message)
    end
  end

  # prism looks a few bytes further, where those of a file that was longer have been.
  def test_what_prism_sees_beyond_the_end
    in_folder do
      ["$-", "\xEF\xBB\xBF", "\xEF\xBB\xBF#"].each do |ending|
        (10..600).step(7) do |size|
          File.write("long.rb", "a = #{"z" * (size + 20)} = 1\n")
          File.write("short.rb", ending.b.start_with?("$") ? "#{"a" * size} = 1\n#{ending}" : ending)
          load("./long.rb")
          ending.start_with?("$") ? assert_raise(SyntaxError) { load("./short.rb") } : load("./short.rb")
        end
      end
    end
  end

  def test_racing_load_and_load
    in_folder do |dir|
      20.times { |i| File.write("racing#{i}.rb", "module Racing#{i}; def self.number = #{i}; end\n" + "#" * (i * 10_000)) }
      assert_separately(%w[-W:no-experimental --disable-gems], <<~RUBY, timeout: 60)
        $VERBOSE = nil
        ractors = Array.new(6) do
          Ractor.new do
            50.times do |k|
              load("#{dir}/racing\#{k % 20}.rb")
              raise unless Object.const_get("Racing\#{k % 20}").number == k % 20
            end
            :ok
          end
        end
        assert_equal([:ok] * 6, ractors.map(&:take))
      RUBY
    end
  end
end
