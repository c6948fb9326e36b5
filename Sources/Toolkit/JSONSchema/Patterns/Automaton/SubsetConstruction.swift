extension Pattern {
    /// Converts a program into a table. The table has one state for each set of instructions that the program may have
    /// reached at the same time.
    struct SubsetConstruction {
        struct Table {
            var cells: [UInt16]
            let width: Int
            let first: Int
        }

        /// The kind of the preceding character. The kind is part of a state, because assertions depend on the preceding
        /// character.
        private enum Before: Int32 { case start, word, other }

        private let machine: Machine
        private let limits: PatternLimits
        private let width: Int
        private var frontier: StateSet
        private var cells: [UInt16]
        private var states: [(before: Before, members: [Int32])] = []
        private var numbers: [[Int32]: Int] = [:]
        private var work = 0

        /// Builds the table. Returns nil when it would exceed the size or work limits.
        static func table(_ machine: Machine, limits: PatternLimits) -> Table? {
            withUnsafeTemporaryAllocation(of: Int32.self, capacity: StateSet.room(machine.count)) { room in
                guard let base = room.baseAddress else { return nil }
                var determiniser = SubsetConstruction(machine, limits, StateSet(machine, base))
                return determiniser.run()
            }
        }

        private init(_ machine: Machine, _ limits: PatternLimits, _ frontier: StateSet) {
            self.machine = machine
            self.limits = limits
            self.frontier = frontier
            width = machine.alphabet.symbolCount + 1
            cells = Array(repeating: 0, count: width) + Array(repeating: UInt16(clamping: width), count: width)
        }

        private mutating func run() -> Table? {
            guard 2 * width <= limits.automatonCells else { return nil }
            frontier.clear()
            frontier.add(0, at: nil)
            let first = state(.start)
            var next = 0
            while next < states.count {
                guard fill(next) else { return nil }
                next += 1
            }
            return Table(cells: cells, width: width, first: first)
        }
    }
}

extension Pattern.SubsetConstruction {
    /// Returns the row of the current state set, as the index of its first cell. Adds an empty row for a new state.
    private mutating func state(_ before: Before) -> Int {
        if frontier.isMatched { return width }
        var members: [Int32] = []
        for index in 0..<frontier.count {
            // This assertion can no longer be true, because the start of the text has passed.
            if before != .start, machine.instructions[frontier[index]].code == .textStart { continue }
            members.append(Int32(frontier[index]))
        }
        if members.isEmpty { return 0 }
        members.sort()
        let key = members + [before.rawValue]
        if let known = numbers[key] { return known }
        let row = cells.count
        numbers[key] = row
        states.append((before, members))
        cells += Array(repeating: 0, count: width)
        return row
    }

    /// Computes the row of a state. Returns false when the table exceeds its limits of size or work.
    private mutating func fill(_ number: Int) -> Bool {
        let row = (number + 2) * width
        let (before, members) = states[number]
        var moment = Pattern.TextBoundary(isStart: before == .start, wordBefore: before == .word)
        let takesOther = accepts(from: members, moment)
        moment.wordAfter = true
        let takesWord = machine.usesWordBoundaries ? accepts(from: members, moment) : takesOther
        moment.wordAfter = false
        moment.isEnd = true
        cells[row + width - 1] = accepts(from: members, moment) == nil ? UInt16(width) : 0
        for symbol in 0..<(width - 1) {
            let isWord = machine.usesWordBoundaries && machine.isWord(symbol)
            let target = target(isWord ? takesWord : takesOther, symbol, isWord ? .word : .other)
            guard cells.count <= limits.automatonCells, work + frontier.work <= limits.automatonWork else {
                return false
            }
            cells[row + symbol] = UInt16(target)
        }
        return true
    }

    /// Returns the instructions that may consume a character, after evaluating the assertions at this position; nil
    /// when the match is complete.
    private mutating func accepts(from members: [Int32], _ moment: Pattern.TextBoundary) -> [Int]? {
        frontier.clear()
        for member in members { frontier.add(Int(member), at: moment) }
        return frontier.isMatched ? nil : (0..<frontier.count).map { frontier[$0] }
    }

    private mutating func target(_ takes: [Int]?, _ symbol: Int, _ after: Before) -> Int {
        guard let takes else { return width }
        work += takes.count
        frontier.clear()
        for take in takes where machine.matchesSymbol(take, symbol) { frontier.add(take + 1, at: nil) }
        if !machine.isAnchored { frontier.add(0, at: nil) }
        return state(machine.usesWordBoundaries ? after : .other)
    }
}

extension Pattern {
    /// An automaton: a table that maps a state and a symbol to the next state. The table is complete before the first
    /// match, so threads can share it without a lock. Matching is one pass over the text, with two or three memory
    /// reads for each byte.
    struct Automaton {
        /// The rows of the table. A state is the position of its row. The first row is the dead state, and the second
        /// row is the accepting state.
        private let cells: UnsafePointer<UInt16>
        /// The number of cells of a row: one for each symbol, and one for the end of the text.
        private let width: Int
        private let first: Int
        private let alphabet: Alphabet

        init(_ draft: SubsetConstruction.Table, _ alphabet: Alphabet, memory: PatternMemory) {
            cells = memory.keep(draft.cells)
            width = draft.width
            first = draft.first
            self.alphabet = alphabet
        }

        func matches(_ text: Text) -> Bool {
            var place = text.start
            var state = first
            while place < text.end, state > width {
                state = Int(cells[state &+ alphabet.next(&place, text.end)])
            }
            return Int(cells[state &+ width &- 1]) == width
        }
    }
}
