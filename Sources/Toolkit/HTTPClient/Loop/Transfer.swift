internal import Locking
internal import Synchronization
internal import Text

/// One request in progress: its content and its result so far.
///
/// Created by a task, then passed to the loop thread through the ``Mailbox``. Safe to share: everything that is not
/// constant is used only on the loop thread, except ``cancelled``.
final class Transfer: @unchecked Sendable {
    /// The receiver of the response.
    enum Sink {
        /// Not passed to the loop yet.
        case unposted
        case whole(CheckedContinuation<OutboundResult, Never>)
        /// The group, which knows the request by this number.
        case group(OutboundGroup, number: UInt64)
        case stream(StreamBuffer)
        /// The response was delivered.
        case done
    }

    /// The stage between the task and the wire.
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
    /// Set by the task before it posts the cancellation, in case the cancellation overtakes the start.
    private let cancelled = Atomic(false)

    // Used only on the loop thread once the transfer was posted.
    var sink: Sink
    var phase = Phase.posted
    var started: UInt64 = 0
    var response = ResponseReader()
    /// The address that the guard rejected last.
    var blocked: IPAddress?
    /// The `errno` of a socket that could not be created.
    var socketError: Int32 = 0
    /// The time when something last arrived, for the idle timeout of a stream.
    var lastArrival: UInt64 = 0
    var isPaused = false

    private init(
        _ request: OutboundRequest, to url: OutboundURL, totalTimeout: Duration?, idleTimeout: Duration?, sink: Sink,
        group: OutboundGroup? = nil
    ) throws(OutboundFailure) {
        self.url = url
        guard request.tls == nil || url.scheme == .https else {
            throw OutboundFailure(.requestInvalid, detail: "a client certificate or authorities need https")
        }
        image = try PreparedRequest(request)
        identity = request.tls
        self.totalTimeout = totalTimeout
        self.idleTimeout = idleTimeout
        self.sink = sink
        self.group = group
    }

    /// Returns the parts of a URL if a connection to it may be tried.
    static func review(_ url: String, _ options: ClientOptions) throws(OutboundFailure) -> OutboundURL {
        do {
            return try options.addressGuard.review(url)
        } catch {
            let isMalformed = error.reason == .malformed || !options.addressGuard.isEnabled
            throw OutboundFailure(isMalformed ? .requestInvalid : .blockedAddress, detail: error.message)
        }
    }

    /// Creates a request of a group.
    convenience init(
        _ request: OutboundRequest, to url: OutboundURL, _ options: ClientOptions, group: OutboundGroup, number: UInt64
    ) throws(OutboundFailure) {
        try self.init(
            request, to: url, totalTimeout: request.totalTimeout ?? options.totalTimeout, idleTimeout: nil,
            sink: .group(group, number: number), group: group)
    }

    /// Creates a request with one response.
    convenience init(
        _ request: OutboundRequest, _ options: ClientOptions, deadline: Duration
    ) throws(OutboundFailure) {
        let url = try Self.review(request.url, options)
        try self.init(request, to: url, totalTimeout: deadline, idleTimeout: nil, sink: .unposted)
    }

    /// Creates a request whose response is read as it arrives.
    convenience init(
        _ request: OutboundRequest, _ options: ClientOptions, stream buffer: StreamBuffer, idleTimeout: Duration
    ) throws(OutboundFailure) {
        let url = try Self.review(request.url, options)
        try self.init(request, to: url, totalTimeout: nil, idleTimeout: idleTimeout, sink: .stream(buffer))
    }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) || group?.isCancelled ?? false }

    /// Cancels the transfer. May be called by any task, at any time, any number of times.
    func cancel(through mailbox: Mailbox) {
        cancelled.store(true, ordering: .releasing)
        // The mailbox rejects it only when the client is shutting down, which ends the transfer as well.
        _ = mailbox.post([.cancel(self)])
    }
}
