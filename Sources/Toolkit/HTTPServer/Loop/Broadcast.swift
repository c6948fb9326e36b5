import Glibc

/// A log of frames (complete blocks of bytes) in a ring buffer that many streams read, each at its own position.
///
/// A frame is appended once. Each stream then receives all bytes after its position in one system call, which reads
/// directly from the ring buffer. A stream whose socket is full keeps its position and continues when the socket is
/// writable. If newer frames overwrite bytes that a stream has not sent yet, the stream is closed. Its client
/// reconnects with its last event id.
///
/// Belongs to its loop: call every member on the loop's thread.
public final class Broadcast: @unchecked Sendable {
    // `@unchecked Sendable` is safe, because each entry point checks that it runs on the loop's thread.

    /// Options of a broadcast's log.
    public struct Options: Sendable {
        /// The size in bytes of the ring buffer that is allocated when the first frame is appended. A power of two.
        public var initialBytes = 4 * 1024
        /// The maximum size in bytes of the ring buffer, a power of two. A long frame can enlarge the buffer beyond
        /// this size, until the buffer has space for four frames of that length.
        public var maximumBytes = 1024 * 1024
        /// The time after which a log without new frames frees its memory.
        public var idleRelease: Duration = .seconds(60)
        /// The bytes that end every frame, 1 to 4 bytes. After a partial write, the log uses them to determine whether
        /// the last byte sent was the end of a frame.
        public var frameEnd: [UInt8] = [0x0A, 0x0A]
        /// True when each frame is sent as a chunk. Only streams with the same ``StreamConnection/isChunked`` may join.
        public var isChunked = false
        /// The memory limit that several logs share when they grow for slow readers; `nil` means that only
        /// ``maximumBytes`` limits the growth.
        public var budget: LogBudget?

        public init() {}

        /// Options for a log of lines (NDJSON).
        public static let lines: Options = {
            var options = Options()
            options.frameEnd = [0x0A]
            return options
        }()
    }

    /// The loop that the log belongs to.
    public let loop: Loop
    /// True when each frame is sent as a chunk of the chunked transfer coding.
    public var isChunked: Bool { options.isChunked }
    /// Called with a stream that is about to be closed because newer frames have overwritten its unsent bytes. During
    /// the call, ``StreamConnection/finish(last:)`` can still write a last block to the socket if the last byte sent
    /// was the end of a frame.
    public var onLag: (@Sendable (StreamConnection) -> Void)?

    private let options: Options
    /// The bytes that end a frame in the log, including the end of the chunk if frames are sent as chunks.
    private let wireEnd: [UInt8]
    private var ring: UnsafeMutableRawPointer?
    private var size: UInt64 = 0
    private var headPosition: UInt64 = 0
    private var oldestPosition: UInt64 = 0
    private var entries: UnsafeMutablePointer<StreamEntry>
    private var capacity = 4
    private var count = 0

    // The state of the current pass, which sends new bytes to every entry once. Entries before `index` are done.
    private var index = 0
    private var isQueued = false
    private var isAgainNeeded = false
    private var isPassing = false
    /// The position of the head when the current pass began. The pass sends all bytes before this position to every
    /// stream that is not waiting. It skips only streams whose entries move before `index` (`isAnyoneSkipped`).
    private var passHead: UInt64 = 0
    private var isAnyoneSkipped = false
    /// All bytes before this position have been sent to every stream that is not waiting for its socket or backlog.
    private var settled: UInt64 = 0
    /// A lower bound of the positions of all streams that wait for their socket or backlog.
    private var waitingLow: UInt64 = .max

    private var wasUsed = false
    private var isReleaseScheduled = false

    /// Creates an empty log. The ring buffer is allocated when the first frame is appended.
    public init(loop: Loop, options: Options = Options()) {
        precondition(options.initialBytes.nonzeroBitCount == 1 && options.maximumBytes.nonzeroBitCount == 1)
        precondition(!options.frameEnd.isEmpty && options.frameEnd.count <= 4)
        self.loop = loop
        self.options = options
        wireEnd = options.frameEnd + (options.isChunked ? ChunkCoding.end : [])
        entries = .allocate(capacity: capacity)
    }

    deinit {
        // A stream holds a strong reference to its broadcast, so no stream can be left when the broadcast is released.
        entries.deallocate()
        ring?.deallocate()
        guard let budget = options.budget, size > 0 else { return }
        loop.post { [size] in budget.change(from: size, to: 0) }
    }

    /// The position after the last byte appended: the number of bytes that have been appended so far.
    public var head: UInt64 { headPosition }

    /// The oldest position at which a stream can still join.
    var oldest: UInt64 { oldestPosition }

    /// The number of streams that read this log.
    public var connectionCount: Int { count }

    /// The size of the ring buffer now, in bytes.
    public var allocatedBytes: Int { Int(size) }
}

// MARK: - Writing

extension Broadcast {
    /// Appends one complete frame. The loop sends it before it next waits for events. An empty frame has no effect.
    public func append(_ frame: [UInt8]) {
        frame.withUnsafeBytes { append($0) }
    }

    /// Appends one complete frame. The loop sends it before it next waits for events. An empty frame has no effect.
    func append(_ frame: UnsafeRawBufferPointer) {
        loop.checkIsolated()
        guard !frame.isEmpty else { return }
        if options.isChunked {
            ChunkCoding.withHead(of: frame.count) { head in
                makeRoom(for: UInt64(head.count + frame.count + ChunkCoding.end.count))
                write(head)
                write(frame)
                ChunkCoding.end.withUnsafeBytes { write($0) }
            }
        } else {
            makeRoom(for: UInt64(frame.count))
            write(frame)
        }
        wasUsed = true
        enqueue()
    }

    /// Copies bytes into the ring buffer at the head. The caller must have called `makeRoom` for them.
    private func write(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        let offset = Int(headPosition & (size &- 1))
        let first = min(bytes.count, Int(size) - offset)
        ring!.advanced(by: offset).copyMemory(from: source, byteCount: first)
        if first < bytes.count {
            ring!.copyMemory(from: source + first, byteCount: bytes.count - first)
        }
        headPosition &+= UInt64(bytes.count)
        if headPosition &- oldestPosition > size { oldestPosition = headPosition &- size }
    }

    /// Grows the log to at least `bytes`, within its maximum and its budget. Use it if a stream repeatedly cannot join
    /// because its position is already overwritten. The log frees this memory when it has no new frames.
    public func reserve(_ bytes: Int) {
        loop.checkIsolated()
        var wanted = max(size, UInt64(options.initialBytes))
        while wanted < bytes, mayDouble(wanted) { wanted &*= 2 }
        if wanted > size { resize(to: wanted) }
    }

    private func enqueue() {
        guard count > 0 else {
            settled = headPosition
            return
        }
        guard !isQueued else {
            // If the pass has not handled any entry yet, it sends this frame to all entries.
            if index > 0 { isAgainNeeded = true }
            return
        }
        isQueued = true
        loop.delivery.add(self)
    }

    /// Returns true when a ring buffer of twice the size `wanted` is within the maximum size and the budget.
    private func mayDouble(_ wanted: UInt64) -> Bool {
        wanted < UInt64(options.maximumBytes) && options.budget?.allows(wanted &* 2 &- size) ?? true
    }

    /// Grows the log before unsent bytes are overwritten. If the log cannot grow further, first sends the unsent bytes
    /// to all streams whose sockets are writable, so that a burst of frames alone never closes a fast stream.
    private func makeRoom(for length: UInt64) {
        var wanted = max(size, UInt64(options.initialBytes))
        while wanted < length { wanted &*= 2 }
        // Allocating memory for several frames saves system calls. When memory is short, the log holds only one frame.
        while wanted < length &* 4, options.budget?.allows(wanted &* 2 &- size) ?? true { wanted &*= 2 }
        let end = headPosition &+ length
        if isQueued {
            while end &- settled > wanted / 2, mayDouble(wanted) { wanted &*= 2 }
        }
        if wanted < UInt64(options.maximumBytes), waitingLow != .max, end &- min(waitingLow, end) > wanted / 4 * 3 {
            findWaitingLow()
            while waitingLow != .max, end &- waitingLow > wanted / 4 * 3, mayDouble(wanted) { wanted &*= 2 }
        }
        if wanted > size { resize(to: wanted) }
        if isQueued, !isPassing, end &- settled > size / 2 { finishPass() }
    }

    private func resize(to newSize: UInt64) {
        let new = UnsafeMutableRawPointer.allocate(byteCount: Int(newSize), alignment: 16)
        var position = oldestPosition
        while position < headPosition {
            let from = Int(position & (size &- 1))
            let to = Int(position & (newSize &- 1))
            let length = min(Int(headPosition &- position), Int(size) - from, Int(newSize) - to)
            (new + to).copyMemory(from: ring! + from, byteCount: length)
            position &+= UInt64(length)
        }
        ring?.deallocate()
        ring = new
        options.budget?.change(from: size, to: newSize)
        size = newSize
        scheduleRelease()
    }

    private func findWaitingLow() {
        var low = UInt64.max
        for index in 0..<count where entries[index].isWaiting { low = min(low, entries[index].cursor) }
        waitingLow = low
    }

    private func scheduleRelease() {
        guard !isReleaseScheduled else { return }
        isReleaseScheduled = true
        wasUsed = true
        loop.schedule(after: options.idleRelease) { [weak self] in self?.releaseIfUnused() }
    }

    private func releaseIfUnused() {
        isReleaseScheduled = false
        let isBehind = (0..<count).contains { entries[$0].cursor != headPosition }
        // When the budget is scarce, a log that was used recently also frees its memory if no reader needs it now.
        let isUnused = !wasUsed || options.budget?.isScarce ?? false
        guard isUnused, !isBehind, !isQueued else {
            scheduleRelease()
            wasUsed = false
            return
        }
        ring?.deallocate()
        ring = nil
        options.budget?.change(from: size, to: 0)
        size = 0
        oldestPosition = headPosition
    }
}

// MARK: - Delivery

extension Broadcast {
    /// Continues the pass for up to `budget` streams and subtracts their number. Returns true when the pass is over.
    func flush(_ budget: inout Int) -> Bool {
        isPassing = true
        defer { isPassing = false }
        if index == 0 { passHead = headPosition }
        var calls: UInt64 = 0
        var bytes: UInt64 = 0
        while index < count, budget > 0 {
            budget &-= 1
            let entry = entries + index
            let pending = headPosition &- entry.pointee.cursor
            if pending == 0 {
                index &+= 1
            } else if entry.pointee.isWaiting {
                checkLag(at: index)
            } else if entry.pointee.descriptor < 0 {
                wakePuller(at: index)
            } else {
                let sent = send(entry, pending)
                calls &+= 1
                if sent == Int(pending) {
                    entry.pointee.cursor = headPosition
                    bytes &+= pending
                    index &+= 1
                } else {
                    bytes &+= UInt64(max(0, sent))
                    sentPart(at: index, sent: sent)
                }
            }
        }
        loop.delivery.statistics.sendCalls &+= calls
        loop.delivery.statistics.bytesSent &+= bytes
        return index == count
    }

    /// Ends a pass over all streams. Returns true when frames were appended during it, so another pass is needed.
    func needsAnotherPass() -> Bool {
        index = 0
        defer {
            isAgainNeeded = false
            isAnyoneSkipped = false
        }
        if isAgainNeeded, count > 0 {
            if !isAnyoneSkipped { settled = max(settled, passHead) }
            return true
        }
        settled = headPosition
        isQueued = false
        return false
    }

    /// Sends the unsent bytes to all streams now, without a budget, because the next frame would overwrite those bytes.
    private func finishPass() {
        var unlimited = Int.max
        repeat {
            isAgainNeeded = false
            isAnyoneSkipped = false
            index = 0
            _ = flush(&unlimited)
        } while isAgainNeeded
        // The broadcast stays in the delivery queue. The queue removes it later, when it finds nothing to send.
        index = 0
        settled = headPosition
    }

    @inline(__always)
    private func send(_ entry: UnsafeMutablePointer<StreamEntry>, _ pending: UInt64) -> Int {
        let offset = Int(truncatingIfNeeded: entry.pointee.cursor & (size &- 1))
        let length = Int(truncatingIfNeeded: pending)
        let untilEnd = Int(truncatingIfNeeded: size) &- offset
        // The cursor is inside the log. Only waiting entries may have a cursor outside the log, and this entry is not
        // waiting.
        if length <= untilEnd {
            return Glibc.send(entry.pointee.descriptor, ring! + offset, length, Socket.sendFlags)
        }
        return Socket.send(
            entry.pointee.descriptor, UnsafeRawBufferPointer(start: ring! + offset, count: untilEnd),
            UnsafeRawBufferPointer(start: ring!, count: length &- untilEnd))
    }

    private func sentPart(at index: Int, sent: Int) {
        let entry = entries + index
        if sent < 0 {
            let code = errno
            if code == EINTR { return }
            guard code == EAGAIN || code == EWOULDBLOCK else {
                connection(at: index).lost(.failed(code))
                return
            }
        } else {
            entry.pointee.cursor &+= UInt64(sent)
            recordBoundary(entry)
        }
        entry.pointee.place |= StreamEntry.blocked
        waitingLow = min(waitingLow, entry.pointee.cursor)
        self.index &+= index == self.index ? 1 : 0
    }

    private func recordBoundary(_ entry: UnsafeMutablePointer<StreamEntry>) {
        let cursor = entry.pointee.cursor
        let end = UInt64(wireEnd.count)
        var isBoundary = cursor >= oldestPosition &+ end
        for (offset, byte) in wireEnd.enumerated() where isBoundary {
            let position = (cursor &- end &+ UInt64(offset)) & (size &- 1)
            isBoundary = ring!.load(fromByteOffset: Int(position), as: UInt8.self) == byte
        }
        if isBoundary {
            entry.pointee.place |= StreamEntry.atBoundary
        } else {
            entry.pointee.place &= ~StreamEntry.atBoundary
        }
    }

    private func checkLag(at index: Int) {
        if entries[index].cursor < oldestPosition {
            connection(at: index).closeAsSlow()
        } else {
            self.index &+= 1
        }
    }

    private func wakePuller(at index: Int) {
        let isLost = entries[index].cursor < oldestPosition
        let connection = connection(at: index)
        if isLost {
            connection.closeAsSlow()
        } else {
            self.index &+= 1
            connection.wakePuller()
        }
    }

    private func connection(at index: Int) -> StreamConnection {
        // Every entry belongs to a stream, which leaves the broadcast before it leaves the source table.
        unsafeDowncast(loop.sources.source(at: entries[index].slot)!, to: StreamConnection.self)
    }
}

// MARK: - Subscribers

extension Broadcast {
    /// Adds an entry for a stream. Returns the index of the entry, or `nil` when the position is not in the log.
    func enter(descriptor: Int32, slot: UInt32, at position: UInt64, isHeld: Bool) -> Int? {
        guard position >= oldestPosition, position <= headPosition else { return nil }
        if count == capacity {
            let larger = UnsafeMutablePointer<StreamEntry>.allocate(capacity: capacity * 2)
            larger.moveInitialize(from: entries, count: count)
            entries.deallocate()
            entries = larger
            capacity *= 2
        }
        let flags = (isHeld ? StreamEntry.held : 0) | StreamEntry.atBoundary
        (entries + count).initialize(
            to: StreamEntry(descriptor: descriptor, place: slot | flags, cursor: position))
        count += 1
        if isHeld {
            waitingLow = min(waitingLow, position)
        } else if position < headPosition {
            settled = min(settled, position)
        }
        if position < headPosition { enqueue() }
        return count - 1
    }

    /// Removes an entry. The last entry moves to the index of the removed entry.
    func remove(at index: Int) {
        let last = count - 1
        if index != last {
            entries[index] = entries[last]
            connection(at: index).moved(to: index)
            // The entry that moved here may not have been handled in this pass.
            if index < self.index {
                isAgainNeeded = true
                isAnyoneSkipped = true
            }
        }
        count = last
        if self.index > count { self.index = count }
    }

    func entry(at index: Int) -> StreamEntry { entries[index] }

    func setHeld(at index: Int, _ isHeld: Bool) {
        if isHeld {
            entries[index].place |= StreamEntry.held
            waitingLow = min(waitingLow, entries[index].cursor)
        } else {
            entries[index].place &= ~StreamEntry.held
        }
    }

    func unblock(at index: Int) {
        entries[index].place &= ~StreamEntry.blocked
    }

    /// Sends the unsent bytes of an entry whose socket has become writable.
    func resume(at index: Int) {
        entries[index].place &= ~StreamEntry.blocked
        guard !entries[index].isWaiting else { return }
        let entry = entries + index
        if entry.pointee.cursor < oldestPosition {
            connection(at: index).closeAsSlow()
            return
        }
        let pending = headPosition &- entry.pointee.cursor
        guard pending > 0 else { return }
        let sent = send(entry, pending)
        loop.delivery.statistics.sendCalls &+= 1
        loop.delivery.statistics.bytesSent &+= UInt64(max(0, sent))
        if sent == Int(pending) {
            entry.pointee.cursor = headPosition
        } else {
            let served = self.index
            sentPart(at: index, sent: sent)
            self.index = min(served, count)
        }
    }

    /// Appends an entry's unsent bytes to `bytes` and sets the entry's position to the head. Returns false when the
    /// bytes are already overwritten.
    func drainUnsent(at index: Int, into bytes: inout [UInt8]) -> Bool {
        let cursor = entries[index].cursor
        guard cursor >= oldestPosition else { return false }
        copy(from: cursor, to: headPosition, into: &bytes)
        entries[index].cursor = headPosition
        return true
    }

    private func copy(from start: UInt64, to end: UInt64, into bytes: inout [UInt8]) {
        var position = start
        while position < end {
            let offset = Int(position & (size &- 1))
            let length = min(Int(end &- position), Int(size) - offset)
            bytes.append(contentsOf: UnsafeRawBufferPointer(start: ring! + offset, count: length))
            position &+= UInt64(length)
        }
    }

    /// Copies up to `limit` unsent bytes of an encrypted stream. Returns the number of bytes copied.
    func pull(at index: Int, into target: UnsafeMutableRawPointer, limit: Int) -> Int {
        let cursor = entries[index].cursor
        let length = min(Int(headPosition &- cursor), limit)
        var copied = 0
        while copied < length {
            let offset = Int((cursor &+ UInt64(copied)) & (size &- 1))
            let part = min(length - copied, Int(size) - offset)
            (target + copied).copyMemory(from: ring! + offset, byteCount: part)
            copied += part
        }
        entries[index].cursor = cursor &+ UInt64(length)
        return length
    }
}
