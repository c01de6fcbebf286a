# rexml.rb - parses and writes XML
#
require "rexml/document"

def work(i)
  text = "<r>#{Array.new(20) { |n| "<i id=\"#{n}\">#{n * i}</i>" }.join}</r>"
  document = REXML::Document.new(text)
  [document.elements.to_a("//i").map(&:text), document.to_s == text]
end
