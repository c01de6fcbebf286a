# i18n.rb - the suite that the gem i18n has for its backends, on the one that keeps all in memory.

require "i18n"
require "i18n/tests"
require "mocha/minitest"

# The modules define their tests by this when they are loaded.
class Module
  def test(name, &block) = define_method("test_#{name}", &block)
end

class SimpleBackend < Minitest::Test
  def setup
    I18n.enforce_available_locales = false
    I18n.backend = I18n::Backend::Simple.new
  end

  def teardown
    I18n.locale = I18n.default_locale = :en
    I18n.load_path = []
    I18n.backend = nil
    super
  end

  def store_translations(locale, data = nil)
    locale, data = :en, locale unless data
    I18n.backend.store_translations(locale, data)
  end

  def assert_nothing_raised(*) = yield
end

%w[Basics Defaults Interpolation Link Lookup Pluralization Procs].each do |name|
  tests = I18n::Tests.const_get(name)
  Object.const_set(:"Simple#{name}", Class.new(SimpleBackend) { include tests })
end
