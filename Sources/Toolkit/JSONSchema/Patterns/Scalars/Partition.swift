extension Pattern {
    /// All code points, cut wherever a class of the pattern begins or ends, and the pieces numbered by the classes they
    /// belong to.
    struct Partition {
        /// Where each piece begins; the first at zero.
        private let starts: [UInt32]
        /// The symbol of each piece. Numbered by first appearance, so those of ASCII are below 128.
        private let symbols: [Int]
        let symbolCount: Int

        init(_ sets: [ScalarSet], limits: PatternLimits) throws(PatternError) {
            var cuts: Set<UInt32> = [0]
            for range in sets.lazy.flatMap(\.ranges) {
                cuts.insert(range.lowerBound)
                if range.upperBound < ScalarSet.last { cuts.insert(range.upperBound + 1) }
            }
            starts = cuts.sorted()
            var symbols = [Int](repeating: 0, count: starts.count)
            var count = 1
            var work = 0
            for set in sets {
                // A class splits every symbol it meets: what lies inside gets a new number.
                var inside: [Int: Int] = [:]
                for piece in Self.pieces(of: set, starts) {
                    work += 1
                    if inside[symbols[piece]] == nil {
                        inside[symbols[piece]] = count
                        count += 1
                    }
                    symbols[piece] = inside[symbols[piece]] ?? 0
                }
                guard work <= 20 * limits.ranges else { throw Self.tooManySymbols }
            }
            (self.symbols, symbolCount) = Self.renumbered(symbols)
            guard symbolCount < 1 << 15 else { throw Self.tooManySymbols }
        }

        static let tooManySymbols = PatternError(
            message: "the character classes of the pattern overlap too much", offset: 0)

        private static func renumbered(_ symbols: [Int]) -> ([Int], Int) {
            var numbers: [Int: Int] = [:]
            let renumbered = symbols.map { symbol in
                if let known = numbers[symbol] { return known }
                numbers[symbol] = numbers.count
                return numbers.count - 1
            }
            return (renumbered, numbers.count)
        }

        /// The pieces that make up a class, which is cut at its own ends.
        private static func pieces(of set: ScalarSet, _ starts: [UInt32]) -> [Int] {
            set.ranges.flatMap { range in
                var piece = place(of: range.lowerBound, starts)
                var pieces: [Int] = []
                while piece < starts.count, starts[piece] <= range.upperBound {
                    pieces.append(piece)
                    piece += 1
                }
                return pieces
            }
        }

        /// The last piece that begins at or before a code point.
        private static func place(of scalar: UInt32, _ starts: [UInt32]) -> Int {
            var low = 0
            var high = starts.count
            while low + 1 < high {
                let middle = (low + high) / 2
                if starts[middle] <= scalar { low = middle } else { high = middle }
            }
            return low
        }

        /// The symbols of a class, in order and once each.
        func symbols(of set: ScalarSet) -> [Int] {
            Array(Set(Self.pieces(of: set, starts).map { symbols[$0] })).sorted()
        }

        func symbol(of scalar: UInt32) -> Int { symbols[Self.place(of: scalar, starts)] }

        /// The symbol of a stretch, if it has just one.
        func onlySymbol(_ stretch: ClosedRange<UInt32>) -> Int? {
            var piece = Self.place(of: stretch.lowerBound, starts)
            let symbol = symbols[piece]
            while piece + 1 < starts.count, starts[piece + 1] <= stretch.upperBound {
                piece += 1
                if symbols[piece] != symbol { return nil }
            }
            return symbol
        }

        var symbolBeyondASCII: Int? { onlySymbol(0x80...ScalarSet.last) }
    }
}
