public import ChatModel
import JSON

/// An event type of the gateway itself: the meaning of its events, and the schema of their `data`.
///
/// It has the same fields as a type that an app declares, so both are listed, validated and documented in the same way.
/// An app cannot declare a type with the name of a built-in type.
public struct BuiltInType: Sendable {
    /// The name of the type, for example `message.created`.
    public let name: String
    /// One sentence that describes what happened when an event of this type is emitted.
    public let description: String
    /// The retention of events of this type, unless the sender requests another retention.
    public let retention: Retention
    /// The JSON Schema 2020-12 of the event's `data`. It has no `$id` and refers only to its own `$defs`. Its objects
    /// accept additional members, so adding a member in a later release violates no schema.
    public let schema: String
    /// True when the schema accepts any JSON value. Then `data` is not validated, and may contain numbers outside 64
    /// bits.
    public let acceptsAnything: Bool
    /// JSON values that the schema accepts; never empty.
    public let examples: [String]
    /// JSON values that the schema rejects; empty only when the schema accepts any value.
    public let counterExamples: [String]

    /// Creates a type whose `data` is an object.
    ///
    /// - Parameter members: schema keywords besides `type`, written as the inside of a JSON object without its braces.
    ///   They refer to shared terms as `#/$defs/…`; the terms are copied into the schema.
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

    /// Creates a type whose `data` may be any JSON value.
    init(anything name: String, _ retention: Retention, _ description: String, accepts examples: [String]) {
        self.name = name
        self.retention = retention
        self.description = description
        self.examples = examples
        counterExamples = []
        acceptsAnything = true
        schema = Self.text(name, description, [])
    }

    /// True for types that a webhook receives only when its patterns name them. The pattern `*` does not include them.
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
