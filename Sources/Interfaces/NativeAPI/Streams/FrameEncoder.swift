import ChatCore
import ChatModel
import HTTPServer

/// Prints events in one format, once for all feeds that take them.
///
/// The hub serves one feed after the other, so what was printed is kept for a moment. Lives on the loop, like the feeds.
actor FrameEncoder {
    /// One turn of the hub fits in; see `Hub`.
    private static let keptFrames = 512
    private static let keptBytes = 1024 * 1024

    private let loop: Loop
    private let format: StreamFormat
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// What makes frames of one format differ.
    private struct Key: Hashable {
        let event: Timetoken
        /// ``RenderedIncludes/form``; zero for a frame without objects.
        let form: UInt8
    }

    private var kept: [Key: [UInt8]] = [:]
    private var bytes = 0
    private(set) var printed: UInt64 = 0

    init(loop: Loop, format: StreamFormat) {
        self.loop = loop
        self.format = format
    }

    /// - Parameter included: the objects beside the event, where its feed gets some.
    func frame(_ event: Event, with included: RenderedIncludes? = nil) -> [UInt8] {
        let key = Key(event: event.timetoken, form: included?.form ?? 0)
        if let frame = kept[key] { return frame }
        let frame = format.frame(event, with: included?.text)
        printed += 1
        if kept.count >= Self.keptFrames || bytes >= Self.keptBytes { forget() }
        kept[key] = frame
        bytes += frame.count
        return frame
    }

    /// Gives the memory back once nobody can ask for the same again.
    func forget() {
        kept.removeAll(keepingCapacity: true)
        bytes = 0
    }
}
