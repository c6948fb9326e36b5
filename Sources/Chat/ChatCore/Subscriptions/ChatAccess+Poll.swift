public import ChatModel

/// One answer of a long poll.
public struct PollBatch: Sendable {
    public var events: [Event]
    /// Where the next poll continues.
    public var cursor: Timetoken

    /// - Parameter limit: how many events at most; the cursor never passes one that was left out.
    public init(_ events: some Sequence<Event>, limit: Int, upTo position: Timetoken) {
        self.events = Array(events.prefix(limit))
        cursor = self.events.last?.timetoken ?? position
    }
}

extension ChatAccess {
    /// The first events of a selection after a position up to another, in the order of the log; a page at most.
    ///
    /// A poll hangs a sink on the hub first and reads with this up to the hub's position then: what is not here comes to
    /// the sink.
    public func missed(
        _ selection: Selection, hearing: Hearing? = nil, after: Timetoken, upTo: Timetoken
    ) async throws(ChatError) -> [Event] {
        var catchUp = catchUp(selection, hearing: hearing, after: after, upTo: upTo)
        while !catchUp.isOver {
            let page = try await catchUp.nextPage(limit: limits.pageMost)
            if !page.isEmpty { return page }
        }
        return []
    }
}

extension ChatError {
    /// Committed events do not reach subscribers: the gateway is starting or stopping.
    public static let notListening = ChatError(
        .unavailable, "events cannot be followed now: the gateway is starting or stopping", retryAfter: .seconds(1))
}
