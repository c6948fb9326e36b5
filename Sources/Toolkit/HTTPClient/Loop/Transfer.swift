internal import Locking
internal import Synchronization
internal import Text

/// One request in progress: its content and the part of its result that is known so far.
///
/// A task creates the transfer and passes it to the loop thread through the ``Mailbox``. Safe to share between threads:
/// properties that are not constant are used only on the loop thread, except ``cancelled``, which is atomic.
final class Transfer: @unchecked Sendable {
    /// The receiver of the response.
    enum Sink {
        /// The transfer was not passed to the loop yet.
        case unposted
        case whole(CheckedContinuation<OutboundResult, Never>)
        /// The callback of a group, with the number of the request.
        case group(OutboundGroup, number: UInt64)
        case stream(StreamBuffer)
        /// The result was delivered.
        case done
    }

    /// The progress of a transfer.
    enum Phase {
        case posted
        case waiting(HostLimits<Transfer>.Lane)
        case active(HostLimits<Transfer>.Lane, EasyHandle)
        case finished
    }

    let url: OutboundURL
    let image: PreparedRequest
    let identity: ClientIdentity?
    /// The timeout of the whole transfer; `nil` for a stream.
    let totalTimeout: Duration?
    /// The idle timeout of a stream; `nil` for other transfers.
    let idleTimeout: Duration?
    let submitted = MonotonicTime.now.nanoseconds
    let group: OutboundGroup?
    /// True when the transfer was cancelled. The task sets it before it posts the cancellation to the loop, because the
    /// loop may receive the cancellation before the start of the transfer.
    private let cancelled = Atomic(false)

    // After the transfer was posted, only the loop thread uses the following properties.
    var sink: Sink
    var phase = Phase.posted
    var started: UInt64 = 0
    var response = ResponseReader()
    /// The last address that the guard has rejected; `nil` when there is none.
    var blocked: IPAddress?
    /// The `errno` of a failed attempt to create a socket; zero when there was none.
    var socketError: Int32 = 0
    /// The time at which bytes last arrived, in nanoseconds of the monotonic clock, for the idle timeout of a stream.
    var lastArrival: UInt64 = 0
    var isPaused = false

    private init(
        _ request: OutboundRequest, to url: OutboundURL, totalTimeout: Duration?, idleTimeout: Duration?, sink: Sink,
        group: OutboundGroup? = nil
    ) throws(OutboundFailure) {
        self.url = url
        guard request.tls == nil || url.scheme == .https else {
            throw OutboundFailure(
                .requestInvalid, detail: "a client certificate and certificate authorities can be used only with https")
        }
        image = try PreparedRequest(request)
        identity = request.tls
        self.totalTimeout = totalTimeout
        self.idleTimeout = idleTimeout
        self.sink = sink
        self.group = group
    }

    /// Checks a URL with the guard and returns its parts. Throws an ``OutboundFailure`` if the URL is not permitted.
    static func review(_ url: String, _ options: ClientOptions) throws(OutboundFailure) -> OutboundURL {
        do {
            return try options.addressGuard.review(url)
        } catch {
            let isMalformed = error.reason == .malformed || !options.addressGuard.isEnabled
            throw OutboundFailure(isMalformed ? .requestInvalid : .blockedAddress, detail: error.message)
        }
    }

    /// Creates the transfer of a request of a group.
    convenience init(
        _ request: OutboundRequest, to url: OutboundURL, _ options: ClientOptions, group: OutboundGroup, number: UInt64
    ) throws(OutboundFailure) {
        try self.init(
            request, to: url, totalTimeout: request.totalTimeout ?? options.totalTimeout, idleTimeout: nil,
            sink: .group(group, number: number), group: group)
    }

    /// Creates the transfer of a request whose response is returned completely.
    convenience init(
        _ request: OutboundRequest, _ options: ClientOptions, deadline: Duration
    ) throws(OutboundFailure) {
        let url = try Self.review(request.url, options)
        try self.init(request, to: url, totalTimeout: deadline, idleTimeout: nil, sink: .unposted)
    }

    /// Creates the transfer of a request whose response is read while it arrives.
    convenience init(
        _ request: OutboundRequest, _ options: ClientOptions, stream buffer: StreamBuffer, idleTimeout: Duration
    ) throws(OutboundFailure) {
        let url = try Self.review(request.url, options)
        try self.init(request, to: url, totalTimeout: nil, idleTimeout: idleTimeout, sink: .stream(buffer))
    }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) || group?.isCancelled ?? false }

    /// Cancels the transfer. May be called from any task, at any time and repeatedly.
    func cancel(through mailbox: Mailbox) {
        cancelled.store(true, ordering: .releasing)
        // The mailbox rejects the command only when the client is shutting down, which also ends the transfer.
        _ = mailbox.post([.cancel(self)])
    }
}
