import JSON

// The reading and printing of chat records. The store, the events and the native API share one form. The values that
// only the store has (etag, time of the last change) come from the record.

extension JSONValue {
    /// A member that is a text; nil when it is absent, null or of another type.
    func text(_ name: String) -> String? { self[name]?.string }

    /// A member that is a timetoken; zero when it is not.
    func timetoken(_ name: String) -> Timetoken { text(name).flatMap { Timetoken(text: $0) } ?? .zero }

    func flag(_ name: String) -> Bool { self[name]?.boolean ?? false }

    func count(_ name: String) -> Int { self[name]?.integer.map { Int($0) } ?? 0 }

    /// A member whose members are texts; members of other types are left out.
    func texts(_ name: String) -> [String: String] {
        var texts: [String: String] = [:]
        for (name, value) in self[name]?.members ?? [] { texts[name] = value.string }
        return texts
    }
}

extension JSONWriter {
    /// Prints the member, or null, so that readers of a record see every field that can be set.
    mutating func nullable(_ name: StaticString, _ value: String?) {
        if let value { member(name, value) } else { nullMember(name) }
    }

    mutating func nullable(_ name: StaticString, _ value: JSONText?) { member(name, value ?? .null) }

    /// Prints the position, or null for zero.
    mutating func nullable(_ name: StaticString, _ position: Timetoken) {
        nullable(name, position == .zero ? nil : position.description)
    }

    mutating func member(_ name: StaticString, _ texts: [String: String]) {
        key(name)
        beginObject()
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
            key(text: name)
            string(text)
        }
        endObject()
    }
}

extension JSONText {
    /// A member's bytes, with the digits of numbers unchanged; nil when it is absent or null.
    func part(_ name: String) -> JSONText? {
        guard let part = rawMember(name), part != .null else { return nil }
        return part
    }
}
