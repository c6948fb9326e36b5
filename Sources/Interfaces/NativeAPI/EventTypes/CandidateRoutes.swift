import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    /// `GET /v1/event-types/{type}/candidate`: returns the candidate schema and the counts of the events that it would
    /// have accepted and rejected.
    func getCandidate(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let report = try service.chat(for: caller).candidateReport(of: request.name("type"))
        return Self.response(report).unlessKnown(version: report.etag, to: request.headers)
    }

    /// `PUT /v1/event-types/{type}/candidate`: sets the candidate schema of an event type. Returns the candidate with
    /// status 201 or 200.
    func putCandidate(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.require(.manage)
        let fields = try schemaFields(request, known: ["schema"])
        let schema = try fields.required("schema", fields.schema())
        let (chat, type) = (service.chat(for: caller), request.name("type"))
        let precondition = try await Self.precondition(of: request) { try chat.candidateReport(of: type).etag }
        let set = try await Self.meeting(precondition) { () async throws(ChatError) in
            try await chat.setCandidate(schema, for: type, precondition: precondition)
        }
        return Self.response(set.report, createdAt: set.isNew ? request.path : nil)
    }

    /// `DELETE /v1/event-types/{type}/candidate`: removes the candidate schema of an event type. Returns no content.
    func deleteCandidate(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let (chat, type) = (service.chat(for: caller), request.name("type"))
        let etag = try await Precondition(request.headers).etag { try chat.candidateReport(of: type).etag }
        try await chat.dropCandidate(of: type, ifMatch: etag)
        return .empty()
    }

    /// `POST /v1/event-types/{type}/candidate/promote`: makes the candidate the newest version of the event type. The
    /// body is empty or `{"force": …}`.
    func promoteCandidate(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.require(.manage)
        let reason = try optionalFields(request, known: ["force"])?.string("force")
        let added = try await service.chat(for: caller)
            .promoteCandidate(of: request.name("type"), forced: reason)
        let type = request.path.dropLast("/candidate/promote".count)
        return Self.response(added, location: "\(type)/versions/\(added.version.number)")
    }

    private static func response(_ report: CandidateReport, createdAt location: String? = nil) -> Response {
        let created = location.map { [(name: "Location", value: $0)] } ?? []
        return .json(
            JSONText(capacity: report.schema.count + 512) { report.print(to: &$0) }.bytes,
            status: location == nil ? 200 : 201, headers: [("ETag", EntityTag.quoted(report.etag))] + created)
    }
}

extension CandidateReport {
    func print(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("type", type)
        writer.member("created_at", created.timestamp)
        writer.member("accepted", accepted)
        writer.member("refused", refused)
        writer.member("undecided", undecided)
        writer.key("samples")
        writer.beginArray()
        for sample in samples {
            writer.beginObject()
            writer.member("count", sample.count)
            writer.member("event", sample.event)
            writer.key("error")
            sample.fault.print(to: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.member("schema", schema)
        writer.endObject()
    }
}
