extension Pattern {
    /// Matches in the order of attempts of ECMA-262 (22.2.2), with captures, lookaround and back references.
    ///
    /// The stack of untried alternatives is separate from the thread's stack, so only the step budget limits its depth.
    /// Some patterns take time exponential in the text, which the steps bound.
    struct Backtracker {
        let machine: Machine

        /// Instructions per step of the budget.
        private static let instructionsPerStep = 8

        func matches(_ text: Text, steps: inout Int) -> PatternVerdict {
            // Positions are stored in 32 bits. No document is longer, but a longer text must not get a wrong answer.
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

    /// An alternative to return to when the current path fails. Trivial, 16 bytes.
    struct Attempt {
        enum Kind: Int32 {
            /// Continue with instruction `target` at text position `place`.
            case way
            /// Slot `target` contained `place`.
            case slot
            /// A lookaround began. When its content fails, a negative one continues with instruction `target` at text
            /// position `place`.
            case lookaround, negativeLookaround
            /// Give back characters of a run, from `place` to `limit`; or consume more of them (a lazy run), up to
            /// `limit`.
            case shorter, longer
        }

        var kind: Kind
        /// The index of an instruction; for `slot`, that of a slot.
        var target: Int32
        /// A position in the text.
        var place: Int32
        var limit: Int32 = 0
    }
}

/// A stack that starts with a few entries on the thread's stack and grows on the heap.
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

    /// The index of the innermost active lookaround, which must exist.
    var indexOfLookaround: Int {
        var index = count - 1
        while base[index].kind != .lookaround, base[index].kind != .negativeLookaround { index -= 1 }
        return index
    }

    /// Removes all entries from `index` on, except those that restore captures.
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
