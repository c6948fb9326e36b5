import ChatCore
import ChatModel
import HTTPServer
import JSON
import Signing

/// Sign-in for pages: exchanges an API key for a cookie, so that no script has to store the key.
extension NativeAPI {
    func addSignInRoutes(to router: inout Router) {
        router.add(.get, "/v1/session", handler: asPublic(getSession))
        router.add(.post, "/v1/session", body: .collected(limit: limits.emitBodyBytes), handler: asPublic(postSession))
        router.add(.delete, "/v1/session", handler: asPublic(deleteSession))
    }

    /// `POST /v1/session`: signs a browser in with an API key. Returns the rights of the key, and sets the session
    /// cookie.
    func postSession(_ request: Request) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try refuseForeign(request)
        let fields = try Fields(request.body.bytes, limits: limits, known: ["key"])
        if try IdempotencyKey(request.headers) != nil { throw IdempotencyKey.refusal }
        let key = Secret(text: try fields.required("key", try fields.string("key")))
        let caller: Caller
        do throws(ChatError) {
            caller = try await service.confirmingRefusal { () throws(ChatError) in
                guard let caller = service.keyring.caller(of: key) else {
                    throw ChatError(
                        .unauthorized, "the API key is unknown or has expired", slug: "credential_invalid")
                }
                return caller
            }
        } catch {
            await recordFailedSignIn(request, error)
            throw error
        }
        try caller.meters?.admitRequest(at: service.clock.now)
        let latest = service.clock.now.adding(BrowserSession.lifetime)
        let session = BrowserSession(
            app: caller.app, key: caller.credential, expires: min(latest, caller.expires ?? latest))
        await service.audit.write(AuditOperation("session.create", request, caller), in: caller.app)
        let text = session.text(sealedBy: service.keyring.seal(for: BrowserSession.sealPurpose))
        let cookie = BrowserSession.setCookie(text, isSecure: isSeenEncrypted(request))
        return .json(print(caller, until: session.expires), headers: [Self.noStore, cookie])
    }

    /// `GET /v1/session`: returns the rights of the signed-in caller; no content when the request is not signed in.
    func getSession(_ request: Request) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        // A request without a sign-in is not an error: pages use this route to find out whether they are signed in.
        let nobody = Response.empty(headers: [Self.noStore])
        guard request.headers.contains("Authorization") || sessionCookie(of: request) != nil else {
            return nobody
        }
        let caller: Caller
        do {
            caller = try await confirmedCaller(of: request)
        } catch {
            guard error.slug == "session_ended" else { throw error }
            return nobody
        }
        return .json(print(caller, until: caller.expires), headers: [Self.noStore])
    }

    /// `DELETE /v1/session`: signs a browser out by deleting its session cookie. Returns no content.
    func deleteSession(_ request: Request) async throws -> Response {
        _ = try Parameters(request.query, known: [])
        try refuseForeign(request)
        return .empty(headers: [true, false].map { BrowserSession.setCookie(nil, isSecure: $0) })
    }

    /// Returns true when the browser's connection is encrypted. If this server uses no TLS, the scheme in `Origin`
    /// decides, because a proxy does not change that field. Browsers send `Origin` with every request that changes
    /// something.
    private func isSeenEncrypted(_ request: Request) -> Bool {
        if request.isSecure { return true }
        guard let origin = request.headers["Origin"] else { return publicURL.hasPrefix("https://") }
        return origin.hasPrefix("https://")
    }

    /// Returns true when the request is known to be encrypted: it uses TLS, or its `Host` belongs to a public `https`
    /// address.
    private func isKnownEncrypted(_ request: Request) -> Bool {
        if request.isSecure { return true }
        return request.headers["Host"].map { RequestOrigin.begins(publicURL, with: "https://" + $0) } ?? false
    }

    /// Rejects requests from pages of other sites, which could otherwise sign a visitor in or out.
    private func refuseForeign(_ request: Request) throws(ChatError) {
        guard RequestOrigin(request, publicURL: publicURL) != .foreign else { throw Self.foreignOrigin }
    }

    private static let foreignOrigin = ChatError(
        .forbidden, "the request was sent with the session cookie by a page of another site; send an API key instead",
        slug: "foreign_origin")

    private func print(_ caller: Caller, until expires: Timetoken?) -> [UInt8] {
        JSONText { writer in
            writer.beginObject()
            writer.key("app")
            writer.beginObject()
            writer.member("id", caller.app.name)
            writer.member("name", service.keyring.app(caller.app)?.name ?? "")
            writer.endObject()
            writer.member("credential", caller.credential)
            if let key = service.keyring.key(caller.credential, in: caller.app) {
                writer.member("name", key.name)
            } else {
                writer.nullMember("name")
            }
            writer.member("scopes", caller.scopes.names)
            writer.member("channels", caller.channels.map(\.description))
            writer.member("types", caller.types.map(\.description))
            if let user = caller.user { writer.member("user", user) } else { writer.nullMember("user") }
            writer.member("operator", caller.isOperator)
            if let expires { writer.member("expires_at", expires.timestamp) } else { writer.nullMember("expires_at") }
            writer.endObject()
        }.bytes
    }
}

// MARK: - Requests with the cookie

extension NativeAPI {
    private func sessionCookie(of request: Request) -> String? {
        BrowserSession.cookie(in: request.headers, isSecure: isKnownEncrypted(request))
    }

    /// The caller that the session cookie identifies; nil without a cookie.
    ///
    /// The cookie of a request from a page of another origin is rejected. Such a page cannot read responses of this
    /// gateway, because the gateway never allows credentials (CORS). But the page could send requests that take effect:
    /// `SameSite` treats other ports of this machine, and other hosts of the domain, as the same site.
    ///
    /// - Throws: `.forbidden` for a request from a page of another origin, and for a request that changes something and
    ///   comes from no page; `.unauthorized` when the session has ended.
    func signedInCaller(of request: Request) throws(ChatError) -> Caller? {
        guard let text = sessionCookie(of: request) else { return nil }
        switch RequestOrigin(request, publicURL: publicURL) {
        case .own: break
        case .anonymous where request.isSafe: break
        case .anonymous, .foreign: throw Self.foreignOrigin
        }
        let session = BrowserSession(
            text: text, sealedBy: service.keyring.seal(for: BrowserSession.sealPurpose))
        let now = service.clock.now
        guard let session, now < session.expires, session.expires <= now.adding(BrowserSession.lifetime),
            var caller = service.keyring.caller(key: session.key, in: session.app)
        else { throw ChatError(.unauthorized, "the session has ended; sign in again", slug: "session_ended") }
        // The session's expiry also ends the streams that the session has opened.
        caller.expires = min(session.expires, caller.expires ?? session.expires)
        return caller
    }
}

/// The origin of the page that made a browser send a request.
enum RequestOrigin: Equatable {
    /// A page of this gateway.
    case own
    /// The request comes from no page: the user typed the address, or the client is not a browser.
    case anonymous
    case foreign

    /// Determines the origin from the header fields of a request.
    ///
    /// - Parameter publicURL: the address that browsers see, in case a proxy changes the `Host` field; empty when not
    ///   configured.
    init(_ request: Request, publicURL: String) {
        // Fetch Metadata: scripts cannot set this field. Browsers send the field only to `https` addresses and to
        // loopback.
        if let site = request.headers["Sec-Fetch-Site"] {
            self = site == "same-origin" ? .own : site == "none" ? .anonymous : .foreign
        } else if let origin = request.headers["Origin"] {
            // An `Origin` of `null` has no authority, and an HTTP/1.0 request may have no `Host`. Two missing values do
            // not count as equal.
            let isOwn =
                Self.authority(of: origin).map { $0 == request.headers["Host"] } ?? false
                || Self.begins(publicURL, with: origin)
            self = isOwn ? .own : .foreign
        } else {
            self = .anonymous
        }
    }

    private static func authority(of origin: String) -> String? {
        for scheme in ["https://", "http://"] where origin.hasPrefix(scheme) {
            return String(origin.dropFirst(scheme.count))
        }
        return nil
    }

    static func begins(_ url: String, with origin: String) -> Bool {
        url == origin || url.hasPrefix(origin + "/")
    }
}

extension Request {
    /// True when the method only reads (RFC 9110, 9.2.1).
    var isSafe: Bool { [.get, .head, .options].contains(method) }
}
