import Glibc

/// Text that equals another only byte for byte: what names and ids are made of.
///
/// `String` holds "é" for the same whether it is written with one code point or with two. A store compares bytes, and so
/// do clients: two names that the one takes for two and the other for one would share a history, or a feed. Use it as the
/// wrapper of a property that takes part in equality, and as the key of tables.
@propertyWrapper
public struct ExactText: Hashable, Sendable {
    public var wrappedValue: String

    public init(wrappedValue: String) { self.wrappedValue = wrappedValue }
    public init(_ text: some StringProtocol) { wrappedValue = String(text) }

    public var text: String { wrappedValue }

    public static func == (left: ExactText, right: ExactText) -> Bool {
        let (left, right) = (left.wrappedValue.utf8Span, right.wrappedValue.utf8Span)
        return left.count == right.count
            && left.span.withUnsafeBytes { left in
                right.span.withUnsafeBytes { right in
                    guard let start = left.baseAddress, let other = right.baseAddress else { return true }
                    return memcmp(start, other, left.count) == 0
                }
            }
    }

    public func hash(into hasher: inout Hasher) {
        wrappedValue.utf8Span.span.withUnsafeBytes { hasher.combine(bytes: $0) }
        // No byte of UTF-8: keeps texts that follow each other in one hash apart.
        hasher.combine(0xFF as UInt8)
    }
}

extension ExactText: Comparable {
    /// The order of the bytes, which is the order of the code points.
    public static func < (left: ExactText, right: ExactText) -> Bool {
        left.wrappedValue.utf8.lexicographicallyPrecedes(right.wrappedValue.utf8)
    }
}

extension ExactText: ExpressibleByStringLiteral, CustomStringConvertible {
    public init(stringLiteral text: String) { wrappedValue = text }
    public var description: String { wrappedValue }
}

extension Collection<String> {
    /// Whether a text is there twice, byte for byte.
    public var hasRepeats: Bool { Set(map { ExactText($0) }).count < count }
}
