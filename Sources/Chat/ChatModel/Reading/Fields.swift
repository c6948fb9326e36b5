public import JSON

/// Reads the members of a JSON object from a request strictly: an unknown name or a wrong type is an error with its
/// location. Every module uses this type to read JSON objects of requests.
///
/// The text is checked once, as a whole. ``raw(_:)`` returns the bytes of a member as they were sent.
public struct Fields: Sendable {
    /// The JSON pointer of this object in the body, such as `#` or `#/events/3`.
    public let pointer: String
    private let object: JSONMembers
    /// The members in the order in which they were sent, each value with its bytes.
    public var members: [(name: String, value: JSONText)] { object.all }

    /// Reads the body of a request.
    ///
    /// - Parameter known: the names of all members that the route reads; nil allows any name.
    /// - Throws: the errors of ``document(_:limits:)``; `ChatError` `.malformed` when the body is not an object or has
    ///   unknown members.
    public init(_ body: [UInt8], limits: Limits, known: [String]?) throws {
        let object: JSONMembers?
        do throws(JSONError) {
            object = try JSONMembers(parsing: body, limits: JSONLimits(depth: limits.jsonDepth), numbers: .lenient)
        } catch {
            try Self.requireContent(of: body)
            throw error
        }
        guard let object else { throw Self.noObject(try Self.parse(body, limits: limits).text, at: "#") }
        try self.init(object, pointer: "#", known: known)
    }

    /// Reads the object of a body that has been checked.
    ///
    /// - Throws: `.malformed` when the body is not an object or has members that are not in `known`.
    public init(_ document: JSONDocument, known: [String]?) throws(ChatError) {
        guard let object = JSONMembers(document) else { throw Self.noObject(document.text, at: "#") }
        try self.init(object, pointer: "#", known: known)
    }

    /// Reads an object inside a body that has been checked.
    ///
    /// - Throws: `.malformed` when the value is not an object or has members that are not in `known`; nil allows any
    ///   name.
    public init(_ text: JSONText, pointer: String, known: [String]?) throws(ChatError) {
        guard let object = JSONMembers(text) else { throw Self.noObject(text, at: pointer) }
        try self.init(object, pointer: pointer, known: known)
    }

    private init(_ object: JSONMembers, pointer: String, known: [String]?) throws(ChatError) {
        self.pointer = pointer
        self.object = object
        if let known { try refuseUnknown(known) }
    }

    /// Checks a body that must not be empty.
    ///
    /// - Throws: `ChatError` `.malformed`, slug `member_missing`, for a body that is empty or only white space;
    ///   `JSONError` with the position.
    public static func document(_ body: [UInt8], limits: Limits) throws -> JSONDocument {
        try requireContent(of: body)
        return try parse(body, limits: limits)
    }

    private static func requireContent(of body: [UInt8]) throws(ChatError) {
        guard body.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }) else {
            throw fault(
                "#", "required", "the body must be a JSON object; send {} for an object without members",
                slug: "member_missing")
        }
    }

    private static func noObject(_ text: JSONText, at pointer: String) -> ChatError {
        wrongType(pointer, expected: "object", text.kind)
    }

    /// Checks a body with the gateway's rules for JSON: limited depth, no duplicate name in an object, and integers of
    /// any size, so that a payload keeps its digits.
    ///
    /// - Throws: `JSONError` with the position.
    public static func parse(_ body: [UInt8], limits: Limits) throws(JSONError) -> JSONDocument {
        try JSONDocument(body, limits: JSONLimits(depth: limits.jsonDepth), numbers: .lenient)
    }

    /// True when the member was sent, even as `null`.
    public func has(_ name: String) -> Bool { object[name] != nil }

    /// The member's bytes as they were sent, including `null`; nil when the member was not sent.
    public func raw(_ name: String) -> JSONText? { object[name]?.text }

    /// The value of a member; nil when the member was not sent or is `null`.
    public func member(_ name: String) -> JSONPart? {
        guard let member = object[name], !member.isNull else { return nil }
        return member
    }
}

// MARK: - Values. Each method returns nil when the member was not sent or is `null`.

extension Fields {
    /// Reads a text member. Nil when the member was not sent or is `null`.
    ///
    /// - Throws: `.malformed` for a member of another type.
    public func string(_ name: String) throws(ChatError) -> String? {
        guard let member = member(name) else { return nil }
        return try string(name, of: member)
    }

    /// Reads one of ``members`` as a text. Nil when it is `null`.
    ///
    /// - Throws: `.malformed` for a member of another type.
    public func string(of member: (name: String, value: JSONText)) throws(ChatError) -> String? {
        let value = JSONPart(member.value)
        return value.isNull ? nil : try string(member.name, of: value)
    }

    private func string(_ name: String, of member: JSONPart) throws(ChatError) -> String {
        guard let text = member.string else { throw wrongType(name, expected: "string", member.kind) }
        return text
    }

    /// Reads a text whose length in bytes of UTF-8 is within bounds. Nil when the member was not sent or is `null`.
    ///
    /// - Throws: `.malformed` for another type or length.
    public func string(_ name: String, bytes: ClosedRange<Int>) throws(ChatError) -> String? {
        guard let text = try string(name) else { return nil }
        guard bytes.contains(text.utf8.count) else {
            throw fault(name, "length", "must be \(bytes.lowerBound) to \(bytes.upperBound) bytes long")
        }
        return text
    }

    /// Reads a text whose number of characters (Unicode scalars) is within bounds. Nil when the member was not sent or
    /// is `null`.
    ///
    /// - Throws: `.malformed` for another type or length.
    public func string(_ name: String, characters: ClosedRange<Int>) throws(ChatError) -> String? {
        guard let text = try string(name) else { return nil }
        guard characters.contains(text.unicodeScalars.count) else {
            throw fault(
                name, "length", "must be \(characters.lowerBound) to \(characters.upperBound) characters long")
        }
        return text
    }

    /// Reads a Boolean. Nil when the member was not sent or is `null`.
    ///
    /// - Throws: `.malformed` for a member of another type.
    public func boolean(_ name: String) throws(ChatError) -> Bool? {
        guard let member = member(name) else { return nil }
        guard let flag = member.boolean else { throw wrongType(name, expected: "boolean", member.kind) }
        return flag
    }

    /// Reads a list of texts. Nil when the member was not sent or is `null`.
    ///
    /// - Throws: `.malformed` when it is not a list, or an element is not a text.
    public func strings(_ name: String) throws(ChatError) -> [String]? {
        guard let elements = try elements(name, of: "strings") else { return nil }
        var texts: [String] = []
        for (index, element) in elements.enumerated() {
            guard let text = element.string else {
                throw wrongType("\(name)/\(index)", expected: "string", element.kind)
            }
            texts.append(text)
        }
        return texts
    }

    /// Reads a list of texts with a number of elements within `count`. Nil when the member was not sent or is `null`.
    ///
    /// - Throws: `.malformed` for another type or number of elements.
    public func strings(_ name: String, count: ClosedRange<Int>) throws(ChatError) -> [String]? {
        guard let texts = try strings(name) else { return nil }
        try require(texts.count, of: name, count)
        return texts
    }

    private func elements(_ name: String, of what: String) throws(ChatError) -> [JSONValue]? {
        guard let member = member(name) else { return nil }
        guard let elements = member.value?.elements else {
            throw wrongType(name, expected: "array of \(what)", member.kind)
        }
        return elements
    }

    private func require(_ number: Int, of name: String, _ count: ClosedRange<Int>) throws(ChatError) {
        guard !count.contains(number) else { return }
        throw fault(name, "items", "must have \(count.lowerBound) to \(count.upperBound) elements; got \(number)")
    }

    /// Reads a whole number. `24.0` is accepted, because JSON does not distinguish integers from other numbers. Nil
    /// when the member was not sent or is `null`.
    ///
    /// - Throws: `.malformed` for another type, a fraction, or a number outside `range`.
    public func integer(_ name: String, in range: ClosedRange<Int>) throws(ChatError) -> Int? {
        guard let member = member(name) else { return nil }
        let whole = member.value?.double.flatMap { Int(exactly: $0) }
        guard whole != nil || member.kind == .integer else {
            throw wrongType(name, expected: "integer", member.kind)
        }
        guard let whole, range.contains(whole) else {
            throw fault(name, "range", "must be \(range.lowerBound) to \(range.upperBound)")
        }
        return whole
    }

    /// Reads a number within a range. Nil when the member was not sent or is `null`.
    ///
    /// - Throws: `.malformed` for another type, or a number outside `range`.
    public func number(_ name: String, in range: ClosedRange<Double>) throws(ChatError) -> Double? {
        guard let value = member(name)?.value else { return nil }
        return try number(value, at: name, in: range)
    }

    /// Reads a list of numbers with a number of elements within `count`. Nil when the member was not sent or is `null`.
    ///
    /// - Throws: `.malformed` for another type or number of elements, or an element outside `range`.
    public func numbers(
        _ name: String, count: ClosedRange<Int>, in range: ClosedRange<Double>
    ) throws(ChatError) -> [Double]? {
        guard let elements = try elements(name, of: "numbers") else { return nil }
        try require(elements.count, of: name, count)
        var numbers: [Double] = []
        for (index, element) in elements.enumerated() {
            numbers.append(try number(element, at: "\(name)/\(index)", in: range))
        }
        return numbers
    }

    private func number(
        _ value: JSONValue, at name: String, in range: ClosedRange<Double>
    ) throws(ChatError) -> Double {
        guard let number = value.double else { throw wrongType(name, expected: "number", value.kind) }
        guard range.contains(number) else {
            func text(_ bound: Double) -> String { Int64(exactly: bound).map(String.init) ?? "\(bound)" }
            throw fault(name, "range", "must be \(text(range.lowerBound)) to \(text(range.upperBound))")
        }
        return number
    }

    /// Reads a text that is a raw value of an enumeration. Nil when the member was not sent or is `null`.
    ///
    /// - Throws: `.malformed` for another type, or a text that is not accepted. The message lists the accepted texts.
    public func word<Choice: RawRepresentable & CaseIterable>(
        _ name: String, _: Choice.Type
    ) throws(ChatError) -> Choice?
    where Choice.RawValue == String {
        try choice(name, Choice.allCases.map { ($0.rawValue, $0) })
    }

    /// Reads a text that is one of the given words. Returns the value of the word. Nil when the member was not sent or
    /// is `null`.
    ///
    /// - Throws: `.malformed` for another type, or a text that is not accepted. The message lists the accepted texts.
    public func choice<Value>(
        _ name: String, _ choices: [(word: String, value: Value)]
    ) throws(ChatError) -> Value? {
        guard let text = try string(name) else { return nil }
        guard let choice = choices.first(where: { $0.word == text }) else {
            let known = choices.map { "'\($0.word)'" }.joined(separator: ", ")
            throw fault(name, "enum", "must be one of \(known)")
        }
        return choice.value
    }

    /// Reads the timetoken of an event, sent as a timetoken or as the event's id. Nil when the member was not sent or
    /// is `null`.
    ///
    /// - Throws: `.malformed` for another type, or a text that is neither a timetoken of 17 digits nor an event id.
    public func timetoken(_ name: String) throws(ChatError) -> Timetoken? {
        guard let text = try string(name) else { return nil }
        guard let timetoken = Timetoken(ofEvent: text) else {
            throw fault(name, "format", "must be a timetoken of 17 digits in a string, or an event id, evt_…")
        }
        return timetoken
    }

    /// Reads a time in RFC 3339 format. Nil when the member was not sent or is `null`.
    ///
    /// - Throws: `.malformed` for another type, or a text that is not such a time.
    public func time(_ name: String) throws(ChatError) -> Timetoken? {
        guard let text = try string(name) else { return nil }
        guard let time = Timestamp.read(text) else {
            throw fault(name, "format", "must be an RFC 3339 time like 2030-01-31T12:00:00Z")
        }
        return time
    }

    /// Reads a position in the event log, sent as a timetoken, an event id or a time. Nil when the member was not sent
    /// or is `null`.
    ///
    /// - Throws: `.malformed` for another type, or a text in none of these forms.
    public func position(_ name: String) throws(ChatError) -> Timetoken? {
        guard let text = try string(name) else { return nil }
        guard let position = Timetoken(position: text) else { throw fault(name, "format", Self.positionRule) }
        return position
    }

    /// The accepted forms of a position in the event log, as text for error messages.
    public static let positionRule =
        "must be a timetoken of 17 digits, an event id, '0', or an RFC 3339 time, like 2030-01-31T12:00:00Z"

    /// Reads a list of 1 to `most` channel patterns. Nil when the member was not sent or is `null`.
    ///
    /// - Throws: `.malformed` with an error for each invalid pattern.
    public func channelPatterns(_ name: String, most: Int) throws(ChatError) -> [NamePattern]? {
        try namePatterns(name, most: most) { name throws(ChatError) in try Names.check(channel: name) }
    }

    /// Reads a list of 1 to `most` patterns of event types. Nil when the member was not sent or is `null`.
    ///
    /// - Throws: `.malformed` with an error for each invalid pattern.
    public func typePatterns(_ name: String, most: Int) throws(ChatError) -> [NamePattern]? {
        try namePatterns(name, most: most) { name throws(ChatError) in try Names.check(type: name) }
    }

    private func namePatterns(
        _ name: String, most: Int, of check: (String) throws(ChatError) -> Void
    ) throws(ChatError) -> [NamePattern]? {
        guard let texts = try strings(name, count: 1...most) else { return nil }
        var faults = ValidationErrors()
        let patterns = NamePattern.list(texts, of: check) { index, detail in
            faults.add(fault("\(name)/\(index)", "pattern", detail))
        }
        try faults.check()
        return patterns
    }

    /// Reads a member that is an object. Nil when the member was not sent or is `null`.
    ///
    /// - Throws: `.malformed` for another type, or an object with members that are not in `known`.
    public func object(_ name: String, known: [String]?) throws(ChatError) -> Fields? {
        guard let member = member(name) else { return nil }
        return try Fields(member.text, pointer: pointer(to: name), known: known)
    }

    /// Returns the value of a required member.
    ///
    /// - Throws: `.malformed`, slug `member_missing`, when `value` is nil.
    public func required<Value>(_ name: String, _ value: Value?) throws(ChatError) -> Value {
        guard let value else { throw missing("member '\(name)'") }
        return value
    }
}

// MARK: - Errors

extension Fields {
    /// An error about one member, or about the object itself.
    ///
    /// - Parameter name: the member, or the path of a value in it, such as `channels/3`; nil for the object itself.
    public func fault(
        _ name: String?, _ keyword: String, _ detail: String, slug: String = "bad_member"
    ) -> ChatError {
        Self.fault(name.map(pointer(to:)) ?? pointer, keyword, detail, slug: slug)
    }

    /// The error for a missing member or value, which `what` describes: `.malformed`, slug `member_missing`.
    public func missing(_ what: String) -> ChatError {
        fault(nil, "required", "missing \(what)", slug: "member_missing")
    }

    /// Creates a `.malformed` error about the value at a JSON pointer in the body.
    public static func fault(_ pointer: String, _ keyword: String, _ detail: String, slug: String) -> ChatError {
        var error = ChatError(.malformed, "\(pointer): \(detail)", slug: slug)
        error.faults = [ChatError.FieldError(pointer: pointer, keyword: keyword, detail: detail)]
        return error
    }

    private func wrongType(_ name: String, expected: String, _ kind: JSONValue.Kind) -> ChatError {
        Self.wrongType(pointer(to: name), expected: expected, kind)
    }

    /// The error for a value of the wrong type.
    public static func wrongType(_ pointer: String, expected: String, _ kind: JSONValue.Kind) -> ChatError {
        fault(pointer, "type", "expected \(expected), got \(kind.name)", slug: "wrong_type")
    }

    /// Returns the JSON pointer of a member of this object, or of a value in the member.
    ///
    /// - Parameter name: the name of a member as it was sent, or a path whose first part is the name of a member.
    private func pointer(to name: String) -> String {
        guard !has(name), let slash = name.firstIndex(of: "/") else { return pointer + "/" + JSONPointer.escaped(name) }
        return pointer + "/" + JSONPointer.escaped(String(name[..<slash])) + name[slash...]
    }

    /// The error for an unknown member. Its message suggests the most similar known name.
    public func unknown(_ name: String, known: [String]) -> ChatError {
        let fault = ChatError.FieldError.unknown(name, in: pointer, known: known)
        return Self.fault(fault.place, fault.keyword, fault.detail, slug: "unknown_member")
    }

    /// The maximum number of errors in one response. The first few are enough for a client that gets every member
    /// wrong.
    private static let faultsListed = 10

    /// Rejects members whose names are not in `known`.
    ///
    /// - Throws: `.malformed`, slug `unknown_member`, with an error for each of the first unknown members. Each
    ///   suggests the most similar known name.
    public func refuseUnknown(_ known: [String]) throws(ChatError) {
        let unknown = object.names(otherThan: known)
        guard !unknown.isEmpty else { return }
        let faults = unknown.prefix(Self.faultsListed).map { name in
            ChatError.FieldError.unknown(name, in: pointer, known: known)
        }
        var error = ChatError(.malformed, "\(faults[0].place): \(faults[0].detail)", slug: "unknown_member")
        error.faults = Array(faults)
        throw error
    }
}

extension JSONValue.Kind {
    /// The name of this type of JSON value in JSON Schema, such as `string`.
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

/// Collects the errors in the members of one object, to report all of them in one error.
public struct ValidationErrors: Sendable {
    /// The errors, in the order in which they were added.
    public private(set) var faults: [ChatError.FieldError] = []
    private var slug: String?

    /// Creates a collection without errors.
    public init() {}

    /// True when no error was added.
    public var isEmpty: Bool { faults.isEmpty }

    /// Adds the field errors of `error`, or its message when it has none.
    public mutating func add(_ error: ChatError) {
        if faults.isEmpty { slug = error.slug }
        faults +=
            error.faults.isEmpty
            ? [ChatError.FieldError(pointer: "#", keyword: error.slug ?? "invalid", detail: error.message)]
            : error.faults
    }

    /// Calls `read` and returns its result. If `read` throws an error, adds the error to the collection and returns
    /// nil.
    @discardableResult
    public mutating func reading<Value>(_ read: () throws(ChatError) -> Value) -> Value? {
        do throws(ChatError) {
            return try read()
        } catch {
            add(error)
            return nil
        }
    }

    /// Throws the collected errors, if there are any.
    ///
    /// - Throws: `.malformed` with all field errors, and with the slug and the text of the first one.
    public func check() throws(ChatError) {
        guard let first = faults.first else { return }
        var error = ChatError(.malformed, "\(first.place): \(first.detail)", slug: slug ?? "bad_member")
        error.faults = faults
        throw error
    }
}
