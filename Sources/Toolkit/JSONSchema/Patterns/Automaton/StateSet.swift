extension Pattern {
    /// What is known about a place between two characters.
    struct TextBoundary {
        var isStart = false
        var isEnd = false
        var wordBefore = false
        var wordAfter = false

        func allows(_ edge: Instruction.Code) -> Bool {
            switch edge {
            case .textStart: isStart
            case .textEnd: isEnd
            case .wordEdge: wordBefore != wordAfter
            default: wordBefore == wordAfter
            }
        }
    }

    /// The instructions a program may stand at together: each once, whatever the number of ways that lead to it.
    struct StateSet {
        private let instructions: UnsafePointer<Instruction>
        /// When an instruction was last visited.
        private let visits: UnsafeMutablePointer<Int32>
        private let open: UnsafeMutablePointer<Int32>
        private var generation: Int32 = 0
        private let members: UnsafeMutablePointer<Int32>
        private(set) var count = 0
        /// Whether the end of the program was reached.
        private(set) var isMatched = false
        /// Instructions visited so far.
        private(set) var work = 0

        /// Room that a frontier needs for a program of so many instructions.
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
            // A text of more characters than this counts to is longer than any document.
            generation &+= 1
            count = 0
            isMatched = false
        }

        /// Follows what takes no character. With nothing known about the place, edges are members themselves.
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
                case .textStart, .textEnd, .wordEdge, .noWordEdge:
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
    /// Follows all ways through a program at once, for patterns whose table would be too large: a state set per
    /// character, so time is bounded by the text times the program, whatever the pattern.
    struct Simulation {
        let machine: Machine

        /// One step pays for this many visits to an instruction.
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
                if machine.looksAtWords { moment.wordAfter = !moment.isEnd && machine.isWord(symbol) }
                frontier.clear()
                for index in 0..<count { frontier.add(Int(targets[index]), at: moment) }
                if moment.isStart || !machine.isAnchored { frontier.add(0, at: moment) }
                if frontier.isMatched { return .match }
                if moment.isEnd || (frontier.count == 0 && machine.isAnchored) { return .noMatch }
                if frontier.work / Self.visitsPerStep > steps { return .exhausted }
                count = 0
                for index in 0..<frontier.count where machine.takes(frontier[index], symbol) {
                    targets[count] = Int32(frontier[index] + 1)
                    count += 1
                }
                moment = TextBoundary(wordBefore: moment.wordAfter)
            }
        }
    }
}
