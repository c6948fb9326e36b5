import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    private static let versionMembers = ["schema", "examples", "counter_examples", "compatibility", "force"]
    private static let schemaMedia = MediaType("application/schema+json")

    /// `GET /v1/event-types/{type}/versions`: lists the versions of an event type, without their schemas, which can be
    /// large. The oldest version is first unless the request asks for another order.
    func getSchemaVersions(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try Listing(Parameters(request.query, known: Listing.timedNames), of: request, limits: limits)
        let page = try await service.chat(for: caller)
            .versions(of: request.name("type"), listing.list)
        return Listing.response(page, to: request) { $0.print(to: &$1) }
    }

    /// `POST /v1/event-types/{type}/versions`: adds a schema version to an event type and returns the version. A dry
    /// run checks the version and stores nothing.
    func postSchemaVersion(_ request: Request, _ caller: Caller) async throws -> Response {
        let isTrial = try Parameters(request.query, known: ["dry_run"]).flag("dry_run")
        try caller.require(.manage)
        let fields = try schemaFields(request, known: Self.versionMembers)
        var proposal = SchemaProposal(schema: try fields.required("schema", fields.schema()))
        proposal.examples = try Self.examples("examples", fields)
        proposal.counterExamples = try Self.examples("counter_examples", fields)
        proposal.compatibility = try Self.compatibility(fields)
        proposal.forced = try fields.string("force")
        var added = try await service.chat(for: caller)
            .addVersion(proposal, to: request.name("type"), isTrial: isTrial)
        // A dry run stores no version, so its response has no `Location`.
        if isTrial { added.isNew = false }
        return Self.response(added, location: request.path + "/\(added.version.number)")
    }

    /// `GET /v1/event-types/{type}/versions/{version}`: returns a version with its settings. If `Accept` requests a
    /// schema, returns only the schema, byte for byte.
    func getSchemaVersion(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        // Only the canonical decimal form is valid, so that each version has only one URL.
        guard let number = Int(request.name("version")), String(number) == request.name("version") else {
            throw ChatError(.notFound, "the event type has no version with this number")
        }
        let version = try await service.chat(for: caller).version(number, of: request.name("type"))
        let json = MediaType("application/json")
        let media = request.headers.mostAccepted(of: [json, Self.schemaMedia]) { $0 } ?? json
        let body = media == json ? JSONText { version.print(withSchema: true, to: &$0) } : version.schema
        let tag = EntityTag.of(body.bytes)
        let headers = [("ETag", tag), ("Cache-Control", "private, no-cache"), ("Vary", "Accept")]
        return Response(
            status: 200, headers: [("Content-Type", media.text)] + headers, body: .bytes(body.bytes)
        ).unlessKnown(tag, to: request.headers)
    }

    static func response(_ added: (version: SchemaVersion, isNew: Bool), location: String) -> Response {
        .json(
            JSONText { added.version.print(to: &$0) }.bytes, status: added.isNew ? 201 : 200,
            headers: added.isNew ? [("Location", location)] : [])
    }

    /// Parses a body that contains a schema. Schemas may be nested deeper than payloads; the schema compiler checks
    /// their depth.
    func schemaFields(_ request: Request, known: [String]) throws -> Fields {
        var limits = limits
        limits.jsonDepth = 2000
        return try Fields(request.body.bytes, limits: limits, known: known)
    }

    private static func examples(_ name: String, _ fields: Fields) throws(ChatError) -> [JSONText] {
        guard let text = fields.member(name)?.text else { return [] }
        guard let elements = text.rawElements() else {
            throw fields.fault(name, "type", "expected array of examples", slug: "wrong_type")
        }
        return elements
    }
}

extension Fields {
    /// The member `schema`, which is an object or a boolean; nil when absent.
    func schema() throws(ChatError) -> JSONText? {
        guard let value = member("schema") else { return nil }
        guard value.kind == .object || value.kind == .boolean else {
            throw fault("schema", "type", "expected object or boolean", slug: "wrong_type")
        }
        return value.text
    }
}

extension SchemaVersion {
    func print(withSchema: Bool = false, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("type", type)
        writer.member("version", number)
        writer.member("compatibility", compatibility.text)
        if let forced { writer.member("forced", forced) } else { writer.nullMember("forced") }
        if created == .zero {
            writer.nullMember("created_at")
        } else {
            writer.member("created_at", created.timestamp)
        }
        if withSchema {
            writer.member("schema", schema)
            print(examples, as: "examples", to: &writer)
            print(counterExamples, as: "counter_examples", to: &writer)
        }
        writer.endObject()
    }

    private func print(_ values: [JSONText], as name: StaticString, to writer: inout JSONWriter) {
        writer.key(name)
        writer.beginArray()
        for value in values { writer.raw(value) }
        writer.endArray()
    }
}
