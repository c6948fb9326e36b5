import ChatModel
import HTTPServer
import JSON

/// The members of a JSON object somebody sent, read strictly: unknown names and wrong types are errors that say where.
///
/// The text is parsed once; `raw` gives a member's bytes as they were written.
struct Fields {
    let value: JSONValue
    /// Where this object stands in the body, for pointers: `#`, `#/events/3`.
    let pointer: String
    /// In the order they were written, each value with its bytes.
    let members: [(name: String, value: JSONText)]

    /// Reads a request's body.
    ///
    /// - Parameter known: every member this route reads; nil where members of any name are welcome.
    /// - Throws: `JSONError` with the position, `ChatError` `.malformed` for what is no object or has unknown members.
    init(_ body: [UInt8], limits: Limits, known: [String]?) throws {
        let document = try Self.parse(body, limits: limits)
        try self.init(document.root, text: document.text, pointer: "#", known: known)
    }

    /// Reads an object inside a body that is parsed already.
    init(_ value: JSONValue, text: JSONText, pointer: String, known: [String]?) throws(ChatError) {
        guard let members = text.rawMembers() else {
            throw Self.wrongType(pointer, expected: "object", value)
        }
        self.value = value
        self.pointer = pointer
        self.members = members
        if let known { try refuseUnknown(known) }
    }

    /// Parses a body as the gateway reads all JSON: bounded depth, no name twice in one object, integers of any size
    /// (a payload keeps its digits; `json-schema.md` 6).
    static func parse(_ body: [UInt8], limits: Limits) throws(JSONError) -> JSONDocument {
        try JSONDocument(body, limits: JSONLimits(depth: limits.jsonDepth), numbers: .lenient)
    }

    /// Whether the member was sent, `null` included.
    func has(_ name: String) -> Bool { members.contains { $0.name == name } }

    /// The member's bytes as they were sent, `null` included; nil when it was not sent.
    func raw(_ name: String) -> JSONText? { members.first { $0.name == name }?.value }

    /// The member; nil when it was not sent or is `null`.
    func member(_ name: String) -> JSONValue? {
        guard has(name), let member = value[name], !member.isNull else { return nil }
        return member
    }

    func string(_ name: String) throws(ChatError) -> String? {
        guard let member = member(name) else { return nil }
        guard let text = member.string else { throw wrongType(name, expected: "string", member) }
        return text
    }

    func boolean(_ name: String) throws(ChatError) -> Bool? {
        guard let member = member(name) else { return nil }
        guard let flag = member.boolean else { throw wrongType(name, expected: "boolean", member) }
        return flag
    }

    func strings(_ name: String) throws(ChatError) -> [String]? {
        guard let member = member(name) else { return nil }
        guard let elements = member.elements else { throw wrongType(name, expected: "array of strings", member) }
        var texts: [String] = []
        for (index, element) in elements.enumerated() {
            guard let text = element.string else {
                throw Self.wrongType(pointer(to: name) + "/\(index)", expected: "string", element)
            }
            texts.append(text)
        }
        return texts
    }

    /// A whole number; `24.0` is one as well (JSON knows one kind of number).
    func integer(_ name: String, in range: ClosedRange<Int>) throws(ChatError) -> Int? {
        guard let member = member(name) else { return nil }
        guard let number = member.double, let whole = Int(exactly: number) else {
            throw wrongType(name, expected: "integer", member)
        }
        guard range.contains(whole) else {
            throw fault(name, "range", "must be \(range.lowerBound) to \(range.upperBound)")
        }
        return whole
    }

    /// The timetoken of an event.
    func timetoken(_ name: String) throws(ChatError) -> Timetoken? {
        guard let text = try string(name) else { return nil }
        guard let timetoken = Timetoken(exactly: text) else {
            throw fault(name, "format", "must be a timetoken: 17 digits in a string")
        }
        return timetoken
    }

    /// A position in the log, as a timetoken or as a time.
    func position(_ name: String) throws(ChatError) -> Timetoken? {
        guard let text = try string(name) else { return nil }
        guard let position = Timetoken(position: text) else { throw fault(name, "format", Parameters.position) }
        return position
    }

    /// The member as an object with members of its own.
    func object(_ name: String, known: [String]?) throws(ChatError) -> Fields? {
        guard let member = member(name), let text = raw(name) else { return nil }
        return try Fields(member, text: text, pointer: pointer(to: name), known: known)
    }

    func required<Value>(_ name: String, _ value: Value?) throws(ChatError) -> Value {
        guard let value else { throw missing("member '\(name)'") }
        return value
    }
}

extension Fields {
    /// An error about one member, or about the object itself.
    func fault(_ name: String?, _ keyword: String, _ detail: String, slug: String = "bad_member") -> ChatError {
        Self.fault(name.map(pointer(to:)) ?? pointer, keyword, detail, slug: slug)
    }

    func missing(_ what: String) -> ChatError { fault(nil, "required", "missing \(what)", slug: "member_missing") }

    static func fault(_ pointer: String, _ keyword: String, _ detail: String, slug: String) -> ChatError {
        var error = ChatError(.malformed, "\(pointer): \(detail)", slug: slug)
        error.faults = [ChatError.Fault(pointer: pointer, keyword: keyword, detail: detail)]
        return error
    }

    private func wrongType(_ name: String, expected: String, _ member: JSONValue) -> ChatError {
        Self.wrongType(pointer(to: name), expected: expected, member)
    }

    static func wrongType(_ pointer: String, expected: String, _ value: JSONValue) -> ChatError {
        fault(pointer, "type", "expected \(expected), got \(value.kind.name)", slug: "wrong_type")
    }

    private func pointer(to name: String) -> String { pointer + "/" + ChatError.Fault.token(name) }

    /// At most so many faults are listed; a sender who gets them all wrong learns as much from the first few.
    private static let faultsListed = 10

    private func refuseUnknown(_ known: [String]) throws(ChatError) {
        let unknown = members.filter { !known.contains($0.name) }
        guard !unknown.isEmpty else { return }
        let faults = unknown.prefix(Self.faultsListed).map { member in
            ChatError.Fault.unknown(member.name, in: pointer, known: known)
        }
        var error = ChatError(.malformed, "\(faults[0].pointer): \(faults[0].detail)", slug: "unknown_member")
        error.faults = Array(faults)
        throw error
    }
}

extension JSONValue.Kind {
    /// As JSON Schema calls it.
    fileprivate var name: String {
        switch self {
        case .object: "object"
        case .array: "array"
        case .string: "string"
        case .integer: "integer"
        case .real: "number"
        case .boolean: "boolean"
        case .null: "null"
        }
    }
}
