import ChatKit
import ChatModel
import HTTPServer
import InboundHooks
import JSON
import Webhooks

extension NativeAPI {
    /// `GET /v1/sources`
    func getSources(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try Listing(Parameters(request.query, known: Listing.parameterNames), of: request, limits: limits)
        let page = try await inbound.registry.list(limit: listing.limit, cursor: listing.cursor, by: caller)
        return Listing.response(page, to: request) { $0.print(to: &$1) }
    }

    /// `GET /v1/sources/{id}`
    func getSource(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let source = try await inbound.registry.source(request.name("id"), by: caller)
        let tag = EntityTag.quoted(source.etag)
        return .json(source.printed().bytes, headers: [("ETag", tag)]).unlessKnown(tag, to: request.headers)
    }

    /// `PUT /v1/sources/{id}`
    func putSource(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.demand(.manage)
        let body = try Fields.parse(request.body.bytes, limits: limits)
        let etag = try await demandedETag(request, caller)
        let (source, isNew) = try await inbound.registry.put(request.name("id"), body, ifMatch: etag, by: caller)
        var headers = [(name: "ETag", value: EntityTag.quoted(source.etag))]
        // The segment as it was sent: an id can hold what a URL must escape.
        if isNew { headers.append(("Location", request.path)) }
        return .json(source.printed().bytes, status: isNew ? 201 : 200, headers: headers)
    }

    /// `DELETE /v1/sources/{id}`
    func deleteSource(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let etag = try await demandedETag(request, caller)
        try await inbound.registry.delete(request.name("id"), ifMatch: etag, by: caller)
        return .empty()
    }

    /// `POST /v1/sources/{id}/test`: what a post would become. Nothing is stored.
    func testSource(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.demand(.manage)
        let fields = try Fields(request.body.bytes, limits: limits, known: ["headers", "query", "body"])
        let body = try fields.required("body", try fields.string("body"))
        let id = request.name("id")
        let post = InboundPost(
            headers: try pairs("headers", fields), query: try pairs("query", fields), body: Array(body.utf8),
            url: publicURL.isEmpty ? nil : publicURL + "/in/" + id)
        let trial = try await inbound.gate.test(post, for: id, by: caller)
        var writer = JSONWriter(capacity: 1024)
        await print(trial, for: caller, to: &writer)
        return .json(writer.bytes)
    }

    private func demandedETag(_ request: Request, _ caller: Caller) async throws -> String? {
        try await Precondition(request.headers).etag {
            try await inbound.registry.source(request.name("id"), by: caller).etag
        }
    }

    /// An object of texts as name and value pairs.
    private func pairs(_ name: String, _ fields: Fields) throws(ChatError) -> [InboundPost.Field] {
        guard let object = try fields.object(name, known: nil) else { return [] }
        var pairs: [InboundPost.Field] = []
        for (member, _) in object.members {
            guard let value = try object.string(member) else { continue }
            pairs.append((member, value))
        }
        return pairs
    }
}

/// How a trial is answered.
extension NativeAPI {
    private func print(_ trial: InboundTrial, for caller: Caller, to writer: inout JSONWriter) async {
        writer.beginObject()
        writer.member("verified", trial.isVerified)
        if let rejection = trial.rejection { writer.member("rejection", rejection) }
        writer.key("events")
        writer.beginArray()
        for outcome in trial.outcomes { await print(outcome, for: caller, to: &writer) }
        writer.endArray()
        writer.key("errors")
        writer.beginArray()
        for error in trial.errors + trial.outcomes.compactMap(\.refusal) { error.printFaults(to: &writer) }
        writer.endArray()
        writer.endObject()
    }

    private func print(_ outcome: InboundTrial.Outcome, for caller: Caller, to writer: inout JSONWriter) async {
        let emission = outcome.emission
        let reach = if let draft = outcome.draft { await reach(of: draft, for: caller) } else { Reach(webhooks: []) }
        writer.beginObject()
        writer.member("channel", emission.channel)
        writer.member("type", emission.type)
        if let user = emission.user { writer.member("user", user) } else { writer.nullMember("user") }
        writer.member("data", emission.data)
        writer.member("valid", outcome.refusal == nil)
        reach.print(to: &writer)
        writer.endObject()
    }
}
