internal import CLinux
import Glibc

/// One live stream to one client.
///
/// A stream sends bytes from two sources: its own backlog (control blocks, pages of history), which always goes first,
/// and the ``Broadcast`` it has joined. Blocks are added whole and never interleave: the unsent part of the broadcast
/// moves into the backlog before any other block is added.
///
/// Belongs to its loop: call every member except ``sendPage(_:)`` on the loop's thread.
public final class StreamConnection: @unchecked Sendable {
    // Safe to share: each entry point checks that it runs on the loop's thread.

    /// The reason why a stream ended.
    public enum CloseReason: Sendable, Equatable {
        /// The client closed the connection, or its network failed.
        case peerDisconnected
        /// The client did not read fast enough: it fell out of the log, its backlog was full, or it read nothing for
        /// the stall time.
        case tooSlow
        /// ``finish(last:)`` was called and everything was written.
        case finished
        /// The server stopped before everything was written.
        case drained
        /// A write failed with this `errno`.
        case failed(Int32)
    }

    /// The error of ``sendPage(_:)`` when the stream has ended.
    public struct StreamClosedError: Error, Sendable, Equatable {
        /// The reason why the stream ended.
        public let reason: CloseReason

        /// Creates an error.
        public init(reason: CloseReason) {
            self.reason = reason
        }
    }

    /// Limits of one stream.
    struct Limits: Sendable {
        /// The maximum number of bytes that may wait in the backlog.
        var backlogBytes: Int
        /// ``sendPage(_:)`` returns when at most this many bytes wait.
        var lowMarkBytes: Int
        /// A stream whose backlog does not shrink for this long is closed.
        var stall: Duration
    }

    enum State {
        case open, finishing, lagging, closed
    }

    /// An id that is unique within the process.
    public let id: UInt64
    /// The client's address.
    public let remoteAddress: RemoteAddress
    /// The id of the request that opened the stream.
    public let requestID: String
    let openedAt: ContinuousClock.Instant
    /// The loop that the stream belongs to.
    public let loop: Loop
    /// True when blocks are sent as chunks: for every HTTP/1.1 client, except where libmicrohttpd encrypts the
    /// connection and does the chunking itself.
    public let isChunked: Bool

    private let outlet: any StreamOutlet
    private let limits: Limits
    private var state = State.open
    private var reason: CloseReason?
    private var closeHandler: (@Sendable (CloseReason) -> Void)?
    private var releaseHandler: ((StreamConnection) -> Void)?

    private var broadcast: Broadcast?
    private var entryIndex = 0
    /// The cursor's position when the stream joined. The difference to the cursor is what was sent from the log since
    /// then.
    private var joinedAt: UInt64 = 0

    private var backlog: [UInt8] = []
    private var backlogSent = 0
    private var isAtBoundary = true
    private var isCorked = false
    private var directBytes: UInt64 = 0
    private var pageWaiters: [CheckedContinuation<Void, any Error>] = []
    private var stallTimer: LoopTimer?
    /// True once `stallTimer` is set to close the stream at a fixed time. Progress of the client no longer moves it.
    private var isEndSet = false

    init(
        id: UInt64, loop: Loop, outlet: any StreamOutlet, request: Request.Head, isChunked: Bool, limits: Limits,
        onRelease: @escaping (StreamConnection) -> Void
    ) {
        self.id = id
        self.loop = loop
        self.outlet = outlet
        self.isChunked = isChunked
        self.limits = limits
        remoteAddress = request.remoteAddress
        requestID = request.id
        openedAt = .now
        releaseHandler = onRelease
        loop.delivery.statistics.opened += 1
    }
}

// MARK: - Interface for the owner

extension StreamConnection {
    /// True when blocks can still be sent.
    public var isOpen: Bool { state == .open }

    /// The number of bytes that wait for this client.
    public var lag: UInt64 {
        UInt64(backlog.count - backlogSent) + (entry.map { broadcast!.head &- $0.cursor } ?? 0)
    }

    /// The number of bytes that the kernel has accepted, without the response header.
    public var bytesSent: UInt64 {
        directBytes &+ (entry.map { $0.cursor &- joinedAt } ?? 0)
    }

    /// The broadcast that the stream has joined.
    public var joined: Broadcast? { broadcast }

    /// Calls `handler` once on the loop when the stream has ended; after this turn if it has ended already. Replaces
    /// an earlier handler.
    public func onClose(_ handler: @escaping @Sendable (CloseReason) -> Void) {
        loop.checkIsolated()
        if let reason {
            loop.afterThisTurn { handler(reason) }
        } else {
            closeHandler = handler
        }
    }

    /// Sends a block, after everything the broadcast has appended so far and before what it appends from now on.
    ///
    /// - Returns: false when the stream has ended, or is closed by this call because the backlog would exceed its
    ///   limit.
    @discardableResult
    public func send(_ block: [UInt8]) -> Bool {
        loop.checkIsolated()
        guard state == .open, keepUnsent() else { return false }
        return enqueue(block)
    }

    /// Sends a page of history and returns when the client has read most of it, so that a producer of pages runs no
    /// faster than the client reads. May be called from any thread.
    ///
    /// - Throws: ``StreamClosedError`` when the stream ends, with `.tooSlow` when the client reads nothing for the
    ///   stall time; `CancellationError` when the task was already cancelled.
    public func sendPage(_ page: [UInt8]) async throws {
        try Task.checkCancellation()
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            if loop.isCurrent {
                startPage(page, continuation)
            } else {
                loop.post { self.startPage(page, continuation) }
            }
        }
    }

    /// Joins a broadcast at a position of its log; its bytes are sent once the backlog is empty. A stream reads one
    /// broadcast at a time: joining another one leaves the first.
    ///
    /// - Returns: false when the log does not reach back that far, or the stream has ended.
    public func join(_ broadcast: Broadcast, at position: UInt64) -> Bool {
        loop.checkIsolated()
        precondition(broadcast.loop === loop, "A stream joins broadcasts of its own loop")
        precondition(broadcast.isChunked == isChunked, "A stream can join only broadcasts with its own transfer coding")
        guard state == .open, position >= broadcast.oldest, position <= broadcast.head else { return false }
        guard self.broadcast == nil || leave() else { return false }
        let entered = broadcast.enter(
            descriptor: outlet.descriptor, slot: outlet.slot, at: position, isHeld: hasBacklog)
        guard let entered else { return false }
        self.broadcast = broadcast
        entryIndex = entered
        joinedAt = position
        return true
    }

    /// Leaves the broadcast. Unsent bytes of the broadcast move into the backlog, so that nothing is lost or sent
    /// twice when the stream joins another one.
    ///
    /// - Returns: false when the stream had fallen out of the log and is therefore being closed.
    @discardableResult
    public func leave() -> Bool {
        loop.checkIsolated()
        guard broadcast != nil else { return state == .open }
        guard keepUnsent() else { return false }
        forgetBroadcast()
        return true
    }

    /// Sends a last block, if there is one, and closes the stream when everything is written or the client has read
    /// nothing for the stall time.
    ///
    /// When called from ``Broadcast/onLag``, the block is sent only if the client has received whole blocks so far,
    /// and only as far as it fits into the socket.
    ///
    /// - Parameter time: the longest time until the stream is closed as too slow, however much the client has read by
    ///   then; for a client that must lose access to the stream. Also applies to a stream that is already finishing.
    public func finish(last block: [UInt8] = [], within time: Duration? = nil) {
        loop.checkIsolated()
        switch state {
        case .open:
            guard leave(), enqueue(block, isLast: true) else { return }
            guard hasBacklog else { return close(.finished) }
            state = .finishing
            if let time { end(within: time) } else { watchForStall() }
        case .lagging:
            if isAtBoundary, !block.isEmpty { _ = outlet.write(coded(block, isLast: true)[...]) }
            close(.tooSlow)
        case .finishing:
            if let time { end(within: time) }
        case .closed:
            break
        }
    }

    /// Closes the stream after `time`. Only the first call counts, so that repeated calls cannot postpone the end.
    private func end(within time: Duration) {
        guard !isEndSet else { return }
        isEndSet = true
        stallTimer?.cancel()
        stallTimer = loop.schedule(after: time) { [weak self] in self?.close(.tooSlow) }
    }
}

extension StreamConnection {
    /// Closes the stream now as too slow and discards what is waiting. For a client that keeps reading a little and so
    /// never reaches the stall time.
    public func cut() {
        loop.checkIsolated()
        close(.tooSlow)
    }
}

// MARK: - Backlog

extension StreamConnection {
    private var hasBacklog: Bool { backlogSent < backlog.count }

    private var entry: StreamEntry? { broadcast?.entry(at: entryIndex) }

    /// Moves the unsent bytes of the broadcast into the backlog, so that other bytes can follow them.
    private func keepUnsent() -> Bool {
        guard let broadcast, broadcast.entry(at: entryIndex).cursor != broadcast.head else { return true }
        let before = backlog.count
        guard broadcast.drainUnsent(at: entryIndex, into: &backlog) else {
            closeAsSlow()
            return false
        }
        // The cursor's jump counted these bytes as sent from the log; they are counted again when they are written.
        directBytes &-= UInt64(backlog.count - before)
        flushBacklog()
        return state == .open
    }

    private func enqueue(_ block: [UInt8], isLast: Bool = false) -> Bool {
        guard backlog.count - backlogSent + block.count <= limits.backlogBytes else {
            close(.tooSlow)
            return false
        }
        backlog.append(contentsOf: coded(block, isLast: isLast))
        flushBacklog()
        return state != .closed
    }

    private func coded(_ block: [UInt8], isLast: Bool) -> [UInt8] {
        guard isChunked else { return block }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(block.count + 24)
        ChunkCoding.append(block, to: &bytes)
        if isLast { bytes.append(contentsOf: ChunkCoding.last) }
        return bytes
    }

    /// Writes as much of the backlog as the socket takes and resumes callers that wait for room.
    private func flushBacklog() {
        if hasBacklog, !isBlocked, !isCorked {
            switch outlet.write(backlog[backlogSent...]) {
            case .accepted(let count):
                directBytes &+= UInt64(count)
                backlogSent += count
                isAtBoundary = !hasBacklog
            case .failed(let code):
                lost(.failed(code))
                return
            }
        }
        if !hasBacklog {
            backlog = []
            backlogSent = 0
        } else if backlogSent > 64 * 1024 {
            backlog.removeFirst(backlogSent)
            backlogSent = 0
        }
        finishBacklog()
    }

    private func finishBacklog() {
        if let broadcast { broadcast.setHeld(at: entryIndex, hasBacklog) }
        if backlog.count - backlogSent <= limits.lowMarkBytes { resumePages(.success(())) }
        if state == .finishing, !hasBacklog { close(.finished) }
    }

    private var isBlocked: Bool { entry.map { $0.place & StreamEntry.blocked != 0 } ?? false }

    private func startPage(_ page: [UInt8], _ continuation: CheckedContinuation<Void, any Error>) {
        guard state == .open else {
            return continuation.resume(throwing: StreamClosedError(reason: reason ?? .finished))
        }
        guard keepUnsent(), enqueue(page) else {
            return continuation.resume(throwing: StreamClosedError(reason: reason ?? .tooSlow))
        }
        guard backlog.count - backlogSent > limits.lowMarkBytes else { return continuation.resume() }
        pageWaiters.append(continuation)
        watchForStall()
    }

    private func resumePages(_ result: Result<Void, any Error>) {
        guard !pageWaiters.isEmpty else { return }
        let waiters = pageWaiters
        pageWaiters = []
        for waiter in waiters { waiter.resume(with: result) }
    }

    /// Checks again after the stall time and closes a stream whose client has read nothing meanwhile.
    private func watchForStall() {
        guard stallTimer == nil else { return }
        let mark = bytesSent
        stallTimer = loop.schedule(after: limits.stall) { [weak self] in
            guard let self, state != .closed else { return }
            stallTimer = nil
            guard hasBacklog, state == .finishing || !pageWaiters.isEmpty else { return }
            bytesSent == mark ? close(.tooSlow) : watchForStall()
        }
    }
}

// MARK: - Interface for the loop

extension StreamConnection: LoopSource {
    func ready(_ events: UInt32) {
        guard state != .closed else { return }
        guard events & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) == 0 else {
            return lost(.peerDisconnected)
        }
        if events & EPOLLOUT.rawValue != 0 { writable() }
    }

    /// Handles a socket that has become writable: sends the backlog first, then the log.
    func writable() {
        if hasBacklog {
            if let broadcast { broadcast.unblock(at: entryIndex) }
            flushBacklog()
        }
        guard state != .closed, !hasBacklog, let broadcast else { return }
        broadcast.resume(at: entryIndex)
    }

    /// Puts the response header first, calls `onOpen` with the stream, and sends the header together with what the
    /// owner has added, in one packet. The header does not count in ``bytesSent``.
    func begin(with header: [UInt8], _ onOpen: (StreamConnection) -> Void) {
        backlog = header
        directBytes = 0 &- UInt64(header.count)
        isCorked = true
        onOpen(self)
        isCorked = false
        if state != .closed { flushBacklog() }
    }

    /// Records that the stream's entry in the broadcast has moved to another index.
    func moved(to index: Int) {
        entryIndex = index
    }

    func wakePuller() {
        outlet.wake()
    }

    /// Copies bytes for a client whose connection this process encrypts: the backlog first, then the log.
    func pull(into target: UnsafeMutableRawPointer, limit: Int) -> Int {
        guard state == .open || state == .finishing else { return 0 }
        if hasBacklog {
            let count = min(limit, backlog.count - backlogSent)
            backlog.withUnsafeBytes { target.copyMemory(from: $0.baseAddress! + backlogSent, byteCount: count) }
            backlogSent += count
            directBytes &+= UInt64(count)
            isAtBoundary = !hasBacklog
            flushBacklog()
            return count
        }
        guard let broadcast, let entry, entry.cursor >= broadcast.oldest else { return 0 }
        let count = broadcast.pull(at: entryIndex, into: target, limit: limit)
        loop.delivery.statistics.bytesSent &+= UInt64(count)
        return count
    }

    /// Handles a stream whose unsent bytes are overwritten: the owner may send a last block, then the stream is
    /// closed.
    func closeAsSlow() {
        guard state == .open || state == .finishing, let broadcast else { return close(.tooSlow) }
        let entry = broadcast.entry(at: entryIndex)
        isAtBoundary = !hasBacklog && isAtBoundary && entry.place & StreamEntry.atBoundary != 0
        directBytes &+= entry.cursor &- joinedAt
        state = .lagging
        broadcast.remove(at: entryIndex)
        self.broadcast = nil
        loop.delivery.statistics.slowCloses += 1
        loop.afterThisTurn { [self, onLag = broadcast.onLag] in
            guard state == .lagging else { return }
            onLag?(self)
            close(.tooSlow)
        }
    }

    func lost(_ reason: CloseReason) {
        switch reason {
        case .failed(EPIPE), .failed(ECONNRESET), .failed(ETIMEDOUT): close(.peerDisconnected)
        default: close(reason)
        }
    }

    /// Closes the stream now and discards what is unsent. The close handler runs after this turn.
    func close(_ reason: CloseReason) {
        guard state != .closed else { return }
        if reason == .tooSlow, state != .lagging { loop.delivery.statistics.slowCloses += 1 }
        state = .closed
        self.reason = reason
        forgetBroadcast()
        backlog = []
        backlogSent = 0
        stallTimer?.cancel()
        stallTimer = nil
        outlet.close(reason)
        loop.delivery.statistics.closed += 1
        resumePages(.failure(StreamClosedError(reason: reason)))
        loop.afterThisTurn { [self] in
            releaseHandler?(self)
            releaseHandler = nil
            closeHandler?(reason)
            closeHandler = nil
        }
    }

    private func forgetBroadcast() {
        guard let broadcast else { return }
        directBytes &+= broadcast.entry(at: entryIndex).cursor &- joinedAt
        broadcast.remove(at: entryIndex)
        self.broadcast = nil
    }
}

/// One subscriber of a ``Broadcast``. Holds only what the delivery loop needs, in 16 bytes.
struct StreamEntry {
    /// The socket; -1 for a stream that fetches its bytes itself (TLS).
    var descriptor: Int32
    /// The place in the loop's source table in the low bits, flags in the high bits.
    var place: UInt32
    /// The position in the log of the next byte to send.
    var cursor: UInt64

    /// Flag: the socket took less than it was given; the entry waits until the socket is writable.
    static let blocked: UInt32 = 1 << 31
    /// Flag: the stream's own backlog goes first.
    static let held: UInt32 = 1 << 30
    /// Flag: the last byte sent was the end of a frame.
    static let atBoundary: UInt32 = 1 << 29
    static let placeMask: UInt32 = (1 << 29) - 1
    /// The flags of entries that a pass does not send to.
    static let waiting: UInt32 = blocked | held

    var slot: UInt32 { place & Self.placeMask }
    var isWaiting: Bool { place & Self.waiting != 0 }
}
