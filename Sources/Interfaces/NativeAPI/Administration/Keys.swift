import ChatCore
import ChatModel
import HTTPServer
import JSON
import Signing

extension NativeAPI {
    /// The writable members of `PATCH /v1/keys/{id}`.
    static let keyChanges = ["name"] + RatePolicies.memberNames
    private static let keyMembers =
        ["name", "scopes", "channels", "types", "expires_at", "jwt"] + RatePolicies.memberNames

    /// `GET /v1/keys`: returns a page of the app's API keys without their texts. The page can be filtered by the time
    /// of last use.
    func getKeys(_ request: Request, _ caller: Caller) async throws -> Response {
        let parameters = try Parameters(
            request.query, known: Listing.timedNames + ["last_used_after", "last_used_before"])
        let listing = try Listing(parameters, of: request, limits: limits)
        let (after, before) =
            (try parameters.position("last_used_after"), try parameters.position("last_used_before"))
        let keys = try service.keyring.keys(of: caller).filter { key in
            guard after != nil || before != nil else { return true }
            // A key that was never used matches as if its last use were at time zero.
            let used = service.keyring.lastUse(of: key) ?? .zero
            return (after.map { used > $0 } ?? true) && (before.map { used < $0 } ?? true)
        }
        let page = try listing.page(of: keys, id: \.id, time: { $0.created })
        return Listing.response(page, to: request) { print($0, to: &$1) }
    }

    /// `POST /v1/keys`: creates an API key, or registers a public key that verifies users' tokens. Returns the key with
    /// status 201. The text of an API key is only in this response.
    func postKey(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.require(.admin)
        let fields = try Fields(request.body.bytes, limits: limits, known: Self.keyMembers)
        let text = SystemRandomSource().token(prefix: "parley_")
        let signature = try signature(fields)
        let key = try await service.keyring.addKey(
            name: try fields.string("name") ?? "", proof: signature ?? .text(digest: Keyring.digest(of: text)),
            scopes: try scopes(fields),
            channels: try fields.channelPatterns("channels", most: limits.streamChannels) ?? [.all],
            types: try fields.typePatterns("types", most: limits.streamChannels) ?? [.all], expires: try expiry(fields),
            rates: try RatePolicies(fields), by: caller)
        let body = JSONText { print(key, text: signature == nil ? text : nil, to: &$0) }
        return .json(body.bytes, status: 201, headers: [("Location", "/v1/keys/" + key.id), Self.noStore])
    }

    /// The public key with which the gateway verifies users' tokens; nil when the body has no member `jwt`. A key with
    /// such a public key has no secret text.
    private func signature(_ fields: Fields) throws(ChatError) -> APIKey.TokenEvidence? {
        guard let jwt = try fields.object("jwt", known: ["alg", "public_key"]) else { return nil }
        let name = try jwt.required("alg", try jwt.string("alg"))
        guard let algorithm = WebTokenKey.Algorithm(rawValue: name), algorithm != .hs256 else {
            throw jwt.fault("alg", "enum", "must be 'RS256', 'ES256' or 'EdDSA'")
        }
        let pem = try jwt.required("public_key", try jwt.string("public_key"))
        guard pem.utf8.count <= 8192, let key = WebTokenKey(algorithm, pem: pem) else {
            throw jwt.fault(
                "public_key", "format",
                "must be a public key for \(name) in PEM format, '-----BEGIN PUBLIC KEY-----'; an RSA key needs 2048 bits or more"
            )
        }
        return .signature(key, pem: pem)
    }

    /// `GET /v1/keys/{id}`: returns a key without its text.
    func getKey(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let known = try key(request, caller)
        return response(known).unlessKnown(version: known.etag, to: request.headers)
    }

    private func key(_ request: Request, _ caller: Caller) throws(ChatError) -> APIKey {
        let id = request.name("id")
        guard let key = try service.keyring.keys(of: caller).first(where: { $0.id == id }) else {
            throw ChatError(.notFound, "no key has this id")
        }
        return key
    }

    private func response(_ key: APIKey) -> Response {
        .json(JSONText { print(key, to: &$0) }.bytes, headers: [("ETag", EntityTag.quoted(key.etag))])
    }

    private func print(_ key: APIKey, text: String? = nil, to writer: inout JSONWriter) {
        key.print(text: text, used: service.keyring.lastUse(of: key), to: &writer)
    }

    /// `PATCH /v1/keys/{id}`: changes the name and the rates. All other members are fixed when a key is created.
    func patchKey(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try caller.demandWholeApp()
        let fields = try requiredFields(request, known: Self.keyChanges)
        let etag = try await Precondition(request.headers).etag { try key(request, caller).etag }
        let changed = try await service.keyring.changeKey(request.name("id"), ifMatch: etag, by: caller) {
            key throws(ChatError) in
            if fields.has("name") { key.name = try fields.string("name") ?? "" }
            key.rates = try RatePolicies(fields, former: key.rates)
        }
        return response(changed)
    }

    /// `DELETE /v1/keys/{id}`: revokes a key. Returns no content.
    func deleteKey(_ request: Request, _ caller: Caller) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        let etag = try await Precondition(request.headers).etag { try key(request, caller).etag }
        try await service.keyring.removeKey(request.name("id"), ifMatch: etag, by: caller)
        return .empty()
    }

    /// The header field of responses that contain a secret. It forbids caches to store the responses.
    static let noStore = (name: "Cache-Control", value: "no-store")

    private func scopes(_ fields: Fields) throws(ChatError) -> Scopes {
        try fields.required("scopes", try requestedScopes(fields))
    }

    func requestedScopes(_ fields: Fields) throws(ChatError) -> Scopes? {
        guard let words = try fields.strings("scopes") else { return nil }
        let known = Scopes.words.map { "'\($0.word)'" }.joined(separator: ", ")
        if let index = words.firstIndex(where: { Scopes(names: [$0]) == nil }) {
            throw fields.fault("scopes/\(index)", "enum", "must be one of \(known)")
        }
        guard let scopes = Scopes(names: words) else {
            throw fields.fault("scopes", "items", "must have at least one of \(known)")
        }
        return scopes
    }

    private func expiry(_ fields: Fields) throws(ChatError) -> Timetoken? {
        guard let text = try fields.string("expires_at") else { return nil }
        guard let moment = Timestamp.read(text) else {
            throw fields.fault("expires_at", "format", "must be an RFC 3339 timestamp like 2030-01-31T12:00:00Z")
        }
        guard moment > service.clock.now else {
            throw fields.fault("expires_at", "range", "must be in the future")
        }
        return moment
    }
}

extension APIKey {
    /// Prints the key as the next value of `writer`.
    ///
    /// - Parameters:
    ///   - text: the secret text of the key if the request has just created it; nil otherwise.
    ///   - used: the time of the key's last use; nil if it was never used.
    fileprivate func print(text: String?, used: Timetoken?, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", id)
        if let text { writer.member("key", text) }
        if case .signature(let key, let pem) = proof {
            writer.member(
                "jwt",
                JSONText { jwt in
                    jwt.beginObject()
                    jwt.member("alg", key.algorithm.rawValue)
                    jwt.member("public_key", pem)
                    jwt.endObject()
                })
        }
        writer.member("name", name)
        writer.member("scopes", scopes.names)
        writer.member("channels", channels.map(\.description))
        writer.member("types", types.map(\.description))
        if let expires { writer.member("expires_at", expires.timestamp) } else { writer.nullMember("expires_at") }
        rates.print(to: &writer)
        writer.member("created_at", created.timestamp)
        if let used { writer.member("last_used_at", used.timestamp) } else { writer.nullMember("last_used_at") }
        writer.member("etag", etag)
        writer.member("updated_at", updated.timestamp)
        writer.endObject()
    }
}
