import ChatCore
import ChatModel
import HTTPServer
import Locking
import Signing

extension PubNubAPI {
    /// Lets a request in: where its app demands tokens, by a right signature or by a token that grants what it needs; and
    /// then within the app's rates, so that who has no right to ask cannot use them up.
    ///
    /// - Returns: the token that let it in; nil for what needs none, or is signed.
    /// - Throws: `WireError` with the status 403; `ChatError` when the rates allow no more.
    func admit(_ request: WireRequest, _ rule: AccessRule?) async throws -> AccessToken? {
        // An unknown key is refused by the call itself, in its words.
        guard let rule, let app = request.segment(rule.keyAt).flatMap({ service.keyring.app(subscribeKey: $0) }) else {
            return nil
        }
        request.request.notes?.credential = app.id.name
        let token = app.demandsTokens ? try proof(of: request, rule, app) : nil
        try app.meters?.admitRequest(at: service.clock.now)
        return token
    }

    /// - Returns: nil for what is signed.
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

    /// - Throws: `denied` unless the request is signed with the app's secret key, whatever the app demands of others.
    func demandSignature(_ request: WireRequest, _ keyset: Keyset) throws(WireError) {
        guard RequestSignature.check(request, of: keyset.record, at: service.clock.now) == true else { throw .denied }
    }
}

/// A token as a request has shown it: whether it holds can be asked again while the request waits.
struct PresentedToken: Sendable {
    let text: String
    let tokens: VerifiedTokenCache

    /// - Throws: what the wire answers for a token that an app's secret has not signed, or that has ended.
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

    /// Why it holds no more; nil while it does.
    func fault(in app: AppRecord, _ service: ChatService) -> WireError? {
        do throws(WireError) {
            return revocation(of: try token(of: app, service), in: app, service)
        } catch {
            return error
        }
    }
}

extension WireRequest {
    /// The token that has let it in, if one was needed.
    func shownToken(_ tokens: VerifiedTokenCache) -> PresentedToken? {
        token == nil ? nil : self["auth"].map { PresentedToken(text: $0, tokens: tokens) }
    }
}

extension ChatService {
    /// Whether the tokens of the token's user were taken back after it was made.
    func isRevoked(_ token: AccessToken, in app: AppID) -> Bool {
        token.user.map { isRevoked(user: UserID($0, in: app), issued: token.issued) } ?? false
    }
}

extension String {
    /// A token without what may differ between two spellings of it.
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

/// Tokens whose signatures were right: clients show the same one with every request, and reading it costs more than all
/// else about it. One that is not right is never kept, so nobody drives others out with inventions.
final class VerifiedTokenCache: Sendable {
    private struct Key: Hashable {
        let app: AppID
        /// A token that an app's former secret signed is none once that has ended.
        let secret: String
        let text: ExactText
    }

    /// Longer ones are read every time, so that what is kept stays small.
    private static let longest = 4096

    private let known = Lock(GenerationCache<Key, AccessToken>(capacity: 8192))

    /// Nil for what is no token of the app.
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
