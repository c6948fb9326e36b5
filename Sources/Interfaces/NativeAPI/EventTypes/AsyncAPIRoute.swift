import ChatCore
import ChatModel
import HTTPServer
import JSON
import Signing

extension NativeAPI {
    /// `GET /v1/asyncapi.json`: returns the event types that the caller may see, as an AsyncAPI 3.0 document.
    ///
    /// The document is generated for each request. A client that already has the current version gets a 304, for which
    /// the store is not read.
    func getAsyncAPI(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let chat = service.chat(for: caller)
        let document = AsyncAPIDocument(
            title: service.keyring.app(caller.app)?.name ?? caller.app.name, publicURL: publicURL,
            types: try chat.eventTypes())
        let tag = EntityTag.quoted(document.version)
        let headers = [(name: "ETag", value: tag), (name: "Cache-Control", value: "private, no-cache")]
        if EntityTag.isKnown(tag, to: request.headers) { return .empty(status: 304, headers: headers) }
        let body = try await document.printed { try await chat.version($0.latestVersion, of: $0.name) }
        return .json(body, headers: headers)
    }
}

/// An app's events as an AsyncAPI document (https://www.asyncapi.com/docs/reference/specification/v3.0.0).
///
/// Each type is a message: its payload is `data` with the newest schema, its header fields are the envelope.
struct AsyncAPIDocument {
    let title: String
    let publicURL: String
    let types: [EventType]
    /// The version of the document, which changes whenever the document changes. It is derived from the public address,
    /// the version of every type, and the gateway's own types, which change only with a release.
    let version: String

    init(title: String, publicURL: String, types: [EventType]) {
        self.title = title
        self.publicURL = publicURL
        self.types = types
        var parts = [title, publicURL] + types.map { $0.name + "\0" + $0.etag }
        if types.contains(where: \.isBuiltIn) { parts.append(Self.catalogueDigest) }
        version = Base64.encodeURL(Array(sha256(Array(parts.joined(separator: "\n").utf8)).prefix(12)))
    }

    private static let catalogueDigest: String = {
        let texts = BuiltInCatalogue.all.flatMap { [$0.description, $0.schema] + $0.examples }
        return Base64.encodeURL(sha256(Array(texts.joined().utf8)))
    }()

    /// The size of the document, in bytes, up to which schemas and examples are printed in full. Beyond this size, the
    /// document contains only the addresses of schemas.
    private static let mostBytes = 16 * 1024 * 1024

    /// Returns the document as JSON.
    ///
    /// - Parameter newest: returns the newest schema version of an event type. Called only for types that have
    ///   versions.
    func printed(newest: (EventType) async throws -> SchemaVersion) async throws -> [UInt8] {
        var messages = JSONWriter(capacity: 64 * 1024)
        var schemas = JSONWriter(capacity: 64 * 1024)
        messages.beginObject()
        schemas.beginObject()
        for type in types {
            try Task.checkCancellation()
            messages.key(text: type.name)
            guard type.latestVersion > 0 else {
                print(type, nil, to: &messages)
                continue
            }
            let version = try await newest(type)
            print(type, version, to: &messages)
            schemas.key(text: version.component)
            let isFull = messages.bytes.count + schemas.bytes.count > Self.mostBytes
            print(version, isFull ? nil : embedded(version), to: &schemas)
        }
        messages.endObject()
        schemas.endObject()
        var writer = JSONWriter(capacity: messages.bytes.count + schemas.bytes.count + 16 * 1024)
        print(messages: messages.text, schemas: schemas.text, to: &writer)
        return writer.bytes
    }

    /// The schema in a form that tools can read inside the document; nil when the schema has no such form.
    private func embedded(_ version: SchemaVersion) -> JSONText? {
        guard version.isReadableAsDraft07 else { return nil }
        return EmbeddedSchema.text(version.schema, at: "#/components/schemas/\(version.component)/schema")
    }
}

extension AsyncAPIDocument {
    private func print(_ type: EventType, _ version: SchemaVersion?, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", type.name)
        writer.member("title", type.name)
        if !type.settings.description.isEmpty { writer.member("description", type.settings.description) }
        writer.member("contentType", "application/json")
        writer.key("traits")
        writer.beginArray()
        Self.reference("#/components/messageTraits/envelope", to: &writer)
        writer.endArray()
        writer.key("tags")
        writer.beginArray()
        Self.tag(type.isBuiltIn ? "built-in" : "declared", nil, to: &writer)
        if let note = type.settings.deprecated { Self.tag("deprecated", note, to: &writer) }
        writer.endArray()
        if let version {
            writer.key("payload")
            Self.reference("#/components/schemas/\(version.component)", to: &writer)
            writer.key("examples")
            writer.beginArray()
            for example in version.examples where !EmbeddedSchema.holdsReference(example) {
                writer.beginObject()
                writer.member("payload", example)
                writer.endObject()
            }
            writer.endArray()
            writer.member("x-schema-version", version.number)
        }
        writer.member("x-mode", type.settings.mode.rawValue)
        if !type.settings.owner.isEmpty { writer.member("x-owner", type.settings.owner) }
        writer.endObject()
    }

    /// Prints a schema. Tools reject schema formats other than draft 07 and AsyncAPI's own format, so each schema that
    /// draft 07 can read is declared as draft 07. The schema keeps its `$schema`, and `x-dialect` names its real
    /// dialect.
    private func print(_ version: SchemaVersion, _ embedded: JSONText?, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("schemaFormat", "application/schema+json;version=draft-07")
        writer.key("schema")
        if let embedded {
            writer.raw(embedded)
        } else {
            writer.beginObject()
            let address = "\(publicURL)/v1/event-types/\(version.type)/versions/\(version.number)"
            writer.member("description", "The schema cannot be included in this document; read it at \(address)")
            writer.endObject()
        }
        writer.member("x-dialect", version.dialect)
        writer.endObject()
    }

    private static func tag(_ name: String, _ description: String?, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", name)
        if let description { writer.member("description", description) }
        writer.endObject()
    }

    static func reference(_ target: String, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("$ref", target)
        writer.endObject()
    }
}

extension SchemaVersion {
    /// The name of the version among the document's schemas. It is unique, because the last `.v` always precedes the
    /// number.
    fileprivate var component: String { "\(type).v\(number)" }

    /// The dialect that the schema names in `$schema`; JSON Schema 2020-12 without `$schema`.
    fileprivate var dialect: String {
        let named = schema.rawMember("$schema").flatMap { try? JSONDocument($0).root.string }
        return named ?? "https://json-schema.org/draft/2020-12/schema"
    }
}
