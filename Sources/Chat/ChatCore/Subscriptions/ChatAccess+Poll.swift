public import ChatModel
import JSON

/// One answer of a long poll.
public struct PollBatch: Sendable {
    public var events: [Event]
    /// Where the next poll continues.
    public var cursor: Timetoken

    /// Bytes of payloads and metadata after which no further event is added: the answer is copied to its socket in one
    /// piece, for which everybody waits.
    private static let bytesMost = 512 * 1024

    /// - Parameter limit: how many events at most. Fewer, and one at least, where they are long; the cursor never passes one
    ///   that was left out.
    public init(_ events: some Sequence<Event>, limit: Int, upTo position: Timetoken) {
        var bytes = 0
        self.events = Array(
            events.prefix(limit).prefix { event in
                defer { bytes += event.draft.weight }
                return bytes < Self.bytesMost
            })
        cursor = self.events.last?.timetoken ?? position
    }

    /// Leaves out the events at the end that are too long with their objects, but one.
    ///
    /// - Parameter included: the objects of each event; empty where none were asked for, and then nothing is left out.
    public mutating func fit(_ included: inout [RenderedIncludes]) {
        guard !included.isEmpty else { return }
        var bytes = 0
        let fitting = zip(events, included).prefix { event, included in
            defer { bytes += event.draft.weight + included.text.count }
            return bytes < Self.bytesMost
        }.count
        guard fitting < events.count else { return }
        events.removeLast(events.count - fitting)
        included.removeLast(included.count - fitting)
        cursor = events.last?.timetoken ?? cursor
    }
}

extension ChatAccess {
    /// The first events of a selection after a position up to another, in the order of the log; a page at most. And how far
    /// it has looked, which is up to the end when there are none.
    ///
    /// It looks no further once the deadline has passed or the task is cancelled, but a page at least: a selective filter
    /// over a long past could take minutes, and its caller would learn of no progress.
    ///
    /// A poll hangs a sink on the hub first and reads with this up to the hub's position then: what is not here comes to
    /// the sink.
    public func missed(
        _ selection: Selection, audienceSnapshot: AudienceSnapshot? = nil, after: Timetoken, upTo: Timetoken,
        until deadline: ContinuousClock.Instant? = nil
    ) async throws(ChatError) -> (events: [Event], reached: Timetoken) {
        var catchUp = catchUp(selection, audienceSnapshot: audienceSnapshot, after: after, upTo: upTo)
        while !catchUp.isOver {
            let page = try await catchUp.nextPage(limit: limits.pageMost)
            if !page.isEmpty { return (page, catchUp.position) }
            if Task.isCancelled || deadline.map({ $0 <= .now }) ?? false { break }
        }
        return ([], catchUp.position)
    }
}

extension ChatError {
    /// Committed events do not reach subscribers: the gateway is starting or stopping.
    public static let notListening = ChatError(
        .unavailable, "events cannot be followed now: the gateway is starting or stopping", retryAfter: .seconds(1))
}
