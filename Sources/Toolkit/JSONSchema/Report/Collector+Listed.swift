import JSON

extension Collector {
    /// The failure of `const` and `enum`, with the value that was probably meant.
    func listed(_ wanted: [JSONValue], _ value: JSONValue, _ place: Place) -> Failure {
        let shown = wanted.prefix(8).map { Self.quoted($0) ?? Self.word($0) }
        let all = shown.joined(separator: ", ") + (wanted.count > 8 ? ", …" : "")
        var detail = wanted.count == 1 ? "must be \(all)" : "must be one of \(all)"
        if !place.isRedacted, let text = value.string,
            let near = Likeness.nearest(to: text, among: wanted.compactMap(\.string))
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

/// Which of some names a misspelt one was probably meant to be.
enum Likeness {
    /// Comparing is quadratic in these.
    private static let longest = 64
    private static let most = 500

    static func nearest(to given: String, among names: [String]) -> String? {
        let given = Array(given.unicodeScalars)
        guard given.count >= 2, given.count <= longest else { return nil }
        var best: (name: String, distance: Int)?
        for name in names.prefix(most) {
            let scalars = Array(name.unicodeScalars)
            guard scalars.count <= longest else { continue }
            let allowed = min(given.count, scalars.count) <= 4 ? 1 : 2
            let distance = distance(given, scalars, atMost: allowed)
            if distance <= allowed, distance > 0, distance < best?.distance ?? .max { best = (name, distance) }
        }
        return best?.name
    }

    /// Insertions, deletions, replacements and swaps of neighbours; a change of case costs nothing extra but counts.
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar], atMost: Int) -> Int {
        if abs(left.count - right.count) > atMost { return .max }
        var before = [Int](repeating: 0, count: right.count + 1)
        var above = Array(0...right.count)
        for (row, scalar) in left.enumerated() {
            var current = [row + 1]
            current.reserveCapacity(right.count + 1)
            for (column, other) in right.enumerated() {
                var cost = min(above[column + 1] + 1, current[column] + 1, above[column] + (scalar == other ? 0 : 1))
                if row > 0, column > 0, scalar == right[column - 1], left[row - 1] == other {
                    cost = min(cost, before[column - 1] + 1)
                }
                current.append(cost)
            }
            before = above
            above = current
        }
        return above[right.count]
    }
}
