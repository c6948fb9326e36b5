extension Pattern {
    /// Matches a pattern by backtracking, in the order of ECMA-262 (22.2.2). Supports captures, lookaround and back
    /// references.
    ///
    /// The stack of untried alternatives is separate from the thread's stack, so only the step budget limits its depth.
    /// Some patterns need a time that is exponential in the length of the text. The step budget also limits this time.
    struct Backtracker {
        let machine: Machine

        /// The number of instructions for one step of the budget.
        private static let instructionsPerStep = 8

        func matches(_ text: Text, steps: inout Int) -> PatternVerdict {
            // Positions are stored in 32 bits. A longer text is not matched, so that the result is never wrong.
            guard text.end - text.start < Int(Int32.max) else { return .exhausted }
            let budget = min(steps, Int.max / Self.instructionsPerStep) * Self.instructionsPerStep
            var left = budget
            defer { steps -= (budget - left + Self.instructionsPerStep - 1) / Self.instructionsPerStep }
            return matches(text, instructions: &left)
        }

        private func matches(_ text: Text, instructions: inout Int) -> PatternVerdict {
            withUnsafeTemporaryAllocation(of: Int32.self, capacity: machine.slotCount) { slots in
                withUnsafeTemporaryAllocation(of: Attempt.self, capacity: 64) { room in
                    guard let base = room.baseAddress else { return .exhausted }
                    var search = Search(machine, text, slots, BacktrackStack(base, capacity: room.count))
                    defer { search.attempts.end() }
                    return search.run(&instructions)
                }
            }
        }
    }

    /// An entry of the stack: an alternative to try, or a change to revert, when the current path fails. It has 16
    /// bytes.
    struct Attempt {
        enum Kind: Int32 {
            /// An alternative: continue with instruction `target` at text position `place`.
            case way
            /// A change to revert: slot `target` contained `place` before the change.
            case slot
            /// The start of a lookaround. When its content fails, a negative lookaround continues with instruction
            /// `target` at text position `place`.
            case lookaround, negativeLookaround
            /// A run that can also match a different number of characters. `shorter` gives back characters, from
            /// `place` to `limit`. `longer` (a lazy run) consumes more characters, up to `limit`.
            case shorter, longer
        }

        var kind: Kind
        /// The index of an instruction, or for `slot` the index of a slot.
        var target: Int32
        /// A position in the text.
        var place: Int32
        var limit: Int32 = 0
    }
}

/// A stack of attempts. It begins with a few entries on the thread's stack and grows on the heap.
struct BacktrackStack {
    private var base: UnsafeMutablePointer<Pattern.Attempt>
    private var capacity: Int
    private var isOnHeap = false
    private(set) var count = 0

    init(_ first: UnsafeMutablePointer<Pattern.Attempt>, capacity: Int) {
        base = first
        self.capacity = capacity
    }

    subscript(index: Int) -> Pattern.Attempt { base[index] }

    var top: Pattern.Attempt { base[count - 1] }

    mutating func push(_ attempt: Pattern.Attempt) {
        if count == capacity { grow() }
        base[count] = attempt
        count += 1
    }

    mutating func pop() { count -= 1 }

    mutating func replaceTop(_ attempt: Pattern.Attempt) { base[count - 1] = attempt }

    /// The index of the entry of the innermost active lookaround. The stack must contain an entry of a lookaround.
    var indexOfLookaround: Int {
        var index = count - 1
        while base[index].kind != .lookaround, base[index].kind != .negativeLookaround { index -= 1 }
        return index
    }

    /// Removes all entries from `index` on, except the changes to revert (`slot`).
    mutating func commit(from index: Int) {
        var kept = index
        for index in index..<count where base[index].kind == .slot {
            base[kept] = base[index]
            kept += 1
        }
        count = kept
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<Pattern.Attempt>.allocate(capacity: capacity * 4)
        larger.update(from: base, count: count)
        end()
        base = larger
        capacity *= 4
        isOnHeap = true
    }

    func end() {
        if isOnHeap { base.deallocate() }
    }
}
