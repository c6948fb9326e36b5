import ChatCore
import ChatModel
import HTTPServer
import InboundHooks
import JSON

extension NativeAPI {
    /// `GET /v1/sources`: returns a page of the app's sources.
    func getSources(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try Listing(Parameters(request.query, known: Listing.timedNames), of: request, limits: limits)
        let page = try await inbound.registry.list(listing.list, by: caller)
        return Listing.response(page, to: request) { $0.print(to: &$1) }
    }

    /// `GET /v1/sources/{id}`: returns a source, or 304 when the client has the current version.
    func getSource(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let source = try await inbound.registry.source(request.name("id"), by: caller)
        let tag = EntityTag.quoted(source.etag)
        return .json(source.printed().bytes, headers: [("ETag", tag)]).unlessKnown(tag, to: request.headers)
    }

    /// `PUT /v1/sources/{id}`: creates or replaces a source. Returns the source with status 201 or 200.
    func putSource(_ request: Request, _ caller: Caller) async throws -> Response {
        let (id, body, precondition) = try await sourceChange(request, caller)
        let (source, isNew) = try await Self.meeting(precondition) { () async throws(ChatError) in
            try await inbound.registry.put(id, body, precondition: precondition, by: caller)
        }
        var headers = [(name: "ETag", value: EntityTag.quoted(source.etag))]
        // The location is the path of the request, because an id may contain characters that are escaped in a URL.
        if isNew { headers.append(("Location", request.path)) }
        return .json(source.printed().bytes, status: isNew ? 201 : 200, headers: headers)
    }

    /// `PATCH /v1/sources/{id}`: changes a source by a merge patch (RFC 7396).
    func patchSource(_ request: Request, _ caller: Caller) async throws -> Response {
        let (id, body, precondition) = try await sourceChange(request, caller)
        let source = try await inbound.registry.put(id, body, isPatch: true, precondition: precondition, by: caller)
            .source
        return .json(source.printed().bytes, headers: [("ETag", EntityTag.quoted(source.etag))])
    }

    /// The id, the body and the precondition of a request that changes a source.
    private func sourceChange(
        _ request: Request, _ caller: Caller
    ) async throws -> (id: String, body: JSONDocument, precondition: RecordChange.Precondition) {
        _ = try Parameters(request.query, known: [])
        try caller.require(.manage)
        let body = try Fields.document(request.body.bytes, limits: limits)
        let id = request.name("id")
        let precondition = try await Self.precondition(of: request) {
            try await inbound.registry.source(id, by: caller).etag
        }
        return (id, body, precondition)
    }

    /// `DELETE /v1/sources/{id}`: removes a source. Returns no content.
    func deleteSource(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let etag = try await Precondition(request.headers).etag {
            try await inbound.registry.source(request.name("id"), by: caller).etag
        }
        try await inbound.registry.delete(request.name("id"), ifMatch: etag, by: caller)
        return .empty()
    }

    /// `GET /v1/sources/{id}/mappings`: lists the latest versions of the source's mapping. The newest version is first
    /// unless the request asks for another order.
    func getSourceMappings(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try Listing(Parameters(request.query, known: Listing.timedNames), of: request, limits: limits)
        let versions = try await inbound.registry.mappings(of: request.name("id"), by: caller)
        let page = try listing.page(of: versions, in: .descending, id: { String($0.version) }, time: { $0.created })
        return Listing.response(page, to: request) { $0.print(to: &$1) }
    }
}
