import JSON

// How the records of the chat are read and printed. One shape serves the store, the events and the native API, so that
// whoever has read one has read all; what only the store knows (etag, time of the last change) comes from the record.

extension JSONValue {
    /// A member that is a text; nil when it is absent, null or something else.
    func text(_ name: String) -> String? { self[name]?.string }

    /// A member that is a timetoken; zero when there is none.
    func timetoken(_ name: String) -> Timetoken { text(name).flatMap { Timetoken(text: $0) } ?? .zero }

    func flag(_ name: String) -> Bool { self[name]?.boolean ?? false }

    func count(_ name: String) -> Int { self[name]?.integer.map { Int($0) } ?? 0 }

    /// A member whose members are texts; those that are not are left out.
    func texts(_ name: String) -> [String: String] {
        var texts: [String: String] = [:]
        for (name, value) in self[name]?.members ?? [] { texts[name] = value.string }
        return texts
    }
}

extension JSONWriter {
    /// Prints the member, or null: clients that read records want to see what could be set.
    mutating func nullable(_ name: StaticString, _ value: String?) {
        if let value { member(name, value) } else { nullMember(name) }
    }

    mutating func nullable(_ name: StaticString, _ value: JSONText?) { member(name, value ?? .null) }

    /// Prints the position, or null where there is none.
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
    /// A member's bytes as they are, digits of numbers included; nil when it is absent or null.
    func part(_ name: String) -> JSONText? {
        guard let part = rawMember(name), part != .null else { return nil }
        return part
    }
}
