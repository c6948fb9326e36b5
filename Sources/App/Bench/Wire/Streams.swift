import CLinux
import Glibc
import Locking

/// All streams of a run. Opens and reads the streams, and reports their events to the ledger.
final class Streams {
    let count: Int
    let ledger: Ledger
    private(set) var openCount = 0
    /// The number of streams that the server has closed.
    private(set) var cut = 0
    /// The number of connections that the server has rejected. Rejected connections are retried.
    private(set) var turnedAway = 0
    private(set) var lastStatus = 0
    /// True when a retry is useless, because the key, the path or a parameter is wrong.
    var isRefused: Bool { openCount == 0 && (400..<500).contains(lastStatus) && lastStatus != 429 }
    /// The number of streams that have a goal (a number of events to receive) and have not reached it yet.
    private(set) var unfinished = 0
    /// The streams whose frames are parsed completely, because their last ids are needed for a reconnect.
    private let resumable: Range<Int>
    /// The times from the call of ``setGoals(_:_:)`` until each stream reached its goal.
    let completion = Histogram()
    private var goalsSince: UInt64 = 0
    /// True when streams that the server closes are opened again.
    var isReturning = false

    let slots: UnsafeMutablePointer<StreamSlot>
    private let ids: UnsafeMutablePointer<LastEventID>
    private let poller: Poller
    private let request: RequestTemplate
    private let resumeHeader: String
    private let target: Target
    private var waiting: [Int] = []
    private var connecting = 0

    /// The maximum number of bytes of one read. `restBytes` is the maximum number of bytes of an incomplete frame that
    /// is kept for the next read.
    private static let bufferBytes = 256 * 1024
    private static let restBytes = 128 * 1024
    private let buffer: UnsafeMutableRawPointer
    /// The maximum number of simultaneous connection attempts. It is lower than the usual backlog of a listener,
    /// because the kernel repeats an attempt that exceeds the backlog only after a second.
    private static let mostConnecting = 512

    init(
        _ count: Int, plan: BenchPlan, target: Target, run: String, poller: Poller, ledger: Ledger,
        resumable: Range<Int>
    ) throws(BenchFailure) {
        self.count = count
        (self.poller, self.ledger, self.target, self.resumable) = (poller, ledger, target, resumable)
        resumeHeader = plan.resumeHeader
        request = try RequestTemplate(
            "GET", plan.streamPath, plan: plan, target: target, run: run,
            headers: [("Accept", "text/event-stream")])
        slots = .allocate(capacity: max(1, count))
        for index in 0..<count { (slots + index).initialize(to: StreamSlot(channel: UInt32(index % plan.channels))) }
        ids = .allocate(capacity: max(1, count))
        ids.initialize(repeating: LastEventID(), count: count)
        buffer = .allocate(byteCount: Self.restBytes + Self.bufferBytes, alignment: 16)
    }

    deinit {
        for index in 0..<count {
            if slots[index].descriptor >= 0 { Sockets.cut(slots[index].descriptor) }
            slots[index].deallocate()
        }
        slots.deallocate()
        ids.deallocate()
        buffer.deallocate()
    }
}

// MARK: - Opening

extension Streams {
    var isOpening: Bool { connecting > 0 || !waiting.isEmpty }

    /// Connects streams. A stream that was open before continues from its position.
    func open(_ indices: some Sequence<Int>) {
        waiting.append(contentsOf: indices)
        connectMore()
    }

    func connectMore() {
        while connecting < Self.mostConnecting, let index = waiting.popLast() {
            let descriptor = target.connect()
            guard descriptor >= 0 else {
                turnedAway += 1
                waiting.append(index)
                return
            }
            connecting += 1
            if slots[index].hasSmallBuffer { Sockets.set(descriptor, SOL_SOCKET, SO_RCVBUF, 4_096) }
            slots[index].descriptor = descriptor
            slots[index].phase = .connecting
            slots[index].restCount = 0
            slots[index].chunks = ChunkDecoder()
            poller.add(descriptor, tag: UInt64(index), events: Poller.writable)
        }
    }

    /// Moves open streams to another poller (an `epoll` instance).
    func move(_ indices: Range<Int>, to other: Poller) {
        for index in indices where slots[index].phase == .open {
            poller.remove(slots[index].descriptor)
            other.add(slots[index].descriptor, tag: UInt64(index))
        }
    }

    private func sendRequest(_ index: Int) {
        var bytes = request.bytes
        bytes.withUnsafeMutableBytes { request.write(channel: Int(slots[index].channel), to: $0.baseAddress!) }
        if ids[index].count > 0 { bytes += Array("\(resumeHeader): \(ids[index].text)\r\n".utf8) }
        bytes += [0x0D, 0x0A]
        guard bytes.withUnsafeBytes({ Sockets.send($0, to: slots[index].descriptor) }) else { return reject(index) }
        slots[index].phase = .head
        poller.change(slots[index].descriptor, tag: UInt64(index), events: Poller.readable)
    }

    /// Handles a connection that the server rejected for now. The stream is moved to the end of the queue.
    private func reject(_ index: Int) {
        close(index)
        turnedAway += 1
        connecting -= 1
        waiting.insert(index, at: 0)
        // An immediate retry would only load the server. The short pause hardly delays other connections.
        usleep(1_000)
        connectMore()
    }

    private func close(_ index: Int) {
        Sockets.cut(slots[index].descriptor)
        slots[index].descriptor = -1
        slots[index].phase = .idle
    }

    /// Closes streams from this side of the connection, in any state.
    func cut(_ indices: some Sequence<Int>) {
        for index in indices where slots[index].phase == .open {
            close(index)
            openCount -= 1
        }
    }

    /// Sets the goal of each stream: the total number of events that the stream must receive. A stream that has already
    /// received that number gets no goal.
    ///
    /// - Parameter goal: returns the goal for the number of the stream's channel.
    func setGoals(_ indices: some Sequence<Int>, _ goal: (Int) -> Int) {
        goalsSince = MonotonicTime.now.nanoseconds
        for index in indices {
            let wanted = goal(Int(slots[index].channel))
            guard wanted > slots[index].received else { continue }
            slots[index].goal = wanted
            unfinished += 1
        }
    }
}

// MARK: - The slow stream

extension Streams {
    /// Makes a stream slow or normal. A slow stream is read only by ``read(_:atMost:)``.
    func setSlow(_ index: Int, _ isSlow: Bool) {
        slots[index].isSlow = isSlow
        guard slots[index].phase == .open else { return }
        if !isSlow { Sockets.set(slots[index].descriptor, SOL_SOCKET, SO_RCVBUF, 1_048_576) }
        poller.change(slots[index].descriptor, tag: UInt64(index), events: isSlow ? 0 : Poller.readable)
    }
}

extension Streams {
    /// Sends an empty line. A server that has closed the connection responds with a TCP reset.
    func knock(_ index: Int) {
        guard slots[index].phase == .open else { return }
        _ = "\r\n".withCString { send(slots[index].descriptor, $0, 2, Sockets.quietly) }
    }
}

// MARK: - Reading

extension Streams {
    /// Handles a socket that is ready.
    @inline(__always)
    func serve(_ index: Int) {
        let slot = slots + index
        if slot.pointee.phase == .connecting { return sendRequest(index) }
        guard slot.pointee.descriptor >= 0 else { return }
        // A slow stream is read on a schedule. Its socket only reports the end of its connection.
        if slot.pointee.isSlow { return hasEnded(index) }
        read(index, atMost: Self.bufferBytes)
    }

    /// Reads bytes from a stream and handles the frames that they complete.
    func read(_ index: Int, atMost limit: Int) {
        let slot = slots + index
        let start = buffer + Self.restBytes
        let count = recv(slot.pointee.descriptor, start, limit, 0)
        guard count > 0 else {
            if count == 0 || (errno != EAGAIN && errno != EINTR) { hasEnded(index) }
            return
        }
        let now = MonotonicTime.now.nanoseconds
        if slot.pointee.phase == .open {
            parse(start, count, index, now)
        } else {
            readHead(start, count, index, now)
        }
    }

    private func hasEnded(_ index: Int) {
        guard slots[index].phase == .open else { return reject(index) }
        close(index)
        openCount -= 1
        cut += 1
        slots[index].phase = .ended
        if isReturning { open(CollectionOfOne(index)) }
    }

    private func readHead(_ start: UnsafeMutableRawPointer, _ count: Int, _ index: Int, _ now: UInt64) {
        let slot = slots + index
        let whole = start - slot.pointee.restCount
        if let rest = slot.pointee.rest, slot.pointee.restCount > 0 {
            whole.copyMemory(from: rest, byteCount: slot.pointee.restCount)
        }
        let length = slot.pointee.restCount + count
        guard let head = MessageHead(UnsafeRawBufferPointer(start: whole, count: length)) else {
            return slot.pointee.keep(whole, min(length, Self.restBytes / 2))
        }
        lastStatus = head.status
        guard head.status == 200 else { return reject(index) }
        slot.pointee.isChunked = head.isChunked
        slot.pointee.phase = .open
        slot.pointee.restCount = 0
        openCount += 1
        connecting -= 1
        if head.length < length { parse(whole + head.length, length - head.length, index, now) }
        connectMore()
    }

    /// Handles received bytes of a response body. Decodes the bytes in place, and puts the unhandled rest of earlier
    /// bytes in front of them.
    @inline(__always)
    private func parse(_ start: UnsafeMutableRawPointer, _ received: Int, _ index: Int, _ now: UInt64) {
        let slot = slots + index
        let count = slot.pointee.isChunked ? slot.pointee.chunks.decode(start, received) : received
        var whole = start
        if slot.pointee.restCount > 0, let rest = slot.pointee.rest {
            whole = start - slot.pointee.restCount
            whole.copyMemory(from: rest, byteCount: slot.pointee.restCount)
        }
        let end = start + count
        let kept = resumable.contains(index) ? readFrames(whole, end, index, now) : readMarks(whole, end, index, now)
        slot.pointee.keep(kept, min(end - kept, Self.restBytes))
        if slot.pointee.isChunked, slot.pointee.chunks.isOver { hasEnded(index) }
    }

    /// Handles all marks in the bytes.
    ///
    /// - Returns: the start of an incomplete mark, or the end of the bytes.
    @inline(__always)
    private func readMarks(
        _ start: UnsafeMutableRawPointer, _ end: UnsafeMutableRawPointer, _ index: Int, _ now: UInt64
    ) -> UnsafeMutableRawPointer {
        let slot = slots + index
        var place = start
        while let found = memchr(place, Int32(PayloadMark.sign), end - place) {
            guard end - found >= PayloadMark.length else { return found }
            guard let mark = PayloadMark(at: found) else {
                place = found + 1
                continue
            }
            if ledger.record(mark, reader: index, channel: slot.pointee.channel, at: now) {
                slot.pointee.received &+= 1
            }
            if let id = slot.pointee.ids.number(before: found, from: place) { ledger.record(id: id, reader: index) }
            place = found + PayloadMark.length
        }
        if slot.pointee.goal > 0, slot.pointee.received >= slot.pointee.goal {
            slot.pointee.goal = 0
            unfinished -= 1
            completion.add(now - goalsSince)
        }
        return end
    }

    /// Handles the marks of complete frames and stores the last id. An unterminated frame is not an event (WHATWG HTML,
    /// section 9.2.6), and the server sends it again after a reconnect.
    private func readFrames(
        _ start: UnsafeMutableRawPointer, _ end: UnsafeMutableRawPointer, _ index: Int, _ now: UInt64
    ) -> UnsafeMutableRawPointer {
        guard let frameEnd = FrameScan.lastEnd(start, end) else { return start }
        _ = readMarks(start, frameEnd, index, now)
        if let id = FrameScan.lastID(start, frameEnd) { ids[index].set(id) }
        return frameEnd
    }
}

/// Removes the chunk headers from a response body in place (RFC 9112, section 7.1). The body may be split anywhere.
struct ChunkDecoder {
    private enum Place: UInt8 { case size, rest, data, end }

    private var place = Place.size
    private var left = 0
    private(set) var isOver = false

    /// Decodes bytes in place: removes the chunk framing, and moves the bytes of the body to the start of the memory.
    ///
    /// - Returns: the number of body bytes.
    mutating func decode(_ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
        var (read, written) = (0, 0)
        while read < count, !isOver {
            switch place {
            case .size, .rest:
                readHead(bytes.load(fromByteOffset: read, as: UInt8.self))
                read += 1
            case .data:
                let length = min(left, count - read)
                if written != read { memmove(bytes + written, bytes + read, length) }
                read += length
                written += length
                left -= length
                if left == 0 { place = .end }
            case .end:
                if bytes.load(fromByteOffset: read, as: UInt8.self) == 0x0A { place = .size }
                read += 1
            }
        }
        return written
    }

    private mutating func readHead(_ byte: UInt8) {
        switch byte {
        case 0x0A:
            isOver = left == 0
            place = .data
        case 0x30...0x39 where place == .size: left = left << 4 | Int(byte - 0x30)
        case 0x41...0x46 where place == .size: left = left << 4 | Int(byte - 0x41 + 10)
        case 0x61...0x66 where place == .size: left = left << 4 | Int(byte - 0x61 + 10)
        default: place = .rest  // an extension, or the carriage return
        }
    }
}

/// Waits for events on many descriptors, with `epoll`.
final class Poller {
    let descriptor: Int32
    private let events: UnsafeMutablePointer<epoll_event>
    private let capacity: Int

    /// Creates a poller without descriptors.
    ///
    /// - Parameter capacity: the maximum number of ready descriptors per wait. It limits the time until other pollers
    ///   are served.
    init(capacity: Int) throws(BenchFailure) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw BenchFailure("epoll_create1 failed with \(errno)") }
        self.capacity = capacity
        events = .allocate(capacity: capacity)
    }

    deinit {
        close(descriptor)
        events.deallocate()
    }

    static let readable = EPOLLIN.rawValue | EPOLLRDHUP.rawValue
    static let writable = EPOLLOUT.rawValue

    func add(_ other: Int32, tag: UInt64, events: UInt32 = readable) { control(EPOLL_CTL_ADD, other, tag, events) }
    func change(_ other: Int32, tag: UInt64, events: UInt32) { control(EPOLL_CTL_MOD, other, tag, events) }
    func remove(_ other: Int32) { control(EPOLL_CTL_DEL, other, 0, 0) }

    private func control(_ action: Int32, _ other: Int32, _ tag: UInt64, _ events: UInt32) {
        var event = epoll_event(events: events, data: epoll_data_t(u64: tag))
        let code = epoll_ctl(descriptor, action, other, &event)
        precondition(code == 0, "epoll_ctl failed with \(errno)")
    }

    /// Calls `body` with the tag of each ready descriptor.
    @inline(__always)
    func wait(milliseconds: Int32, _ body: (UInt64) -> Void) {
        let count = epoll_wait(descriptor, events, Int32(capacity), milliseconds)
        var index = 0
        while index < Int(count) {
            body(events[index].data.u64)
            index += 1
        }
    }
}

/// The state of one stream. A trivial type, so that thousands of slots are adjacent in memory.
struct StreamSlot {
    enum Phase: UInt8 { case idle, connecting, head, open, ended }

    var descriptor: Int32 = -1
    let channel: UInt32
    var phase = Phase.idle
    var isChunked = false
    var chunks = ChunkDecoder()
    var ids = FrameIDs()
    /// The bytes of an incomplete header, frame or mark at the end of the last read; nil when there are none.
    var rest: UnsafeMutableRawPointer?
    var restCount = 0
    private var restCapacity = 0
    /// The number of different events that were received.
    var received = 0
    /// The number of events that the stream must receive; 0 for no goal.
    var goal = 0
    /// True when the stream is read on a schedule and not when data arrives.
    var isSlow = false
    /// True when the kernel's receive buffer is small.
    var hasSmallBuffer = false

    init(channel: UInt32) { self.channel = channel }

    mutating func keep(_ bytes: UnsafeRawPointer, _ count: Int) {
        if count > restCapacity {
            rest?.deallocate()
            restCapacity = max(64, count)
            rest = .allocate(byteCount: restCapacity, alignment: 1)
        }
        if count > 0 { rest?.copyMemory(from: bytes, byteCount: count) }
        restCount = count
    }

    /// Frees the memory that ``keep(_:_:)`` allocated.
    mutating func deallocate() {
        rest?.deallocate()
        (rest, restCount, restCapacity) = (nil, 0, 0)
    }
}
