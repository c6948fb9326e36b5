import JSON

/// A set of JSON values. Values are equal if `enum` treats them as equal.
struct ValueSet {
    private var buckets: [UInt64: [JSONValue]] = [:]

    init(_ values: [JSONValue]) {
        for value in values { buckets[Self.hash(value), default: []].append(value) }
    }

    func contains(_ value: JSONValue) -> Bool {
        buckets[Self.hash(value)]?.contains { Self.areEqual($0, value) } ?? false
    }

    private static func hash(_ value: JSONValue) -> UInt64 {
        withExtendedLifetime(value) { PublicAccess.hash(value.node, seed: .random) }
    }

    static func areEqual(_ left: JSONValue, _ right: JSONValue) -> Bool {
        withExtendedLifetime((left, right)) { PublicAccess.areEqual(left.node, right.node) }
    }
}

extension JSONText {
    /// Creates a text by printing a parsed value.
    init(printing value: JSONValue) { self.init { $0.value(value) } }
}

extension JSONWriter {
    fileprivate mutating func value(_ value: JSONValue) {
        switch value.kind {
        case .null: null()
        case .boolean: boolean(value.boolean == true)
        case .integer: integer(value.integer ?? 0)
        // Swift prints the shortest digits that are parsed as the same double. The format is valid JSON.
        case .real: raw(JSONText(trusted: Array((value.double ?? 0).description.utf8)))
        case .string: string(value.string ?? "")
        case .array:
            beginArray()
            for element in value.elements ?? [] { self.value(element) }
            endArray()
        case .object:
            beginObject()
            for member in value.members ?? [] {
                key(text: member.name)
                self.value(member.value)
            }
            endObject()
        }
    }
}
