public import ChatModel
import JSON

/// The events in one response to a long poll.
public struct PollBatch: Sendable {
    /// The events, in the order of the event log.
    public var events: [Event]
    /// The position from which the next poll continues.
    public var cursor: Timetoken

    /// The total size of payloads and metadata, in bytes, after which no further event is added to a batch. A response
    /// is copied to its socket in one piece, and all other clients wait during the copy.
    private static let bytesMost = 512 * 1024

    /// Creates a batch of the first events that fit into one response.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of events. Large events reduce the number, but at least one event is included.
    ///   - position: the value of `cursor` when `events` is empty. Otherwise `cursor` is the timetoken of the last
    ///     included event.
    public init(_ events: [Event], limit: Int, upTo position: Timetoken) {
        var bytes = 0
        let fitting = events.prefix(limit).prefix { event in
            defer { bytes += event.weight }
            return bytes < Self.bytesMost
        }
        self.events = fitting.count == events.count ? events : Array(fitting)
        cursor = self.events.last?.timetoken ?? position
    }

    /// Removes events from the end of the batch, until the remaining events and their included objects fit into one
    /// response. At least one event remains.
    ///
    /// - Parameter included: the included objects of each event; empty when the poll requested none. If `included` is
    ///   empty, no event is removed.
    public mutating func fit(_ included: inout [RenderedIncludes]) {
        guard !included.isEmpty else { return }
        var bytes = 0
        let fitting = zip(events, included).prefix { event, included in
            defer { bytes += event.weight + included.text.count }
            return bytes < Self.bytesMost
        }.count
        guard fitting < events.count else { return }
        events.removeLast(events.count - fitting)
        included.removeLast(included.count - fitting)
        cursor = events.last?.timetoken ?? cursor
    }
}

extension ChatAccess {
    /// Returns the first selected events above `after` and up to `upTo`, in the order of the event log and at most one
    /// page. Also returns `reached`, the position up to which the log was read. `reached` is `upTo` when the whole
    /// range was read and no event was found.
    ///
    /// Stops when the deadline has passed or the task is cancelled, but reads at least one page. Without the deadline,
    /// a filter with few matches could take minutes in a long history.
    ///
    /// A poll first attaches a sink to the hub, and then reads up to the hub's position with this method. The sink
    /// receives all later events.
    ///
    /// - Throws: the errors of the store.
    public nonisolated(nonsending) func missed(
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

    /// Returns true when no event of the selection's channels follows the position, and this is known without waiting.
    public func hasMissedNothing(_ selection: Selection, after position: Timetoken) -> Bool {
        guard selection.viewer == nil,
            let page = log.eventsAtOnce(in: selection.channels, after: position, limit: 1)
        else { return false }
        return page.items.isEmpty && !page.hasMore
    }
}

extension ChatError {
    /// The error of operations that need the hub, while the gateway starts or stops. During that time, the hub does not
    /// distribute events to subscribers.
    public static let notListening = ChatError(
        .unavailable, "streams are not available now, because the gateway is starting or stopping; try again",
        retryAfter: .seconds(1))
}
