public import JSON

/// The values a template is filled in with.
public protocol TemplateContext {
    /// The whole value of a root of form ``ReferenceRoot/Form/document``, valid JSON; nil where there is none.
    func document(_ root: String) -> JSONText?

    /// The text under `name` of a root of form ``ReferenceRoot/Form/table``, or (with an empty name) the text of a root of
    /// form ``ReferenceRoot/Form/text``; nil where there is none.
    func text(_ root: String, _ name: String) -> String?
}

/// A first word of references: what a template may take values from.
public struct ReferenceRoot: Sendable, Hashable {
    /// What follows the first word.
    public enum Form: Sendable {
        /// `body`, `body/json/pointer` (RFC 6901).
        case document
        /// `header/Name`: everything behind the slash is one name.
        case table
        /// `source`: the word alone.
        case text
    }

    public let name: String
    public let form: Form

    public init(_ name: String, _ form: Form) {
        self.name = name
        self.form = form
    }

    /// How it is written, for messages.
    var spelling: String {
        switch form {
        case .document: "\(name)/json/pointer"
        case .table: "\(name)/Name"
        case .text: name
        }
    }
}
