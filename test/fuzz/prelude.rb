# prelude.rb - runs programs, prints what each statement gives.  For every Ruby alike.

require_relative "../programs/exhaust_shapes"

$VERBOSE = nil
Thread.report_on_exception = false

def k = $made

def text(value) = value.inspect.gsub(/0x\h+/, "0x")

# Prints the value of a statement, or the error.
def o
  puts text(yield)
rescue Exception => error
  puts "#{error.class}: #{text(error.message.lines.first)}"
end

def stress
  GC.stress = 1 # collects the young only: that many whole collections take too long
  yield
ensure
  GC.stress = false
end

# All that can be seen of the variables of +one+.
def state(one)
  seen = [one.frozen?, one.instance_variables.map { |name| [name, one.instance_variable_get(name)] }]
  return seen unless one.is_a?(Module)

  seen << one.class_variables(false).map { |name| [name, (one.class_variable_get(name) rescue $!.class)] }
  seen << one.constants(false).sort
end

def program(number)
  puts "program #{number}"
  $made = []
  yield
  $made.each { |one| o { state(one) } }
  $stdout.flush
end
