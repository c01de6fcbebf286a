# pry.rb - in place of the gem, a console: nobody types here.
