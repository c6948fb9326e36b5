import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    /// Adds the routes of counters that are stored with channels.
    func addMetacounterRoutes(to router: inout Router) {
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        let all = RoutePattern("/v1/channels/{channel}/metacounters")
        let one = RoutePattern("/v1/channels/{channel}/metacounters/{key}")
        router.add(.get, all, handler: asCaller(getMetacounters))
        router.add(.post, all, body: body, handler: asCaller(postMetacounters, isConditional: true))
        router.add(.patch, all, body: body, handler: asCaller(patchMetacounters))
        router.add(.delete, all, handler: asCaller(deleteMetacounters))
        router.add(
            .post, "/v1/channels/{channel}/increment-metacounters", body: body,
            handler: asCaller(incrementMetacounters, isConditional: true))
        router.add(.get, one, handler: asCaller(getMetacounter))
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

    /// `POST /v1/channels/{channel}/metacounters`: adds keys that do not exist yet.
    func postMetacounters(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: limits, known: ["metacounters", "by"])
        let given = try fields.required("metacounters", try fields.object("metacounters", known: nil))
        try given.refuseNull()
        let chat = try chat(for: caller, request)
        let counters = try await chat.createMetacounters(
            try Self.counters(given), of: request.name("channel"), by: try fields.actor(),
            ifMatch: try await counterVersion(request, chat))
        return Self.shown(counters, status: 201, headers: [("Location", request.path)])
    }

    /// `PATCH /v1/channels/{channel}/metacounters`: a merge patch.
    func patchMetacounters(_ request: Request, _ caller: Caller) async throws -> Response {
        try await update(.set, isAdding: true, request, caller)
    }

    /// `POST /v1/channels/{channel}/increment-metacounters`: adds to counters; a negative number decreases one.
    func incrementMetacounters(_ request: Request, _ caller: Caller) async throws -> Response {
        try await update(.inc, isAdding: false, request, caller)
    }

    private func update(
        _ mode: CounterMode, isAdding: Bool, _ request: Request, _ caller: Caller
    ) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try requiredFields(request, known: ["metacounters", "upsert", "by"])
        let given = try fields.required("metacounters", try fields.object("metacounters", known: nil))
        if mode != .set { try given.refuseNull() }
        let chat = try chat(for: caller, request)
        let (counters, _) = try await chat.updateMetacounters(
            try Self.counters(given), mode, adding: try fields.boolean("upsert") ?? isAdding,
            removing: given.nullNames, of: request.name("channel"), by: try fields.actor(),
            ifMatch: try await counterVersion(request, chat))
        return Self.shown(counters)
    }

    /// `DELETE /v1/channels/{channel}/metacounters`
    func deleteMetacounters(_ request: Request, _ caller: Caller) async throws -> Response {
        Self.removed(count: try await deleteMetacounters(nil, request, caller).count)
    }

    /// `GET /v1/channels/{channel}/metacounters/{key}`
    func getMetacounter(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let (counters, etag) = try await chat(for: caller, request).metacounters(of: request.name("channel"))
        guard let value = counters[ExactText(request.name("key"))] else { throw Self.noKey(request) }
        let tag = EntityTag.quoted(etag)
        return Self.shown(value: JSONText { $0.integer(value) }, headers: [("ETag", tag)])
            .unlessKnown(tag, to: request.headers)
    }

    /// `PUT /v1/channels/{channel}/metacounters/{key}`
    func putMetacounter(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try requiredFields(request, known: ["value", "by"])
        let value = try fields.required("value", try Self.counter("value", fields))
        let chat = try chat(for: caller, request)
        let (_, created) = try await chat.updateMetacounters(
            [ExactText(request.name("key")): value], .set, adding: true, of: request.name("channel"),
            by: try fields.actor(), ifMatch: try await counterVersion(request, chat))
        return Self.shown(value: JSONText { $0.integer(value) }, createdAt: created.isEmpty ? nil : request.path)
    }

    /// `DELETE /v1/channels/{channel}/metacounters/{key}`
    func deleteMetacounter(_ request: Request, _ caller: Caller) async throws -> Response {
        guard try await !deleteMetacounters([request.name("key")], request, caller).isEmpty else {
            throw Self.noKey(request)
        }
        return .empty()
    }

    private func deleteMetacounters(_ keys: [String]?, _ request: Request, _ caller: Caller) async throws -> [String] {
        let parameters = try Parameters(request.query, known: ["by"])
        let chat = try chat(for: caller, request)
        return try await chat.deleteMetacounters(
            keys, of: request.name("channel"), by: try parameters.actor(),
            ifMatch: try await counterVersion(request, chat))
    }

    private func counterVersion(_ request: Request, _ chat: ChatAccess) async throws -> String? {
        try await Precondition(request.headers).etag { try await chat.metacounters(of: request.name("channel")).etag }
    }

    /// Parsed from the digits, because not every JSON number type holds 64 bits exactly. `24.0` is an integer too, as
    /// in JSON Schema.
    private static func counter(_ name: String, _ fields: Fields) throws(ChatError) -> Int64? {
        guard let text = fields.raw(name)?.description else { return nil }
        guard let value = Int64(text) ?? Self.whole(fields.value[name]) else {
            throw fields.fault(name, "type", "expected an integer of 64 bits", slug: "wrong_type")
        }
        return value
    }

    /// A number without a fraction, in the range that a `Double` represents exactly.
    private static func whole(_ value: JSONValue?) -> Int64? {
        guard let number = value?.double, number.magnitude < 0x1p53 else { return nil }
        return Int64(exactly: number)
    }

    /// The counters in an object; `null` values are left out.
    private static func counters(_ given: Fields) throws(ChatError) -> [ExactText: Int64] {
        var counters: [ExactText: Int64] = [:]
        for (key, value) in given.members where value != .null { counters[ExactText(key)] = try counter(key, given) }
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
