import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    /// `GET /v1/event-types/{type}/candidate`: what the schema on trial would have done.
    func getCandidate(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        return Self.shown(try service.chat(for: caller).candidateReport(of: request.name("type")))
    }

    /// `PUT /v1/event-types/{type}/candidate`
    func putCandidate(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.demand(.manage)
        let fields = try schemaFields(request, known: ["schema"])
        let schema = try fields.required("schema", fields.raw("schema"))
        return Self.shown(try await service.chat(for: caller).setCandidate(schema, for: request.name("type")))
    }

    /// `DELETE /v1/event-types/{type}/candidate`
    func deleteCandidate(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try await service.chat(for: caller).dropCandidate(of: request.name("type"))
        return .empty()
    }

    /// `POST /v1/event-types/{type}/candidate/promote`: an empty body, or `{"force": …}`.
    func promoteCandidate(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.demand(.manage)
        let reason = try optionalFields(request, known: ["force"])?.string("force")
        let added = try await service.chat(for: caller)
            .promoteCandidate(of: request.name("type"), forced: reason)
        let type = request.path.dropLast("/candidate/promote".count)
        return Self.shown(added, location: "\(type)/versions/\(added.version.number)")
    }

    private static func shown(_ report: CandidateReport) -> Response {
        .json(JSONText(capacity: report.schema.count + 512) { report.print(to: &$0) }.bytes)
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
