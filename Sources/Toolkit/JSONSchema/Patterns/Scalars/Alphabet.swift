extension Pattern {
    /// The symbols that a pattern distinguishes. Code points that belong to the same character classes have the same
    /// symbol.
    ///
    /// An automaton over symbols is much smaller than an automaton over bytes (`\p{L}{1,64}` has 65 states instead of
    /// thousands). The symbol of an ASCII character needs one lookup. Other code points are decoded and looked up in
    /// three steps of six bits.
    struct Alphabet {
        let symbolCount: Int
        private let ascii: UnsafePointer<UInt8>
        /// The symbol of all code points outside ASCII if they have the same symbol; -1 otherwise.
        private let other: Int
        private let planes: UnsafePointer<UInt16>
        private let blocks: UnsafePointer<UInt16>
        private let leaves: UnsafePointer<UInt16>

        init(_ partition: Partition, memory: PatternMemory) {
            symbolCount = partition.symbolCount
            ascii = memory.keep((UInt32(0)..<0x80).map { UInt8(partition.symbol(of: $0)) })
            if let other = partition.symbolBeyondASCII {
                self.other = other
                (planes, blocks, leaves) = (memory.keep([]), memory.keep([]), memory.keep([]))
            } else {
                other = -1
                let tree = Tree(partition)
                (planes, blocks, leaves) = (
                    memory.keep(tree.planes), memory.keep(tree.blocks), memory.keep(tree.leaves)
                )
            }
        }

        /// Returns the symbol of an ASCII byte.
        @inline(__always)
        func symbol(ascii byte: UInt8) -> Int { Int(ascii[Int(byte)]) }

        /// Returns the symbol of the character at `place`, and moves `place` after it.
        @inline(__always)
        func next(_ place: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Int {
            let byte = place.pointee
            if byte < 0x80 {
                place += 1
                return Int(ascii[Int(byte)])
            }
            return beyondASCII(&place, end)
        }

        @inline(__always)
        private func beyondASCII(_ place: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Int {
            if other >= 0 {
                place += min(UTF8Reading.length(place.pointee), end - place)
                return other
            }
            let scalar = Int(UTF8Reading.next(&place, end))
            let block = Int(blocks[Int(planes[scalar >> 12]) << 6 | scalar >> 6 & 0x3F])
            return Int(leaves[block << 6 | scalar & 0x3F])
        }
    }
}

extension Pattern.Alphabet {
    /// The tables of the three lookup steps. Parts with a single symbol, which are by far the most frequent parts, are
    /// stored once. Other parts are not compared, because they are rarely equal.
    private struct Tree {
        var planes: [UInt16] = []
        var blocks: [UInt16] = []
        var leaves: [UInt16] = []
        private var evenBlocks: [Int: UInt16] = [:]
        private var evenLeaves: [Int: UInt16] = [:]

        init(_ partition: Pattern.Partition) {
            for plane in UInt32(0)..<0x110 {
                planes.append(block(plane << 12, partition))
            }
        }

        private mutating func block(_ start: UInt32, _ partition: Pattern.Partition) -> UInt16 {
            guard let symbol = partition.onlySymbol(start...(start + 0xFFF)) else {
                return Self.store((UInt32(0)..<64).map { leaf(start + $0 << 6, partition) }, in: &blocks)
            }
            if let known = evenBlocks[symbol] { return known }
            let number = Self.store(Array(repeating: leaf(start, partition), count: 64), in: &blocks)
            evenBlocks[symbol] = number
            return number
        }

        private mutating func leaf(_ start: UInt32, _ partition: Pattern.Partition) -> UInt16 {
            guard let symbol = partition.onlySymbol(start...(start + 63)) else {
                return Self.store(partition.symbols(in: start...(start + 63)), in: &leaves)
            }
            if let known = evenLeaves[symbol] { return known }
            let number = Self.store(Array(repeating: UInt16(symbol), count: 64), in: &leaves)
            evenLeaves[symbol] = number
            return number
        }

        private static func store(_ part: [UInt16], in parts: inout [UInt16]) -> UInt16 {
            parts += part
            return UInt16(parts.count / 64 - 1)
        }
    }
}
