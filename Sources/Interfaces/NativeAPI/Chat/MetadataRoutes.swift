import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    /// Texts that are kept with channels.
    func addMetadataRoutes(to router: inout Router) {
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        let all = RoutePattern("/v1/channels/{channel}/metadata")
        let one = RoutePattern("/v1/channels/{channel}/metadata/{key}")
        router.add(.get, all, handler: asCaller(getMetadata))
        router.add(.post, all, body: body, handler: asCaller(postMetadata, isConditional: true))
        router.add(.patch, all, body: body, handler: asCaller(patchMetadata))
        router.add(.delete, all, handler: asCaller(deleteMetadata))
        router.add(.put, one, body: body, handler: asCaller(putMetadataKey))
        router.add(.delete, one, handler: asCaller(deleteMetadataKey))
    }

    /// `GET /v1/channels/{channel}/metadata`
    func getMetadata(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let (texts, etag) = try await chat(for: caller, request).metadata(of: request.name("channel"))
        let tag = EntityTag.quoted(etag)
        return Self.shown(texts, headers: [("ETag", tag)]).unlessKnown(tag, to: request.headers)
    }

    /// `POST /v1/channels/{channel}/metadata`: keys that are not there yet.
    func postMetadata(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: ["metadata", "by"])
        let chat = try chat(for: caller, request)
        let texts = try await chat.createMetadata(
            try Self.texts(fields), of: request.name("channel"), by: try fields.string("by"),
            ifMatch: try await metadataVersion(request, chat))
        return Self.shown(texts, status: 201, headers: [("Location", request.path)])
    }

    /// `PATCH /v1/channels/{channel}/metadata`
    func patchMetadata(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: ["metadata", "upsert", "by"])
        let chat = try chat(for: caller, request)
        let (texts, _) = try await chat.updateMetadata(
            try Self.texts(fields), adding: try fields.boolean("upsert") ?? false, of: request.name("channel"),
            by: try fields.string("by"), ifMatch: try await metadataVersion(request, chat))
        return Self.shown(texts)
    }

    /// `DELETE /v1/channels/{channel}/metadata`
    func deleteMetadata(_ request: Request, _ caller: Caller) async throws -> Response {
        try await deleteMetadata(nil, request, caller)
    }

    /// `PUT /v1/channels/{channel}/metadata/{key}`
    func putMetadataKey(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: ["value", "by"])
        let key = ExactText(request.name("key"))
        let value = try fields.required("value", try fields.string("value"))
        let chat = try chat(for: caller, request)
        let (_, created) = try await chat.updateMetadata(
            [key: value], adding: true, of: request.name("channel"), by: try fields.string("by"),
            ifMatch: try await metadataVersion(request, chat))
        return Self.shown([key: value], status: created.isEmpty ? 200 : 201)
    }

    /// `DELETE /v1/channels/{channel}/metadata/{key}`
    func deleteMetadataKey(_ request: Request, _ caller: Caller) async throws -> Response {
        try await deleteMetadata([request.name("key")], request, caller)
    }

    private func deleteMetadata(_ keys: [String]?, _ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: ["by"])
        let chat = try chat(for: caller, request)
        try await chat.deleteMetadata(
            keys, of: request.name("channel"), by: try parameters.text("by"),
            ifMatch: try await metadataVersion(request, chat))
        return .empty()
    }

    private func metadataVersion(_ request: Request, _ chat: ChatAccess) async throws -> String? {
        try await Precondition(request.headers).etag { try await chat.metadata(of: request.name("channel")).etag }
    }

    private static func texts(_ fields: Fields) throws(ChatError) -> [ExactText: String] {
        let given = try fields.required("metadata", try fields.object("metadata", known: nil))
        var texts: [ExactText: String] = [:]
        for (key, _) in given.members {
            guard let text = try given.string(key) else { throw given.fault(key, "type", "expected string, got null") }
            texts[ExactText(key)] = text
        }
        return texts
    }

    private static func shown(
        _ texts: [ExactText: String], status: Int = 200, headers: [(name: String, value: String)] = []
    ) -> Response {
        let body = JSONText { writer in
            writer.beginObject()
            writer.key("metadata")
            writer.beginObject()
            for (key, text) in texts.sorted(by: { $0.key < $1.key }) {
                writer.key(text: key.text)
                writer.string(text)
            }
            writer.endObject()
            writer.endObject()
        }
        return .json(body.bytes, status: status, headers: headers)
    }
}
