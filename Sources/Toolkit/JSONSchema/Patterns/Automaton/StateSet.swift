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
