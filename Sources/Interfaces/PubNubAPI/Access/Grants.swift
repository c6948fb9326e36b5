import ChatCore
import ChatModel
import HTTPServer
import JSON
import JSONSchema
import Signing

/// The calls that grant and revoke access tokens. Both calls require a signature with the app's secret key.
extension PubNubAPI {
    func addAccessRoutes(to router: inout Router) {
        let body = BodyPolicy.collected(limit: limits.emitBodyBytes)
        add(.post, "/v3/pam/{s}/grant", body, in: .access("grant"), to: &router, postGrant)
        add(.delete, "/v3/pam/{s}/grant/{token}", body, in: .access("revoke"), to: &router, deleteGrant)
    }

    private func postGrant(_ request: WireRequest) async throws -> Response {
        let keyset = try signedKeyset(of: request)
        guard let payload = WirePayload(request.body, depth: limits.jsonDepth) else { throw WireError.notJSON }
        let grant = try Grant(payload)
        let token = AccessToken.text(
            grant.members(at: service.clock.now), secret: Secret(text: keyset.record.secretKey))
        await record("token.grant", request, keyset)
        var response = Self.success { $0.member("token", token) }
        response.headers.append(("Cache-Control", "no-store"))
        return response
    }

    private func deleteGrant(_ request: WireRequest) async throws -> Response {
        let keyset = try signedKeyset(of: request)
        let text = request.segment(4) ?? ""
        guard let token = tokens.token(text, of: keyset.record, at: service.clock.now) else {
            throw WireError.invalidToken("Token is invalid.")
        }
        guard token.expires > service.clock.now else { throw WireError.invalidToken("Token is expired.") }
        try await chat(keyset, for: request).revoke(token: text.bareToken, until: token.expires)
        await record("token.revoke", request, keyset)
        return Self.success { _ in }
    }

    /// The app of a signed request. The calls that grant and revoke tokens accept only a signature as their credential.
    /// The request is counted against the app's rates, as in `admit`.
    private func signedKeyset(of request: WireRequest) throws -> Keyset {
        let keyset = try keyset(of: request, at: 2)
        try requireSignature(request, keyset)
        try keyset.record.meters?.admitRequest(at: service.clock.now)
        return keyset
    }

    /// Writes an entry to the app's audit log. The actor is the subscribe key, because the keys identify no user.
    func record(_ action: String, _ request: WireRequest, _ keyset: Keyset, resource: String? = nil) async {
        let operation = AuditOperation(
            action: action, actor: keyset.record.subscribeKey, address: request.request.remoteAddress.description,
            request: request.request.id, resource: resource)
        await service.audit.write(operation, in: keyset.app)
    }

    private static func success(_ data: (inout JSONWriter) -> Void) -> Response {
        .wire { writer in
            writer.beginObject()
            writer.key("data")
            writer.beginObject()
            writer.member("message", "Success")
            data(&writer)
            writer.endObject()
            writer.member("service", "Access Manager")
            writer.member("status", 200)
            writer.endObject()
        }
    }
}

extension WireError {
    fileprivate static func invalidToken(_ message: String) -> WireError {
        var error = WireError(status: 400, text: "Invalid token")
        error.details = [.init(message: message, location: "token", kind: "path")]
        return error
    }
}

/// The contents of a token: its permissions and its lifetime.
private struct Grant {
    private static let minutes = 1...43_200
    /// The names of the kinds of resources, in a request and in a token.
    private static let sections = [
        ("channels", "chan"), ("groups", "grp"), ("users", "usr"), ("spaces", "spc"), ("uuids", "uuid"),
    ]

    let minutes: Int
    private let permissions: JSONValue

    init(_ payload: WirePayload) throws(WireError) {
        let ttl = payload.value["ttl"]
        let asked = ttl?.integer ?? ttl?.string.flatMap { Int64($0) } ?? 0
        guard let minutes = Int(exactly: asked), Self.minutes.contains(minutes) else {
            throw Self.wrong("Invalid ttl", "Range should be 1 to 43200 minute(s).", "ttl")
        }
        guard let permissions = payload.value["permissions"], permissions.kind == .object else {
            throw Self.wrong("Invalid permissions", "Must be an object.", "permissions")
        }
        for part in ["resources", "patterns"] {
            for (name, _) in Self.sections {
                for (resource, bits) in permissions[part]?[name]?.members ?? [] {
                    guard let bits = bits.integer, (0...255).contains(bits) else {
                        throw Self.wrong(
                            "Invalid permissions", "Range should be 0 to 255.", "\(part).\(name).\(resource)")
                    }
                    guard part == "resources" || WholePattern(resource) != nil else {
                        throw Self.wrong(
                            "Invalid pattern", "Must be a regular expression.", "\(part).\(name).\(resource)")
                    }
                }
            }
        }
        self.minutes = minutes
        self.permissions = permissions
    }

    private static func wrong(_ text: String, _ message: String, _ location: String) -> WireError {
        var error = WireError(status: 400, text: text)
        error.details = [.init(message: message, location: location, kind: "body")]
        return error
    }

    func members(at now: Timetoken) -> [(key: CBOR, value: CBOR)] {
        var members: [(key: CBOR, value: CBOR)] = [
            (.name("v"), .unsigned(2)), (.name("t"), .unsigned(now.rawValue / Timetoken.ticksPerSecond)),
            (.name("ttl"), .unsigned(UInt64(minutes))), (.name("res"), resources("resources")),
            (.name("pat"), resources("patterns")), (.name("meta"), .init(permissions["meta"]) ?? .map([])),
        ]
        if let user = permissions["uuid"]?.string { members.append((.name("uuid"), .text(user))) }
        return members
    }

    private func resources(_ part: String) -> CBOR {
        .map(
            Self.sections.map { name, short in
                let granted = permissions[part]?[name]?.members ?? []
                return (.name(short), .map(granted.map { (.text($0.name), .unsigned(UInt64($0.value.integer ?? 0))) }))
            })
    }
}

extension CBOR {
    /// Converts a JSON value to CBOR; nil when `value` is nil. Nested values that CBOR cannot represent become null.
    fileprivate init?(_ value: JSONValue?) {
        guard let value else { return nil }
        switch value.kind {
        case .object: self = .map((value.members ?? []).map { (.text($0.name), CBOR($0.value) ?? .null) })
        case .array: self = .array((value.elements ?? []).map { CBOR($0) ?? .null })
        case .string: self = .text(value.string ?? "")
        case .integer:
            let integer = value.integer ?? 0
            self = integer < 0 ? .negative(UInt64(bitPattern: -1 - integer)) : .unsigned(UInt64(integer))
        case .real: self = .double(value.double ?? 0)
        case .boolean: self = .boolean(value.boolean ?? false)
        case .null: self = .null
        }
    }
}
