import Text

/// The parameters after the `?` of a request target, in order. A name may occur more than once.
///
/// The parameters are decoded as `application/x-www-form-urlencoded` (WHATWG URL): percent escapes, and `+` for a
/// space.
public struct Query: Sendable, Equatable {
    /// One `name=value`; a name without `=` has an empty value.
    public struct Item: Sendable, Equatable {
        /// The decoded name.
        public let name: String
        /// The decoded value.
        public let value: String

        /// Creates a parameter from its decoded name and value.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// All parameters in the order of the request.
    public private(set) var items: [Item]

    /// Creates a query of these parameters.
    public init(_ items: [Item] = []) {
        self.items = items
    }

    /// Parses the text after the `?` of a request target. Returns `nil` if a percent escape is invalid or the decoded
    /// bytes are not UTF-8.
    public init?(parsing text: some Collection<UInt8>) {
        guard let query = Array(text).withUnsafeBufferPointer({ Query($0) }) else { return nil }
        self = query
    }

    /// Parses the bytes after the `?` of a request target; see ``init(parsing:)``.
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        items = []
        var start = 0
        while start < text.count {
            let end = text[start...].firstIndex(of: 0x26) ?? text.count
            let equals = text[start..<end].firstIndex(of: 0x3D) ?? end
            defer { start = end + 1 }
            guard start < end else { continue }
            guard
                let name = PercentEncoding.decode(
                    UnsafeBufferPointer(rebasing: text[start..<equals]), plusIsSpace: true),
                let value = PercentEncoding.decode(
                    UnsafeBufferPointer(rebasing: text[min(equals + 1, end)..<end]), plusIsSpace: true)
            else { return nil }
            if items.isEmpty { items.reserveCapacity(4) }
            items.append(Item(name: name, value: value))
        }
    }

    /// The first value with this name; `nil` when there is none.
    public subscript(name: String) -> String? {
        items.first { $0.name == name }?.value
    }

    /// All values with this name, in order.
    public subscript(all name: String) -> [String] {
        items.compactMap { $0.name == name ? $0.value : nil }
    }
}

extension PercentEncoding {
    /// Decodes a percent-encoded path segment. Returns `nil` if ``decode(_:plusIsSpace:)`` does or if the result
    /// contains a control character, because a NUL or a line break could attack code that stores or logs the name.
    static func decodeSegment(_ bytes: some Collection<UInt8>) -> String? {
        guard let text = decode(bytes), !text.utf8.contains(where: ASCII.isControl) else { return nil }
        return text
    }
}
