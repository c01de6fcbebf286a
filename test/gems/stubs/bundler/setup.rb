# setup.rb - the same, where it is loaded by this name.

require "bundler"
