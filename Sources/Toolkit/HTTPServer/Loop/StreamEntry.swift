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
