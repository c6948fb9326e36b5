extension Pattern {
    /// A program in executable form, in plain memory. Each character class is a row with one bit for each symbol of the
    /// alphabet.
    struct Machine {
        let instructions: UnsafePointer<Instruction>
        let count: Int
        let slotCount: Int
        let isAnchored: Bool
        let usesWordBoundaries: Bool
        let alphabet: Alphabet
        private let rows: Rows

        init(
            _ program: Program, _ partition: Partition, _ alphabet: Alphabet, memory: PatternMemory
        ) throws(PatternError) {
            usesWordBoundaries = program.usesWordBoundaries
            var draft = RowDraft(words: partition.symbolCount / 64 + 1)
            // The class of word characters comes first, so that its row is always row 0.
            let places = try draft.add([usesWordBoundaries ? .words : .nothing] + program.sets, partition)
            instructions = memory.keep(program.instructions.map { $0.placed(places) })
            count = program.instructions.count
            slotCount = program.slotCount
            isAnchored = program.isAnchored
            self.alphabet = alphabet
            rows = Rows(bits: memory.keep(draft.bits), words: draft.words)
        }

        /// Returns true when a symbol belongs to the class of a `consume` or `run` instruction.
        @inline(__always)
        func accepts(_ row: Int32, _ symbol: Int) -> Bool { rows.accepts(Int(row), symbol) }

        /// Returns true when an instruction consumes a character with this symbol.
        @inline(__always)
        func matchesSymbol(_ index: Int, _ symbol: Int) -> Bool {
            let instruction = instructions[index]
            switch instruction.code {
            case .consume: return accepts(instruction.a, symbol)
            case .consumeSymbol: return symbol == Int(instruction.a)
            default: return false
            }
        }

        /// Returns true when a symbol is a word character. Valid only if `usesWordBoundaries`.
        @inline(__always)
        func isWord(_ symbol: Int) -> Bool { rows.accepts(0, symbol) }
    }

    private struct Rows {
        let bits: UnsafePointer<UInt64>
        let words: Int

        @inline(__always)
        func accepts(_ row: Int, _ symbol: Int) -> Bool {
            bits[row &* words &+ symbol >> 6] & 1 << UInt64(truncatingIfNeeded: symbol & 63) != 0
        }
    }
}

/// The stored form of an instruction's character class: a single symbol or a row.
private enum Place {
    case symbol(Int32)
    case row(Int32)
}

private struct RowDraft {
    let words: Int
    var bits: [UInt64] = []

    /// The maximum number of words of all rows (4 MB). Realistic patterns are far below it.
    private static let limit = 500_000

    init(words: Int) { self.words = words }

    /// Adds rows for the classes and returns their stored forms. A class of one symbol needs no row. The first class
    /// always gets a row and is not part of the result.
    mutating func add(
        _ sets: [Pattern.ScalarSet], _ partition: Pattern.Partition
    ) throws(PatternError) -> [Place] {
        var places: [Place] = []
        for (number, set) in sets.enumerated() {
            let symbols = partition.symbols(of: set)
            if number > 0, symbols.count == 1 {
                places.append(.symbol(Int32(symbols[0])))
                continue
            }
            guard bits.count < Self.limit else { throw Pattern.Partition.tooManySymbols }
            let start = bits.count
            if number > 0 { places.append(.row(Int32(start / words))) }
            bits += Array(repeating: 0, count: words)
            for symbol in symbols { bits[start + symbol / 64] |= 1 << UInt64(symbol % 64) }
        }
        return places
    }
}

extension Pattern.Instruction {
    fileprivate func placed(_ places: [Place]) -> Pattern.Instruction {
        var placed = self
        guard code == .consume || code == .run else { return placed }
        switch places[Int(a)] {
        case .row(let row): placed.a = row
        case .symbol(let symbol):
            placed.code = code == .consume ? .consumeSymbol : .runSymbol
            placed.a = symbol
        }
        return placed
    }
}
