import GatewayClient
import JSON

/// A column of a table: its title, and the text for each element.
struct Column: Sendable {
    let title: String
    let text: @Sendable (JSONValue, JSONText) -> String

    /// Creates a column that shows one member of each element.
    ///
    /// - Parameters:
    ///   - member: the path of the member, with dots between the names.
    ///   - title: the title of the column; nil to use the path, with spaces instead of `_`.
    init(_ member: String, title: String? = nil) {
        let path = member.split(separator: ".").map(String.init)
        self.init(title: title ?? member.replacing("_", with: " ")) { ResourceOutput.text(at: path, in: $0, $1) }
    }

    /// Creates a column whose text is computed, for instance from several members.
    ///
    /// - Parameter text: returns the text for an element.
    init(title: String, text: @escaping @Sendable (JSONValue, JSONText) -> String) {
        self.title = title
        self.text = text
    }
}

/// Prints resources of the gateway, as text or as JSON.
struct ResourceOutput: Sendable {
    let console: Console
    let isJSON: Bool

    /// Prints a list: as a table, or as one line of JSON for each element.
    func list(
        _ pages: PagedList, limit: Int = .max, columns: [Column], empty: String
    ) async throws {
        var table = Table(columns.map(\.title))
        var isEmpty = true
        let hasMore = try await pages.each(limit: limit) { text, value in
            isEmpty = false
            if isJSON {
                console.output.line(text.onOneLine().bytes)
            } else {
                table.add(columns.map { $0.text(value, text) })
            }
        }
        guard !isJSON else { return }
        if isEmpty { return console.errors.line(empty) }
        for line in table.lines(console.output.style) { console.output.line(line) }
        if hasMore { console.errors.line("there are more elements; use a larger --limit") }
    }

    /// Prints one resource: its members, one per line, or the JSON object.
    ///
    /// - Parameters:
    ///   - secrets: members to leave out, also in the JSON.
    ///   - words: texts to print instead of the values of members, by member name. Not used for JSON.
    ///   - list: a member that is an array of objects, printed as a table below the other members.
    func show(
        _ answer: GatewayResponse, omitting secrets: Set<String> = [], wording words: [String: String] = [:],
        tabulating list: String? = nil, as columns: [Column] = []
    ) {
        guard let document = answer.document else { return }
        let members = (document.text.rawMembers() ?? [("", document.text)]).filter { !secrets.contains($0.name) }
        guard !isJSON else {
            let text = secrets.isEmpty ? document.text : JSONText(members: members)
            return console.output.line(text.onOneLine().bytes)
        }
        let pairs = members.filter { $0.name != list }.map { member in
            (name: member.name, value: words[member.name] ?? Self.text(document.root[member.name], member.value))
        }
        for line in Table.pairs(pairs, console.output.style) { console.output.line(line) }
        guard let list, let texts = document.text.rawMember(list)?.rawElements(),
            let values = document.root[list]?.elements, !values.isEmpty
        else { return }
        var table = Table(columns.map(\.title))
        for (text, value) in zip(texts, values) {
            table.add(columns.map { $0.text(value, text) })
        }
        console.output.line("")
        for line in table.lines(console.output.style) { console.output.line(line) }
    }

    /// Prints that an operation succeeded, for a request without other output.
    func done(_ verb: String, _ id: String, _ answer: GatewayResponse? = nil) {
        guard isJSON else { return console.output.line("\(console.output.style.good(verb)) \(SanitizedText.safe(id))") }
        if let document = answer?.document { return console.output.line(document.text.onOneLine().bytes) }
        console.output.line(
            JSONText { writer in
                writer.beginObject()
                writer.member("id", id)
                writer.key(text: verb)
                writer.boolean(true)
                writer.endObject()
            }.bytes)
    }

    fileprivate static func text(at path: [String], in value: JSONValue, _ raw: JSONText) -> String {
        var value: JSONValue? = value
        var raw: JSONText? = raw
        for name in path {
            value = value?[name]
            raw = raw?.rawMember(name)
        }
        guard let raw else { return "-" }
        return text(value, raw)
    }

    /// Formats a value for a table: strings without quotes, arrays of strings with commas, other values as JSON.
    private static func text(_ value: JSONValue?, _ raw: JSONText) -> String {
        guard let value, !value.isNull else { return "-" }
        if let string = value.string { return string.isEmpty ? "-" : string }
        if let strings = value.strings { return strings.isEmpty ? "-" : strings.joined(separator: ", ") }
        if let boolean = value.boolean { return boolean ? "yes" : "no" }
        return raw.onOneLine().description
    }
}

extension JSONText {
    /// Creates an object that consists of these members.
    init(members: [(name: String, value: JSONText)]) {
        self.init { writer in
            writer.beginObject()
            for (name, value) in members {
                writer.key(text: name)
                writer.raw(value)
            }
            writer.endObject()
        }
    }
}

extension GatewayOptions {
    /// Reads one resource and prints it.
    func get(_ path: RequestPath, omitting secrets: Set<String> = []) async throws {
        try await withResources { access, output in
            output.show(try await access.send(Call("GET", path)), omitting: secrets)
        }
    }

    /// Deletes the resource at a path, and prints that it was deleted.
    func delete(_ id: String, _ path: RequestPath) async throws {
        try await withResources { access, output in
            output.done("deleted", id, try await access.send(Call("DELETE", path)))
        }
    }

    /// Runs `body` with access to the gateway and the output.
    func withResources(_ body: (GatewayAccess, ResourceOutput) async throws -> Void) async throws {
        try await withGateway { access, commandEnvironment in
            try await body(access, ResourceOutput(console: commandEnvironment.console, isJSON: isJSON))
        }
    }
}
