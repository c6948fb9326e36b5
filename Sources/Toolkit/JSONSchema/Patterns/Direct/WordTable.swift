import Glibc

extension Pattern {
    /// A set of words, by length and then in order.
    struct WordTable {
        /// Longer words are left to the other engines.
        static let longest = 255

        private struct Shelf {
            var start: UInt32 = 0
            var count: UInt32 = 0
        }

        private let bytes: UnsafePointer<UInt8>
        private let shelves: UnsafePointer<Shelf>
        private let shelfCount: Int

        init(_ words: Set<[UInt8]>, memory: PatternMemory) {
            var bytes: [UInt8] = []
            var shelves = Array(repeating: Shelf(), count: (words.map(\.count).max() ?? 0) + 1)
            for (length, words) in Dictionary(grouping: words, by: \.count) {
                shelves[length] = Shelf(start: UInt32(bytes.count), count: UInt32(words.count))
                bytes += words.sorted { $0.lexicographicallyPrecedes($1) }.joined()
            }
            self.bytes = memory.keep(bytes)
            self.shelves = memory.keep(shelves)
            shelfCount = shelves.count
        }

        func contains(_ text: Text) -> Bool {
            let length = text.end - text.start
            guard length < shelfCount else { return false }
            let shelf = shelves[length]
            var low = 0
            var high = Int(shelf.count)
            while low < high {
                let middle = (low + high) / 2
                let order = memcmp(text.start, bytes + Int(shelf.start) + middle * length, length)
                if order == 0 { return true }
                if order > 0 { low = middle + 1 } else { high = middle }
            }
            return false
        }
    }
}
