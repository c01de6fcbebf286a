# frozen_string_literal: true
# ext/test_netdb_entry.rb - ext/netdb_entry.h: services and hosts that several Ractors look up.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeNetdbEntry < Test::Unit::TestCase
  include LockfreeAssertRactors

  KNOWN = <<~'RUBY'
    require "socket"
    Warning[:deprecated] = false
    services = %w[http domain smtp ssh telnet].filter_map { |name| [name, Socket.getservbyname(name)] rescue nil }.freeze
    omit "no table of services here" if services.size < 2
    Ractor.make_shareable(services)
  RUBY

  # Stock: some 700 of 320,000 are wrong.
  def test_racing_look_up_services
    assert_ractors(KNOWN + <<~'RUBY')
      wrong = (1..8).map { |i| Ractor.new(services, i) { |services, i|
        20_000.times.count { |k|
          name, port = services[(i + k) % services.size]
          Socket.getservbyname(name) != port || Socket.getservbyport(port) != name
        }
      } }.sum(&:take)
      assert_equal(0, wrong)
    RUBY
  end

  # Stock: a name of memory that is freed, or a crash.
  def test_racing_look_up_hosts
    assert_ractors(<<~'RUBY')
      require "socket"
      require "ipaddr"
      # Only what is in the table of hosts: others ask the network.
      hosts = File.readlines("/etc/hosts").filter_map { |line| line[/\A[\h.:]+\s.*/]&.split }.first(4)
      omit "no table of hosts here" if hosts.empty?
      asked = Ractor.make_shareable(hosts.flat_map { |address, *names| [IPAddr.new(address).hton, *names] }.uniq)
      def look_up(host)
        host.encoding == Encoding::BINARY ? Socket.gethostbyaddr(host) : Socket.gethostbyname(host)
      rescue SocketError => error
        error.class
      end

      def silently # "is deprecated", whatever is asked for
        said, $stderr = $stderr, File.open(File::NULL, "w")
        yield
      ensure
        $stderr = said
      end
      expected = Ractor.make_shareable(silently { asked.map { |host| look_up(host) } })
      wrong = (1..8).map { |i| Ractor.new(asked, expected, i) { |asked, expected, i|
        silently { 400.times.count { |k| at = (i + k) % asked.size; look_up(asked[at]) != expected[at] } }
      } }.sum(&:take)
      assert_equal(0, wrong)
    RUBY
  end

  def test_what_is_not_there
    assert_separately(%w[-W0], <<~'RUBY')
      require "socket"
      assert_raise(SocketError) { Socket.getservbyname("no-such-service") }
      assert_raise(SocketError) { Socket.getservbyport(3, "no-such-protocol") }
      assert_equal(4711, Socket.getservbyname("4711"))
      assert_raise(SocketError) { Socket.gethostbyaddr("xyz") }
    RUBY
  end
end
