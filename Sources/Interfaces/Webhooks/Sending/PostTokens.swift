import ChatModel
import HTTPClient
import JSON
import Locking
import Signing

/// Access tokens of webhooks that show one (OAuth 2.0, client credentials), and the posts that carry them.
///
/// Tokens are kept until shortly before they end. One request for a token at a time per webhook and credentials: whoever
/// comes meanwhile waits for its outcome.
final class PostTokens: Sendable {
    typealias Credentials = WebhookAuth.ClientCredentials
    private typealias Outcome = Result<String, OutboundFailure>

    /// A token is good only for the credentials it was got with: the webhook may have another receiver by now.
    private struct Owner: Hashable {
        let endpoint: EndpointID
        let credentials: Credentials
    }

    private struct Entry {
        var token: (text: String, until: Timetoken)?
        var isFetching = false
        var waiting: [CheckedContinuation<Outcome?, Never>] = []
    }

    /// A token is not used for its last seconds: it must still be good when it arrives.
    private static let leeway: Duration = .seconds(30)
    /// For servers that do not say how long a token lasts (RFC 6749, 5.1 only recommends it).
    private static let unsaidLifeSeconds = 300.0
    /// Beyond it those that are not in use are forgotten.
    private static let most = 4096

    private let client: Client
    private let clock: WallClock
    private let entries = Lock<[Owner: Entry]>([:])

    init(client: Client, clock: WallClock) {
        self.client = client
        self.clock = clock
    }

    /// Sends a request with the token its webhook needs, if it needs one. A token that the receiver does not take any more is
    /// replaced, once, within the attempt.
    func send(_ request: OutboundRequest, to webhook: Webhook) async -> OutboundResult {
        guard case .oauth2(let credentials) = webhook.settings.auth else { return await client.send(request) }
        let owner = Owner(endpoint: webhook.endpoint, credentials: credentials)
        var result = OutboundResult()
        for _ in 0..<2 {
            let token: String
            switch await self.token(of: owner) {
            case .success(let text): token = text
            case .failure(let failure): return OutboundResult(failure: failure)
            }
            var authorized = request
            authorized.headers.append(("authorization", "Bearer " + token))
            result = await client.send(authorized)
            guard result.status == 401 else { return result }
            drop(token, of: owner)
        }
        return result
    }

    private func drop(_ token: String, of owner: Owner) {
        entries.withLock { entries in
            if entries[owner]?.token?.text == token { entries[owner]?.token = nil }
        }
    }

    private func token(of owner: Owner) async -> Outcome {
        let known = await withCheckedContinuation { join(owner, $0) }
        if let known { return known }
        let (outcome, life) = await fetch(owner.credentials)
        end(owner, outcome, life)
        return outcome
    }

    /// Resumes with the token that is there, later with that which is being fetched, or with nil: it is the caller's to fetch.
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
        let until = clock.now.adding(life)
        let waiting = entries.withLock { entries in
            defer {
                entries[owner]?.waiting = []
                entries[owner]?.isFetching = false
                if case .success(let token) = outcome { entries[owner]?.token = (token, until) }
            }
            return entries[owner]?.waiting ?? []
        }
        for continuation in waiting { continuation.resume(returning: outcome) }
    }

    // MARK: The token endpoint

    private func fetch(_ credentials: Credentials) async -> (Outcome, life: Duration) {
        let result = await client.send(Self.request(credentials))
        guard let status = result.status else {
            let failure = result.failure ?? OutboundFailure(.reset, detail: "no answer")
            return (Self.failure(failure.reason, "gave no answer: \(failure.reason.rawValue)", failure.detail), .zero)
        }
        let root = (try? JSONDocument(result.body))?.root  // An answer that is no JSON has no token in it.
        guard (200..<300).contains(status), let token = root?["access_token"]?.string,
            FieldRules.obstacle(value: token) == nil
        else {
            let reason = root?["error"]?.string.map { ", \($0.prefix(64))" } ?? ""
            let isRefusal = !(200..<300).contains(status)
            let answer = isRefusal ? "answered \(status)\(reason)" : "answered \(status) without a usable access_token"
            return (Self.failure(.responseInvalid, answer), .zero)
        }
        let seconds = root?["expires_in"]?.double ?? Self.unsaidLifeSeconds
        let life = max(.seconds(min(max(seconds, 0), 30 * 24 * 3600)) - Self.leeway, .zero)
        return (.success(token), life)
    }

    /// The receiver is not to blame, so whoever reads of the attempt must learn who is.
    private static func failure(
        _ reason: OutboundFailure.Reason, _ happening: String, _ detail: String = ""
    ) -> Outcome {
        .failure(
            OutboundFailure(
                reason, detail: "token endpoint: \(detail.isEmpty ? happening : detail)",
                sentence: "The token endpoint \(happening). Nothing was sent to the receiver."))
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
