import ChatModel
package import HTTPClient
package import JSON
import Synchronization

/// A request to the gateway's native API.
package struct Call: Sendable {
    package var method: String
    package var path: RequestPath
    package var body: JSONText?
    /// The idempotency key of an emit. The gateway answers a repeat with the response to the first request.
    package var idempotencyKey: String?
    /// True when sending the request twice inherently has the same effect as sending it once.
    package var isHarmlessAgain: Bool
    /// True when a rejection of the request's content is returned as a response, with the problem as its document.
    package var takesRefusals: Bool
    /// True when 404 is returned as a response, with the problem as its document.
    package var takesMissing: Bool
    /// Header fields in addition to those of every request.
    package var headers: [(name: String, value: String)]

    package init(
        method: String = "GET", path: RequestPath, body: JSONText? = nil, idempotencyKey: String? = nil,
        isHarmlessAgain: Bool = false, takesRefusals: Bool = false, takesMissing: Bool = false,
        headers: [(name: String, value: String)] = []
    ) {
        self.method = method
        self.path = path
        self.body = body
        self.idempotencyKey = idempotencyKey
        self.isHarmlessAgain = isHarmlessAgain
        self.takesRefusals = takesRefusals
        self.takesMissing = takesMissing
        self.headers = headers
    }

    /// True when the request may be sent again although the outcome of the first one is unknown.
    package var isRepeatable: Bool { method == "GET" || idempotencyKey != nil || isHarmlessAgain }
}

/// The gateway's response: a success or, when requested, a rejection of the request's content.
package struct Answer: Sendable {
    package let status: Int
    /// The document; nil when the response had no body.
    package let document: JSONDocument?
}

/// A command's access to the gateway.
package final class GatewayAccess: Sendable {
    package let url: String
    package let client: Client
    private let credential: Credential
    private let commandEnvironment: CommandEnvironment
    /// Set by the first response. Before it, a refused connection means a wrong address or no gateway, and waiting
    /// would only hide that. After it, a refused connection means that the gateway is restarting.
    private let hasAnswered = Atomic(false)

    private static let attempts = 6
    /// The maximum response size: a page of 250 events at their largest, with room.
    private static let answerLimit = 64 * 1024 * 1024

    package init(
        address: ServerAddress, credential: Credential, commandEnvironment: CommandEnvironment
    ) throws(CommandFailure) {
        url = address.url
        self.credential = credential
        self.commandEnvironment = commandEnvironment
        do {
            client = try Client(
                options: ClientOptions(
                    maxConnections: 64, perHostConnections: 64, userAgent: "parley-cli/\(Product.version)",
                    responseLimitBytes: Self.answerLimit, keptResponseBytes: Self.answerLimit,
                    totalTimeout: .seconds(30), addressGuard: .disabled))
        } catch {
            throw CommandFailure("the HTTP client cannot start: \(error.message)")
        }
    }

    package func close() async { await client.shutdown() }

    /// True when an expired credential can be renewed.
    package var isRenewable: Bool { credential.isRenewable }

    /// Sends a request. A repeatable request is retried when the connection breaks or the gateway is busy. A rejected
    /// token is renewed once.
    ///
    /// - Throws: the gateway's rejection with its explanation, or the reason why there is no response.
    package func send(_ call: Call) async throws(CommandFailure) -> Answer {
        var text = try await credential.current()
        var isRenewed = false
        var attempt = 1
        while true {
            let result = await client.send(request(call, text))
            // The request had no effect, so any request may be sent again.
            if result.status == 401, !isRenewed, let other = try await credential.renewed(after: text) {
                (text, isRenewed) = (other, true)
                continue
            }
            let failure: CommandFailure
            switch verdict(on: result, to: call) {
            case .answer(let answer): return answer
            case .final(let final): throw final
            case .transient(let reason): failure = reason
            }
            guard call.isRepeatable, attempt < Self.attempts else { throw failure }
            let wait = Backoff.request.delay(afterAttempt: attempt, draw: commandEnvironment.draw())
            // When the wait is cancelled, the original failure is reported.
            do { try await commandEnvironment.sleep(max(wait, Self.retryAfter(result))) } catch { throw failure }
            attempt += 1
        }
    }

    /// Opens a stream of lines. A rejected token is renewed once. Nothing else is retried: the reader knows the
    /// position from which to continue.
    ///
    /// - Throws: `OutboundFailure` without a response, `CommandFailure` without a credential.
    package func stream(_ path: RequestPath, idleTimeout: Duration) async throws -> OutboundStream {
        let text = try await credential.current()
        let stream = try await open(path, text, idleTimeout)
        guard stream.status == 401, let other = try await credential.renewed(after: text) else { return stream }
        stream.cancel()
        return try await open(path, other, idleTimeout)
    }

    private func open(
        _ path: RequestPath, _ credential: String, _ idleTimeout: Duration
    ) async throws(OutboundFailure) -> OutboundStream {
        let headers = [("Authorization", "Bearer \(credential)"), ("Accept", "application/x-ndjson")]
        return try await client.stream(
            OutboundRequest(url: url + path.text, headers: headers), idleTimeout: idleTimeout)
    }

    /// Describes a failed response to the user.
    package func failure(status: Int, body: [UInt8]) -> CommandFailure {
        ProblemDescription.failure(status: status, body: body, credential: credential.source)
    }

    private func request(_ call: Call, _ credential: String) -> OutboundRequest {
        var headers = [("Authorization", "Bearer \(credential)"), ("Accept", "application/json")] + call.headers
        if call.body != nil { headers.append(("Content-Type", "application/json")) }
        if let idempotencyKey = call.idempotencyKey { headers.append(("Idempotency-Key", idempotencyKey)) }
        return OutboundRequest(
            method: call.method, url: url + call.path.text, headers: headers, body: call.body?.bytes ?? [])
    }

    private enum Verdict {
        case answer(Answer)
        case transient(CommandFailure)
        case final(CommandFailure)
    }

    private func verdict(on result: OutboundResult, to call: Call) -> Verdict {
        if let failure = result.failure {
            let told = CommandFailure(ProblemDescription.sentence(failure, url: url))
            switch failure.reason {
            case .reset, .timeout, .connectTimeout, .overloaded: return .transient(told)
            case .connectRefused: return hasAnswered.load(ordering: .relaxed) ? .transient(told) : .final(told)
            default: return .final(told)
            }
        }
        guard let status = result.status else { return .final(CommandFailure("\(url) did not answer")) }
        hasAnswered.store(true, ordering: .relaxed)
        let isAnswer =
            (200..<300).contains(status) || call.takesRefusals && Self.refusals.contains(status)
            || call.takesMissing && status == 404
        guard isAnswer else {
            let failure = failure(status: status, body: result.body)
            return Self.isTransient(result, status) ? .transient(failure) : .final(failure)
        }
        guard !result.truncated else {
            return .final(CommandFailure("the answer is larger than \(Self.answerLimit) bytes"))
        }
        guard !result.body.isEmpty else { return .answer(Answer(status: status, document: nil)) }
        guard let document = try? JSONDocument(result.body, limits: JSONLimits(depth: 2048), numbers: .lenient) else {
            return .final(CommandFailure("the server at \(url) is not a Parley gateway: its answer is not JSON"))
        }
        return .answer(Answer(status: status, document: document))
    }

    /// The statuses that reject an event. Other statuses concern the key, the address or the gateway.
    private static let refusals: Set<Int> = [400, 403, 413, 422]

    /// 409 with `Retry-After` means that the first request with the same key is still running.
    private static func isTransient(_ result: OutboundResult, _ status: Int) -> Bool {
        [429, 502, 503, 504].contains(status) || (status == 409 && result.headers["Retry-After"] != nil)
    }

    /// Returns the delay that the response asks for, bounded by the patience of an interactive user. A date is ignored.
    private static func retryAfter(_ result: OutboundResult) -> Duration {
        guard let text = result.headers["Retry-After"], let seconds = Int(text), seconds > 0 else { return .zero }
        return .seconds(min(seconds, 30))
    }
}

/// The delays between retries: each twice as long as the last, within bounds, with jitter against synchronized clients.
package struct Backoff: Sendable {
    package var first: Duration
    package var most: Duration

    /// The delays after a failed request.
    package static let request = Backoff(first: .milliseconds(200), most: .seconds(5))
    /// The delays after a broken stream.
    package static let stream = Backoff(first: .milliseconds(500), most: .seconds(30))

    /// Returns the delay before the next attempt. Half of it is fixed, the other half random.
    ///
    /// - Parameters:
    ///   - attempt: the number of failed attempts, from 1.
    ///   - draw: a random number from 0 up to 1.
    package func delay(afterAttempt attempt: Int, draw: Double) -> Duration {
        let full = min(most, first * (1 << min(max(attempt - 1, 0), 20)))
        return full * (0.5 + draw / 2)
    }
}

/// A list of the native API, read page by page.
struct PagedList: Sendable {
    let access: GatewayAccess
    /// The path with its query. Limit and cursor are added.
    let path: RequestPath

    /// The gateway's largest page.
    private static let pageMost = 250

    /// Visits up to `limit` elements in the list's order.
    ///
    /// - Returns: true when there are more elements.
    func each(limit: Int, _ visit: (JSONText, JSONValue) throws -> Void) async throws -> Bool {
        var left = limit
        var cursor: String?
        while true {
            let page = path.adding("limit", String(min(left, Self.pageMost))).adding("cursor", cursor)
            let answer = try await access.send(Call(path: page))
            let values = answer.document?.root["data"]?.elements ?? []
            let texts = answer.document?.text.rawMember("data")?.rawElements() ?? []
            for (text, value) in zip(texts, values).prefix(left) { try visit(text, value) }
            left -= min(left, values.count)
            let next = answer.document?.root["next_cursor"]?.string
            guard left > 0 else { return next != nil }
            // A repeated cursor would loop forever.
            guard let next, next != cursor else { return false }
            cursor = next
        }
    }
}
