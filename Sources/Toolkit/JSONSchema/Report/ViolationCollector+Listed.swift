import JSON

extension ViolationCollector {
    /// The failure of `const` and `enum`, with the value that was probably meant.
    mutating func listed(_ wanted: [JSONValue], _ value: JSONValue, _ place: Place) -> Failure {
        let shown = wanted.prefix(8).map { Self.quoted($0) ?? Self.word($0) }
        let all = shown.joined(separator: ", ") + (wanted.count > 8 ? ", …" : "")
        var detail = wanted.count == 1 ? "must be \(all)" : "must be one of \(all)"
        if !place.isRedacted, comparisons > 0, let text = value.string,
            let near = nearest(to: text, among: NameSuggester(wanted.lazy.compactMap(\.string)))
        {
            detail += "; did you mean \"\(near)\"?"
        }
        return Failure(detail: detail, expected: all.count <= 256 ? all : nil)
    }

    /// A value of the schema, when it is short.
    private static func quoted(_ value: JSONValue) -> String? {
        switch value.kind {
        case .string: value.string.flatMap { $0.unicodeScalars.count <= 64 ? "\"\($0)\"" : nil }
        case .integer, .real: printed(value)
        case .boolean: value.boolean == true ? "true" : "false"
        case .null: "null"
        case .object, .array: nil
        }
    }
}
