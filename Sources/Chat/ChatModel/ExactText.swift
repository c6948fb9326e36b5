import Glibc

/// A text that is compared byte for byte, as names and ids must be.
///
/// `String` considers "é" equal to "e" followed by a combining accent. Stores and clients compare bytes. If the gateway
/// compared texts in another way, two channels could share a history. Use this type as the wrapper of a property that
/// takes part in equality, and as the key of dictionaries.
@propertyWrapper
public struct ExactText: Hashable, Sendable {
    /// The text, unchanged: it is not normalized.
    public var wrappedValue: String

    /// Wraps the value of a property.
    public init(wrappedValue: String) { self.wrappedValue = wrappedValue }
    /// Creates a text from a string or substring.
    public init(_ text: some StringProtocol) { wrappedValue = String(text) }

    /// The text as a `String`.
    @inlinable public var text: String { wrappedValue }

    public static func == (left: ExactText, right: ExactText) -> Bool {
        // Strings with the same two words are the same text: the words are either the text itself, or its length and
        // the address of its bytes.
        let words = unsafeBitCast((left.wrappedValue, right.wrappedValue), to: (UInt, UInt, UInt, UInt).self)
        if words.0 == words.2, words.1 == words.3 { return true }
        return left.withBytes { left in
            right.withBytes { right in
                guard left.count == right.count else { return false }
                guard let start = left.baseAddress, let other = right.baseAddress else { return true }
                return memcmp(start, other, left.count) == 0
            }
        }
    }

    public func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // Appends a byte that UTF-8 never contains, so that consecutive texts in one hash stay separate.
        hasher.combine(0xFF as UInt8)
    }

    @inline(__always)
    private func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        // On Linux, all strings are stored as UTF-8.
        wrappedValue.utf8.withContiguousStorageIfAvailable(body)!
    }
}

extension ExactText: Comparable {
    /// Compares bytes, which gives the order of the code points.
    public static func < (left: ExactText, right: ExactText) -> Bool {
        left.wrappedValue.utf8.lexicographicallyPrecedes(right.wrappedValue.utf8)
    }
}

extension ExactText: ExpressibleByStringLiteral, CustomStringConvertible {
    public init(stringLiteral text: String) { wrappedValue = text }
    public var description: String { wrappedValue }
}

extension Collection<String> {
    /// True when any text occurs more than once, compared byte for byte.
    public var hasRepeats: Bool { Set(map { ExactText($0) }).count < count }
}
