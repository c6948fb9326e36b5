import ChatModel

/// Prints the first blocks of streams. Thousands of clients may reconnect at the same moment, so the text of the last
/// block is reused. Only the id of the stream differs.
struct ReadyBlocks {
    /// The parts of a first block that several streams have in common.
    struct Start: Equatable {
        var format: StreamFormat
        var cursor: Timetoken
        var heartbeat: Int
        var session: String?
        var isFollowedByGap: Bool
    }

    /// Stands for the id of a stream. No other part of a block contains this byte.
    private static let mark: UInt8 = UInt8(ascii: "@")

    private var start: Start?
    private var beforeID: ArraySlice<UInt8> = []
    private var afterID: ArraySlice<UInt8> = []

    /// Returns the first block of a stream.
    mutating func block(_ start: Start, of id: String) -> [UInt8] {
        if self.start != start {
            let text = start.format.control(
                .ready(
                    "@", cursor: start.cursor, heartbeat: start.heartbeat, session: start.session,
                    isFollowedByGap: start.isFollowedByGap))
            let place = text.firstIndex(of: Self.mark) ?? text.endIndex
            beforeID = text[..<place]
            afterID = text[place...].dropFirst()
            self.start = start
        }
        var block: [UInt8] = []
        block.reserveCapacity(beforeID.count + id.utf8.count + afterID.count)
        block += beforeID
        block += id.utf8
        block += afterID
        return block
    }
}
