public import ChatModel
import JSON

/// An event type declared in a file, for apps that store their types beside their code.
///
/// A folder contains one file per type, named `<type>.json`. The file is one JSON object with the members of the API's
/// requests:
///
/// ```json
/// {
///   "description": "An order was paid in full.",
///   "owner": "payments",
///   "mode": "enforce",
///   "deprecated": null,
///   "compatibility": "backward",
///   "schema": {"type": "object", "required": ["amount"], "properties": {"amount": {"type": "integer"}}},
///   "examples": [{"amount": 4200}],
///   "counter_examples": [{"amount": "4200"}],
///   "force": null
/// }
/// ```
///
/// All members are optional. A declaration without `schema` declares the type, and its events are not checked. A schema
/// that differs in any byte from the newest version becomes the next version. It must satisfy `compatibility`, unless
/// `force` gives a reason to override that. Deleting a file changes nothing, because stored events refer to the
/// versions.
public struct EventTypeDeclaration: Sendable {
    /// The name of the file, for error messages.
    let file: String
    /// The name of the event type, from the name of the file.
    let name: String
    /// The declared settings. A member that is left out has its default value.
    let settings: EventTypeSettings
    /// The declared schema with its examples; nil when the file has no schema.
    let proposal: SchemaProposal?

    private static let members = [
        "description", "owner", "mode", "deprecated", "compatibility", "retention_hours", "schema", "examples",
        "counter_examples", "force",
    ]

    /// Parses a declaration file.
    ///
    /// - Parameters:
    ///   - file: the name of the file in its folder, including `.json`.
    ///   - bytes: the content of the file.
    /// - Throws: `DeclarationError` for a bad name or bad content.
    public init(file: String, _ bytes: [UInt8], limits: Limits) throws(DeclarationError) {
        self.file = file
        name = String(file.dropLast(".json".count))
        guard file.hasSuffix(".json"), (try? Names.check(type: name)) != nil else {
            throw DeclarationError(file, "the file's name must be an event type followed by .json")
        }
        guard !EventTypes.isBuiltIn(name) else {
            throw DeclarationError(file, BuiltInTypes.refusal(of: name).message)
        }
        let document: JSONDocument
        do {
            document = try JSONDocument(bytes, limits: JSONLimits(depth: 2000, bytes: Self.mostBytes(limits)))
        } catch {
            throw DeclarationError(file, "\(error)")
        }
        guard let members = document.rawMembers() else {
            throw DeclarationError(file, "must contain one JSON object", at: "#")
        }
        for member in members where !Self.members.contains(member.name) {
            throw DeclarationError(
                file, "unknown member; the known members are \(Self.members.joined(separator: ", "))",
                at: "#/\(member.name)")
        }
        settings = try Self.settings(document.root, file)
        proposal = try Self.proposal(document, file)
    }

    /// The maximum length of a file in bytes: enough for a schema, some examples and the other members.
    public static func mostBytes(_ limits: Limits) -> Int { 4 * (limits.schemaBytes + limits.dataBytes) }

    private static func settings(_ root: JSONValue, _ file: String) throws(DeclarationError) -> EventTypeSettings {
        var settings = EventTypeSettings()
        settings.description = try string("description", root, file) ?? ""
        settings.owner = try string("owner", root, file) ?? ""
        settings.deprecated = try string("deprecated", root, file)
        if let text = try string("mode", root, file) {
            guard let mode = EventType.Mode(rawValue: text) else {
                throw DeclarationError(file, "must be enforce, warn or off", at: "#/mode")
            }
            settings.mode = mode
        }
        if let text = try string("compatibility", root, file) {
            guard let rule = CompatibilityRule(text) else {
                let known = CompatibilityRule.allTexts.joined(separator: ", ")
                throw DeclarationError(file, "must be one of \(known)", at: "#/compatibility")
            }
            settings.compatibility = rule
        }
        if let value = root["retention_hours"], !value.isNull {
            guard let hours = value.integer, EventTypeSettings.retentionHours.contains(Int(hours)) else {
                throw DeclarationError(file, "must be a whole number of hours, 1 to 876000", at: "#/retention_hours")
            }
            settings.retention = .seconds(hours * 3600)
        }
        return settings
    }

    private static func proposal(_ document: JSONDocument, _ file: String) throws(DeclarationError) -> SchemaProposal? {
        let root = document.root
        guard let schema = document.text.rawMember("schema") else {
            for name in ["examples", "counter_examples", "force"] where root[name] != nil {
                throw DeclarationError(file, "requires the member 'schema' in the same file", at: "#/\(name)")
            }
            return nil
        }
        var proposal = SchemaProposal(schema: schema)
        proposal.examples = try values("examples", document, file)
        proposal.counterExamples = try values("counter_examples", document, file)
        proposal.forced = try string("force", root, file)
        return proposal
    }

    private static func string(
        _ name: String, _ root: JSONValue, _ file: String
    ) throws(DeclarationError) -> String? {
        guard let value = root[name], !value.isNull else { return nil }
        guard let text = value.string else { throw DeclarationError(file, "must be a string", at: "#/\(name)") }
        return text
    }

    private static func values(
        _ name: String, _ document: JSONDocument, _ file: String
    ) throws(DeclarationError) -> [JSONText] {
        guard let value = document.root[name], !value.isNull else { return [] }
        guard let values = document.text.rawMember(name)?.rawElements() else {
            throw DeclarationError(file, "must be an array", at: "#/\(name)")
        }
        return values
    }
}

/// The reason why a declaration file is rejected.
public struct DeclarationError: Error, CustomStringConvertible, Sendable {
    /// The name of the file.
    public let file: String
    /// The location in the file as a JSON pointer; nil when the error is about the whole file.
    public let pointer: String?
    /// The message, without the name of the file.
    public let message: String

    /// Creates an error of a file, with a location in the file if it is known.
    public init(_ file: String, _ message: String, at pointer: String? = nil) {
        self.file = file
        self.pointer = pointer
        self.message = message
    }

    /// Creates the error of a file from an error that its declaration has caused. Converts the location of the first
    /// fault to a location in the file.
    ///
    /// - Parameter error: an error whose faults point into the schema or into the examples.
    init(_ file: String, _ error: ChatError) {
        switch (error.slug, error.faults.first) {
        case (_, nil): self.init(file, error.message)
        case ("example_invalid", let fault?): self.init(file, fault.detail, at: fault.pointer)
        case ("schema_invalid", let fault?): self.init(file, fault.detail, at: fault.below("#/schema").pointer)
        case (_, let fault?): self.init(file, error.message, at: fault.below("#/schema").pointer)
        }
    }

    /// The name of the file, the location if there is one, and the message.
    public var description: String { file + ": " + (pointer.map { $0 + ": " } ?? "") + message }
}
