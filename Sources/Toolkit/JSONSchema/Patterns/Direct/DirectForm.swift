import Glibc

extension Pattern {
    /// The direct forms of patterns, which nearly all schemas use. Each form has its own matching loop.
    enum DirectForm {
        /// Every text matches.
        case always
        case contains(Literal)
        case equals(Literal)
        case prefix(Literal)
        case suffix(Literal)
        /// One of several words: `^(a|b|c)$`.
        case words(WordTable)
        /// A sequence of pieces without alternatives, from the start of the text. If `isWhole` is true, the text must
        /// end after the sequence.
        case chain(UnsafePointer<Piece>, count: Int, isWhole: Bool)
        /// A run (consecutive characters of one class) anywhere in the text.
        case streak(Run)
        /// A run (consecutive characters of one class) at the end of the text.
        case tail(Run)

        func matches(_ text: Text) -> Bool {
            switch self {
            case .always: true
            case .contains(let literal):
                literal.occurs(in: text)
            case .equals(let literal):
                literal.count == text.end - text.start && literal.matches(at: text.start, text.end)
            case .prefix(let literal): literal.matches(at: text.start, text.end)
            case .suffix(let literal):
                literal.count <= text.end - text.start && literal.matches(at: text.end - literal.count, text.end)
            case .words(let words): words.contains(text)
            case .chain(let pieces, let count, let isWhole): Self.matches(text, pieces, count, isWhole)
            case .streak(let run): run.occurs(in: text)
            case .tail(let run): run.ends(text)
            }
        }

        private static func matches(
            _ text: Text, _ pieces: UnsafePointer<Piece>, _ count: Int, _ isWhole: Bool
        ) -> Bool {
            var place = text.start
            for index in 0..<count where !pieces[index].match(&place, text.end) { return false }
            return !isWhole || place == text.end
        }
    }

    /// A literal: bytes that must occur in the text.
    struct Literal {
        let bytes: UnsafePointer<UInt8>
        let count: Int

        init(_ bytes: [UInt8], memory: PatternMemory) {
            self.bytes = memory.keep(bytes)
            count = bytes.count
        }

        /// The maximum length in bytes of a literal that is searched directly, because each position may require a
        /// comparison of this length. The automaton is used for longer literals.
        static let longestSearched = 32

        func occurs(in text: Text) -> Bool {
            var place = text.start
            while text.end - place >= count, let found = memchr(place, Int32(bytes[0]), text.end - place) {
                place = UnsafePointer(found.assumingMemoryBound(to: UInt8.self))
                if matches(at: place, text.end) { return true }
                place += 1
            }
            return false
        }

        @inline(__always)
        func matches(at place: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Bool {
            end - place >= count && memcmp(place, bytes, count) == 0
        }
    }

    /// A part of a chain.
    enum Piece {
        case literal(Literal)
        case run(Run)

        @inline(__always)
        func match(_ place: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Bool {
            switch self {
            case .run(let run): return run.match(&place, end)
            case .literal(let literal):
                guard literal.matches(at: place, end) else { return false }
                place += literal.count
                return true
            }
        }
    }
}
