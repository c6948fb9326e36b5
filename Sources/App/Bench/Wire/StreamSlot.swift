/// One stream, as its reader keeps it. Trivial, so that thousands lie side by side in memory.
struct StreamSlot {
    enum Phase: UInt8 { case idle, connecting, head, open, ended }

    var descriptor: Int32 = -1
    let channel: UInt32
    var phase = Phase.idle
    var isChunked = false
    var chunks = ChunkDecoder()
    var ids = FrameIDs()
    /// Bytes of what the last piece cut: of a head, of a frame, of a mark.
    var rest: UnsafeMutableRawPointer?
    var restCount = 0
    private var restCapacity = 0
    /// Distinct events that came.
    var received = 0
    /// When so many have come, the stream is complete; 0 when nobody waits for that.
    var goal = 0
    /// Read by the clock, and not when something has come.
    var isSlow = false
    /// Whether the kernel shall hold little for it.
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

    /// Frees what ``keep(_:_:)`` took.
    mutating func deallocate() {
        rest?.deallocate()
        (rest, restCount, restCapacity) = (nil, 0, 0)
    }
}
