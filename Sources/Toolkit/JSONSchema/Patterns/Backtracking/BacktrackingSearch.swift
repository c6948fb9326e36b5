extension Pattern {
    /// The state of a backtracking search in one text.
    struct Search {
        private let machine: Machine
        private let start: UnsafePointer<UInt8>
        private let end: UnsafePointer<UInt8>
        private let slots: UnsafeMutableBufferPointer<Int32>
        var attempts: BacktrackStack
        /// The index of the next instruction.
        private var next = 0
        /// The current position in the text.
        private var place: UnsafePointer<UInt8>

        init(_ machine: Machine, _ text: Text, _ slots: UnsafeMutableBufferPointer<Int32>, _ attempts: BacktrackStack) {
            self.machine = machine
            start = text.start
            end = text.end
            place = text.start
            self.slots = slots
            self.attempts = attempts
            slots.initialize(repeating: -1)
        }

        mutating func run(_ budget: inout Int) -> PatternVerdict {
            var first = start
            while true {
                (next, place) = (0, first)
                let verdict = attempt(&budget)
                if verdict != .noMatch || machine.isAnchored || first >= end { return verdict }
                first += min(UTF8Reading.length(first.pointee), end - first)
            }
        }

        /// Tries to match at the current position. If the match fails, all slots are restored.
        private mutating func attempt(_ budget: inout Int) -> PatternVerdict {
            while true {
                budget -= 1
                if budget < 0 { return .exhausted }
                let instruction = machine.instructions[next]
                if instruction.code == .match { return .match }
                if !perform(instruction, &budget), !backtrack() { return .noMatch }
            }
        }
    }
}

extension Pattern.Search {
    private typealias Attempt = Pattern.Attempt

    private var offset: Int32 { Int32(truncatingIfNeeded: place - start) }

    /// Executes one instruction. Returns false when the current path fails.
    @inline(__always)
    private mutating func perform(_ instruction: Pattern.Instruction, _ budget: inout Int) -> Bool {
        next += 1
        switch instruction.code {
        case .consume, .consumeSymbol: return match(instruction)
        case .run, .runSymbol: return run(instruction, &budget)
        case .split:
            attempts.push(Attempt(kind: .way, target: instruction.b, place: offset))
            next = Int(instruction.a)
        case .jump: next = Int(instruction.a)
        case .save: set(instruction.a, offset)
        case .forget:
            budget -= Int(instruction.b - instruction.a) / 16
            for slot in instruction.a..<instruction.b where slots[Int(slot)] >= 0 { set(slot, -1) }
        case .progress: return slots[Int(instruction.a)] != offset
        case .textStart: return place == start
        case .textEnd: return place == end
        case .wordBoundary: return isWordBefore != isWordAfter
        case .noWordBoundary: return isWordBefore == isWordAfter
        case .lookaround:
            let kind: Attempt.Kind = instruction.flag ? .negativeLookaround : .lookaround
            attempts.push(Attempt(kind: kind, target: instruction.a, place: offset))
        case .lookaroundEnd: return finishLookaround()
        case .reference: return reference(instruction, &budget)
        case .match: break
        }
        return true
    }

    private mutating func set(_ slot: Int32, _ value: Int32) {
        attempts.push(Attempt(kind: .slot, target: slot, place: slots[Int(slot)]))
        slots[Int(slot)] = value
    }

    // MARK: Characters

    /// Consumes one character of the instruction's class. Returns false when there is none; the position is then
    /// undefined.
    @inline(__always)
    private mutating func match(_ instruction: Pattern.Instruction) -> Bool {
        let symbol: Int
        if instruction.isBackward {
            guard place > start else { return false }
            place = UTF8Reading.before(place, start)
            var behind = place
            symbol = machine.alphabet.next(&behind, end)
        } else {
            guard place < end else { return false }
            symbol = machine.alphabet.next(&place, end)
        }
        switch instruction.code {
        case .consumeSymbol, .runSymbol: return symbol == Int(instruction.a)
        default: return machine.accepts(instruction.a, symbol)
        }
    }

    /// Consumes one character. Returns false and leaves the position unchanged when the character does not match.
    private mutating func matchOne(_ instruction: Pattern.Instruction) -> Bool {
        let before = place
        if match(instruction) { return true }
        place = before
        return false
    }

    /// Executes a run: a repetition of one class. Returns false when there are too few characters of the class. A run
    /// counts as one instruction, and one more for each 16 characters.
    private mutating func run(_ instruction: Pattern.Instruction, _ budget: inout Int) -> Bool {
        var count: Int32 = 0
        defer { budget -= Int(count) / 16 }
        while count < instruction.b {
            guard matchOne(instruction) else { return false }
            count += 1
        }
        let least = offset
        guard instruction.flag else {
            if count < instruction.c {
                attempts.push(
                    Attempt(kind: .longer, target: Int32(next - 1), place: least, limit: instruction.c - count))
            }
            return true
        }
        while count < instruction.c, matchOne(instruction) { count += 1 }
        if offset != least {
            attempts.push(Attempt(kind: .shorter, target: Int32(next - 1), place: offset, limit: least))
        }
        return true
    }

    private var isWordBefore: Bool {
        guard place > start else { return false }
        var before = UTF8Reading.before(place, start)
        return machine.isWord(machine.alphabet.next(&before, end))
    }

    private var isWordAfter: Bool {
        guard place < end else { return false }
        var after = place
        return machine.isWord(machine.alphabet.next(&after, end))
    }

    // MARK: Groups

    /// Matches a back reference. Returns false when the text of the group does not follow. If the group has matched
    /// nothing yet, the reference matches the empty text.
    private mutating func reference(_ instruction: Pattern.Instruction, _ budget: inout Int) -> Bool {
        let from = slots[Int(instruction.a)]
        let to = slots[Int(instruction.a) + 1]
        guard from >= 0, to >= 0 else { return true }
        let length = Int(to - from)
        budget -= length / 16
        if instruction.isBackward {
            guard place - start >= length else { return false }
            place -= length
            return isEqual(place, start + Int(from), length)
        }
        guard end - place >= length, isEqual(place, start + Int(from), length) else { return false }
        place += length
        return true
    }

    private func isEqual(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        for index in 0..<count where left[index] != right[index] { return false }
        return true
    }

    // MARK: Backtracking

    /// Ends a lookaround whose content has matched, and removes its untried alternatives. Returns false for a negative
    /// lookaround, because its content must not match.
    private mutating func finishLookaround() -> Bool {
        let index = attempts.indexOfLookaround
        let look = attempts[index]
        if look.kind == .lookaround {
            attempts.commit(from: index)
            place = start + Int(look.place)
            return true
        }
        while attempts.count > index { undo() }
        return false
    }

    private mutating func undo() {
        let attempt = attempts.top
        if attempt.kind == .slot { slots[Int(attempt.target)] = attempt.place }
        attempts.pop()
    }

    /// Continues with the newest untried alternative. Returns false when no alternative remains.
    private mutating func backtrack() -> Bool {
        while attempts.count > 0 {
            let attempt = attempts.top
            switch attempt.kind {
            case .slot, .lookaround: undo()
            case .way, .negativeLookaround:
                attempts.pop()
                next = Int(attempt.target)
                place = start + Int(attempt.place)
                return true
            case .shorter:
                shorten(attempt)
                return true
            case .longer:
                if extend(attempt) { return true }
            }
        }
        return false
    }

    private mutating func shorten(_ attempt: Attempt) {
        var shorter = attempt
        place = start + Int(attempt.place)
        if machine.instructions[Int(attempt.target)].isBackward {
            place += min(UTF8Reading.length(place.pointee), end - place)
        } else {
            place = UTF8Reading.before(place, start)
        }
        shorter.place = offset
        if offset == attempt.limit { attempts.pop() } else { attempts.replaceTop(shorter) }
        next = Int(attempt.target) + 1
    }

    private mutating func extend(_ attempt: Attempt) -> Bool {
        place = start + Int(attempt.place)
        let taken = matchOne(machine.instructions[Int(attempt.target)])
        if taken, attempt.limit > 1 {
            var longer = attempt
            longer.place = offset
            longer.limit -= 1
            attempts.replaceTop(longer)
        } else {
            attempts.pop()
        }
        next = Int(attempt.target) + 1
        return taken
    }
}
