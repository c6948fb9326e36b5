/// A mistake in a template, for its author.
public struct TemplateFault: Sendable, Equatable {
    /// Where in the template: a JSON Pointer, empty for the whole.
    public var pointer: String
    /// What was demanded, in one word: `type`, `required`, `reference`, …
    public var keyword: String
    public var detail: String

    public init(pointer: String, keyword: String, detail: String) {
        self.pointer = pointer
        self.keyword = keyword
        self.detail = detail
    }
}

/// Every mistake of a template.
public struct TemplateFaults: Error, Sendable, Equatable {
    public var faults: [TemplateFault]
}

/// A value that a run could not give.
public struct MissingValue: Sendable, Equatable {
    /// The place in the template that asked for it: a JSON Pointer.
    public var pointer: String
    /// Names the reference: `{body/ref} has no value`.
    public var detail: String
}

/// Why a template could not be filled in.
public enum TemplateError: Error, Sendable, Equatable {
    case missing([MissingValue])
    /// The result would be longer than asked for.
    case tooLarge(limitBytes: Int)
    /// More than `TemplateLimits.steps`.
    case tooMuchWork
}
