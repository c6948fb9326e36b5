import JSON

/// A request's body made of a document and of options, which win over it.
enum RequestDocument {
    /// - Parameters:
    ///   - document: an object: JSON, `@FILE`, or `-` for the standard input; nil: none.
    ///   - options: members that options give, in their order; nil ones were not given.
    /// - Throws: as wrong usage when the document is no JSON object.
    static func object(
        _ document: String?, _ options: [(name: String, value: JSONText?)]
    ) throws(CommandFailure) -> JSONText {
        var members: [(name: String, value: JSONText)] = []
        if let document {
            guard let given = try InputText.json(document, "the document").rawMembers() else {
                throw CommandFailure("the document must be a JSON object", code: 2)
            }
            members = given
        }
        for (name, value) in options {
            guard let value else { continue }
            members.removeAll { $0.name == name }
            members.append((name, value))
        }
        return JSONText(members: members)
    }
}

extension JSONText {
    /// A text of an option; nil when it was not given.
    init?(option text: String?) {
        guard let text else { return nil }
        self.init(string: text)
    }

    /// JSON of an option, as ``InputText`` takes it; nil when it was not given.
    init?(option argument: String?, named name: String) throws(CommandFailure) {
        guard let argument else { return nil }
        self = try InputText.json(argument, name)
    }
}
