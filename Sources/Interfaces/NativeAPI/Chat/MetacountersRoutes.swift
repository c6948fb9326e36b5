import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    /// Counters that are kept with channels.
    func addMetacounterRoutes(to router: inout Router) {
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        let all = RoutePattern("/v1/channels/{channel}/metacounters")
        let one = RoutePattern("/v1/channels/{channel}/metacounters/{key}")
        router.add(.get, all, handler: asCaller(getMetacounters))
        router.add(.post, all, body: body, handler: asCaller(postMetacounters, isConditional: true))
        router.add(.patch, all, body: body, handler: asCaller(patchMetacounters))
        router.add(.delete, all, handler: asCaller(deleteMetacounters))
        router.add(.put, one, body: body, handler: asCaller(putMetacounter))
        router.add(.delete, one, handler: asCaller(deleteMetacounter))
    }

    /// `GET /v1/channels/{channel}/metacounters`
    func getMetacounters(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let (counters, etag) = try await chat(for: caller, request).metacounters(of: request.name("channel"))
        let tag = EntityTag.quoted(etag)
        return Self.shown(counters, headers: [("ETag", tag)]).unlessKnown(tag, to: request.headers)
    }

    /// `POST /v1/channels/{channel}/metacounters`: keys that are not there yet.
    func postMetacounters(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: ["metacounters", "by"])
        let chat = try chat(for: caller, request)
        let counters = try await chat.createMetacounters(
            try Self.counters(fields), of: request.name("channel"), by: try fields.string("by"),
            ifMatch: try await counterVersion(request, chat))
        return Self.shown(counters, status: 201, headers: [("Location", request.path)])
    }

    /// `PATCH /v1/channels/{channel}/metacounters`
    func patchMetacounters(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: ["metacounters", "mode", "upsert", "by"])
        let chat = try chat(for: caller, request)
        let (counters, _) = try await chat.updateMetacounters(
            try Self.counters(fields), try Self.mode(fields), adding: try fields.boolean("upsert") ?? false,
            of: request.name("channel"), by: try fields.string("by"), ifMatch: try await counterVersion(request, chat))
        return Self.shown(counters)
    }

    /// `DELETE /v1/channels/{channel}/metacounters`
    func deleteMetacounters(_ request: Request, _ caller: Caller) async throws -> Response {
        try await deleteMetacounters(nil, request, caller)
    }

    /// `PUT /v1/channels/{channel}/metacounters/{key}`
    func putMetacounter(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: ["value", "by"])
        let key = ExactText(request.name("key"))
        let value = try fields.required("value", try Self.counter("value", fields))
        let chat = try chat(for: caller, request)
        let (_, created) = try await chat.updateMetacounters(
            [key: value], .set, adding: true, of: request.name("channel"), by: try fields.string("by"),
            ifMatch: try await counterVersion(request, chat))
        return Self.shown([key: value], status: created.isEmpty ? 200 : 201)
    }

    /// `DELETE /v1/channels/{channel}/metacounters/{key}`
    func deleteMetacounter(_ request: Request, _ caller: Caller) async throws -> Response {
        try await deleteMetacounters([request.name("key")], request, caller)
    }

    private func deleteMetacounters(_ keys: [String]?, _ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(request.query, known: ["by"])
        let chat = try chat(for: caller, request)
        try await chat.deleteMetacounters(
            keys, of: request.name("channel"), by: try parameters.text("by"),
            ifMatch: try await counterVersion(request, chat))
        return .empty()
    }

    private func counterVersion(_ request: Request, _ chat: ChatAccess) async throws -> String? {
        try await Precondition(request.headers).etag { try await chat.metacounters(of: request.name("channel")).etag }
    }

    private static func mode(_ fields: Fields) throws(ChatError) -> CounterMode {
        guard let word = try fields.string("mode") else { return .set }
        guard let mode = CounterMode(rawValue: word) else {
            throw fields.fault("mode", "enum", "must be 'set', 'inc' or 'dec'")
        }
        return mode
    }

    /// Read from its digits: 64 bits are more than a number of JSON surely holds.
    private static func counter(_ name: String, _ fields: Fields) throws(ChatError) -> Int64? {
        guard let text = fields.raw(name) else { return nil }
        guard let value = Int64(text.description) else {
            throw fields.fault(name, "type", "expected an integer of 64 bits", slug: "wrong_type")
        }
        return value
    }

    private static func counters(_ fields: Fields) throws(ChatError) -> [ExactText: Int64] {
        let given = try fields.required("metacounters", try fields.object("metacounters", known: nil))
        var counters: [ExactText: Int64] = [:]
        for (key, _) in given.members { counters[ExactText(key)] = try counter(key, given) }
        return counters
    }

    private static func shown(
        _ counters: [ExactText: Int64], status: Int = 200, headers: [(name: String, value: String)] = []
    ) -> Response {
        let body = JSONText { writer in
            writer.beginObject()
            writer.key("metacounters")
            writer.beginObject()
            for (key, value) in counters.sorted(by: { $0.key < $1.key }) {
                writer.key(text: key.text)
                writer.integer(value)
            }
            writer.endObject()
            writer.endObject()
        }
        return .json(body.bytes, status: status, headers: headers)
    }
}
