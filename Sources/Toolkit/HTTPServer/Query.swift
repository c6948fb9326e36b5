import Text

/// The parameters after the `?` of a request target, in order. A name may occur more than once.
///
/// Decoded in the form that browsers and SDKs use: percent escapes, and `+` for a space (WHATWG URL,
/// application/x-www-form-urlencoded).
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

    /// Reads the text between `?` and the end of the target. Returns `nil` for a broken escape or bytes that are not
    /// UTF-8.
    public init?(parsing text: some Collection<UInt8>) {
        items = []
        guard !text.isEmpty else { return }
        for pair in text.split(separator: 0x26) {
            let equals = pair.firstIndex(of: 0x3D) ?? pair.endIndex
            let rest = equals == pair.endIndex ? pair[equals...] : pair[pair.index(after: equals)...]
            guard
                let name = PercentEncoding.decode(pair[..<equals], plusIsSpace: true),
                let value = PercentEncoding.decode(rest, plusIsSpace: true)
            else { return nil }
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

    /// True when there is no parameter.
    public var isEmpty: Bool { items.isEmpty }
}

extension PercentEncoding {
    /// Decodes a path segment. Returns `nil` where ``decode(_:plusIsSpace:)`` does, and for control characters: a NUL
    /// or a line break in a name is an attack on code that later stores or logs it.
    static func decodeSegment(_ bytes: some Collection<UInt8>) -> String? {
        guard let text = decode(bytes), !text.utf8.contains(where: ASCII.isControl) else { return nil }
        return text
    }
}
