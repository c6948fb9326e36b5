import ChatModel
package import HTTPClient
package import JSON
import Synchronization

/// A request to the gateway's native API.
package struct Call: Sendable {
    package var method: String
    package var path: RequestPath
    package var body: JSONText?
    /// Makes an emit safe to repeat: the gateway answers a repeat as it answered the first (`conventions.md` 6).
    package var idempotencyKey: String?
    /// Whether sending it twice does what sending it once does, by its nature.
    package var isHarmlessAgain: Bool
    /// Whether a refusal of what was sent is an answer like others, with its problem as the document.
    package var takesRefusals: Bool
    /// Whether 404 is an answer like others, with its problem as the document.
    package var takesMissing: Bool
    /// Fields beside those that every request has.
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

    /// Whether it may be sent again when nobody knows what became of the first.
    package var isRepeatable: Bool { method == "GET" || idempotencyKey != nil || isHarmlessAgain }
}

/// What the gateway answered, with a status of success or, when asked for, a refusal of what was sent.
package struct Answer: Sendable {
    package let status: Int
    /// Nil when it had no body.
    package let document: JSONDocument?
}

/// The gateway, seen from a command.
package final class GatewayAccess: Sendable {
    package let url: String
    package let client: Client
    private let credential: Credential
    private let commandEnvironment: CommandEnvironment
    /// Set by the first answer. Before it, a refused connection means a wrong address or no gateway, and waiting would
    /// only hide that; after it, a gateway that is being restarted.
    private let hasAnswered = Atomic(false)

    private static let attempts = 6
    /// A page of 250 events at their largest, with room.
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

    /// Whether a credential that has ended is renewed.
    package var isRenewable: Bool { credential.isRenewable }

    /// Sends a request; one that is safe to repeat is sent again when the connection breaks or the gateway is busy. A token
    /// that is refused is renewed once.
    ///
    /// - Throws: a refusal as the gateway explains it, or why there is no answer.
    package func send(_ call: Call) async throws(CommandFailure) -> Answer {
        var text = try await credential.current()
        var isRenewed = false
        var attempt = 1
        while true {
            let result = await client.send(request(call, text))
            // Nothing came of it, so it may be sent again whatever it is.
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
            // Cancelled while waiting: the failure at hand is what there is to tell.
            do { try await commandEnvironment.sleep(max(wait, Self.retryAfter(result))) } catch { throw failure }
            attempt += 1
        }
    }

    /// Opens a stream of lines. A token that is refused is renewed once; nothing else is repeated: its reader knows from
    /// where to go on.
    ///
    /// - Throws: `OutboundFailure` without an answer, `CommandFailure` without a credential.
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

    /// A refusal in the words of the person who asked.
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
        guard let status = result.status else { return .final(CommandFailure("\(url) gave no answer")) }
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
            return .final(CommandFailure("what answers at \(url) is no Parley gateway: it does not speak JSON"))
        }
        return .answer(Answer(status: status, document: document))
    }

    /// What is said of an event; other statuses are about the key, the address or the gateway.
    private static let refusals: Set<Int> = [400, 403, 413, 422]

    /// 409 with `Retry-After` is the first try of the same key, still running.
    private static func isTransient(_ result: OutboundResult, _ status: Int) -> Bool {
        [429, 502, 503, 504].contains(status) || (status == 409 && result.headers["Retry-After"] != nil)
    }

    /// Seconds the answer asks for, within what somebody at a keyboard will wait; a date is not worth reading here.
    private static func retryAfter(_ result: OutboundResult) -> Duration {
        guard let text = result.headers["Retry-After"], let seconds = Int(text), seconds > 0 else { return .zero }
        return .seconds(min(seconds, 30))
    }
}

/// How long to wait before asking again: twice as long each time, within bounds, and never in step with others.
package struct Backoff: Sendable {
    package var first: Duration
    package var most: Duration

    /// A request that failed on its way.
    package static let request = Backoff(first: .milliseconds(200), most: .seconds(5))
    /// A stream that broke.
    package static let stream = Backoff(first: .milliseconds(500), most: .seconds(30))

    /// - Parameters:
    ///   - attempt: how many have failed, from 1.
    ///   - draw: from 0 up to 1. Half of the delay is fixed, the other half drawn.
    package func delay(afterAttempt attempt: Int, draw: Double) -> Duration {
        let full = min(most, first * (1 << min(max(attempt - 1, 0), 20)))
        return full * (0.5 + draw / 2)
    }
}

/// A list of the native API, read page by page (`conventions.md` 9).
struct PagedList: Sendable {
    let access: GatewayAccess
    /// With its query; limit and cursor are added.
    let path: RequestPath

    /// The gateway's largest page (`product.md` 9).
    private static let pageMost = 250

    /// Visits up to `limit` elements in the list's order.
    ///
    /// - Returns: whether there are more.
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
            // The same cursor again would go round for ever.
            guard let next, next != cursor else { return false }
            cursor = next
        }
    }
}
