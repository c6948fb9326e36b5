import ChatModel
import HTTPServer

/// Prints events in one format, once for all feeds that take them.
///
/// The hub serves one feed after the other, so what was printed is kept for a moment. Lives on the loop, like the feeds.
actor FramePress {
    /// One turn of the hub fits in; see `Hub`.
    private static let keptFrames = 512
    private static let keptBytes = 1024 * 1024

    private let loop: Loop
    private let format: StreamFormat
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private var kept: [Timetoken: [UInt8]] = [:]
    private var bytes = 0
    private(set) var printed: UInt64 = 0

    init(loop: Loop, format: StreamFormat) {
        self.loop = loop
        self.format = format
    }

    func frame(_ event: Event) -> [UInt8] {
        if let frame = kept[event.timetoken] { return frame }
        let frame = format.frame(event)
        printed += 1
        if kept.count >= Self.keptFrames || bytes >= Self.keptBytes { forget() }
        kept[event.timetoken] = frame
        bytes += frame.count
        return frame
    }

    /// Gives the memory back once nobody can ask for the same again.
    func forget() {
        kept.removeAll(keepingCapacity: true)
        bytes = 0
    }
}
