extension Pattern {
    /// The properties of a position between two characters, which assertions need.
    struct TextBoundary {
        var isStart = false
        var isEnd = false
        var wordBefore = false
        var wordAfter = false

        func allows(_ edge: Instruction.Code) -> Bool {
            switch edge {
            case .textStart: isStart
            case .textEnd: isEnd
            case .wordBoundary: wordBefore != wordAfter
            default: wordBefore == wordAfter
            }
        }
    }

    /// A set of the instructions that a program may have reached at one position of the text. Each instruction is
    /// contained only once, even if several paths lead to it.
    struct StateSet {
        private let instructions: UnsafePointer<Instruction>
        /// For each instruction, the value of `generation` when the instruction was last added. ``clear()`` begins a
        /// new generation, so it need not reset this array.
        private let visits: UnsafeMutablePointer<Int32>
        private let open: UnsafeMutablePointer<Int32>
        private var generation: Int32 = 0
        private let members: UnsafeMutablePointer<Int32>
        private(set) var count = 0
        /// True when the end of the program was reached.
        private(set) var isMatched = false
        /// The total number of visited instructions. ``clear()`` does not reset it.
        private(set) var work = 0

        /// Returns the memory, in 32-bit words, that a set needs for a program of `count` instructions.
        static func room(_ count: Int) -> Int { 3 * count }

        init(_ machine: Machine, _ room: UnsafeMutablePointer<Int32>) {
            instructions = machine.instructions
            room.initialize(repeating: 0, count: machine.count)
            visits = room
            open = room + machine.count
            members = room + 2 * machine.count
        }

        subscript(index: Int) -> Int { Int(members[index]) }

        mutating func clear() {
            // The generation could overflow only for a text that is longer than any document.
            generation &+= 1
            count = 0
            isMatched = false
        }

        /// Adds an instruction and all instructions that can be reached from it without consuming a character. If
        /// `moment` is nil, assertions are not evaluated but added to the set.
        mutating func add(_ instruction: Int, at moment: TextBoundary?) {
            var height = 0
            push(Int32(instruction), &height)
            while height > 0 {
                height -= 1
                let index = open[height]
                let instruction = instructions[Int(index)]
                switch instruction.code {
                case .match: isMatched = true
                case .jump: push(instruction.a, &height)
                case .split:
                    push(instruction.b, &height)
                    push(instruction.a, &height)
                case .textStart, .textEnd, .wordBoundary, .noWordBoundary:
                    if let moment {
                        if moment.allows(instruction.code) { push(index + 1, &height) }
                    } else {
                        append(index)
                    }
                default: append(index)
                }
            }
        }

        private mutating func append(_ index: Int32) {
            members[count] = index
            count += 1
        }

        @inline(__always)
        private mutating func push(_ index: Int32, _ height: inout Int) {
            guard visits[Int(index)] != generation else { return }
            visits[Int(index)] = generation
            work += 1
            open[height] = index
            height += 1
        }
    }
}

extension Pattern {
    /// Follows all paths through a program at the same time, for patterns whose table would be too large. Computes one
    /// state set at each character, so the time is at most proportional to the size of the text times the size of the
    /// program.
    struct Simulation {
        let machine: Machine

        /// The number of instruction visits for one step of the budget.
        private static let visitsPerStep = 16

        func matches(_ text: Text, steps: inout Int) -> PatternVerdict {
            let room = StateSet.room(machine.count) + machine.count
            return withUnsafeTemporaryAllocation(of: Int32.self, capacity: room) { room in
                guard let base = room.baseAddress else { return .noMatch }
                return matches(text, base, &steps)
            }
        }

        private func matches(
            _ text: Text, _ room: UnsafeMutablePointer<Int32>, _ steps: inout Int
        ) -> PatternVerdict {
            var frontier = StateSet(machine, room)
            defer { steps -= frontier.work / Self.visitsPerStep }
            let targets = room + StateSet.room(machine.count)
            var count = 0
            var place = text.start
            var moment = TextBoundary(isStart: true)
            while true {
                moment.isEnd = place == text.end
                let symbol = moment.isEnd ? 0 : machine.alphabet.next(&place, text.end)
                if machine.usesWordBoundaries { moment.wordAfter = !moment.isEnd && machine.isWord(symbol) }
                frontier.clear()
                for index in 0..<count { frontier.add(Int(targets[index]), at: moment) }
                if moment.isStart || !machine.isAnchored { frontier.add(0, at: moment) }
                if frontier.isMatched { return .match }
                if moment.isEnd || (frontier.count == 0 && machine.isAnchored) { return .noMatch }
                if frontier.work / Self.visitsPerStep > steps { return .exhausted }
                count = 0
                for index in 0..<frontier.count where machine.matchesSymbol(frontier[index], symbol) {
                    targets[count] = Int32(frontier[index] + 1)
                    count += 1
                }
                moment = TextBoundary(wordBefore: moment.wordAfter)
            }
        }
    }
}
