import ChatKit
import ChatModel
import GatewayClient
import HTTPClient
import JSON
import Locking

/// Sends requests to one gateway with one credential.
final class GatewayConnection: Sendable {
    /// The maximum response size in bytes. The largest page, with 250 events, is smaller.
    private static let answerLimit = 64 * 1024 * 1024

    let url: String
    let retry: RetryPolicy
    private let credential: Credential
    private let client: Client
    /// The HTTP client for streams. This client has separate connections, so that requests do not wait for streams.
    private let streams: Client
    private let clock: WallClock
    private let sleep = RetryDelays()
    /// The key that the next requests use instead of the key or token of `credential`; nil for no replacement.
    private let replacement = Lock<String?>(nil)

    init(
        url: String, _ credential: Credential, retry: RetryPolicy, clock: WallClock = .system
    ) throws(ChatError) {
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw ChatError(.malformed, "the gateway's address must begin with http:// or https://")
        }
        self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
        self.credential = credential
        self.retry = retry
        self.clock = clock
        do {
            // The program configured the address itself, so private addresses are allowed.
            var options = ClientOptions(
                userAgent: "ChatKit", responseLimitBytes: Self.answerLimit, keptResponseBytes: Self.answerLimit,
                totalTimeout: .seconds(30), addressGuard: .disabled)
            options.queueTimeout = .seconds(10)
            client = try Client(options: options)
            options.maxConnections = 1024
            streams = try Client(options: options)
        } catch {
            throw ChatError(.unavailable, "the HTTP client cannot start: \(error.message)")
        }
    }

    /// Uses another key or token for every request and connection that begins after this call.
    func replaceKey(with key: String) { replacement.withLock { $0 = key } }

    func close() async {
        sleep.end()
        await client.shutdown()
        await streams.shutdown()
    }

    /// Sends a request. A repeatable request is retried while the gateway is busy or starting, up to a maximum number
    /// of attempts.
    ///
    /// - Throws: the gateway's error, with the same code that an engine in this process would use; `.unavailable` when
    ///   there is no response; `.outcomeUnknown` when the request may have been executed.
    func send(_ call: Call) async throws(ChatError) -> GatewayResponse {
        if let timeout = call.timeout, timeout <= .zero {
            throw ChatError(.malformed, "`timeout` must be more than zero; got \(timeout)", slug: "bad_timeout")
        }
        let attempts = call.retries.map { max($0, 0) + 1 } ?? Backoff.attempts
        var failures = 0
        while true {
            do throws(ChatError) {
                return try await once(call)
            } catch {
                failures += 1
                let pause = max(error.retryAfter ?? .zero, Backoff.request.delay(after: failures))
                guard call.isRepeatable, error.isPassing, failures < attempts, pause <= Backoff.longestRetrying,
                    await sleep.wait(pause)
                else { throw error }
            }
        }
    }

    private func once(_ call: Call) async throws(ChatError) -> GatewayResponse {
        try await authorized { token throws(ChatError) in try await send(call, with: token) }
    }

    /// Runs an operation with the credential. If the gateway rejects a token, runs it again with another token.
    private func authorized<Value>(
        _ body: (_ token: String) async throws(ChatError) -> Value
    ) async throws(ChatError) -> Value {
        if let key = replacement.withLock({ key in
            defer { key = nil }
            return key
        }) {
            await credential.replace(with: key)
        }
        let token = try await credential.current()
        do throws(ChatError) {
            return try await body(token)
        } catch {
            guard error.isOfCredential, let other = try await credential.renewed(insteadOf: token) else { throw error }
            return try await body(other)
        }
    }

    /// Replaces a token that the gateway rejects.
    func renew(insteadOf token: String) async throws(ChatError) { _ = try await credential.renewed(insteadOf: token) }

    private func send(_ call: Call, with token: String) async throws(ChatError) -> GatewayResponse {
        let id = Call.newIdempotencyKey()
        do throws(ChatError) {
            let result = await client.send(OutboundRequest(call, url: url, token: token, id: id))
            if let failure = result.failure { throw ChatError(failure, url: url, mayBeDone: !call.isRepeatable) }
            guard let status = result.status else { throw ChatError(.unavailable, "\(url) did not respond") }
            guard (200..<300).contains(status) else {
                throw ChatError(problem: result.body, status: status, retryAfter: retryAfter(result.headers))
            }
            do { return try GatewayResponse(result) } catch { throw ChatError(error) }
        } catch {
            throw error.caused(by: FailedRequest(method: call.method, path: call.path.withoutQuery, id: id))
        }
    }

    func retryAfter(_ headers: HeaderFields) -> Duration? {
        headers.retryAfter(unixSeconds: Int64(clock.now.rawValue / Timetoken.ticksPerSecond))
    }

    /// Opens a stream of lines. Returns nil for the status 204, which means that there is no stream. The request is not
    /// retried, because only the caller knows the position from which to continue.
    ///
    /// - Parameter silence: the time without data after which the connection is considered dead.
    func events(_ path: RequestPath, silence: Duration) async throws(ChatError) -> EventStream? {
        try await authorized { token throws(ChatError) in
            let id = Call.newIdempotencyKey()
            do throws(ChatError) {
                return try await open(path, id, token, silence)
            } catch {
                throw error.caused(by: FailedRequest(method: "GET", path: path.withoutQuery, id: id))
            }
        }
    }

    private func open(
        _ path: RequestPath, _ id: String, _ token: String, _ silence: Duration
    ) async throws(ChatError) -> EventStream? {
        let stream: OutboundStream
        do {
            stream = try await streams.stream(
                OutboundRequest(streaming: path, url: url, token: token, id: id), idleTimeout: silence)
        } catch {
            throw ChatError(error, url: url, mayBeDone: false)
        }
        switch stream.status {
        case 200: return EventStream(stream, token: token)
        case 204: return nil
        default:
            throw ChatError(
                problem: await stream.problemBody(), status: stream.status, retryAfter: retryAfter(stream.headers))
        }
    }

    /// Returns the lines of a stream that arrived since the last call, or nil at the end of the stream.
    ///
    /// - Throws: `.foreignAnswer` for a line that is longer than any event, which means that the server is not a
    ///   gateway.
    func lines(of stream: EventStream) async throws(ChatError) -> [StreamLine]? {
        let lines: [StreamLine]?
        do { lines = try await stream.lines() } catch { throw ChatError(error, url: url, mayBeDone: false) }
        let isForeign = lines?.contains { if case .tooLong = $0 { true } else { false } } ?? false
        guard !isForeign else { throw .foreignAnswer }
        return lines
    }

    /// Waits. Returns true when the time has passed. Returns false immediately when the connection is closed or the
    /// task is cancelled.
    func pause(_ time: Duration) async -> Bool { await sleep.wait(time) }
}

extension Call {
    /// Returns a unique idempotency key.
    static func newIdempotencyKey() -> String { Device.fresh() }
}

extension StreamClosing {
    /// The error for a stream that the gateway ended with this message.
    var error: ChatError {
        ChatError(
            isFinal ? .gone : .unavailable, "the gateway ended the stream: \(reason ?? "it is closing")",
            retryAfter: wait)
    }
}
