extension Pattern {
    /// A run: between `least` and `most` characters of one class.
    struct Run {
        let least: Int
        let most: Int
        /// The entry for each value of the first byte of a character: `no`, `ascii`, `beyond` or `perhaps`.
        private let table: UnsafePointer<UInt8>
        private let alphabet: Alphabet
        private let inside: Int

        /// The entry for bytes that do not begin a character of the class.
        private static let no: UInt8 = 0
        /// The entry for ASCII characters of the class.
        private static let ascii: UInt8 = 1
        /// The entry for bytes outside ASCII if all characters outside ASCII are in the class.
        private static let beyond: UInt8 = 2
        /// The entry for bytes outside ASCII if some characters outside ASCII are in the class.
        private static let perhaps: UInt8 = 3

        init(_ set: ScalarSet, least: Int, most: Int, limits: PatternLimits, memory: PatternMemory) throws(PatternError)
        {
            let partition = try Partition([set], limits: limits)
            (self.least, self.most) = (least, most)
            alphabet = Alphabet(partition, memory: memory)
            let inside = partition.symbols(of: set).first ?? -1
            let beyond = partition.symbolBeyondASCII.map { $0 == inside ? Self.beyond : Self.no } ?? Self.perhaps
            table = memory.keep(
                (0..<256).map { byte in
                    if byte >= 0x80 { return beyond }
                    return set.contains(UInt32(byte)) ? Self.ascii : Self.no
                })
            self.inside = inside
        }

        /// Consumes as many characters as possible. Returns false when there are fewer than `least`. Backtracking is
        /// not needed, because the next piece never starts with a character of the class.
        @inline(__always)
        func match(_ place: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Bool {
            var count = 0
            while count < most {
                // For ASCII text, which is the most frequent, each character needs one comparison and one lookup.
                let first = place
                let stop = end - place < most - count ? end : place + (most - count)
                while place < stop, table[Int(place.pointee)] == Self.ascii { place += 1 }
                count += place - first
                guard place < stop, step(&place, end) else { break }
                count += 1
            }
            return count >= least
        }

        func occurs(in text: Text) -> Bool {
            var place = text.start
            var count = 0
            while place < text.end {
                if step(&place, text.end) {
                    count += 1
                    if count >= least { return true }
                } else {
                    count = 0
                    place += min(UTF8Reading.length(place.pointee), text.end - place)
                }
            }
            return false
        }

        func ends(_ text: Text) -> Bool {
            var place = text.end
            var count = 0
            while count < least, place > text.start {
                place = UTF8Reading.before(place, text.start)
                var character = place
                guard step(&character, text.end) else { return false }
                count += 1
            }
            return count >= least
        }

        /// Consumes one character of the class. Returns false and consumes nothing when there is none.
        @inline(__always)
        private func step(_ place: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Bool {
            let mark = table[Int(place.pointee)]
            if mark == Self.ascii {
                place += 1
                return true
            }
            if mark == Self.no { return false }
            if mark == Self.beyond {
                place += min(UTF8Reading.length(place.pointee), end - place)
                return true
            }
            var next = place
            guard alphabet.next(&next, end) == inside else { return false }
            place = next
            return true
        }
    }
}
