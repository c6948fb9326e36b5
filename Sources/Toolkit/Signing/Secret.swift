/// Key material that never appears in a log line, an error text or a dump by accident.
///
/// Whoever needs the bytes asks for them by name; nothing prints them.
public struct Secret: Sendable, Hashable {
    /// The key material itself.
    public let bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The UTF-8 bytes of a text, for the services whose key is the text as shown to the user.
    public init(text: String) { bytes = Array(text.utf8) }

    /// Compares in constant time for secrets of equal length.
    public static func == (left: Secret, right: Secret) -> Bool {
        constantTimeEqual(left.bytes, right.bytes)
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "…" }
    public var debugDescription: String { "…" }
    /// Without children, so that `dump` and string interpolation of an enclosing type show nothing either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
