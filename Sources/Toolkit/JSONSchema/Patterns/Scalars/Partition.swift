extension Pattern {
    /// All code points, divided into pieces at the start and the end of each range of the pattern's classes. Pieces
    /// that belong to the same classes have the same symbol.
    struct Partition {
        /// The first code point of each piece, in ascending order. The first piece starts at zero.
        private let starts: [UInt32]
        /// The symbol of each piece. Symbols are numbered in the order of their first occurrence, so the symbols of
        /// ASCII are below 128.
        private let symbols: [Int]
        let symbolCount: Int

        init(_ sets: [ScalarSet], limits: PatternLimits) throws(PatternError) {
            var cuts: [UInt32] = [0]
            for set in sets {
                for range in set.ranges {
                    cuts.append(range.lowerBound)
                    if range.upperBound < ScalarSet.last { cuts.append(range.upperBound + 1) }
                }
            }
            cuts.sort()
            starts = cuts.indices.filter { $0 == 0 || cuts[$0] != cuts[$0 - 1] }.map { cuts[$0] }
            var symbols = [Int](repeating: 0, count: starts.count)
            // For each symbol, the new symbol of its part that is inside the current class. Each class splits the
            // symbols that it overlaps.
            var inside = [(set: -1, symbol: 0)]
            var work = 0
            for (number, set) in sets.enumerated() {
                for piece in Self.pieces(of: set, starts) {
                    work += 1
                    let symbol = symbols[piece]
                    if inside[symbol].set != number {
                        inside[symbol] = (number, inside.count)
                        inside.append((-1, 0))
                    }
                    symbols[piece] = inside[symbol].symbol
                }
                guard work <= 20 * limits.ranges else { throw Self.tooManySymbols }
            }
            (self.symbols, symbolCount) = Self.renumbered(symbols)
            guard symbolCount < 1 << 15 else { throw Self.tooManySymbols }
        }

        static let tooManySymbols = PatternError(
            message: "the character classes of the pattern overlap too much", offset: 0)

        private static func renumbered(_ symbols: [Int]) -> ([Int], Int) {
            var numbers = [Int](repeating: -1, count: (symbols.max() ?? 0) + 1)
            var count = 0
            let renumbered = symbols.map { symbol in
                if numbers[symbol] < 0 {
                    numbers[symbol] = count
                    count += 1
                }
                return numbers[symbol]
            }
            return (renumbered, count)
        }

        /// Returns the pieces of a class. A piece is always completely inside or outside a class.
        private static func pieces(of set: ScalarSet, _ starts: [UInt32]) -> [Int] {
            var pieces: [Int] = []
            for range in set.ranges {
                var piece = place(of: range.lowerBound, starts)
                while piece < starts.count, starts[piece] <= range.upperBound {
                    pieces.append(piece)
                    piece += 1
                }
            }
            return pieces
        }

        /// Returns the piece that contains a code point.
        private static func place(of scalar: UInt32, _ starts: [UInt32]) -> Int {
            var low = 0
            var high = starts.count
            while low + 1 < high {
                let middle = (low + high) / 2
                if starts[middle] <= scalar { low = middle } else { high = middle }
            }
            return low
        }

        /// Returns the distinct symbols of a class, in ascending order.
        func symbols(of set: ScalarSet) -> [Int] {
            Array(Set(Self.pieces(of: set, starts).map { symbols[$0] })).sorted()
        }

        func symbol(of scalar: UInt32) -> Int { symbols[Self.place(of: scalar, starts)] }

        /// Returns the symbol of each code point in a range.
        func symbols(in stretch: ClosedRange<UInt32>) -> [UInt16] {
            var piece = Self.place(of: stretch.lowerBound, starts)
            return stretch.map { scalar in
                if piece + 1 < starts.count, starts[piece + 1] == scalar { piece += 1 }
                return UInt16(symbols[piece])
            }
        }

        /// Returns the symbol of a range if all its code points have the same symbol; nil otherwise.
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
