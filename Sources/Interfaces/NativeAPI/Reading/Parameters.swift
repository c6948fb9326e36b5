import ChatCore
import ChatModel
import HTTPServer
import JSON

/// The query of a request, parsed strictly. An unknown parameter is an error, because ignoring a misspelled filter
/// would return, or delete, more than intended.
struct Parameters {
    private let query: Query

    /// Parses a query.
    ///
    /// - Parameters:
    ///   - known: the names of all parameters that the route accepts.
    ///   - advice: for some names that the route does not accept, the request to send instead.
    /// - Throws: `.malformed`, slug `unknown_parameter`, with the most similar name or the accepted names.
    init(_ query: Query, known: [String], advice: [String: String] = [:]) throws(ChatError) {
        self.query = query
        guard let first = query.items.first(where: { !known.contains($0.name) })?.name else { return }
        let unknown = query.items.map { $0.name }.filter { !known.contains($0) }
        let accepted = AcceptedNames(known)
        func hint(_ name: String) -> String { advice[name].map { "; " + $0 } ?? accepted.hint(for: name) }
        // Names are truncated, so that the error is not as long as the request.
        var error = ChatError(
            .malformed, "unknown query parameter '\(first.prefix(64))'\(hint(first))", slug: "unknown_parameter")
        error.faults = unknown.prefix(Self.faultsListed).map { name in
            ChatError.FieldError(
                at: .parameter(String(name.prefix(64))), keyword: "unknown",
                detail: "unknown query parameter\(hint(name))")
        }
        throw error
    }

    /// The advice for the parameter `filter` on the list of one channel's events, which does not support filters.
    static let filterAdvice = ["filter": "send GET /v1/events?channel=…&filter=…"]

    /// The maximum number of listed errors.
    private static let faultsListed = 10

    /// The value of a parameter that may occur only once; nil when absent.
    func text(_ name: String) throws(ChatError) -> String? {
        var value: String?
        for item in query.items where item.name == name {
            guard value == nil else { throw Self.bad(name, "must be sent only once", keyword: "repeated") }
            value = item.value
        }
        return value
    }

    /// All values of a parameter that may be repeated.
    func texts(_ name: String) -> [String] { query[all: name] }

    func integer(_ name: String, in range: ClosedRange<Int>) throws(ChatError) -> Int? {
        guard let text = try text(name) else { return nil }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int(text), range.contains(value) else {
            throw Self.bad(
                name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)", keyword: "range")
        }
        return value
    }

    /// The value of a parameter that is `true` or `false`; false when absent.
    func flag(_ name: String) throws(ChatError) -> Bool {
        switch try text(name) {
        case nil, "false": false
        case "true": true
        default: throw Self.bad(name, "must be 'true' or 'false'", keyword: "enum")
        }
    }

    /// The value of a parameter as a case of an enumeration; nil when absent.
    func word<Choice: RawRepresentable & CaseIterable>(
        _ name: String, _ type: Choice.Type = Choice.self
    ) throws(ChatError) -> Choice? where Choice.RawValue == String {
        guard let text = try text(name) else { return nil }
        return try Self.word(text, name)
    }

    /// The values of a repeatable parameter as cases of an enumeration.
    func words<Choice: RawRepresentable & CaseIterable & Hashable>(
        _ name: String, _ type: Choice.Type = Choice.self
    ) throws(ChatError) -> Set<Choice> where Choice.RawValue == String {
        var words: Set<Choice> = []
        for text in texts(name) { words.insert(try Self.word(text, name)) }
        return words
    }

    private static func word<Choice: RawRepresentable & CaseIterable>(
        _ text: String, _ name: String
    ) throws(ChatError) -> Choice where Choice.RawValue == String {
        guard let word = Choice(rawValue: text) else {
            let known = Choice.allCases.map { "'\($0.rawValue)'" }
            let rest = known.dropLast().joined(separator: ", ")
            throw bad(name, "must be \(rest.isEmpty ? "" : rest + " or ")\(known.last ?? "")", keyword: "enum")
        }
        return word
    }

    /// A position in the log, given as a timetoken, an event id or a time; nil when the parameter is absent.
    func position(_ name: String) throws(ChatError) -> Timetoken? {
        guard let text = try text(name) else { return nil }
        guard let value = Timetoken(position: text) else { throw Self.bad(name, Fields.positionRule) }
        return value
    }

    /// The error for an invalid parameter, with the same wording on every route.
    ///
    /// - Parameter keyword: the name of the rule that the parameter's value violates, such as `format`.
    static func bad(_ name: String, _ what: String, keyword: String = "format") -> ChatError {
        var error = ChatError(.malformed, "query parameter '\(name)' \(what)", slug: "bad_parameter")
        error.faults = [ChatError.FieldError(at: .parameter(name), keyword: keyword, detail: what)]
        return error
    }
}

extension Parameters {
    /// The parameter that names the objects to include with events.
    static let include = "include"

    /// The objects that `include` names, separated by commas or in repeated parameters.
    ///
    /// - Throws: `.malformed`, slug `bad_parameter`, for any other name.
    func included() throws(ChatError) -> Set<IncludedObject> {
        let names = texts(Self.include).flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
            .map(String.init)
        let (objects, index) = IncludedObject.objects(named: names)
        guard let unknown = index.map({ names[$0] }) else { return objects }
        let nearest = NameSuggester(IncludedObject.allCases.map(\.rawValue)).nearest(to: unknown)
        throw Self.bad(
            Self.include,
            "must be one or more of \(IncludedObject.choices), separated by commas; got '\(unknown.prefix(64))'"
                + (nearest.map { "; did you mean '\($0)'?" } ?? ""), keyword: "enum")
    }

    /// The page's `limit`. Its upper bound is lower when objects are included.
    ///
    /// - Throws: `.malformed` for a number out of range.
    func pageLimit(_ limits: Limits) throws(ChatError) -> Int {
        let most = try included().isEmpty ? limits.pageMost : min(limits.pageMost, IncludedObject.pageMost)
        return try integer("limit", in: 1...most) ?? min(limits.pageDefault, most)
    }
}
