public import ChatModel
import JSON

/// The events of one answer to a long poll.
public struct PollBatch: Sendable {
    /// The events, in the order of the log.
    public var events: [Event]
    /// The position from which the next poll continues.
    public var cursor: Timetoken

    /// The size of payloads and metadata, in bytes, after which no further event is added. The answer is copied to its
    /// socket in one piece, which blocks all other clients.
    private static let bytesMost = 512 * 1024

    /// - Parameter limit: the maximum number of events. Long events reduce the number, to no fewer than one. The cursor
    ///   never passes an event that was left out.
    public init(_ events: some Sequence<Event>, limit: Int, upTo position: Timetoken) {
        var bytes = 0
        self.events = Array(
            events.prefix(limit).prefix { event in
                defer { bytes += event.draft.weight }
                return bytes < Self.bytesMost
            })
        cursor = self.events.last?.timetoken ?? position
    }

    /// Removes events at the end that are too large with their included objects. At least one event stays.
    ///
    /// - Parameter included: the objects of each event; empty when none were requested, and then no event is removed.
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
    /// The first events of a selection between two positions, in the order of the log, at most one page; and the
    /// position up to which it has read, which is `upTo` when no event was found.
    ///
    /// It stops when the deadline has passed or the task is cancelled, but reads at least one page. With a selective
    /// filter, a long history could take minutes, and the caller would see no progress.
    ///
    /// A poll first attaches a sink to the hub, then reads with this up to the hub's position at that time. All later
    /// events reach the sink.
    ///
    /// - Throws: the errors of the store.
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
    /// The error while the gateway starts or stops, when committed events do not reach subscribers.
    public static let notListening = ChatError(
        .unavailable, "events cannot be followed now: the gateway is starting or stopping", retryAfter: .seconds(1))
}
