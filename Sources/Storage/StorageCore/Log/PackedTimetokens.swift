import ChatModel

extension [Timetoken] {
    /// The timetokens as bytes: eight bytes for each, least significant byte first.
    package var packed: [UInt8] {
        flatMap { timetoken in (0..<8).map { UInt8(truncatingIfNeeded: timetoken.rawValue >> (8 * $0)) } }
    }

    /// Creates the timetokens from the bytes of ``packed``.
    package init(packed bytes: [UInt8]) {
        self = stride(from: 0, to: bytes.count - bytes.count % 8, by: 8).map { start in
            Timetoken((0..<8).reduce(0) { $0 | UInt64(bytes[start + $1]) << (8 * UInt64($1)) })
        }
    }
}
