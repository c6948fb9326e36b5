import ChatCore
import ChatModel
import JSON
import Locking
import Signing

/// Verifies users' tokens and creates them.
///
/// Tokens are not stored. A token is valid only while its key is valid. A token names its key with `kid` in the header
/// (a registered key) or with `iss` in the claims (the app whose secret signed the token). The algorithm depends only
/// on the key (RFC 8725, 3.1). Verified tokens are cached, so that each signature is verified once. Tokens in the cache
/// are compared in constant time.
final class UserTokens: Sendable {
    /// The result of verifying a token.
    private struct Known: Sendable {
        let token: UserToken
        let app: AppID
        let credential: String
        /// The fingerprint of the app's secret that signed the token. A rotated secret is valid only for a limited
        /// time. Nil when a registered key signed the token.
        let secretPrint: String?
    }

    private static let remembered = 10_000
    private static let rememberedBytes = 2048
    /// The maximum lifetime of a token that the gateway creates.
    static let longestLife: Duration = .seconds(30 * 24 * 3600)
    /// The default lifetime of a token that the gateway creates.
    static let usualLife: Duration = .seconds(3600)

    private let service: ChatService
    private let publicURL: String
    private let known = Lock(GenerationCache<Secret, Known>(capacity: remembered))

    init(service: ChatService, publicURL: String) {
        self.service = service
        self.publicURL = publicURL
    }

    /// The holder of a token; nil for a text that is not a token.
    ///
    /// - Parameter credential: the text, as UTF-8.
    /// - Throws: `.unauthorized` for an invalid token. The message states the reason only if the signature is valid.
    func caller(of credential: Secret) throws(ChatError) -> Caller? {
        guard credential.bytes.count <= UserToken.textBytes else { return nil }
        if let found = known.withLock({ $0.value(of: credential) }) { return try caller(found) }
        guard let token = WebToken(String(decoding: credential.bytes, as: UTF8.self)) else { return nil }
        let found = try check(token)
        // Long tokens are not cached, because many of them would take much memory. They are rare.
        if credential.bytes.count <= Self.rememberedBytes { known.withLock { $0.insert(found, for: credential) } }
        return try caller(found)
    }

    private func caller(_ known: Known) throws(ChatError) -> Caller {
        let token = known.token
        let now = service.clock.now
        guard now < token.end else {
            throw ChatError(.unauthorized, "the token has expired; get a new token", slug: "token_expired")
        }
        if let start = token.notBefore, now < start.adding(.zero - UserToken.skew) {
            throw Self.refusal("the token is not valid before the time in 'nbf'")
        }
        // A revocation compares `iat`, so a token with an `iat` in the future would outlast the next revocation.
        if let issued = token.issued, now < issued.adding(.zero - UserToken.skew) {
            throw Self.refusal("the token's 'iat' is in the future")
        }
        // A token whose key was removed or has expired gets the same error as a token of an unknown key.
        guard let key = service.keyring.caller(key: known.credential, in: known.app) else { throw Self.unknown }
        guard var caller = token.caller(of: key) else {
            throw Self.refusal("the token grants more than its key allows")
        }
        caller.proof = TokenProof(issued: token.issued, secretPrint: known.secretPrint)
        if let print = known.secretPrint {
            let secrets = service.keyring.app(known.app)?.secrets(at: now) ?? []
            guard let secret = secrets.first(where: { AppRecord.print(ofSecret: $0.key) == print }) else {
                throw Self.unknown
            }
            caller.expires = [caller.expires, secret.until].compactMap(\.self).min()
        }
        guard !service.isRevoked(user: UserID(token.user, in: known.app), issued: token.issued) else {
            throw Self.refusal("the tokens of the user were revoked; get a new token")
        }
        service.keyring.recordUse(ofKey: known.credential, in: known.app)
        return caller
    }

    // MARK: - Verification of a new token

    private func check(_ token: WebToken) throws(ChatError) -> Known {
        guard let header = try? JSONDocument(token.header).root, header["crit"] == nil,
            let signer = signers(header, token).first(where: {
                header["alg"]?.string == $0.key.algorithm.rawValue && $0.key.signs(token)
            })
        else { throw Self.unknown }
        var claims: UserToken
        do { claims = try UserToken(claims: token.claims) } catch { throw Self.refusal(error.text) }
        try check(audience: claims.audience)
        // Only a token signed by the app's own secret may name the key from which it is derived.
        guard let secretPrint = signer.secretPrint, let key = claims.key else {
            return Known(token: claims, app: signer.app, credential: signer.id, secretPrint: signer.secretPrint)
        }
        // The gateway itself created the token, so both times come from the same clock.
        claims.leeway = .zero
        return Known(token: claims, app: signer.app, credential: key, secretPrint: secretPrint)
    }

    private struct Signer {
        let key: WebTokenKey
        let app: AppID
        let id: String
        var secretPrint: String?
    }

    /// The keys that may have signed a token. The token's own header and claims name them.
    private func signers(_ header: JSONValue, _ token: WebToken) -> [Signer] {
        if let id = header["kid"]?.string, let found = service.keyring.signingKey(id) {
            return [Signer(key: found.key, app: found.app, id: id)]
        }
        guard
            let app = (try? JSONDocument(token.claims))?.root["iss"]?.string.flatMap({ issuer in
                service.keyring.app(AppID(issuer))
            })
        else { return [] }
        return app.secrets(at: service.clock.now).map { secret in
            Signer(
                key: WebTokenKey(secret: Secret(text: secret.key)), app: app.id, id: Keyring.secretCredential,
                secretPrint: AppRecord.print(ofSecret: secret.key))
        }
    }

    /// Checks that a token is for this gateway. If a public address is configured, the audience must contain this
    /// address. If none is configured, the token must not have an audience.
    private func check(audience: [String]) throws(ChatError) {
        guard !publicURL.isEmpty else {
            if audience.isEmpty { return }
            throw Self.refusal(
                "the token has 'aud', but this gateway has no public_url to compare; set public_url, or leave 'aud' out"
            )
        }
        guard audience.contains(publicURL) else { throw Self.refusal("'aud' must be '\(publicURL)'") }
    }

    static let unknown = ChatError(
        .unauthorized, "the API key or token is unknown or has expired", slug: "credential_invalid")

    private static func refusal(_ reason: String) -> ChatError {
        ChatError(.unauthorized, "the token's signature is valid, but \(reason)", slug: "token_invalid")
    }

    // MARK: - Creation

    /// Creates a token for a user. The token has at most the rights of the caller's API key, and is valid only while
    /// the key is valid.
    ///
    /// - Throws: `.forbidden` when the caller has no API key of the app.
    func issue(_ token: UserToken, by caller: Caller) throws(ChatError) -> String {
        guard caller.user == nil, service.keyring.caller(key: caller.credential, in: caller.app) != nil,
            let app = service.keyring.app(caller.app)
        else { throw ChatError(.forbidden, "a token can be created only with an API key") }
        var token = token
        token.key = caller.credential
        if !publicURL.isEmpty { token.audience = [publicURL] }
        let claims = token.claims(
            issuer: app.id, issued: service.nextIssue(for: UserID(token.user, in: app.id)),
            id: SystemRandomSource().identifier(prefix: "tok_"))
        let text = WebToken.text(claims: claims.bytes, secret: Secret(text: app.secretKey))
        guard text.utf8.count <= UserToken.textBytes else {
            throw ChatError(
                .malformed, "the token would have too many channel names, or names that are too long; use patterns")
        }
        return text
    }
}
