import ChatKit
import ChatModel
import HTTPClient
import JSON
import Locking

/// Requests to one gateway with one key.
final class GatewayConnection: Sendable {
    /// A page of 250 events at their largest, with room.
    private static let answerLimit = 64 * 1024 * 1024

    let url: String
    private let key: String
    private let client: Client
    private let clock: WallClock
    private let sleep = Pauses()

    init(url: String, key: String, clock: WallClock = .system) throws(ChatError) {
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw ChatError(.malformed, "the gateway's address must begin with http:// or https://")
        }
        self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
        self.key = key
        self.clock = clock
        do {
            // The address is the program's own choice, so no guard.
            client = try Client(
                options: ClientOptions(
                    userAgent: "ChatKit", responseLimitBytes: Self.answerLimit, keptResponseBytes: Self.answerLimit,
                    totalTimeout: .seconds(30), addressGuard: .disabled))
        } catch {
            throw ChatError(.unavailable, "the HTTP client cannot start: \(error.message)")
        }
    }

    func close() async {
        sleep.end()
        await client.shutdown()
    }

    /// Sends a request, again for a while when the gateway is busy or starting and the request may be repeated.
    ///
    /// - Throws: the gateway's refusal as it would be thrown in its own process; `.unavailable` without an answer,
    ///   `.outcomeUnknown` when what was sent may have been done.
    func send(_ call: Call) async throws(ChatError) -> Answer {
        var failures = 0
        while true {
            do throws(ChatError) {
                return try await once(call)
            } catch {
                failures += 1
                let pause = max(error.retryAfter ?? .zero, Backoff.request.delay(after: failures))
                guard call.isRepeatable, error.isPassing, failures < Backoff.attempts, pause <= Backoff.patience,
                    await sleep.wait(pause)
                else { throw error }
            }
        }
    }

    private func once(_ call: Call) async throws(ChatError) -> Answer {
        let id = Call.freshKey()
        do throws(ChatError) {
            let result = await client.send(request(call, id))
            if let failure = result.failure { throw ChatError(failure, url: url, mayBeDone: !call.isRepeatable) }
            guard let status = result.status else { throw ChatError(.unavailable, "\(url) gave no answer") }
            guard (200..<300).contains(status) else {
                throw ChatError(problem: result.body, status: status, retryAfter: retryAfter(result.headers))
            }
            return try Answer(result)
        } catch {
            throw error.caused(by: FailedRequest(method: call.method, path: call.path.withoutQuery, id: id))
        }
    }

    func retryAfter(_ headers: HeaderFields) -> Duration? {
        headers.retryAfter(unixSeconds: Int64(clock.now.rawValue / Timetoken.ticksPerSecond))
    }

    /// Opens a stream of lines. Not repeated: its reader knows from where to go on.
    func stream(_ path: RequestPath, idleTimeout: Duration) async throws(OutboundFailure) -> OutboundStream {
        let headers = [("Authorization", "Bearer \(key)"), ("Accept", "application/x-ndjson")]
        return try await client.stream(
            OutboundRequest(url: url + path.text, headers: headers), idleTimeout: idleTimeout)
    }

    /// Returns after a time, or false at once when the connection is closed or the task cancelled.
    func pause(_ time: Duration) async -> Bool { await sleep.wait(time) }

    private func request(_ call: Call, _ id: String) -> OutboundRequest {
        var headers = [
            ("Authorization", "Bearer \(key)"), ("Accept", "application/json"), ("X-Request-Id", id),
        ]
        if call.body != nil { headers.append(("Content-Type", "application/json")) }
        if let repeatKey = call.repeatKey { headers.append(("Idempotency-Key", repeatKey)) }
        if call.mustBeNew { headers.append(("If-None-Match", "*")) }
        if let version = call.version { headers.append(("If-Match", "\"\(version)\"")) }
        if let device = call.device { headers.append(("X-Device-Id", device)) }
        return OutboundRequest(
            method: call.method, url: url + call.path.text, headers: headers, body: call.body?.bytes ?? [])
    }
}
