import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    /// Adds the routes of the texts (`metadata`) and the counters (`metacounters`) that are stored with channels.
    func addChannelValueRoutes(to router: inout Router) {
        ChannelValueRoutes<String>.metadata(self).add(to: &router)
        let counters = ChannelValueRoutes<Int64>.metacounters(self)
        counters.add(to: &router)
        router.add(
            .post, "/v1/channels/{channel}/increment-metacounters",
            body: BodyPolicy.collected(limit: limits.emitBodyBytes),
            handler: asCaller(counters.increment, isConditional: true))
    }
}

/// The routes of one kind of values that are stored with channels.
struct ChannelValueRoutes<Value: Sendable>: Sendable {
    typealias Values = [ExactText: Value]

    /// The common parameters of a request: the channel, the acting user (`by`; nil when absent), and the version of the
    /// values that `If-Match` requires (nil for any version).
    struct Target: Sendable {
        let channel: String
        let user: String?
        let etag: String?
    }

    let api: NativeAPI
    /// The last segment of the path, which is also the name of the member that contains the values in bodies.
    let name: String
    /// Parses a member; nil when the body does not have it.
    let parse: @Sendable (String, Fields) throws(ChatError) -> Value?
    let print: @Sendable (Value, inout JSONWriter) -> Void
    let fetch: @Sendable (ChatAccess, String) async throws -> (values: Values, etag: String)
    let create: @Sendable (ChatAccess, Values, Target) async throws -> Values
    /// Changes values. The parameters after the values are: whether counters are set, incremented or decremented;
    /// whether to create keys that do not exist; the keys to remove; and the target.
    let update:
        @Sendable (ChatAccess, Values, CounterMode, Bool, [String], Target) async throws -> (
            values: Values, created: Set<ExactText>
        )
    /// Removes the given keys, or all keys for nil. Returns the keys that existed.
    let remove: @Sendable (ChatAccess, [String]?, Target) async throws -> [String]

    /// Adds the routes that texts and counters have in common.
    func add(to router: inout Router) {
        let body = BodyPolicy.collected(limit: api.limits.emitBodyBytes)
        let all = RoutePattern("/v1/channels/{channel}/\(name)")
        let one = RoutePattern("/v1/channels/{channel}/\(name)/{key}")
        router.add(.get, all, handler: api.asCaller(getAll))
        router.add(.post, all, body: body, handler: api.asCaller(postAll, isConditional: true))
        router.add(.patch, all, body: body, handler: api.asCaller(patchAll))
        router.add(.delete, all, handler: api.asCaller(deleteAll))
        router.add(.get, one, handler: api.asCaller(getOne))
        router.add(.put, one, body: body, handler: api.asCaller(putOne))
        router.add(.delete, one, handler: api.asCaller(deleteOne))
    }

    /// `GET /v1/channels/{channel}/metadata`, `…/metacounters`: returns all values of a channel.
    private func getAll(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let (values, etag) = try await fetch(try api.chat(for: caller, request), request.name("channel"))
        let tag = EntityTag.quoted(etag)
        return response(values, headers: [("ETag", tag)]).unlessKnown(tag, to: request.headers)
    }

    /// `POST /v1/channels/{channel}/metadata`, `…/metacounters`: adds keys that do not exist yet.
    private func postAll(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try Fields(request.body.bytes, limits: api.limits, known: [name, "by"])
        let given = try fields.required(name, try fields.object(name, known: nil))
        try given.refuseNull()
        let chat = try api.chat(for: caller, request)
        let values = try await create(chat, try values(given), try await target(request, chat, by: try fields.actor()))
        return response(values, status: 201, headers: [("Location", request.path)])
    }

    /// `PATCH /v1/channels/{channel}/metadata`, `…/metacounters`: changes values by a merge patch.
    private func patchAll(_ request: Request, _ caller: Caller) async throws -> Response {
        try await change(.set, isAdding: true, request, caller)
    }

    /// `POST /v1/channels/{channel}/increment-metacounters`: adds numbers to counters. A negative number decreases a
    /// counter.
    func increment(_ request: Request, _ caller: Caller) async throws -> Response {
        try await change(.inc, isAdding: false, request, caller)
    }

    private func change(
        _ mode: CounterMode, isAdding: Bool, _ request: Request, _ caller: Caller
    ) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try api.requiredFields(request, known: [name, "upsert", "by"])
        let given = try fields.required(name, try fields.object(name, known: nil))
        if mode != .set { try given.refuseNull() }
        let chat = try api.chat(for: caller, request)
        let (values, _) = try await update(
            chat, try values(given), mode, try fields.boolean("upsert") ?? isAdding, given.nullNames,
            try await target(request, chat, by: try fields.actor()))
        return response(values)
    }

    /// `DELETE /v1/channels/{channel}/metadata`, `…/metacounters`: removes the given keys, or all keys.
    private func deleteAll(_ request: Request, _ caller: Caller) async throws -> Response {
        let count = try await delete(nil, request, caller).count
        return .json(
            JSONText { writer in
                writer.beginObject()
                writer.member("deleted", count)
                writer.endObject()
            }.bytes)
    }

    /// `GET /v1/channels/{channel}/metadata/{key}`, `…/metacounters/{key}`: returns the value of one key.
    private func getOne(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let (values, etag) = try await fetch(try api.chat(for: caller, request), request.name("channel"))
        guard let value = values[ExactText(request.name("key"))] else { throw noKey(request) }
        let tag = EntityTag.quoted(etag)
        return response(value: value, headers: [("ETag", tag)]).unlessKnown(tag, to: request.headers)
    }

    /// `PUT /v1/channels/{channel}/metadata/{key}`, `…/metacounters/{key}`: sets the value of one key.
    private func putOne(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let fields = try api.requiredFields(request, known: ["value", "by"])
        let value = try fields.required("value", try parse("value", fields))
        let chat = try api.chat(for: caller, request)
        let (_, created) = try await update(
            chat, [ExactText(request.name("key")): value], .set, true, [],
            try await target(request, chat, by: try fields.actor()))
        return created.isEmpty
            ? response(value: value) : response(value: value, status: 201, headers: [("Location", request.path)])
    }

    /// `DELETE /v1/channels/{channel}/metadata/{key}`, `…/metacounters/{key}`: removes one key.
    private func deleteOne(_ request: Request, _ caller: Caller) async throws -> Response {
        guard try await !delete([request.name("key")], request, caller).isEmpty else { throw noKey(request) }
        return .empty()
    }

    private func delete(_ keys: [String]?, _ request: Request, _ caller: Caller) async throws -> [String] {
        let parameters = try Parameters(request.query, known: ["by"])
        let chat = try api.chat(for: caller, request)
        return try await remove(chat, keys, try await target(request, chat, by: try parameters.actor()))
    }

    private func target(_ request: Request, _ chat: ChatAccess, by user: String?) async throws -> Target {
        let channel = request.name("channel")
        let etag = try await Precondition(request.headers).etag { try await fetch(chat, channel).etag }
        return Target(channel: channel, user: user, etag: etag)
    }

    /// The values in an object; `null` values are left out.
    private func values(_ given: Fields) throws(ChatError) -> Values {
        var values: Values = [:]
        for (key, value) in given.members where value != .null { values[ExactText(key)] = try parse(key, given) }
        return values
    }

    private func noKey(_ request: Request) -> ChatError {
        ChatError(.notFound, "channel '\(request.name("channel"))' has no value with the key '\(request.name("key"))'")
    }

    private func response(
        _ values: Values, status: Int = 200, headers: [(name: String, value: String)] = []
    ) -> Response {
        let body = JSONText { writer in
            writer.beginObject()
            writer.key(text: name)
            writer.beginObject()
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                writer.key(text: key.text)
                print(value, &writer)
            }
            writer.endObject()
            writer.endObject()
        }
        return .json(body.bytes, status: status, headers: headers)
    }

    private func response(
        value: Value, status: Int = 200, headers: [(name: String, value: String)] = []
    ) -> Response {
        let body = JSONText { writer in
            writer.beginObject()
            writer.key("value")
            print(value, &writer)
            writer.endObject()
        }
        return .json(body.bytes, status: status, headers: headers)
    }
}

extension ChannelValueRoutes<String> {
    /// The routes of texts.
    static func metadata(_ api: NativeAPI) -> Self {
        ChannelValueRoutes(
            api: api, name: "metadata",
            parse: { name, fields throws(ChatError) in
                try fields.string(name, characters: ChatAccess.metadataLength)
            },
            print: { $1.string($0) },
            fetch: { chat, channel in
                let (texts, etag) = try await chat.metadata(of: channel)
                return (texts, etag)
            },
            create: { chat, texts, target in
                try await chat.createMetadata(texts, of: target.channel, by: target.user, ifMatch: target.etag)
            },
            update: { chat, texts, _, isAdding, removed, target in
                let (texts, created) = try await chat.updateMetadata(
                    texts, adding: isAdding, removing: removed, of: target.channel, by: target.user,
                    ifMatch: target.etag)
                return (texts, created)
            },
            remove: { chat, keys, target in
                try await chat.deleteMetadata(keys, of: target.channel, by: target.user, ifMatch: target.etag)
            })
    }
}

extension ChannelValueRoutes<Int64> {
    /// The routes of counters.
    static func metacounters(_ api: NativeAPI) -> Self {
        ChannelValueRoutes(
            api: api, name: "metacounters",
            parse: { name, fields throws(ChatError) in try counter(name, fields) },
            print: { $1.integer($0) },
            fetch: { chat, channel in
                let (counters, etag) = try await chat.metacounters(of: channel)
                return (counters, etag)
            },
            create: { chat, counters, target in
                try await chat.createMetacounters(counters, of: target.channel, by: target.user, ifMatch: target.etag)
            },
            update: { chat, counters, mode, isAdding, removed, target in
                let (counters, created) = try await chat.updateMetacounters(
                    counters, mode, adding: isAdding, removing: removed, of: target.channel, by: target.user,
                    ifMatch: target.etag)
                return (counters, created)
            },
            remove: { chat, keys, target in
                try await chat.deleteMetacounters(keys, of: target.channel, by: target.user, ifMatch: target.etag)
            })
    }

    /// Parses a counter from its digits, because a `Double` cannot represent every 64-bit integer. `24.0` is an integer
    /// too, as in JSON Schema. Nil when the member is absent.
    private static func counter(_ name: String, _ fields: Fields) throws(ChatError) -> Int64? {
        guard let text = fields.raw(name)?.description else { return nil }
        guard let value = Int64(text) ?? whole(fields.member(name)?.value) else {
            throw fields.fault(name, "type", "must be an integer of at most 64 bits", slug: "wrong_type")
        }
        return value
    }

    /// The value of a number without a fraction, within the range that a `Double` represents exactly; nil for other
    /// values.
    private static func whole(_ value: JSONValue?) -> Int64? {
        guard let number = value?.double, number.magnitude < 0x1p53 else { return nil }
        return Int64(exactly: number)
    }
}
