public import JSON

/// The reasons why a value does not satisfy a schema.
public struct Report: Sendable, Equatable {
    /// The violations, in the order of the value. Violations at the same location are in the order of the schema.
    public var violations: [Violation]
    /// True when there are more violations than listed, because the limit was reached or a budget was exhausted.
    public var isTruncated: Bool

    /// Creates a report.
    public init(violations: [Violation], isTruncated: Bool = false) {
        self.violations = violations
        self.isTruncated = isTruncated
    }
}

/// One violation of a schema.
public struct Violation: Sendable, Equatable {
    /// The location in the value, for instance `#/items/0/name`.
    public var pointer: String
    /// The keyword that rejects the value; empty for the schema `false`.
    public var keyword: String
    /// One sentence about the violation, without a full stop. The sentence quotes at most 64 characters of the value,
    /// and never quotes a redacted value.
    public var detail: String
    /// A description of valid values; nil when it would be long.
    public var expected: String?
    /// The path to the keyword through the references of the schema (2020-12 core 12.3.1).
    public var keywordLocation: String
    /// The absolute location of the keyword: the URI of the resource and a JSON Pointer (2020-12 core 12.3.2).
    public var absoluteKeywordLocation: String
}

extension Violation {
    var placeBytes: Int {
        pointer.utf8.count + keywordLocation.utf8.count + absoluteKeywordLocation.utf8.count
    }
}

/// The options of a report.
public struct ReportOptions: Sendable {
    /// The maximum number of violations listed.
    public var limit = 50
    /// The maximum length of all locations together, in bytes. The first violation is always listed. The limit is
    /// needed because a long name is part of the location of every value below it, so a small value could result in a
    /// large report.
    public var placeBytes = 64 << 10
    /// The names of members whose content is never quoted. Names are compared case-insensitively.
    var redacted: Set<String> = ["password", "passwd", "secret", "token", "authorization", "api_key", "apikey"]
    /// True to list the violations of all branches of `anyOf` and `oneOf`. False to list only the violations of the
    /// branch that was probably intended.
    public var listsEveryBranch = false

    /// Creates the default options.
    public init() {}
}

extension Schema {
    /// Returns the violations of a value; none for a valid value. Use it only for values with the verdict `invalid`,
    /// because a report takes much longer than the verdict.
    ///
    /// - Parameter bytes: the length of the value's text in bytes; see ``verdict(on:bytes:scratch:)``.
    public func report(on value: JSONValue, bytes: Int? = nil, limit: Int = 50) -> Report {
        var options = ReportOptions()
        options.limit = limit
        return report(on: value, bytes: bytes, options: options)
    }

    /// Returns the violations of a value, with these options; none for a valid value.
    public func report(on value: JSONValue, bytes: Int? = nil, options: ReportOptions) -> Report {
        var scratch = Scratch()
        switch verdict(on: value, bytes: bytes, scratch: &scratch) {
        case .valid: return Report(violations: [])
        case .invalid: return reasons(on: value, bytes: bytes, options: options)
        case .exhausted: return collected(on: value, bytes: bytes, options: options)
        }
    }

    /// Returns the violations of a value that is known to be invalid, without evaluating it again.
    public func reasons(
        on value: JSONValue, bytes: Int? = nil, options: ReportOptions = ReportOptions()
    ) -> Report {
        placed(collected(on: value, bytes: bytes, options: options))
    }

    /// Returns the violations of a value that is known to be invalid, within a budget that several values share. When
    /// the budget is used up, the report contains only the information that the value is invalid.
    public func reasons(
        on value: JSONValue, bytes: Int? = nil, within budget: inout EvaluationBudget,
        options: ReportOptions = ReportOptions()
    ) -> Report {
        let allowed = budget.reportSteps(for: bytes ?? value.document.text.count, limits: self.options.limits)
        var collector = ViolationCollector(compiled, options, steps: allowed, patternSteps: budget.patternSteps)
        let report = collected(on: value, by: &collector)
        budget.reportSteps -= allowed - max(0, collector.steps)
        budget.patternSteps = max(0, collector.patternSteps)
        return placed(report)
    }

    private func placed(_ report: Report) -> Report {
        report.violations.isEmpty ? Report(violations: [Self.unplaced], isTruncated: true) : report
    }

    /// Returns the violations according to the rules, without evaluating the plan. Tests compare the violations with
    /// the verdict of the plan.
    package func collected(
        on value: JSONValue, bytes: Int? = nil, options: ReportOptions = ReportOptions()
    ) -> Report {
        let limits = self.options.limits
        let steps = EvaluationBudget.reportSteps(for: bytes ?? value.document.text.count, limits: limits)
        var collector = ViolationCollector(compiled, options, steps: steps, patternSteps: limits.patternSteps)
        return collected(on: value, by: &collector)
    }

    private func collected(on value: JSONValue, by collector: inout ViolationCollector) -> Report {
        let options = collector.options
        let outcome = collector.apply(0, value, ViolationCollector.Place())
        // The sort is stable, so that violations at the same location keep the order of the schema.
        let sorted = outcome.found.enumerated().sorted { left, right in
            if left.element.order == right.element.order { return left.offset < right.offset }
            return left.element.order.lexicographicallyPrecedes(right.element.order)
        }
        let listed = Self.listed(sorted.map(\.element.violation), options)
        return Report(
            violations: listed, isTruncated: collector.isExhausted || listed.count < outcome.found.count)
    }

    private static func listed(_ violations: [Violation], _ options: ReportOptions) -> [Violation] {
        var bytes = 0
        let listed = violations.prefix(options.limit).prefix { violation in
            let isFirst = bytes == 0
            bytes += violation.placeBytes
            return isFirst || bytes <= options.placeBytes
        }
        return Array(listed)
    }

    /// The violation that is reported for an invalid value when the budget of the report is used up before a violation
    /// is found.
    private static let unplaced = Violation(
        pointer: "#", keyword: "",
        detail: "does not match the schema; the place cannot be determined within the limits",
        keywordLocation: "", absoluteKeywordLocation: "#")
}
