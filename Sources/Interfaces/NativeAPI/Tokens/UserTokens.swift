import ChatCore
import ChatModel
import JSON
import Locking
import Signing

/// Tells who holds a user's token, and makes tokens (`conventions.md` 9).
///
/// Nothing is stored: a token holds while the key it comes from does. Which key that is, the token says (`kid` in its
/// header a registered key, `iss` in its claims the app whose secret signed it); by which algorithm, the key alone
/// (RFC 8725, 3.1). Tokens that were found good are remembered by their digest, so that a signature is checked once.
final class UserTokens: Sendable {
    /// What was found of a token that has been checked.
    private struct Known: Sendable {
        let token: UserToken
        let app: AppID
        let credential: String
        /// Which of the app's secrets signed it; one that was exchanged signs for a while only. Nil: a registered key did.
        let secretPrint: String?
    }

    private static let remembered = 10_000
    private static let rememberedBytes = 2048
    /// How long a token made here may hold at most, and how long it does when nothing is asked.
    static let longestLife: Duration = .seconds(30 * 24 * 3600)
    static let usualLife: Duration = .seconds(3600)

    private let service: ChatService
    private let publicURL: String
    private let known = Lock(GenerationCache<String, Known>(capacity: remembered))

    init(service: ChatService, publicURL: String) {
        self.service = service
        self.publicURL = publicURL
    }

    /// Who holds the token; nil for a text that is none.
    ///
    /// - Parameter digest: SHA-256 of the text, in hex.
    /// - Throws: `.unauthorized` for one that does not hold: before its signature was checked in the same words for every
    ///   reason, then with the reason.
    func caller(of text: String, digest: String) throws(ChatError) -> Caller? {
        guard text.utf8.count <= UserToken.textBytes else { return nil }
        if let found = known.withLock({ $0.value(of: digest) }) { return try caller(found) }
        guard let token = WebToken(text) else { return nil }
        let found = try check(token)
        // Many long ones would take much memory; they are rare, and checked each time.
        if text.utf8.count <= Self.rememberedBytes { known.withLock { $0.insert(found, for: digest) } }
        return try caller(found)
    }

    private func caller(_ known: Known) throws(ChatError) -> Caller {
        let token = known.token
        let now = service.clock.now
        guard now < token.end else {
            throw ChatError(.unauthorized, "the token has expired; get a new one", slug: "token_expired")
        }
        if let start = token.notBefore, now < start.adding(.zero - UserToken.skew) {
            throw Self.refusal("it holds only from 'nbf' on")
        }
        // One that says it is made later would outlive the next revocation.
        if let issued = token.issued, now < issued.adding(.zero - UserToken.skew) {
            throw Self.refusal("its 'iat' lies in the future")
        }
        // Registered and removed again, or expired: as if it had never been.
        guard let key = service.keyring.caller(key: known.credential, in: known.app) else { throw Self.unknown }
        guard var caller = token.caller(of: key) else {
            throw Self.refusal("it says more than the key it comes from may do")
        }
        caller.proof = TokenProof(issued: token.issued, secretPrint: known.secretPrint)
        if let print = known.secretPrint {
            let secrets = service.keyring.app(known.app)?.secrets(at: now) ?? []
            guard let secret = secrets.first(where: { AppRecord.print(ofSecret: $0.key) == print }) else {
                throw Self.unknown
            }
            caller.expires = [caller.expires, secret.until].compactMap(\.self).min()
        }
        guard !service.isRevoked(caller) else {
            throw Self.refusal("the tokens of its user were taken back; get a new one")
        }
        service.keyring.noteUse(ofKey: known.credential, in: known.app)
        return caller
    }

    // MARK: - A token that is new here

    private func check(_ token: WebToken) throws(ChatError) -> Known {
        guard let header = try? JSONDocument(token.header).root, header["crit"] == nil,
            let signer = signers(header, token).first(where: {
                header["alg"]?.string == $0.key.algorithm.rawValue && $0.key.signs(token)
            })
        else { throw Self.unknown }
        var claims: UserToken
        do { claims = try UserToken(claims: token.claims) } catch { throw Self.refusal(error.text) }
        try check(audience: claims.audience)
        // Only what the app's own secret has signed may say which key it comes from.
        guard let secretPrint = signer.secretPrint, let key = claims.key else {
            return Known(token: claims, app: signer.app, credential: signer.id, secretPrint: signer.secretPrint)
        }
        // It was made here, by this machine's clock.
        claims.leeway = .zero
        return Known(token: claims, app: signer.app, credential: key, secretPrint: secretPrint)
    }

    private struct Signer {
        let key: WebTokenKey
        let app: AppID
        let id: String
        var secretPrint: String?
    }

    /// What may have signed it, by what it says itself.
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

    /// Who is meant for another service is not let in here; once the world knows our address, tokens name it.
    private func check(audience: [String]) throws(ChatError) {
        guard !publicURL.isEmpty else {
            if audience.isEmpty { return }
            throw Self.refusal("'aud' names a service, and this gateway has no 'public_url' to be named by")
        }
        guard audience.contains(publicURL) else { throw Self.refusal("'aud' must be '\(publicURL)'") }
    }

    static let unknown = ChatError(
        .unauthorized, "the API key or token is unknown or has expired", slug: "credential_invalid")

    private static func refusal(_ reason: String) -> ChatError {
        ChatError(.unauthorized, "the token is signed, but \(reason)", slug: "token_invalid")
    }

    // MARK: - Making one

    /// Makes a token for a user with at most what the caller's API key may do, and for as long as that key holds.
    ///
    /// - Throws: `.forbidden` when the caller holds no API key of the app.
    func issue(_ token: UserToken, by caller: Caller) throws(ChatError) -> String {
        guard caller.user == nil, service.keyring.caller(key: caller.credential, in: caller.app) != nil,
            let app = service.keyring.app(caller.app)
        else { throw ChatError(.forbidden, "tokens are made with an API key") }
        var token = token
        token.key = caller.credential
        if !publicURL.isEmpty { token.audience = [publicURL] }
        let claims = token.claims(
            issuer: app.id, issued: service.nextIssue(for: UserID(token.user, in: app.id)),
            id: SystemRandomSource().identifier(prefix: "tok_"))
        let text = WebToken.text(claims: claims.bytes, secret: Secret(text: app.secretKey))
        guard text.utf8.count <= UserToken.textBytes else {
            throw ChatError(.malformed, "too many or too long channels for a token; use patterns")
        }
        return text
    }
}
