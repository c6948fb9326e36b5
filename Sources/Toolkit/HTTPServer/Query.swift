/// The parameters behind the `?` of a request target, in order, a name as often as it came.
///
/// Decoded as browsers and SDKs write them: percent escapes, and `+` for a space
/// (WHATWG URL, application/x-www-form-urlencoded).
public struct Query: Sendable, Equatable {
    /// One `name=value`; a name without `=` has an empty value.
    public struct Item: Sendable, Equatable {
        public let name: String
        public let value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Every parameter in the order of the request.
    public private(set) var items: [Item]

    public init(_ items: [Item] = []) {
        self.items = items
    }

    /// Reads the text between `?` and the end of the target; `nil` for a broken escape or bytes that are not UTF-8.
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

    /// The first value of that name.
    public subscript(name: String) -> String? {
        items.first { $0.name == name }?.value
    }

    /// Every value of that name, in order.
    public subscript(all name: String) -> [String] {
        items.compactMap { $0.name == name ? $0.value : nil }
    }

    /// Whether no parameter was given.
    public var isEmpty: Bool { items.isEmpty }
}
