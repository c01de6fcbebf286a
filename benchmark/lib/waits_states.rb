# waits_states.rb - the states that doc/waits.md lists, and the colours that pages show them in.

WAITS_STATES = {
  "running" => "#4caf50", "collecting" => "#d32f2f", "compiling" => "#8e24aa", "stopping" => "#ff7043", "vm_lock" => "#f9a825",
  "stopped" => "#ef9a9a", "native_thread" => "#29b6f6", "receive" => "#b0bec5", "take" => "#90a4ae", "yield" => "#78909c",
  "blocked" => "#cfd8dc",
}.freeze
