public import ChatModel
public import JSON
import JSONSchema

/// One version of the schema of an event type. It never changes, because events refer to the version that accepted
/// them.
public struct SchemaVersion: Sendable {
    /// The name of the event type.
    public var type: String
    /// The version number. The numbers of a type start at 1 and have no gaps.
    public var number: Int
    /// The schema, byte for byte as it was declared.
    public var schema: JSONText
    /// Values that the schema accepts, as examples for readers. They were checked when the version was declared.
    public var examples: [JSONText]
    /// Values that the schema rejects. They were checked when the version was declared.
    public var counterExamples: [JSONText]
    /// The compatibility rule that the type had when the version was declared.
    public var compatibility: CompatibilityRule
    /// The reason given for accepting the version although it violates the compatibility rule, or its compatibility
    /// could not be proved; nil when the version satisfies the rule.
    public var forced: String?
    /// The time at which the version was declared; zero for built-in types.
    public var created: Timetoken
}

/// A schema proposed as the next version of a type.
public struct SchemaProposal: Sendable {
    /// The schema's text. It is stored byte for byte.
    var schema: JSONText
    /// Values that the schema must accept.
    public var examples: [JSONText] = []
    /// Values that the schema must reject.
    public var counterExamples: [JSONText] = []
    /// The new compatibility rule of the type, set if the version is accepted; nil to keep the current rule.
    public var compatibility: CompatibilityRule?
    /// The reason to accept the version although it violates the compatibility rule; nil to require compatibility. The
    /// reason is stored with the version.
    public var forced: String?

    /// Creates a proposal without examples.
    public init(schema: JSONText) { self.schema = schema }
}

extension SchemaVersion {
    static func recordKey(_ number: Int, of type: String, in app: AppID) -> RecordKey {
        RecordKey(.schemaVersion, "\(type)/\(number)", in: app)
    }

    var body: JSONText {
        JSONText(capacity: schema.count + 256) { writer in
            writer.beginObject()
            writer.member("number", number)
            writer.member("schema", schema)
            Self.print(examples, as: "examples", to: &writer)
            Self.print(counterExamples, as: "counter_examples", to: &writer)
            writer.member("compatibility", compatibility.text)
            if let forced { writer.member("forced", forced) }
            writer.member("created", created.description)
            writer.endObject()
        }
    }

    private static func print(_ values: [JSONText], as name: StaticString, to writer: inout JSONWriter) {
        writer.key(name)
        writer.beginArray()
        for value in values { writer.raw(value) }
        writer.endArray()
    }

    /// Reads the JSON that `body` printed; nil for a record that is not a schema version.
    init?(_ record: Record) {
        guard let type = record.parent, let schema = record.body.rawMember("schema"),
            let root = try? JSONDocument(record.body).root, let number = root["number"]?.integer
        else { return nil }
        self.init(
            type: type, number: Int(number), schema: schema,
            examples: record.body.rawMember("examples")?.rawElements() ?? [],
            counterExamples: record.body.rawMember("counter_examples")?.rawElements() ?? [],
            compatibility: root["compatibility"]?.string.flatMap(CompatibilityRule.init) ?? CompatibilityRule(.none),
            forced: root["forced"]?.string,
            created: root["created"]?.string.flatMap { Timetoken(text: $0) } ?? .zero)
    }

    /// Creates the only version of a built-in type.
    init(_ builtIn: BuiltInType) {
        func texts(_ values: [String]) -> [JSONText] { values.map { JSONText(trusted: Array($0.utf8)) } }
        self.init(
            type: builtIn.name, number: 1, schema: JSONText(trusted: Array(builtIn.schema.utf8)),
            examples: texts(builtIn.examples), counterExamples: texts(builtIn.counterExamples),
            compatibility: CompatibilityRule(.none), forced: nil, created: .zero)
    }
}

extension SchemaVersion {
    /// True when the schema is also a valid JSON Schema draft 07. Tools that support only draft 07 ignore keywords that
    /// were added later.
    public var isReadableAsDraft07: Bool {
        guard let metaschema = Self.draft07, let value = try? JSONDocument(schema.bytes, limits: .schema).root else {
            return false
        }
        var work = ValidationBudget()
        return ScratchPool.shared.verdict(on: value, by: metaschema, within: &work.budget) == .valid
    }

    /// The compiled metaschema of draft 07. Compiling it always succeeds; if it were nil, no schema would count as
    /// readable.
    private static let draft07: Schema? = {
        let text = JSONText { writer in
            writer.beginObject()
            writer.member("$schema", "http://json-schema.org/draft-07/schema#")
            writer.member("$ref", "http://json-schema.org/draft-07/schema#")
            writer.endObject()
        }
        return try? Schema(JSONDocument(text))
    }()
}

extension JSONLimits {
    /// The limits for parsing a stored schema: at most 2000 nested levels. This limit is high, because the depth of a
    /// schema was already checked when the schema was declared.
    fileprivate static let schema = JSONLimits(depth: 2000)
}
