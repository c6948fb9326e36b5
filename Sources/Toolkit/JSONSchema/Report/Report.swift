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
