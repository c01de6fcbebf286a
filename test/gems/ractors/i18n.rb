# i18n.rb - translates, interpolates, pluralizes
#
# Gems: i18n:1.14.7

require "i18n"

I18n.backend.store_translations(:en, hello: "Hello %{name}", things: { one: "a thing", other: "%{count} things" })
I18n.locale = :en

def work(i) = [I18n.t(:hello, name: "é#{i}"), I18n.t(:things, count: i)]
