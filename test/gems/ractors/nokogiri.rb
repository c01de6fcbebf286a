# nokogiri.rb - parses and searches HTML and XML
#
# Gems: nokogiri:1.18.2

require "nokogiri"

def work(i)
  items = Array.new(50) { |n| "<li id=\"i#{n}\"><a href=\"/#{n * i}\">#{n}</a></li>" }.join
  page = Nokogiri::HTML("<html><body><ul>#{items}</ul></body></html>")
  [page.css("li a").map { |a| a["href"] }, Nokogiri::XML("<r>#{items}</r>").xpath("//li").size]
end
