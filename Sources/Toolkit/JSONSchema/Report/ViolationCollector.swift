import JSON

/// Determines where and why a value is invalid. Evaluates the rules, which still contain their keywords, and collects
/// all violations.
///
/// The collector runs only after the plan has rejected a value, so its speed is less important. Its number of steps is
/// limited.
struct ViolationCollector {
    let rules: [Rule]
    let index: SchemaIndex
    let patterns: [Pattern]
    let patternSources: [String]
    let options: ReportOptions
    var steps: Int
    var patternSteps: Int
    /// The remaining number of comparisons for suggesting names, which are the most expensive part of a report. When it
    /// is used up, further violations contain no suggestions.
    var comparisons = 2_000
    private var depth = 0
    var isExhausted = false

    init(_ compiled: SchemaCompiler.Result, _ options: ReportOptions, steps: Int, patternSteps: Int) {
        rules = compiled.rules
        index = compiled.index
        patterns = compiled.patterns
        patternSources = compiled.patternSources
        self.options = options
        self.steps = steps
        self.patternSteps = patternSteps
    }

    /// The current location in the value, and the path to the current keyword.
    struct Place {
        var pointer = "#"
        /// The indexes of the members and elements on the path. They are used to sort violations in the order of the
        /// value.
        var order: [Int] = []
        var isRedacted = false
        var path = ""

        func member(_ name: String, _ position: Int, redacted: Set<String>) -> Place {
            var place = self
            place.pointer += "/" + name.pointerToken
            place.order.append(position)
            place.isRedacted = isRedacted || redacted.contains(name.lowercased())
            return place
        }

        func element(_ position: Int) -> Place {
            var place = self
            place.pointer += "/\(position)"
            place.order.append(position)
            return place
        }

        func keyword(_ tokens: String) -> Place {
            var place = self
            place.path += "/" + tokens
            return place
        }
    }

    struct Found {
        var violation: Violation
        var order: [Int]
    }

    /// The result of checking a rule on a value: the violations, and the evaluated parts of the value.
    struct Outcome {
        var isValid = true
        var found: [Found] = []
        var parts = EvaluatedParts()

        mutating func merge(_ other: Outcome) {
            isValid = isValid && other.isValid
            found += other.found
            parts.formUnion(other.parts)
        }

        /// Adds the violations of a member or element. Does not add its evaluated parts, because they are parts of
        /// another value.
        mutating func mergeBelow(_ other: Outcome) {
            isValid = isValid && other.isValid
            found += other.found
        }
    }

    /// The maximum number of nested calls. It is lower than for the plan's evaluator, because a call needs more stack.
    private static let nesting = 200

    /// Uses steps of the budget. Returns false when none remain. Every check then passes, and the report is marked as
    /// truncated.
    mutating func spend(_ count: Int = 1) -> Bool {
        steps -= count
        if steps < 0 { isExhausted = true }
        return !isExhausted
    }

    /// Returns true when further violations would not be listed. The check can then stop.
    func isFull(_ outcome: Outcome) -> Bool { outcome.found.count > options.limit }

    /// Returns the name that was probably intended; nil if no name is similar or no comparisons remain.
    mutating func nearest(to given: String, among names: NameSuggester) -> String? {
        guard names.count <= comparisons, spend(names.count) else { return nil }
        comparisons -= names.count
        return names.nearest(to: given)
    }

    mutating func apply(_ id: Rule.ID, _ value: JSONValue, _ place: Place) -> Outcome {
        depth += 1
        defer { depth -= 1 }
        if depth > Self.nesting { isExhausted = true }
        guard spend() else { return Outcome() }
        let rule = rules[id]
        var outcome = Outcome()
        if rule.isFalse {
            return violation(rule, "", value, place, "no value is allowed here")
        }
        for check in rule.checks {
            if isFull(outcome) { break }
            let place = place.keyword(check.keyword)
            outcome.merge(validate(check, of: rule, value, place, outcome.parts))
        }
        // The parts that a failed schema has evaluated do not count.
        if !outcome.isValid { outcome.parts = EvaluatedParts() }
        return outcome
    }

    private mutating func validate(
        _ check: Check, of rule: Rule, _ value: JSONValue, _ place: Place, _ parts: EvaluatedParts
    ) -> Outcome {
        if let failure = scalarFailure(check.requirement, value, place) {
            return violation(rule, check.keyword, value, place, failure.detail, expected: failure.expected)
        }
        switch value.kind {
        case .object:
            if let outcome = validateObject(check, of: rule, value, place, parts) { return outcome }
        case .array:
            if let outcome = validateArray(check, of: rule, value, place, parts) { return outcome }
        default: break
        }
        return validateBranches(check, of: rule, value, place)
    }

    // MARK: - Making violations

    func violation(
        _ rule: Rule, _ keyword: String, _ value: JSONValue, _ place: Place, _ detail: String, expected: String? = nil
    ) -> Outcome {
        let suffix = keyword.isEmpty ? "" : "/" + keyword
        let violation = Violation(
            pointer: place.pointer, keyword: keyword, detail: detail, expected: expected, keywordLocation: place.path,
            absoluteKeywordLocation: index.absoluteLocation(of: rule.subschema, suffix))
        return Outcome(isValid: false, found: [Found(violation: violation, order: place.order)])
    }
}

/// The evaluated members or elements of a value, by index.
struct EvaluatedParts {
    var all = false
    var below = 0
    var places: Set<Int> = []

    func contains(_ place: Int) -> Bool { all || place < below || places.contains(place) }

    mutating func formUnion(_ other: EvaluatedParts) {
        all = all || other.all
        below = max(below, other.below)
        places.formUnion(other.places)
    }
}
