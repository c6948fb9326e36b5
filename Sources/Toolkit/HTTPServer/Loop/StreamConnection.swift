internal import CLinux
import Glibc

/// A live stream of bytes to one client, over one connection.
///
/// A stream sends bytes from two sources: its own buffer, the backlog (control blocks, pages of history), and the
/// ``Broadcast`` that it has joined. The backlog is always sent first. Blocks are never mixed: before a block is added
/// to the backlog, the unsent bytes of the broadcast move into the backlog.
///
/// Belongs to its loop: call every member except ``sendPage(_:)`` on the loop's thread.
public final class StreamConnection: @unchecked Sendable {
    // `@unchecked Sendable` is safe, because each entry point checks that it runs on the loop's thread.

    /// The reason why a stream ended.
    public enum CloseReason: Sendable, Equatable {
        /// The client closed the connection, or its network failed.
        case peerDisconnected
        /// The client did not read fast enough: its unsent bytes in the broadcast's log were overwritten, its backlog
        /// was full, or it read nothing for the time ``ServerOptions/Deadlines/streamStall``.
        case tooSlow
        /// ``finish(last:within:)`` was called, and all bytes were written.
        case finished
        /// The server stopped before all bytes were written.
        case drained
        /// A write failed with this `errno`.
        case failed(Int32)
    }

    /// The error that ``sendPage(_:)`` throws when the stream has ended.
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
        /// ``sendPage(_:)`` waits until at most this number of bytes is left in the backlog.
        var lowMarkBytes: Int
        /// The time after which the stream is closed if its backlog does not shrink.
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
    /// The loop that the stream belongs to.
    public let loop: Loop
    /// True when this object sends each block as a chunk. True for every HTTP/1.1 client, except if libmicrohttpd
    /// encrypts the connection, because libmicrohttpd then creates the chunks.
    public let isChunked: Bool

    private let outlet: any StreamOutlet
    private let limits: Limits
    private var state = State.open
    private var reason: CloseReason?
    private var closeHandler: (@Sendable (CloseReason) -> Void)?
    private var releaseHandler: ((StreamConnection) -> Void)?

    private var broadcast: Broadcast?
    private var entryIndex = 0
    /// The position at which the stream joined the broadcast. The entry's cursor minus this position is the number of
    /// bytes sent from the log since then.
    private var joinedAt: UInt64 = 0

    private var backlog: [UInt8] = []
    private var backlogSent = 0
    private var isAtBoundary = true
    private var isCorked = false
    private var directBytes: UInt64 = 0
    private var pageWaiters: [CheckedContinuation<Void, any Error>] = []
    private var stallTimer: LoopTimer?
    /// True when `stallTimer` closes the stream at a fixed time, even if the client reads in the meantime.
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
        releaseHandler = onRelease
        loop.delivery.statistics.opened += 1
    }
}

// MARK: - Interface for the owner

extension StreamConnection {
    /// True when blocks can still be sent.
    public var isOpen: Bool { state == .open }

    /// The number of bytes that have not been sent to this client yet.
    public var lag: UInt64 {
        UInt64(backlog.count - backlogSent) + (entry.map { broadcast!.head &- $0.cursor } ?? 0)
    }

    /// The number of bytes that the kernel has accepted, without the response header.
    public var bytesSent: UInt64 {
        directBytes &+ (entry.map { $0.cursor &- joinedAt } ?? 0)
    }

    /// The broadcast that the stream has joined; `nil` when it has joined none.
    public var joined: Broadcast? { broadcast }

    /// Sets the handler that is called once, on the loop, when the stream has ended. If the stream has already ended,
    /// the handler is called after the current iteration of the loop. Replaces an earlier handler.
    public func onClose(_ handler: @escaping @Sendable (CloseReason) -> Void) {
        loop.checkIsolated()
        if let reason {
            loop.afterThisTurn { handler(reason) }
        } else {
            closeHandler = handler
        }
    }

    /// Sends a block. The client receives it after the frames that the joined broadcast has appended before this call,
    /// and before the frames that the broadcast appends later.
    ///
    /// - Returns: false when the stream has ended, or when this call closes the stream because the backlog would exceed
    ///   its limit.
    @discardableResult
    public func send(_ block: [UInt8]) -> Bool {
        loop.checkIsolated()
        guard state == .open, keepUnsent() else { return false }
        return enqueue(block)
    }

    /// Sends a page of history. Returns when at most ``ServerOptions/Limits/streamLowMarkBytes`` are left in the
    /// backlog, so that the caller produces pages only as fast as the client reads them. May be called from any thread.
    ///
    /// - Throws: ``StreamClosedError`` when the stream ends before this function returns, for instance with the reason
    ///   `.tooSlow` because the client has read nothing for the stall time; `CancellationError` when the task was
    ///   cancelled before the call.
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

    /// Joins a broadcast at a position of its log. Bytes of the log are sent when the backlog is empty. A stream reads
    /// one broadcast at a time, so this call first leaves the current broadcast, if any.
    ///
    /// - Returns: false when the log does not contain the position, or when the stream has ended.
    public func join(_ broadcast: Broadcast, at position: UInt64) -> Bool {
        loop.checkIsolated()
        precondition(broadcast.loop === loop, "A stream can join only broadcasts of its own loop")
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

    /// Leaves the broadcast. The unsent bytes of the broadcast move into the backlog, so that no bytes are lost or sent
    /// twice when the stream joins another broadcast.
    ///
    /// - Returns: false when the unsent bytes were already overwritten, so that the stream is being closed.
    @discardableResult
    public func leave() -> Bool {
        loop.checkIsolated()
        guard broadcast != nil else { return state == .open }
        guard keepUnsent() else { return false }
        forgetBroadcast()
        return true
    }

    /// Sends the last block, if it is not empty, and closes the stream when all bytes are written or the client has
    /// read nothing for the stall time.
    ///
    /// When called from ``Broadcast/onLag``, sends the block only if the last byte sent was the end of a block, and
    /// only the part that fits into the socket's buffer.
    ///
    /// - Parameter time: the maximum time until the stream is closed as too slow, even if the client is still reading;
    ///   `nil` sets no such limit. Set a limit when the client must lose access to the stream. The limit also applies
    ///   to a stream that is already finishing.
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

    /// Closes the stream after `time`. Only the first call has an effect, so that repeated calls cannot postpone the
    /// end.
    private func end(within time: Duration) {
        guard !isEndSet else { return }
        isEndSet = true
        stallTimer?.cancel()
        stallTimer = loop.schedule(after: time) { [weak self] in self?.close(.tooSlow) }
    }
}

extension StreamConnection {
    /// Closes the stream now as too slow and discards its unsent bytes. Use it for a client that reads slowly but never
    /// stops for the stall time.
    public func cut() {
        loop.checkIsolated()
        close(.tooSlow)
    }
}

// MARK: - Backlog

extension StreamConnection {
    private var hasBacklog: Bool { backlogSent < backlog.count }

    private var entry: StreamEntry? { broadcast?.entry(at: entryIndex) }

    /// Moves the unsent bytes of the broadcast into the backlog, so that other bytes can be added after them. Returns
    /// false when the stream is no longer open, for instance because the unsent bytes were already overwritten.
    private func keepUnsent() -> Bool {
        guard let broadcast, broadcast.entry(at: entryIndex).cursor != broadcast.head else { return true }
        let before = backlog.count
        guard broadcast.drainUnsent(at: entryIndex, into: &backlog) else {
            closeAsSlow()
            return false
        }
        // Moving the cursor has counted these bytes as sent. They are subtracted here and counted when they are
        // written.
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

    /// Writes as many bytes of the backlog as the socket accepts. Then resumes the callers of ``sendPage(_:)`` if at
    /// most ``Limits/lowMarkBytes`` are left in the backlog.
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

    /// Starts a timer for the stall time. When the timer fires, closes the stream if the client has read nothing in the
    /// meantime.
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

    /// Adds the response header to the backlog, calls `onOpen` with the stream, and sends the header in one packet with
    /// the bytes that `onOpen` has added. The header does not count in ``bytesSent``.
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

    /// Copies bytes to send to a client whose connection libmicrohttpd encrypts: first from the backlog, then from the
    /// log.
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

    /// Handles a stream whose unsent bytes are overwritten. Calls ``Broadcast/onLag``, which may send a last block, and
    /// closes the stream.
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

    /// Closes the stream now and discards its unsent bytes. The close handler runs after this iteration of the loop.
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

/// The entry of one stream in a ``Broadcast``. It contains only the data needed to send bytes, in 16 bytes of memory.
struct StreamEntry {
    /// The socket's descriptor; -1 for a stream that libmicrohttpd encrypts and therefore sends.
    var descriptor: Int32
    /// The stream's index in the loop's source table in the low 29 bits, and flags in the high bits.
    var place: UInt32
    /// The position in the log of the next byte to send.
    var cursor: UInt64

    /// Flag: the socket accepted only part of a write. The entry waits until the socket is writable.
    static let blocked: UInt32 = 1 << 31
    /// Flag: the stream's own backlog must be sent before the log.
    static let held: UInt32 = 1 << 30
    /// Flag: the last byte sent was the end of a frame.
    static let atBoundary: UInt32 = 1 << 29
    static let placeMask: UInt32 = (1 << 29) - 1
    /// The flags of entries that wait. A pass sends no bytes to an entry that has one of these flags.
    static let waiting: UInt32 = blocked | held

    var slot: UInt32 { place & Self.placeMask }
    var isWaiting: Bool { place & Self.waiting != 0 }
}
