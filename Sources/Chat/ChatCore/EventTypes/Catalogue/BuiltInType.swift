public import ChatModel
import JSON

/// An event type of the gateway itself: the meaning of its events, and the schema of their `data`.
///
/// It is described like a type that an app declares, so that it is listed, validated and documented in the same way. An
/// app cannot declare a type of the same name.
public struct BuiltInType: Sendable {
    /// The type's name: `message.created`.
    public let name: String
    /// One sentence that says what happened when such an event appears.
    public let description: String
    /// The retention of such events unless the sender requests another.
    public let retention: Retention
    /// The JSON Schema 2020-12 of the envelope's `data`. It is self-contained: it has no `$id` and refers only to its
    /// own `$defs`. Its objects accept additional members, so that members added later violate nothing.
    public let schema: String
    /// True when the schema accepts everything. Then `data` is not examined, and a number of any length passes.
    public let acceptsAnything: Bool
    /// JSON values that the schema accepts; never empty.
    public let examples: [String]
    /// JSON values that the schema refuses; empty only where anything is accepted.
    public let counterExamples: [String]

    /// A type whose `data` is an object.
    ///
    /// - Parameter members: schema keywords besides `type`, as the inside of a JSON object without its braces. Shared
    ///   terms are referenced as `#/$defs/…` and copied in.
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

    /// A type whose `data` may be any JSON value.
    init(anything name: String, _ retention: Retention, _ description: String, accepts examples: [String]) {
        self.name = name
        self.retention = retention
        self.description = description
        self.examples = examples
        counterExamples = []
        acceptsAnything = true
        schema = Self.text(name, description, [])
    }

    /// True for types that the pattern `*` of a webhook leaves out; a webhook must name them.
    public var isFrequent: Bool { BuiltInTypes.isFrequent(name) }

    private static func text(_ name: String, _ description: String, _ keywords: [String]) -> String {
        let head = [
            "\"$schema\": \"https://json-schema.org/draft/2020-12/schema\"",
            "\"title\": \(JSONText(string: name))",
            "\"description\": \(JSONText(string: description))",
        ]
        return "{\n" + SharedTerms.indented((head + keywords).joined(separator: ",\n")) + "\n}"
    }
}
