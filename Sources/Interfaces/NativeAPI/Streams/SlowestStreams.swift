import ChatModel
import HTTPServer

/// The streams that are furthest behind.
struct SlowestStreams: Sendable {
    var lagBytes: UInt64 = 0
    var catchUpTicks: UInt64 = 0
}

extension LiveStreams {
    /// Looks at every stream, in pieces, so that nobody waits for long.
    func worst() async -> SlowestStreams {
        var worst = SlowestStreams()
        var position: UInt64? = 0
        while let from = position {
            let part = roll.part(behind: from, limit: 2048)
            for stream in part.streams where stream.connection.isOpen {
                worst.lagBytes = max(worst.lagBytes, stream.connection.lag)
            }
            position = part.last
            if position != nil { await Task.yield() }
        }
        for stream in catchingUp.values {
            let end = logPosition(of: stream.feed)
            guard stream.position < end else { continue }
            worst.catchUpTicks = max(worst.catchUpTicks, end.rawValue - stream.position.rawValue)
        }
        return worst
    }
}
