import JSON

// Functions that read and print chat records. The store, the events and the native API use the same JSON form. The etag
// and the time of the last change are not in this form: they are stored beside it.

extension JSONValue {
    /// A text member; nil when it is absent, null or of another type.
    func text(_ name: String) -> String? { self[name]?.string }

    /// A timetoken member; zero when it is absent or not a timetoken.
    func timetoken(_ name: String) -> Timetoken { text(name).flatMap { Timetoken(text: $0) } ?? .zero }

    func flag(_ name: String) -> Bool { self[name]?.boolean ?? false }

    func count(_ name: String) -> Int { self[name]?.integer.map { Int($0) } ?? 0 }

    /// An object member with texts as values. Values of other types are left out.
    func texts(_ name: String) -> [String: String] {
        var texts: [String: String] = [:]
        for (name, value) in self[name]?.members ?? [] { texts[name] = value.string }
        return texts
    }
}

extension JSONWriter {
    /// Prints the member, with `null` for nil, so that readers of a record see every field that can be set.
    mutating func nullable(_ name: StaticString, _ value: String?) {
        if let value { member(name, value) } else { nullMember(name) }
    }

    mutating func nullable(_ name: StaticString, _ value: JSONText?) { member(name, value ?? .null) }

    /// Prints a timetoken member, with `null` for zero.
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
    /// The bytes of a member, with the digits of numbers unchanged; nil when the member is absent or null.
    func part(_ name: String) -> JSONText? {
        guard let part = rawMember(name), part != .null else { return nil }
        return part
    }
}
