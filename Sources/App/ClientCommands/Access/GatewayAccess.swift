import ChatModel
package import GatewayClient
package import HTTPClient
import JSON
import Synchronization

/// A command's access to the gateway.
package final class GatewayAccess: Sendable {
    package let url: String
    package let client: Client
    private let credential: Credential
    private let commandEnvironment: CommandEnvironment
    /// True after the first response. Before that, a refused connection means a wrong address or no gateway, so it is
    /// reported immediately. After that, a refused connection means that the gateway is restarting, so the request is
    /// retried.
    private let hasAnswered = Atomic(false)

    private static let attempts = 6
    /// The maximum size of a response, in bytes. It admits a page of 250 events of the maximum size.
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
    /// - Throws: the gateway's error with its explanation, or the reason why there is no response.
    package func send(_ call: Call) async throws(CommandFailure) -> GatewayResponse {
        var text = try await credential.current()
        var isRenewed = false
        var attempt = 1
        while true {
            let result = await client.send(OutboundRequest(call, url: url, token: text))
            // The rejected request had no effect, so any request may be sent again.
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
            guard Self.mayRepeat(call), attempt < Self.attempts else { throw failure }
            let wait = Backoff.request.delay(after: attempt, draw: commandEnvironment.draw())
            // If the wait is cancelled, the original failure is reported.
            do { try await commandEnvironment.sleep(max(wait, Self.retryAfter(result))) } catch { throw failure }
            attempt += 1
        }
    }

    /// Opens a stream of lines. A rejected token is renewed once. Other failures are not retried, because the caller
    /// knows the position from which to continue.
    ///
    /// - Throws: `OutboundFailure` when there is no response, `CommandFailure` when there is no credential.
    package func stream(_ path: RequestPath, idleTimeout: Duration) async throws -> EventStream {
        let text = try await credential.current()
        let stream = try await open(path, text, idleTimeout)
        guard stream.status == 401, let other = try await credential.renewed(after: text) else { return stream }
        stream.cancel()
        return try await open(path, other, idleTimeout)
    }

    private func open(
        _ path: RequestPath, _ credential: String, _ idleTimeout: Duration
    ) async throws(OutboundFailure) -> EventStream {
        let stream = try await client.stream(
            OutboundRequest(streaming: path, url: url, token: credential), idleTimeout: idleTimeout)
        return EventStream(stream, token: credential)
    }

    /// Describes an error response to the user.
    package func failure(status: Int, body: [UInt8]) -> CommandFailure {
        ProblemDescription.failure(status: status, body: body, credential: credential.source)
    }

    private enum Verdict {
        case answer(GatewayResponse)
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
        guard let status = result.status else { return .final(CommandFailure("\(url) did not respond")) }
        hasAnswered.store(true, ordering: .relaxed)
        let isAnswer =
            (200..<300).contains(status) || call.accepted.contains(status)
        guard isAnswer else {
            let failure = failure(status: status, body: result.body)
            return Self.isTransient(result, status) ? .transient(failure) : .final(failure)
        }
        do {
            return .answer(try GatewayResponse(result))
        } catch .tooLarge {
            return .final(CommandFailure("the response is larger than \(Self.answerLimit) bytes"))
        } catch {
            return .final(CommandFailure("the server at \(url) is not a Parley gateway: the response is not JSON"))
        }
    }

    /// Returns true when a request may be sent again although it is unknown whether the first request was executed.
    /// False for `PUT` and `DELETE`: their second execution can have another result than the first, and the user would
    /// see only the second result.
    private static func mayRepeat(_ call: Call) -> Bool {
        call.method == "GET" || call.idempotencyKey != nil || call.isHarmless
    }

    /// The statuses that reject an event. Other statuses are about the key, the address or the gateway.
    static let refusals: Set<Int> = [400, 403, 413, 422]

    /// Returns true when a retry may succeed. A 409 with `Retry-After` means that the gateway still processes the first
    /// request with the same idempotency key.
    private static func isTransient(_ result: OutboundResult, _ status: Int) -> Bool {
        [429, 502, 503, 504].contains(status) || (status == 409 && result.headers["Retry-After"] != nil)
    }

    /// Returns the delay that `Retry-After` requests, up to a maximum that is acceptable in a terminal. A date is
    /// ignored.
    private static func retryAfter(_ result: OutboundResult) -> Duration {
        guard let text = result.headers["Retry-After"], let seconds = Int(text), seconds > 0 else { return .zero }
        return .seconds(min(seconds, 30))
    }
}

extension Backoff {
    /// The delays after a failed request.
    package static let request = Backoff(first: .milliseconds(200), most: .seconds(5))
    /// The delays after a broken stream.
    package static let stream = Backoff(first: .milliseconds(500), most: .seconds(30))
}

/// A list of the API, which is read page by page.
struct PagedList: Sendable {
    let access: GatewayAccess
    /// The path and query of the list. Limit and cursor are added to it.
    let path: RequestPath

    /// The maximum number of elements on a page of the gateway.
    private static let pageMost = 250

    /// Calls `visit` with up to `limit` elements, in the order of the list.
    ///
    /// - Returns: true when there are more elements.
    func each(limit: Int, _ visit: (JSONText, JSONValue) throws -> Void) async throws -> Bool {
        var left = limit
        var cursor: String?
        while true {
            let page = path.adding("limit", String(min(left, Self.pageMost))).adding("cursor", cursor)
            let answer = try await access.send(Call("GET", page))
            let values = answer.document?.root["data"]?.elements ?? []
            let texts = answer.document?.text.rawMember("data")?.rawElements() ?? []
            for (text, value) in zip(texts, values).prefix(left) { try visit(text, value) }
            left -= min(left, values.count)
            let next = answer.document?.root["next_cursor"]?.string
            guard left > 0 else { return next != nil }
            // A cursor that repeats would cause an endless loop.
            guard let next, next != cursor else { return false }
            cursor = next
        }
    }
}
