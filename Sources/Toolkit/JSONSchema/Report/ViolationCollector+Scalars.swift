import JSON

extension ViolationCollector {
    struct Failure {
        var detail: String
        var expected: String?
    }

    /// Checks `type`, `const`, `enum`, or a keyword for numbers or strings. Returns the failure; nil if the value
    /// passes, and for all other keywords.
    mutating func scalarFailure(_ requirement: KeywordRequirement, _ value: JSONValue, _ place: Place) -> Failure? {
        switch requirement {
        case .kinds(let kinds):
            if !kinds.isDisjoint(with: Self.exactKind(of: value)) { return nil }
            return Failure(detail: "expected \(kinds.words), got \(Self.word(value))", expected: kinds.words)
        case .equals(let wanted):
            if PublicAccess.areEqual(wanted.node, value.node) { return nil }
            return listed([wanted], value, place)
        case .oneOfValues(let wanted):
            guard spend(wanted.count >> 3) else { return nil }
            if wanted.contains(where: { PublicAccess.areEqual($0.node, value.node) }) { return nil }
            return listed(wanted, value, place)
        case .minimum, .maximum, .multipleOf: return numberFailure(requirement, value, place)
        case .minLength, .maxLength, .pattern, .format, .content: return textFailure(requirement, value)
        default: return nil
        }
    }

    private static func exactKind(of value: JSONValue) -> KindSet {
        value.kind == .integer ? .written : KindSet(of: value, exactly: true)
    }

    static func word(_ value: JSONValue) -> String {
        switch value.kind {
        case .object: "object"
        case .array: "array"
        case .string: "string"
        case .integer: "integer"
        case .real: "number"
        case .boolean: "boolean"
        case .null: "null"
        }
    }

    // MARK: - Numbers

    private func numberFailure(_ requirement: KeywordRequirement, _ value: JSONValue, _ place: Place) -> Failure? {
        guard let number = Number(value.node) else { return nil }
        var range = NumberRange()
        switch requirement {
        case .minimum(let bound, let exclusive):
            guard let least = Number(bound.node) else { return nil }
            range.require(atLeast: least, exclusively: exclusive)
            let wanted = "\(exclusive ? ">" : ">=") \(Self.printed(bound))"
            return range.contains(number) ? nil : Failure(detail: "must be \(wanted)", expected: wanted)
        case .maximum(let bound, let exclusive):
            guard let most = Number(bound.node) else { return nil }
            range.require(atMost: most, exclusively: exclusive)
            let wanted = "\(exclusive ? "<" : "<=") \(Self.printed(bound))"
            return range.contains(number) ? nil : Failure(detail: "must be \(wanted)", expected: wanted)
        case .multipleOf(let bound):
            guard let divisor = Number(bound.node).flatMap(Divisor.init) else { return nil }
            let divides =
                switch number {
                case .integer(let integer): divisor.divides(integer)
                case .real(let real): divisor.divides(real)
                }
            let wanted = "multiple of \(Self.printed(bound))"
            return divides ? nil : Failure(detail: "must be a \(wanted)", expected: wanted)
        default: return nil
        }
    }

    /// Returns a number as text, in the notation that an author of schemas would use.
    static func printed(_ number: JSONValue) -> String {
        if let integer = number.integer { return String(integer) }
        guard let double = number.double else { return "" }
        return Int64(exactly: double).map(String.init) ?? double.description
    }

    // MARK: - Strings

    private mutating func textFailure(_ requirement: KeywordRequirement, _ value: JSONValue) -> Failure? {
        guard value.kind == .string else { return nil }
        let text = PublicAccess.text(ofString: value.node)
        switch requirement {
        case .minLength(let least):
            let count = CodePoints.count(text)
            return count >= least
                ? nil
                : Failure(
                    detail: "must have at least \(Self.counted(least, "character")), has \(count)",
                    expected: "at least \(Self.counted(least, "character"))")
        case .maxLength(let most):
            let count = CodePoints.count(text)
            return count <= most
                ? nil
                : Failure(
                    detail: "must have at most \(Self.counted(most, "character")), has \(count)",
                    expected: "at most \(Self.counted(most, "character"))")
        case .pattern(let pattern):
            let source = patternSources[pattern].quotable
            return matches(pattern, text)
                ? nil : Failure(detail: "does not match the pattern \(source)", expected: source)
        case .format(let format):
            return format.accepts(text) ? nil : Failure(detail: "is not a valid \(format.name)", expected: format.name)
        case .content(let base64, let json):
            let accepted = Content.accepts(text, (base64 ? 1 : 0) + (json ? 2 : 0))
            return accepted
                ? nil : Failure(detail: "is not valid \(json ? "JSON" : "base64")\(base64 && json ? " in base64" : "")")
        default: return nil
        }
    }

    mutating func matches(_ pattern: Int, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        _ = spend(text.count >> 8)
        let verdict = patterns[pattern].matches(text, steps: &patternSteps)
        if verdict == .exhausted { isExhausted = true }
        return verdict == .match
    }

    static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}

extension NumberRange {
    func contains(_ number: Number) -> Bool {
        switch number {
        case .integer(let integer): contains(integer)
        case .real(let real): contains(real)
        }
    }
}

extension KindSet {
    /// Creates the set that contains the kind of a value. If `exactly`, 1 and 1.0 have different kinds.
    init(of value: JSONValue, exactly: Bool) {
        self = value.kind == .real ? KindSet(real: value.double ?? 0) : KindSet(of: value)
    }

    /// The names of the kinds as text, such as `string` or `integer or null`.
    var words: String {
        var words: [String] = []
        for (kinds, word) in [
            (KindSet.object, "object"), (.array, "array"), (.string, "string"), (.boolean, "boolean"), (.null, "null"),
        ] where isSuperset(of: kinds) { words.append(word) }
        if isSuperset(of: .number) {
            words.append("number")
        } else if contains(.written) {
            words.append("integer")
        }
        guard let last = words.popLast() else { return "nothing" }
        return words.isEmpty ? last : words.joined(separator: ", ") + " or " + last
    }
}

extension ViolationCollector {
    /// Returns the failure of `const` or `enum`, with the value that was probably intended.
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

    /// Returns a value of the schema as text; nil when it would be too long.
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
