internal import Locking
internal import Synchronization

/// One request on its way: what it asks, and what has come of it so far.
///
/// Made by a task, then handed to the loop thread through the ``Mailbox``. Safe to share: what is not constant is touched
/// by the loop thread alone, except ``cancelled``.
final class Transfer: @unchecked Sendable {
    /// Who gets the answer.
    enum Sink {
        /// Not handed over yet.
        case unposted
        case whole(CheckedContinuation<OutboundResult, Never>)
        case call(@Sendable (OutboundResult) -> Void, OutboundGroup)
        case stream(StreamBuffer)
        /// Answered.
        case done
    }

    /// Where it stands between the task and the wire.
    enum Phase {
        case posted
        case waiting(HostLimits<Transfer>.Lane)
        case active(HostLimits<Transfer>.Lane, EasyHandle)
        case finished
    }

    let url: OutboundURL
    let image: PreparedRequest
    let identity: ClientIdentity?
    /// `nil` for a stream.
    let totalTimeout: Duration?
    /// `nil` but for a stream.
    let idleTimeout: Duration?
    let submitted = uptimeNanoseconds()
    let group: OutboundGroup?
    /// Set by the task before it posts the cancellation, for the case that it overtakes the start.
    private let cancelled = Atomic(false)

    // The loop thread's, once posted.
    var sink: Sink
    var phase = Phase.posted
    var started: UInt64 = 0
    var response = ResponseReader()
    /// The address the guard forbade last.
    var blocked: IPAddress?
    /// `errno` of a socket the system did not give.
    var socketError: Int32 = 0
    /// When something last arrived, for the idle deadline of a stream.
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

    /// The parts of a URL, if a connection may be tried.
    static func review(_ url: String, _ options: ClientOptions) throws(OutboundFailure) -> OutboundURL {
        do {
            return try options.addressGuard.review(url)
        } catch {
            let isMalformed = error.reason == .malformed || !options.addressGuard.isEnabled
            throw OutboundFailure(isMalformed ? .requestInvalid : .blockedAddress, detail: error.message)
        }
    }

    /// A request of a group.
    convenience init(
        _ request: OutboundRequest, to url: OutboundURL, _ options: ClientOptions, group: OutboundGroup,
        receive: @escaping @Sendable (OutboundResult) -> Void
    ) throws(OutboundFailure) {
        try self.init(
            request, to: url, totalTimeout: request.totalTimeout ?? options.totalTimeout, idleTimeout: nil,
            sink: .call(receive, group), group: group)
    }

    /// A request with one answer.
    convenience init(
        _ request: OutboundRequest, _ options: ClientOptions, deadline: Duration
    ) throws(OutboundFailure) {
        let url = try Self.review(request.url, options)
        try self.init(request, to: url, totalTimeout: deadline, idleTimeout: nil, sink: .unposted)
    }

    /// A request whose answer is read as it comes.
    convenience init(
        _ request: OutboundRequest, _ options: ClientOptions, stream buffer: StreamBuffer, idleTimeout: Duration
    ) throws(OutboundFailure) {
        let url = try Self.review(request.url, options)
        try self.init(request, to: url, totalTimeout: nil, idleTimeout: idleTimeout, sink: .stream(buffer))
    }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) || group?.isCancelled ?? false }

    /// Called by any task, at any time, any number of times.
    func cancel(through mailbox: Mailbox) {
        cancelled.store(true, ordering: .releasing)
        // Refused only when the client is shutting down, which ends the transfer as well.
        _ = mailbox.post([.cancel(self)])
    }
}
