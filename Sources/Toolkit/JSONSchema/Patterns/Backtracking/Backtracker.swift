extension Pattern {
    /// Matches in the order of attempts that ECMA-262 prescribes (22.2.2), with captures, lookaround and back references.
    ///
    /// The stack of ways not yet tried lies outside the thread's own, so its depth is bounded by the steps alone. For
    /// some patterns the time is exponential in the text: that is what the steps are for.
    struct Backtracker {
        let machine: Machine

        /// One step pays for so many instructions.
        private static let instructionsPerStep = 8

        func matches(_ text: Text, steps: inout Int) -> PatternVerdict {
            // Places are kept as 32 bits. No document is longer; one that were must not be answered wrongly.
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

    /// Something to come back to when the way taken fails. Trivial, 16 bytes.
    struct Attempt {
        enum Kind: Int32 {
            /// Go on at `target`, at `place`.
            case way
            /// Slot `target` held `place`.
            case slot
            /// A lookaround began: on failure of its content a negative one goes on at `target`, at `place`.
            case look, negativeLook
            /// Give back characters of a run, from `place` to `limit`, or take more of them (a lazy run), at most `limit`.
            case shorter, longer
        }

        var kind: Kind
        var target: Int32
        var place: Int32
        var limit: Int32 = 0
    }
}

/// Grows from a few entries on the thread's stack to the heap.
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

    /// The innermost lookaround under way; there is one.
    var indexOfLook: Int {
        var index = count - 1
        while base[index].kind != .look, base[index].kind != .negativeLook { index -= 1 }
        return index
    }

    /// Drops everything from `index` on, except what undoes captures.
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
