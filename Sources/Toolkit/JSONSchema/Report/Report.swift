public import JSON

/// Why a value does not satisfy a schema.
public struct Report: Sendable, Equatable {
    /// In the order of the value; those of one place in the order of the schema.
    public var violations: [Violation]
    /// Whether there is more than is listed: the limit was reached, or a budget ran out.
    public var isTruncated: Bool

    public init(violations: [Violation], isTruncated: Bool = false) {
        self.violations = violations
        self.isTruncated = isTruncated
    }
}

/// One thing that is wrong with a value.
public struct Violation: Sendable, Equatable {
    /// Where in the value: `#/items/0/name`.
    public var pointer: String
    /// The keyword that refuses it; empty for the schema `false`.
    public var keyword: String
    /// One sentence without a final stop. Quotes at most 64 characters of the value, and nothing that is redacted.
    public var detail: String
    /// What would pass, where that is short.
    public var expected: String?
    /// The way to the keyword through references (2020-12 core 12.3.1).
    public var keywordLocation: String
    /// The keyword's own place: the resource's URI and a pointer (2020-12 core 12.3.2).
    public var absoluteKeywordLocation: String
}

extension Violation {
    var placeBytes: Int {
        pointer.utf8.count + keywordLocation.utf8.count + absoluteKeywordLocation.utf8.count
    }
}

/// What a report may say.
public struct ReportOptions: Sendable {
    /// Violations listed.
    public var limit = 50
    /// Bytes of their places together; the first is listed whatever it takes. A long name stands in the place of each
    /// value below it, and would make of a small value a large report.
    public var placeBytes = 64 << 10
    /// Nothing below a member of such a name is quoted. Compared without regard to case.
    var redacted: Set<String> = ["password", "passwd", "secret", "token", "authorization", "api_key", "apikey"]
    /// Lists what every branch of `anyOf` and `oneOf` says, not only the one that was probably meant.
    public var listsEveryBranch = false

    public init() {}
}

extension Schema {
    /// Why a value fails; no violations when it does not. Meant for values whose verdict is `invalid`: it costs far more than
    /// the verdict.
    ///
    /// - Parameter bytes: as for the verdict.
    public func report(on value: JSONValue, bytes: Int? = nil, limit: Int = 50) -> Report {
        var options = ReportOptions()
        options.limit = limit
        return report(on: value, bytes: bytes, options: options)
    }

    /// The same with a say in what is listed.
    public func report(on value: JSONValue, bytes: Int? = nil, options: ReportOptions) -> Report {
        var scratch = Scratch()
        switch verdict(on: value, bytes: bytes, scratch: &scratch) {
        case .valid: return Report(violations: [])
        case .invalid: return reasons(on: value, bytes: bytes, options: options)
        case .exhausted: return collected(on: value, bytes: bytes, options: options)
        }
    }

    /// Why a value fails that is known to fail: spares asking for its verdict once more.
    public func reasons(
        on value: JSONValue, bytes: Int? = nil, options: ReportOptions = ReportOptions()
    ) -> Report {
        placed(collected(on: value, bytes: bytes, options: options))
    }

    /// The same with what is left of a budget that the value shares with others. Without any left the report says only
    /// that the value fails.
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

    /// What the rules say, whatever the plan says: tests hold one against the other.
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
        // Stable: those of one place stay in the order of the schema.
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

    /// For a value that is wrong somewhere the report's budget does not reach.
    private static let unplaced = Violation(
        pointer: "#", keyword: "", detail: "does not match the schema; it is too involved to say where",
        keywordLocation: "", absoluteKeywordLocation: "#")
}
