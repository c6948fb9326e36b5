import ChatModel
import HTTPClient
import JSON
import Locking
import Signing
import Text

/// Sends the posts of webhooks that need an access token, and fetches the tokens (OAuth 2.0, client credentials).
///
/// A token is cached until shortly before it expires. For each webhook with the same credentials, one token request is
/// made at a time, and other callers wait for its result.
final class PostTokens: Sendable {
    typealias Credentials = WebhookAuth.ClientCredentials
    private typealias Outcome = Result<String, OutboundFailure>

    /// A webhook with its credentials. A token is used only with the credentials with which it was fetched, because the
    /// webhook's receiver may change.
    private struct Owner: Hashable {
        let subscriber: SubscriberID
        let credentials: Credentials
    }

    private struct Token {
        let text: String
        let got: Timetoken
        let until: Timetoken
    }

    private struct Entry {
        var token: Token?
        var isFetching = false
        var waiting: [CheckedContinuation<Outcome?, Never>] = []
    }

    /// The last part of a token's lifetime, in which the token is not used. A token must still be valid when the post
    /// arrives at the receiver.
    private static let leeway: Duration = .seconds(30)
    /// The assumed lifetime if the server's response contains none. RFC 6749, 5.1 only recommends that servers send the
    /// lifetime.
    private static let unsaidLifeSeconds = 300.0
    /// The minimum age at which a rejected token is replaced. Without this minimum, a receiver that rejects every token
    /// would cause a token request with each post.
    private static let replacedAfter: Duration = .seconds(60)
    /// The number of cached tokens at which tokens that are not being fetched are removed.
    private static let most = 4096

    private let client: Client
    private let clock: WallClock
    private let entries = Lock<[Owner: Entry]>([:])

    init(client: Client, clock: WallClock) {
        self.client = client
        self.clock = clock
    }

    /// Sends a request, with an access token if the webhook needs one. A token that the receiver rejects is replaced at
    /// most once in the attempt. Fetching the token is part of the attempt and counts towards its timeout.
    func send(_ request: OutboundRequest, to webhook: Webhook) async -> OutboundResult {
        guard case .oauth2(let credentials) = webhook.settings.auth else { return await client.send(request) }
        let owner = Owner(subscriber: webhook.subscriber, credentials: credentials)
        let end = ContinuousClock.now + (request.totalTimeout ?? WebhookSettings.defaultTimeout)
        var result = OutboundResult()
        for _ in 0..<2 {
            let token: String
            switch await self.token(of: owner, webhook.settings.tls, until: end) {
            case .success(let text): token = text
            case .failure(let failure): return OutboundResult(failure: failure)
            }
            let timeLeft = end - .now
            guard timeLeft > .zero else { return OutboundResult(failure: Self.timedOut) }
            var authorized = request
            authorized.totalTimeout = timeLeft
            authorized.headers.append(("authorization", "Bearer " + token))
            result = await client.send(authorized)
            guard result.status == 401, drop(token, of: owner) else { return result }
        }
        return result
    }

    private static let timedOut = OutboundFailure(
        .timeout, detail: "token endpoint: no time is left to send the request",
        sentence: "The token endpoint used up the time limit of the attempt. Nothing was sent to the receiver.")

    /// Removes a rejected token from the cache, unless the token was fetched less than ``replacedAfter`` ago.
    ///
    /// - Returns: true when the caller should try another token, because the token was removed by this call or by an
    ///   earlier one.
    private func drop(_ token: String, of owner: Owner) -> Bool {
        let now = clock.now
        return entries.withLock { entries in
            guard let known = entries[owner]?.token, known.text == token else { return true }
            guard known.got.adding(Self.replacedAfter) <= now else { return false }
            entries[owner]?.token = nil
            return true
        }
    }

    private func token(
        of owner: Owner, _ tls: WebhookTLS?, until end: ContinuousClock.Instant
    ) async -> Outcome {
        let known = await withCheckedContinuation { join(owner, $0) }
        if let known { return known }
        let (outcome, life) = await fetch(owner.credentials, tls, until: end)
        self.end(owner, outcome, life)
        return outcome
    }

    /// Resumes the continuation with the cached token, or later with the token that is being fetched. Resumes with nil
    /// when the caller itself must fetch a token.
    private func join(_ owner: Owner, _ continuation: CheckedContinuation<Outcome?, Never>) {
        let now = clock.now
        let known = entries.withLock { entries -> Outcome?? in
            if entries[owner]?.isFetching == true {
                entries[owner]?.waiting.append(continuation)
                return nil
            }
            if let token = entries[owner]?.token, now < token.until { return .some(.success(token.text)) }
            if entries.count >= Self.most { entries = entries.filter { $0.value.isFetching } }
            entries[owner] = Entry(isFetching: true)
            return .some(nil)
        }
        if let known { continuation.resume(returning: known) }
    }

    private func end(_ owner: Owner, _ outcome: Outcome, _ life: Duration) {
        let now = clock.now
        let waiting = entries.withLock { entries in
            defer {
                entries[owner]?.waiting = []
                entries[owner]?.isFetching = false
                if case .success(let text) = outcome {
                    entries[owner]?.token = Token(text: text, got: now, until: now.adding(life))
                }
            }
            return entries[owner]?.waiting ?? []
        }
        for continuation in waiting { continuation.resume(returning: outcome) }
    }

    // MARK: The token endpoint

    private func fetch(
        _ credentials: Credentials, _ tls: WebhookTLS?, until end: ContinuousClock.Instant
    ) async -> (Outcome, life: Duration) {
        var request = Self.request(credentials)
        request.totalTimeout = max(end - .now, .milliseconds(1))
        var result = await client.send(request)
        // The certificate of the token endpoint may be from a public authority or from the webhook's own authorities.
        // The secret is sent only after one of these authorities has verified the endpoint.
        if result.failure?.reason == .tls, let identity = tls?.ownAuthorities {
            request.tls = identity
            request.totalTimeout = max(end - .now, .milliseconds(1))
            result = await client.send(request)
        }
        guard let status = result.status else {
            let failure = result.failure ?? OutboundFailure(.reset, detail: "no response")
            return (Self.failure(failure.reason, "did not respond: \(failure.reason.rawValue)", failure.detail), .zero)
        }
        let root = (try? JSONDocument(result.body))?.root  // A response that is not JSON has no token.
        guard (200..<300).contains(status), let token = root?["access_token"]?.string,
            FieldRules.error(value: token) == nil
        else {
            let reason = root?["error"]?.string.map { ", \($0.prefix(64))" } ?? ""
            let isRefusal = !(200..<300).contains(status)
            let rest = isRefusal ? reason : " without a usable access_token"
            let answer = "responded with \(status)\(rest)"
            return (Self.failure(.responseInvalid, answer), .zero)
        }
        let seconds = root?["expires_in"]?.double ?? Self.unsaidLifeSeconds
        let life = Duration.seconds(min(max(seconds, 0), 30 * 24 * 3600))
        return (.success(token), life - min(Self.leeway, life / 2))
    }

    /// A failure of the token endpoint, for the attempt log. The text states that the receiver is not at fault.
    private static func failure(
        _ reason: OutboundFailure.Reason, _ problem: String, _ detail: String = ""
    ) -> Outcome {
        .failure(
            OutboundFailure(
                reason, detail: "token endpoint: \(detail.isEmpty ? problem : detail)",
                sentence: "The token endpoint \(problem). Nothing was sent to the receiver."))
    }

    private static func request(_ credentials: Credentials) -> OutboundRequest {
        var form = [("grant_type", "client_credentials")]
        if let scope = credentials.scope { form.append(("scope", scope)) }
        if let audience = credentials.audience { form.append(("audience", audience)) }
        var headers: [OutboundRequest.Field] = [
            ("content-type", "application/x-www-form-urlencoded"), ("accept", PostContent.json),
        ]
        if credentials.isSentInBody {
            form += [("client_id", credentials.clientID), ("client_secret", credentials.clientSecret)]
        } else {
            let pair =
                "\(PercentEncoding.encode(credentials.clientID)):\(PercentEncoding.encode(credentials.clientSecret))"
            headers.append(("authorization", "Basic " + Base64.encode(Array(pair.utf8))))
        }
        let body = form.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
        return OutboundRequest(
            method: "POST", url: credentials.tokenURL, headers: headers, body: Array(body.utf8))
    }
}
