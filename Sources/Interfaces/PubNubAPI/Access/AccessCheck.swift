import ChatCore
import ChatModel
import HTTPServer
import Locking
import Signing

extension PubNubAPI {
    /// Authorizes a request and then counts it against the app's rates. Unauthorized requests are not counted. An app
    /// that requires tokens accepts a request with a valid signature, or with a token that grants the permissions of
    /// the rule. Does nothing when `rule` is nil or the subscribe key is unknown.
    ///
    /// - Parameter rule: the permissions that the call requires; nil for a call that needs no authorization.
    /// - Returns: the token of the request; nil when no token was required or the request is signed.
    /// - Throws: `WireError` with status 403; `ChatError` when a rate is exceeded.
    func admit(_ request: inout WireRequest, _ rule: AccessRule?) throws -> AccessToken? {
        // A request with an unknown key is rejected by the call itself, with the error text of that call.
        guard let rule, let key = request.segment(rule.keyAt),
            let keyset = service.keyring.keyset(subscribeKey: key)
        else { return nil }
        request.app = (keyset, rule.keyAt)
        request.request.annotations?.credential = keyset.app.name
        let token = keyset.record.requiresTokens ? try proof(of: request, rule, keyset.record) : nil
        try keyset.record.meters?.admitRequest(at: service.clock.now)
        return token
    }

    /// Authorizes a request to an app that requires tokens.
    ///
    /// - Returns: the valid token of the request; nil when the request is signed.
    /// - Throws: `WireError` with status 403.
    private func proof(
        of request: WireRequest, _ rule: AccessRule, _ app: AppRecord
    ) throws -> AccessToken? {
        if let isRight = RequestSignature.check(request, of: app, at: service.clock.now) {
            guard isRight else { throw WireError.denied }
            return nil
        }
        let needs = try rule.needs(request)
        guard !rule.isSigned, let text = request["auth"] else { throw WireError.denied(needs) }
        let shown = PresentedToken(text: text, tokens: tokens)
        let token = try shown.token(of: app, service)
        if let user = token.user {
            let claims = [request["uuid"], rule.actorAt.flatMap { request.segment($0) }].compactMap { $0 }
            guard claims.allSatisfy({ ExactText($0) == ExactText(user) }) else { throw WireError.denied(needs) }
        }
        let missing = token.missing(needs)
        guard missing.isEmpty else { throw WireError.denied(missing) }
        if let fault = shown.revocation(of: token, in: app, service) { throw fault }
        return token
    }

    /// Requires a signature with the app's secret key, even in an app that does not require tokens.
    ///
    /// - Throws: `WireError.denied`.
    func requireSignature(_ request: WireRequest, _ keyset: Keyset) throws(WireError) {
        guard RequestSignature.check(request, of: keyset.record, at: service.clock.now) == true else { throw .denied }
    }
}

/// The token that a request has sent. The token's validity can be checked again while the request waits for events.
struct PresentedToken: Sendable {
    let text: String
    let tokens: VerifiedTokenCache

    /// Verifies the token's signature and expiry, but not whether it was revoked.
    ///
    /// - Throws: `WireError.badToken` for a token that no secret of the app has signed; `WireError.expiredToken`.
    func token(of app: AppRecord, _ service: ChatService) throws(WireError) -> AccessToken {
        let now = service.clock.now
        guard let token = tokens.token(text, of: app, at: now) else { throw WireError.badToken }
        guard token.expires > now else { throw WireError.expiredToken }
        return token
    }

    func revocation(of token: AccessToken, in app: AppRecord, _ service: ChatService) -> WireError? {
        let isRevoked = service.chat(for: .gateway(in: app.id)).isRevoked(token: text.bareToken)
        return isRevoked || service.isRevoked(token, in: app.id) ? .revokedToken : nil
    }

    /// The error for a token that is no longer valid; nil while the token is valid.
    func fault(in app: AppRecord, _ service: ChatService) -> WireError? {
        do throws(WireError) {
            return revocation(of: try token(of: app, service), in: app, service)
        } catch {
            return error
        }
    }
}

extension WireRequest {
    /// The token that authorized the request; nil if the request needed no token or is signed.
    func shownToken(_ tokens: VerifiedTokenCache) -> PresentedToken? {
        token == nil ? nil : self["auth"].map { PresentedToken(text: $0, tokens: tokens) }
    }
}

extension ChatService {
    /// Returns true when the tokens of the token's user were revoked after this token was issued.
    func isRevoked(_ token: AccessToken, in app: AppID) -> Bool {
        token.user.map { isRevoked(user: UserID($0, in: app), issued: token.issued) } ?? false
    }
}

extension String {
    /// The token in its canonical spelling: base64url without padding.
    var bareToken: String { replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "") }
}

extension WireError {
    static let denied = denied([])
    static let badToken = access("Invalid token")
    static let expiredToken = access("Token is expired.")
    static let revokedToken = access("Token is revoked")

    private static func access(_ text: String) -> WireError {
        WireError(status: 403, text: text, service: "Access Manager", isAccess: true)
    }

    static func denied(_ needs: [AccessRule.RequiredPermission]) -> WireError {
        var error = access("Forbidden")
        error.deniedChannels = needs.filter { $0.kind == .channel }.flatMap(\.names)
        error.deniedGroups = needs.filter { $0.kind == .group }.flatMap(\.names)
        return error
    }
}

/// A cache of tokens with valid signatures. Clients send the same token with every request, and parsing the token costs
/// more than the rest of the request. Invalid tokens are not cached, so forged tokens displace no valid tokens.
final class VerifiedTokenCache: Sendable {
    private struct Key: Hashable {
        let app: AppID
        /// The secret that signed the token. A token signed with a previous secret becomes invalid when that secret
        /// expires.
        let secret: String
        let text: ExactText
    }

    /// The maximum size of a cached token, in bytes. Longer tokens are parsed on every request, so that the memory of
    /// the cache is bounded.
    private static let longest = 4096

    private let known = Lock(GenerationCache<Key, AccessToken>(capacity: 8192))

    /// Parses and verifies a token. Nil for text that is not a token of the app. Does not check the expiry.
    func token(_ text: String, of app: AppRecord, at now: Timetoken) -> AccessToken? {
        let bare = ExactText(text)
        for secret in app.secrets(at: now) {
            let key = Key(app: app.id, secret: secret.key, text: bare)
            if let token = known.withLock({ $0.value(of: key) }) { return token }
            guard let token = AccessToken(text, secret: Secret(text: secret.key)) else { continue }
            if text.utf8.count <= Self.longest { known.withLock { $0.insert(token, for: key) } }
            return token
        }
        return nil
    }
}
