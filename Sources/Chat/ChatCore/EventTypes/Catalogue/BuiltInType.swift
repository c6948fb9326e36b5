public import ChatModel
import JSON

/// An event type of the gateway itself: what its events say, and the schema of their `data`.
///
/// Described like a type that an app declares, so that it is listed, validated and documented in the same way. An app
/// cannot declare it again.
public struct BuiltInType: Sendable {
    public let name: String
    /// One sentence: what happened when such an event appears.
    public let description: String
    /// Whether such events enter history unless the sender asks otherwise.
    public let retention: Retention
    /// JSON Schema 2020-12 of the envelope's `data`, complete in itself: no `$id`, references only into its own `$defs`.
    /// Objects are open, so that members added later violate nothing.
    public let schema: String
    /// True when the schema refuses nothing, so that `data` need not be looked at: a number of any length may pass.
    public let acceptsAnything: Bool
    /// JSON values that the schema accepts; never empty.
    public let examples: [String]
    /// JSON values that the schema refuses; empty only where anything is accepted.
    public let counterExamples: [String]

    /// A type whose `data` is an object.
    ///
    /// - Parameter members: keywords of the schema beside `type`, as the inside of a JSON object without its braces. Shared
    ///   terms are named as `#/$defs/…` and copied in.
    init(
        _ name: String, _ retention: Retention, _ description: String, members: String, accepts examples: [String],
        refuses counterExamples: [String]
    ) {
        self.name = name
        self.retention = retention
        self.description = description
        self.examples = examples
        self.counterExamples = counterExamples
        acceptsAnything = false
        schema = Self.text(
            name, description, ["\"type\": \"object\"", members] + SharedTerms.definitions(for: members))
    }

    /// A type whose `data` may be anything.
    init(anything name: String, _ retention: Retention, _ description: String, accepts examples: [String]) {
        self.name = name
        self.retention = retention
        self.description = description
        self.examples = examples
        counterExamples = []
        acceptsAnything = true
        schema = Self.text(name, description, [])
    }

    /// True for types that a `*` of a webhook leaves out: they must be named.
    public var isChatty: Bool { BuiltInTypes.isChatty(name) }

    private static func text(_ name: String, _ description: String, _ keywords: [String]) -> String {
        let head = [
            "\"$schema\": \"https://json-schema.org/draft/2020-12/schema\"",
            "\"title\": \(JSONText(string: name))",
            "\"description\": \(JSONText(string: description))",
        ]
        return "{\n" + SharedTerms.indented((head + keywords).joined(separator: ",\n")) + "\n}"
    }
}
