import ChatCore
import ChatModel
import HTTPServer
import JSON

extension NativeAPI {
    private static let keyMembers = ["name", "scopes", "channels", "types", "expires_at"]

    /// `GET /v1/keys`
    func getKeys(_ request: Request, _ caller: Caller) async throws -> Response {
        let listing = try Listing(Parameters(request.query, known: Listing.parameterNames), of: request, limits: limits)
        let page = try listing.page(of: try service.keyring.keys(of: caller), id: \.id)
        return Listing.response(page, to: request) { $0.print(to: &$1) }
    }

    /// `POST /v1/keys`
    func postKey(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.demand(.admin)
        let fields = try Fields(request.body.bytes, limits: limits, known: Self.keyMembers)
        let issued = try await service.keyring.issueKey(
            name: try fields.string("name") ?? "", scopes: try scopes(fields),
            channels: try patterns("channels", fields), types: try patterns("types", fields),
            expires: try expiry(fields), by: caller)
        let body = JSONText { issued.key.print(to: &$0, text: issued.text) }
        return .json(body.bytes, status: 201, headers: [("Location", "/v1/keys/" + issued.key.id), Self.noStore])
    }

    /// `GET /v1/keys/{id}`
    func getKey(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let id = request.name("id")
        guard let key = try service.keyring.keys(of: caller).first(where: { $0.id == id }) else {
            throw ChatError(.notFound, "no such key")
        }
        return .json(JSONText { key.print(to: &$0) }.bytes)
    }

    /// `DELETE /v1/keys/{id}`
    func deleteKey(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try await service.keyring.removeKey(request.name("id"), by: caller)
        return .empty()
    }

    /// Answers that hold a secret: no cache may keep them.
    static let noStore = (name: "Cache-Control", value: "no-store")

    private func scopes(_ fields: Fields) throws(ChatError) -> Scopes {
        let words = try fields.required("scopes", try fields.strings("scopes"))
        guard let scopes = Scopes(names: words) else {
            let known = Scopes.words.map { "'\($0.word)'" }.joined(separator: ", ")
            throw fields.fault("scopes", "enum", "must be one or several of \(known)")
        }
        return scopes
    }

    /// Left out means all of them, as far as the caller itself reaches.
    private func patterns(_ name: String, _ fields: Fields) throws(ChatError) -> [NamePattern] {
        guard let texts = try fields.strings(name) else { return [.all] }
        guard (1...limits.streamChannels).contains(texts.count) else {
            throw fields.fault(name, "items", "must have 1 to \(limits.streamChannels) patterns")
        }
        var patterns: [NamePattern] = []
        for (index, text) in texts.enumerated() {
            guard text.utf8.count <= 255, let pattern = NamePattern(text) else {
                throw fields.fault("\(name)", "format", "item \(index) is no pattern: a name, 'a.b.*', or '*'")
            }
            patterns.append(pattern)
        }
        return patterns
    }

    private func expiry(_ fields: Fields) throws(ChatError) -> Timetoken? {
        guard let text = try fields.string("expires_at") else { return nil }
        guard let moment = Timestamp.read(text) else {
            throw fields.fault("expires_at", "format", "must be an RFC 3339 timestamp like 2030-01-31T12:00:00Z")
        }
        guard moment > service.clock.now else {
            throw fields.fault("expires_at", "range", "lies in the past")
        }
        return moment
    }
}

extension APIKey {
    /// - Parameter text: the key itself; only when it was just made.
    func print(to writer: inout JSONWriter, text: String? = nil) {
        writer.beginObject()
        writer.member("id", id)
        if let text { writer.member("key", text) }
        writer.member("name", name)
        writer.member("scopes", scopes.names)
        writer.member("channels", channels.map(\.description))
        writer.member("types", types.map(\.description))
        if let expires { writer.member("expires_at", expires.timestamp) } else { writer.nullMember("expires_at") }
        writer.member("created_at", created.timestamp)
        writer.endObject()
    }
}
