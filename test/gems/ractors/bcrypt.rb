# bcrypt.rb - hashes passwords
#
# Gems: bcrypt:3.1.20

require "bcrypt"

def work(i)
  salt = "$2a$04$abcdefghijklmnopqrstuu"
  BCrypt::Engine.hash_secret("secret#{i}", salt)
end
