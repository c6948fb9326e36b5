extension IDNA {
    /// Unicode normal form C, for the characters of labels.
    struct Compositions: Sendable {
        private struct Pair: Sendable {
            let whole: UInt32
            let first: UInt32
            let second: UInt32

            var parts: UInt64 { UInt64(first) << 32 | UInt64(second) }
        }

        private let byWhole: [Pair]
        private let byParts: [Pair]

        static let table = Compositions()

        private init() {
            var digits = Digits(Tables.compositions)
            var pairs: [Pair] = []
            var whole: UInt32 = 0
            while let distance = digits.next(), let first = digits.next(), let second = digits.next() {
                whole += distance
                pairs.append(Pair(whole: whole, first: first, second: second))
            }
            byWhole = pairs
            byParts = pairs.sorted { $0.parts < $1.parts }
        }

        static func isInNormalForm(_ text: Characters.Text) -> Bool {
            guard text.contains(where: { Characters.traits(of: $0)?.mayCombine == true }) else { return true }
            // A character decomposes into at most three characters: a letter and two marks.
            return withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Label.capacity * 3) { buffer in
                var form = Form(buffer: buffer, table: table)
                guard text.allSatisfy({ form.appendParts(of: $0) }) else { return false }
                form.sortMarks()
                form.compose()
                return form.scalars.elementsEqual(text)
            }
        }

        private func parts(of whole: UInt32) -> (first: UInt32, second: UInt32)? {
            Self.search(byWhole, for: whole, by: \.whole).map { ($0.first, $0.second) }
        }

        private func whole(of first: UInt32, _ second: UInt32) -> UInt32? {
            Self.search(byParts, for: UInt64(first) << 32 | UInt64(second), by: \.parts)?.whole
        }

        private static func search<Key: Comparable>(_ pairs: [Pair], for key: Key, by path: (Pair) -> Key) -> Pair? {
            var low = 0
            var high = pairs.count
            while low < high {
                let middle = (low + high) / 2
                if path(pairs[middle]) < key { low = middle + 1 } else { high = middle }
            }
            return low < pairs.count && path(pairs[low]) == key ? pairs[low] : nil
        }
    }
}

extension IDNA.Compositions {
    /// A text during normalization (Unicode Standard, section 3.11).
    private struct Form {
        let buffer: UnsafeMutableBufferPointer<UInt32>
        let table: IDNA.Compositions
        private var count = 0

        init(buffer: UnsafeMutableBufferPointer<UInt32>, table: IDNA.Compositions) {
            self.buffer = buffer
            self.table = table
        }

        var scalars: Slice<UnsafeMutableBufferPointer<UInt32>> { buffer[..<count] }

        /// Appends the decomposition of a character. Returns false when the buffer is full.
        mutating func appendParts(of scalar: UInt32) -> Bool {
            if let parts = table.parts(of: scalar) {
                return appendParts(of: parts.first) && append(parts.second)
            }
            return append(scalar)
        }

        private mutating func append(_ scalar: UInt32) -> Bool {
            guard count < buffer.count else { return false }
            buffer[count] = scalar
            count += 1
            return true
        }

        /// Puts the text in canonical order: sorts the marks between two letters by their combining class. Marks of the
        /// same class keep their order.
        func sortMarks() {
            for index in 0..<count {
                let mark = combiningClass(buffer[index])
                var place = index
                while mark > 0, place > 0, combiningClass(buffer[place - 1]) > mark {
                    buffer.swapAt(place - 1, place)
                    place -= 1
                }
            }
        }

        mutating func compose() {
            var starter: Int?
            var lastClass: UInt32 = 0
            var end = 0
            for index in 0..<count {
                let scalar = buffer[index]
                let ownClass = combiningClass(scalar)
                if let starter, lastClass == 0 || lastClass < ownClass,
                    let whole = table.whole(of: buffer[starter], scalar)
                {
                    buffer[starter] = whole
                    continue
                }
                if ownClass == 0 { starter = end }
                lastClass = ownClass
                buffer[end] = scalar
                end += 1
            }
            count = end
        }

        private func combiningClass(_ scalar: UInt32) -> UInt32 {
            IDNA.Characters.traits(of: scalar)?.combiningClass ?? 0
        }
    }
}
