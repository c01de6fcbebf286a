# self_check.rb - histories by hand: those that no order explains must be rejected, those that one explains accepted.

module SelfCheck
  UNSHAREABLE = [9, :unshareable].freeze
  SET_AB = [[[:set, :@a, 1], :set], [[:set, :@b, 2], :set]].freeze

  # name => [explained?, prefix, threads, suffixes]
  HISTORIES = {
    "nothing" => [true, [], [[], []]],
    "a read before, one after a write" => [true, [], [SET_AB, [[[:get, :@a], nil], [[:get, :@a], 1]]]],
    "a read after, then one before a write" => [false, [], [SET_AB, [[[:get, :@a], 1], [[:get, :@a], nil]]]],
    "the second write seen, the first not" => [false, [], [SET_AB, [[[:get, :@b], 2], [[:get, :@a], nil]]]],
    "two readers that disagree on the order" => [
      false, [], [SET_AB, [[[:get, :@a], 1], [[:get, :@b], nil]], [[[:get, :@b], 2], [[:get, :@a], nil]]],
    ],
    "two readers at different places" => [
      true, [], [SET_AB, [[[:get, :@a], nil]], [[[:get, :@a], 1], [[:get, :@b], 2]]],
    ],
    "another variable's value" => [false, SET_AB, [[[[:remove, :@a], 1]], [[[:get, :@a], 2]]]],
    "a value that nobody wrote" => [false, SET_AB, [[], [[[:get, :@a], 7]]]],
    "no value where one stays" => [false, SET_AB, [[[[:remove, :@a], 1]], [[[:get, :@b], nil]]]],
    "a list of before" => [true, SET_AB, [[[[:remove, :@a], 1]], [[[:list], %i[@a @b]]]]],
    "a list of two moments" => [
      false, SET_AB, [[[[:remove, :@a], 1], [[:set, :@c, 3], :set]], [[[:list], %i[@a @b @c]]]],
    ],
    "a list in another order" => [false, SET_AB, [[], [[[:list], %i[@b @a]]]]],
    "a copy of two moments" => [
      false, SET_AB, [[[[:set, :@a, 3], :set], [[:set, :@b, 4], :set]], [[[:copy], [[:@a, 1], [:@b, 4]]]]],
    ],
    "not defined, though nobody removed it" => [false, SET_AB, [[], [[[:defined, :@a], false]]], []],
    "a write of a Ractor" => [false, [], [[], [[[:set, :@a, 1], :set]]]],
    "a write of a Ractor, refused" => [true, [], [[], [[[:set, :@a, 1], Ractor::IsolationError]]]],
    "an unshareable value" => [true, [], [[[[:set, :@a, UNSHAREABLE], :set]], [[[:get, :@a], Ractor::IsolationError]]]],
    "an unshareable value, let through" => [
      false, [], [[[[:set, :@a, UNSHAREABLE], :set]], [[[:get, :@a], UNSHAREABLE]]],
    ],
    "frozen, then set" => [false, [], [[[[:freeze], :frozen], [[:set, :@a, 1], :set]], []]],
    "frozen seen, then a value of before" => [
      true, SET_AB, [[[[:freeze], :frozen]], [[[:frozen?], true], [[:get, :@a], 1]]],
    ],
    "frozen seen, then not" => [false, [], [[[[:freeze], :frozen]], [[[:frozen?], true], [[:frozen?], false]]]],
    "a class variable taken for an instance variable" => [
      false, [[[:cset, :@@a, 1], :set]], [[], [[[:list], %i[@@a]]]],
    ],
    "no class variable" => [true, [], [[[[:cset, :@@a, 1], :set]], [[[:cget, :@@a], NameError], [[:cget, :@@a], 1]]]],
    "a class variable gone again" => [
      false, [], [[[[:cset, :@@a, 1], :set]], [[[:cget, :@@a], 1], [[:cget, :@@a], NameError]]],
    ],
    "not defined, defined, not defined" => [
      true, [], [[[[:set, :@a, 1], :set], [[:remove, :@a], 1]],
                 [[[:defined, :@a], false], [[:defined, :@a], true], [[:defined, :@a], false]]],
    ],
    "class variables likewise" => [
      true, [], [[[[:cset, :@@a, 1], :set], [[:cremove, :@@a], 1]],
                 [[[:clist], []], [[:clist], %i[@@a]], [[:cdefined, :@@a], false]]],
    ],
    "a Ractor that freezes first" => [true, [], [[[[:set, :@a, 1], FrozenError]], [[[:freeze], :frozen]]]],
    "a Ractor that freezes last" => [true, [], [[[[:set, :@a, 1], :set]], [[[:freeze], :frozen]]]],
    "a Ractor that freezes, then sees the value change" => [
      false, [], [[[[:set, :@a, 1], :set]], [[[:freeze], :frozen], [[:get, :@a], nil], [[:get, :@a], 1]]],
    ],
    "set and remove of a Ractor in a frozen class" => [
      true, [[[:freeze], :frozen]], [[], [[[:set, :@a, 1], FrozenError], [[:remove, :@a], FrozenError]]],
    ],
    "set of a Ractor's class variable in a frozen class" => [
      true, [[[:freeze], :frozen]], [[[[:cset, :@@a, 1], FrozenError]], [[[:cset, :@@a, 1], Ractor::IsolationError]]],
    ],
    "what is not there, removed" => [true, [], [[[[:remove, :@a], NameError]], []]],
    "removed twice" => [false, SET_AB, [[[[:remove, :@a], 1], [[:remove, :@a], 1]], []]],
    "a copy with an unshareable value" => [
      true, [[[:set, :@a, UNSHAREABLE], :set]],
      [[[[:copy], [[:@a, UNSHAREABLE]]]], [[[:copy], Ractor::IsolationError]]],
    ],
    "stale after all is over" => [false, [], [SET_AB, []], [[], [[[:get, :@a], nil]]]],
    "fresh after all is over" => [true, [], [SET_AB, [[[:get, :@a], nil]]], [[], [[[:get, :@a], 1]]]],
  }.freeze

  # The names of the histories that were judged wrongly.
  def self.failures
    HISTORIES.reject do |_, (explained, prefix, threads, suffixes)|
      phases = [[prefix], threads, suffixes || []].map do |phase|
        phase.map { |thread| thread.map { |operation, observation| [Operation.new(*operation), observation] } }
      end
      History.new(*phases).explained? == explained
    end.keys
  end
end
