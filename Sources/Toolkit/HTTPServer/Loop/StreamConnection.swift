internal import CLinux
import Glibc

/// One live stream to one client.
///
/// What it sends comes from two places: its own backlog (control blocks, pages of history), which always goes first,
/// and the ``Broadcast`` it has joined. Whole blocks go in, and blocks are never mixed: what a stream has not got of its
/// broadcast is put into the backlog before anything else is.
///
/// Belongs to its loop: every member but ``sendPage(_:)`` is for code that runs on it.
public final class StreamConnection: @unchecked Sendable {
    // Safe to share: each entry point checks that it runs on the loop's thread.

    /// Why a stream ended.
    public enum CloseReason: Sendable, Equatable {
        /// The client closed the connection or its network did.
        case peerGone
        /// The client did not read fast enough: it fell out of the log, its backlog ran full, or it stood still.
        case tooSlow
        /// ``finish(last:)``, after everything was written.
        case finished
        /// The server stopped before everything was written.
        case drained
        /// Writing failed with this `errno`.
        case failed(Int32)
    }

    /// Thrown by ``sendPage(_:)`` when the stream is over.
    public struct StreamClosedError: Error, Sendable, Equatable {
        public let reason: CloseReason

        public init(reason: CloseReason) {
            self.reason = reason
        }
    }

    /// Bounds of one stream.
    struct Limits: Sendable {
        /// The most that waits in the backlog.
        var backlogBytes: Int
        /// ``sendPage(_:)`` returns when no more than this waits.
        var lowMarkBytes: Int
        /// A stream whose backlog does not shrink for this long is closed.
        var stall: Duration
    }

    enum State {
        case open, finishing, lagging, closed
    }

    /// Unique within the process.
    public let id: UInt64
    public let remoteAddress: RemoteAddress
    /// The id of the request that opened it.
    public let requestID: String
    let openedAt: ContinuousClock.Instant
    /// The loop it belongs to.
    public let loop: Loop
    /// Whether its blocks go out as chunks: to every client of HTTP/1.1, except where libmicrohttpd encrypts and does
    /// that itself.
    public let isChunked: Bool

    private let outlet: any StreamOutlet
    private let limits: Limits
    private var state = State.open
    private var reason: CloseReason?
    private var closeHandler: (@Sendable (CloseReason) -> Void)?
    private var releaseHandler: ((StreamConnection) -> Void)?

    private var broadcast: Broadcast?
    private var entryIndex = 0
    /// Where its cursor stood when it joined: what it was sent from the log since then is the difference.
    private var joinedAt: UInt64 = 0

    private var backlog: [UInt8] = []
    private var backlogSent = 0
    private var isAtBoundary = true
    private var isCorked = false
    private var directBytes: UInt64 = 0
    private var pageWaiters: [CheckedContinuation<Void, any Error>] = []
    private var stallTimer: LoopTimer?
    /// Whether the timer is for an end that does not wait for the client.
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

// MARK: - For the owner

extension StreamConnection {
    /// Whether anything can still be sent.
    public var isOpen: Bool { state == .open }

    /// How many bytes are waiting for this client.
    public var lag: UInt64 {
        UInt64(backlog.count - backlogSent) + (entry.map { broadcast!.head &- $0.cursor } ?? 0)
    }

    /// How many bytes the kernel has taken, the answer's header not counted.
    public var bytesSent: UInt64 {
        directBytes &+ (entry.map { $0.cursor &- joinedAt } ?? 0)
    }

    /// What the client is reading now.
    public var joined: Broadcast? { broadcast }

    /// Calls `handler` once when the stream has ended, on the loop; at once after this turn if it has ended already.
    public func onClose(_ handler: @escaping @Sendable (CloseReason) -> Void) {
        loop.checkIsolated()
        if let reason {
            loop.afterThisTurn { handler(reason) }
        } else {
            closeHandler = handler
        }
    }

    /// Sends a block ahead of whatever the broadcast appends from now on, and behind what it appended before.
    ///
    /// - Returns: false when the stream is over, or is being closed now because its backlog would pass its bound.
    @discardableResult
    public func send(_ block: [UInt8]) -> Bool {
        loop.checkIsolated()
        guard state == .open, takeUnsent() else { return false }
        return enqueue(block)
    }

    /// Sends a page of history and returns when the client has read most of it: whoever produces pages goes no faster
    /// than the client reads.
    ///
    /// - Throws: ``StreamClosedError`` when the stream ends, `.tooSlow` when the client takes nothing for the stall time;
    ///   `CancellationError` when the task was cancelled before.
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

    /// Goes on with a broadcast at a position of its log, once the backlog is out. A stream reads one at a time: joining
    /// another one leaves the first.
    ///
    /// - Returns: false when the log no longer reaches back that far, or the stream is over.
    public func join(_ broadcast: Broadcast, at position: UInt64) -> Bool {
        loop.checkIsolated()
        precondition(broadcast.loop === loop, "A stream joins broadcasts of its own loop")
        precondition(broadcast.isChunked == isChunked, "A stream joins broadcasts that speak its coding")
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

    /// Leaves its broadcast. What the client has not got of it yet goes into the backlog, so that nothing is lost or
    /// sent twice when the stream joins another.
    ///
    /// - Returns: false when it had fallen out of the log, and so is being closed.
    @discardableResult
    public func leave() -> Bool {
        loop.checkIsolated()
        guard broadcast != nil else { return state == .open }
        guard takeUnsent() else { return false }
        forgetBroadcast()
        return true
    }

    /// Sends a last block, if there is one, and closes when everything is out or the client has taken nothing for the
    /// stall time.
    ///
    /// In ``Broadcast/onLag`` the block goes out only if it fits into the socket whole and the client has got whole
    /// blocks so far.
    ///
    /// - Parameter time: when it is closed at the latest, as too slow, whatever the client has taken by then: for one
    ///   that must not have the stream any longer. Counts for a stream that is being finished already, too.
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

    /// The first to say when it ends is right: who says it again and again must not put the end off.
    private func end(within time: Duration) {
        guard !isEndSet else { return }
        isEndSet = true
        stallTimer?.cancel()
        stallTimer = loop.schedule(after: time) { [weak self] in self?.close(.tooSlow) }
    }
}

extension StreamConnection {
    /// Ends the stream now as too slow, whatever is waiting for the client: for one that takes a little all the time and
    /// so never meets the stall time.
    public func cut() {
        loop.checkIsolated()
        close(.tooSlow)
    }
}

// MARK: - Backlog

extension StreamConnection {
    private var hasBacklog: Bool { backlogSent < backlog.count }

    private var entry: StreamEntry? { broadcast?.entry(at: entryIndex) }

    /// Puts what the broadcast still owes this client into the backlog, so that other bytes can follow it.
    private func takeUnsent() -> Bool {
        guard let broadcast, broadcast.entry(at: entryIndex).cursor != broadcast.head else { return true }
        let before = backlog.count
        guard broadcast.drainUnsent(at: entryIndex, into: &backlog) else {
            fellBehind()
            return false
        }
        // Counted as sent from the log by the cursor's jump; they will be counted when they go.
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

    /// Writes what it can of the backlog and wakes those who wait for room.
    private func flushBacklog() {
        if hasBacklog, !isBlocked, !isCorked {
            switch outlet.write(backlog[backlogSent...]) {
            case .took(let count):
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
        settleBacklog()
    }

    private func settleBacklog() {
        if let broadcast { broadcast.setHeld(at: entryIndex, hasBacklog) }
        if backlog.count - backlogSent <= limits.lowMarkBytes { resumePages(.success(())) }
        if state == .finishing, !hasBacklog { close(.finished) }
    }

    private var isBlocked: Bool { entry.map { $0.place & StreamEntry.blocked != 0 } ?? false }

    private func startPage(_ page: [UInt8], _ continuation: CheckedContinuation<Void, any Error>) {
        guard state == .open else {
            return continuation.resume(throwing: StreamClosedError(reason: reason ?? .finished))
        }
        guard takeUnsent(), enqueue(page) else {
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

    /// Looks again after the stall time; a client that took nothing meanwhile is closed.
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

// MARK: - For the loop

extension StreamConnection: LoopSource {
    func ready(_ events: UInt32) {
        guard state != .closed else { return }
        guard events & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) == 0 else {
            return lost(.peerGone)
        }
        if events & EPOLLOUT.rawValue != 0 { writable() }
    }

    /// The client has room again: first the backlog, then the log.
    func writable() {
        if hasBacklog {
            if let broadcast { broadcast.unblock(at: entryIndex) }
            flushBacklog()
        }
        guard state != .closed, !hasBacklog, let broadcast else { return }
        broadcast.resume(at: entryIndex)
    }

    /// Puts the answer's header in front of everything, lets the owner have the stream, and sends what it has put there
    /// along with the header, in one packet. The header counts as no byte of the stream.
    func begin(with header: [UInt8], _ onOpen: (StreamConnection) -> Void) {
        backlog = header
        directBytes = 0 &- UInt64(header.count)
        isCorked = true
        onOpen(self)
        isCorked = false
        if state != .closed { flushBacklog() }
    }

    /// Its entry in the broadcast is now at another place.
    func moved(to index: Int) {
        entryIndex = index
    }

    func wakePuller() {
        outlet.wake()
    }

    /// Fetches bytes for a client that this process encrypts for: the backlog first, then the log.
    func pull(into target: UnsafeMutableRawPointer, room: Int) -> Int {
        guard state == .open || state == .finishing else { return 0 }
        if hasBacklog {
            let count = min(room, backlog.count - backlogSent)
            backlog.withUnsafeBytes { target.copyMemory(from: $0.baseAddress! + backlogSent, byteCount: count) }
            backlogSent += count
            directBytes &+= UInt64(count)
            isAtBoundary = !hasBacklog
            flushBacklog()
            return count
        }
        guard let broadcast, let entry, entry.cursor >= broadcast.oldest else { return 0 }
        let count = broadcast.pull(at: entryIndex, into: target, room: room)
        loop.delivery.statistics.bytesSent &+= UInt64(count)
        return count
    }

    /// Its bytes are overwritten: the owner may say a last word, then it is closed.
    func fellBehind() {
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
        case .failed(EPIPE), .failed(ECONNRESET), .failed(ETIMEDOUT): close(.peerGone)
        default: close(reason)
        }
    }

    /// Ends the stream now, whatever is left; tells the owner after this turn.
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

/// One subscriber of a ``Broadcast``: what the delivery loop needs to know and nothing more, 16 bytes in a row.
struct StreamEntry {
    /// -1 for a stream that fetches its bytes itself (TLS).
    var descriptor: Int32
    /// The place in the loop's source table in the low bits, flags above.
    var place: UInt32
    /// The position in the log of the next byte to send.
    var cursor: UInt64

    /// The socket took less than it was given; waits for it to become writable.
    static let blocked: UInt32 = 1 << 31
    /// Bytes of its own go first.
    static let held: UInt32 = 1 << 30
    /// The last byte sent was the last of a frame.
    static let atBoundary: UInt32 = 1 << 29
    static let placeMask: UInt32 = (1 << 29) - 1
    /// Not to be sent to in a pass.
    static let waiting: UInt32 = blocked | held

    var slot: UInt32 { place & Self.placeMask }
    var isWaiting: Bool { place & Self.waiting != 0 }
}
