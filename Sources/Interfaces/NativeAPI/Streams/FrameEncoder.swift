import ChatCore
import ChatModel
import HTTPServer

/// Prints events in one format. Each event is printed once for all feeds with that format.
///
/// The hub sends an event to one feed after the other, so recent frames are cached. Runs on the loop, like the feeds.
actor FrameEncoder {
    /// The capacity of the cache. It suffices for the events that the hub distributes in one iteration; see `Hub`.
    private static let keptFrames = 512
    private static let keptBytes = 1024 * 1024

    private let loop: Loop
    private let format: StreamFormat
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The event and the variant of its included objects, which together determine the bytes of a frame in this format.
    private struct Key: Hashable {
        let event: Timetoken
        /// The number of the variant of the included objects (``RenderedIncludes/form``); zero for a frame without
        /// them.
        let form: UInt8
    }

    private var kept: [Key: [UInt8]] = [:]
    private var bytes = 0
    private(set) var printed: UInt64 = 0

    init(loop: Loop, format: StreamFormat) {
        self.loop = loop
        self.format = format
    }

    /// Returns the printed frame of an event, from the cache if possible.
    ///
    /// - Parameter included: the objects included with the event, if its feed includes any.
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

    /// Removes all cached frames. Called once a second, because a frame is needed only for a short time: all feeds send
    /// an event in the same iteration of the hub, or as soon as the event's included objects have been read.
    func forget() {
        kept.removeAll(keepingCapacity: true)
        bytes = 0
    }
}
