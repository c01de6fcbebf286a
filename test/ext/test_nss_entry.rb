# frozen_string_literal: true
# ext/test_nss_entry.rb - ext/nss_entry.h: services, hosts, users and groups that several Ractors look up.

require "test/unit"
require_relative "../assert_ractors"

class TestLockfreeNSSEntry < Test::Unit::TestCase
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

  def test_racing_look_up_users_and_groups
    assert_ractors(<<~'RUBY')
      require "etc"
      users = []
      Etc.passwd { |user| users << user.to_a }
      groups = []
      Etc.group { |group| groups << group.to_a }
      Ractor.make_shareable([users, groups])
      expected = [Etc.getlogin, Etc.sysconfdir, Etc.getpwuid.name].freeze
      wrong = (1..8).map { |i| Ractor.new(users, groups, expected, i) { |users, groups, expected, i|
        500.times.count { |k|
          user = users[(i + k) % users.size]
          group = groups[(i + k) % groups.size]
          Etc.getpwnam(user[0]).to_a != user || Etc.getpwuid(user[2]).uid != user[2] || Etc.getgrnam(group[0]).to_a != group ||
            Etc.getgrgid(group[2]).gid != group[2] || [Etc.getlogin, Etc.sysconfdir, Etc.getpwuid.name] != expected
        } + [-> { Etc.getpwnam("no such one") }, -> { Etc.getgrgid(4_000_000_000) }].count { (_1.call rescue $!.class) != ArgumentError }
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
