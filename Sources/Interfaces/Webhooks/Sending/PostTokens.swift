import ChatModel
import HTTPClient
import JSON
import Locking
import Signing

/// Access tokens of webhooks that show one (OAuth 2.0, client credentials), and the posts that carry them.
///
/// Tokens are kept until shortly before they end. One request for a token at a time per webhook: whoever comes meanwhile
/// waits for its outcome.
final class PostTokens: Sendable {
    typealias Credentials = WebhookAuth.ClientCredentials
    private typealias Outcome = Result<String, OutboundFailure>

    private struct Entry {
        var credentials: Credentials
        var token: (text: String, until: Timetoken)?
        var isFetching = false
        var waiting: [CheckedContinuation<Outcome, Never>] = []
    }

    private enum Step { case have(String), fetch, wait }

    /// A token is not used for its last seconds: it must still be good when it arrives.
    private static let leeway: Duration = .seconds(30)
    /// For servers that do not say how long a token lasts (RFC 6749, 5.1 only recommends it).
    private static let unsaidLifeSeconds = 300.0
    /// Beyond it those that are not in use are forgotten.
    private static let most = 4096

    private let client: Client
    private let clock: WallClock
    private let entries = Lock<[EndpointID: Entry]>([:])

    init(client: Client, clock: WallClock) {
        self.client = client
        self.clock = clock
    }

    /// Sends a request with the token its webhook needs, if it needs one. A token that the receiver does not take any more is
    /// replaced, once, within the attempt.
    func send(_ request: OutboundRequest, to webhook: Webhook) async -> OutboundResult {
        guard case .oauth2(let credentials) = webhook.settings.auth else { return await client.send(request) }
        var result = OutboundResult()
        for _ in 0..<2 {
            let token: String
            switch await self.token(of: webhook.endpoint, credentials) {
            case .success(let text): token = text
            case .failure(let failure): return OutboundResult(failure: failure)
            }
            var authorized = request
            authorized.headers.append(("authorization", "Bearer " + token))
            result = await client.send(authorized)
            guard result.status == 401 else { return result }
            drop(token, of: webhook.endpoint)
        }
        return result
    }

    private func drop(_ token: String, of endpoint: EndpointID) {
        entries.withLock { entries in
            if entries[endpoint]?.token?.text == token { entries[endpoint]?.token = nil }
        }
    }

    private func token(of endpoint: EndpointID, _ credentials: Credentials) async -> Outcome {
        switch begin(endpoint, credentials) {
        case .have(let token): return .success(token)
        case .fetch:
            let (outcome, life) = await fetch(credentials)
            end(endpoint, outcome, life)
            return outcome
        case .wait:
            return await withCheckedContinuation { continuation in
                let isOver = entries.withLock { entries in
                    guard entries[endpoint]?.isFetching == true else { return true }
                    entries[endpoint]?.waiting.append(continuation)
                    return false
                }
                // It ended in between; the attempt is repeated like any other that failed.
                if isOver {
                    continuation.resume(returning: .failure(OutboundFailure(.cancelled, detail: "token missed")))
                }
            }
        }
    }

    private func begin(_ endpoint: EndpointID, _ credentials: Credentials) -> Step {
        let now = clock.now
        return entries.withLock { entries in
            if entries[endpoint]?.isFetching == true { return .wait }
            if let entry = entries[endpoint], entry.credentials == credentials, let token = entry.token,
                now < token.until
            {
                return .have(token.text)
            }
            if entries.count >= Self.most { entries = entries.filter { $0.value.isFetching } }
            entries[endpoint] = Entry(credentials: credentials, isFetching: true)
            return .fetch
        }
    }

    private func end(_ endpoint: EndpointID, _ outcome: Outcome, _ life: Duration) {
        let until = clock.now.adding(life)
        let waiting = entries.withLock { entries in
            defer {
                entries[endpoint]?.waiting = []
                entries[endpoint]?.isFetching = false
                if case .success(let token) = outcome { entries[endpoint]?.token = (token, until) }
            }
            return entries[endpoint]?.waiting ?? []
        }
        for continuation in waiting { continuation.resume(returning: outcome) }
    }

    // MARK: The token endpoint

    private func fetch(_ credentials: Credentials) async -> (Outcome, life: Duration) {
        let result = await client.send(Self.request(credentials))
        guard let status = result.status else {
            let failure = result.failure ?? OutboundFailure(.reset, detail: "no answer")
            return (.failure(OutboundFailure(failure.reason, detail: "token endpoint: \(failure.detail)")), .zero)
        }
        let root = (try? JSONDocument(result.body))?.root  // An answer that is no JSON has no token in it.
        guard (200..<300).contains(status), let token = root?["access_token"]?.string,
            FieldRules.obstacle(value: token) == nil
        else {
            let reason = root?["error"]?.string.map { ", \($0.prefix(64))" } ?? ""
            let detail = "the token endpoint answered \(status)\(reason)"
            return (.failure(OutboundFailure(.responseInvalid, detail: detail)), .zero)
        }
        let seconds = root?["expires_in"]?.double ?? Self.unsaidLifeSeconds
        let life = max(.seconds(min(max(seconds, 0), 30 * 24 * 3600)) - Self.leeway, .zero)
        return (.success(token), life)
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
            let pair = "\(Percent.form(credentials.clientID)):\(Percent.form(credentials.clientSecret))"
            headers.append(("authorization", "Basic " + Base64.encode(Array(pair.utf8))))
        }
        let body = form.map { "\($0.0)=\(Percent.form($0.1))" }.joined(separator: "&")
        return OutboundRequest(
            method: "POST", url: credentials.tokenURL, headers: headers, body: Array(body.utf8),
            totalTimeout: WebhookSettings.defaultTimeout)
    }
}
