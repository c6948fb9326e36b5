import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    /// Adds the routes of texts that are stored with channels.
    func addMetadataRoutes(to router: inout Router) {
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        let all = RoutePattern("/v1/channels/{channel}/metadata")
        let one = RoutePattern("/v1/channels/{channel}/metadata/{key}")
        router.add(.get, all, handler: asCaller(getMetadata))
        router.add(.post, all, body: body, handler: asCaller(postMetadata, isConditional: true))
        router.add(.patch, all, body: body, handler: asCaller(patchMetadata))
        router.add(.delete, all, handler: asCaller(deleteMetadata))
        router.add(.get, one, handler: asCaller(getMetadataKey))
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

    /// `POST /v1/channels/{channel}/metadata`: adds keys that do not exist yet.
    func postMetadata(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: ["metadata", "by"])
        let given = try fields.required("metadata", try fields.object("metadata", known: nil))
        try given.refuseNull()
        let chat = try chat(for: caller, request)
        let texts = try await chat.createMetadata(
            try Self.texts(given), of: request.name("channel"), by: try fields.actor(),
            ifMatch: try await metadataVersion(request, chat))
        return Self.shown(texts, status: 201, headers: [("Location", request.path)])
    }

    /// `PATCH /v1/channels/{channel}/metadata`
    func patchMetadata(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try requiredFields(request, known: ["metadata", "upsert", "by"])
        let given = try fields.required("metadata", try fields.object("metadata", known: nil))
        let chat = try chat(for: caller, request)
        let (texts, _) = try await chat.updateMetadata(
            try Self.texts(given), adding: try fields.boolean("upsert") ?? true, removing: given.nullNames,
            of: request.name("channel"), by: try fields.actor(),
            ifMatch: try await metadataVersion(request, chat))
        return Self.shown(texts)
    }

    /// `DELETE /v1/channels/{channel}/metadata`
    func deleteMetadata(_ request: Request, _ caller: Caller) async throws -> Response {
        Self.removed(count: try await deleteMetadata(nil, request, caller).count)
    }

    /// `GET /v1/channels/{channel}/metadata/{key}`
    func getMetadataKey(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let (texts, etag) = try await chat(for: caller, request).metadata(of: request.name("channel"))
        guard let text = texts[ExactText(request.name("key"))] else { throw Self.noKey(request) }
        let tag = EntityTag.quoted(etag)
        return Self.shown(value: JSONText(string: text), headers: [("ETag", tag)])
            .unlessKnown(tag, to: request.headers)
    }

    /// `PUT /v1/channels/{channel}/metadata/{key}`
    func putMetadataKey(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try requiredFields(request, known: ["value", "by"])
        let value = try fields.required("value", try fields.string("value", characters: ChatAccess.metadataLength))
        let chat = try chat(for: caller, request)
        let (_, created) = try await chat.updateMetadata(
            [ExactText(request.name("key")): value], adding: true, of: request.name("channel"),
            by: try fields.actor(), ifMatch: try await metadataVersion(request, chat))
        return Self.shown(value: JSONText(string: value), createdAt: created.isEmpty ? nil : request.path)
    }

    /// `DELETE /v1/channels/{channel}/metadata/{key}`
    func deleteMetadataKey(_ request: Request, _ caller: Caller) async throws -> Response {
        guard try await !deleteMetadata([request.name("key")], request, caller).isEmpty else {
            throw Self.noKey(request)
        }
        return .empty()
    }

    private func deleteMetadata(_ keys: [String]?, _ request: Request, _ caller: Caller) async throws -> [String] {
        let parameters = try Parameters(request.query, known: ["by"])
        let chat = try chat(for: caller, request)
        return try await chat.deleteMetadata(
            keys, of: request.name("channel"), by: try parameters.actor(),
            ifMatch: try await metadataVersion(request, chat))
    }

    /// The response with one value of a channel.
    static func shown(
        value: JSONText, headers: [(name: String, value: String)] = [], createdAt location: String? = nil
    ) -> Response {
        let created = location.map { [(name: "Location", value: $0)] } ?? []
        let body = JSONText { writer in
            writer.beginObject()
            writer.member("value", value)
            writer.endObject()
        }
        return .json(body.bytes, status: location == nil ? 200 : 201, headers: headers + created)
    }

    /// The response to a `DELETE` of a list.
    static func removed(count: Int) -> Response {
        .json(
            JSONText { writer in
                writer.beginObject()
                writer.member("deleted", count)
                writer.endObject()
            }.bytes)
    }

    static func noKey(_ request: Request) -> ChatError {
        ChatError(.notFound, "channel '\(request.name("channel"))' has no key '\(request.name("key"))'")
    }

    private func metadataVersion(_ request: Request, _ chat: ChatAccess) async throws -> String? {
        try await Precondition(request.headers).etag { try await chat.metadata(of: request.name("channel")).etag }
    }

    /// The texts in an object; `null` values are left out.
    private static func texts(_ given: Fields) throws(ChatError) -> [ExactText: String] {
        var texts: [ExactText: String] = [:]
        for (key, _) in given.members {
            texts[ExactText(key)] = try given.string(key, characters: ChatAccess.metadataLength)
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
