public import ChatModel

/// One answer of a long poll.
public struct PollBatch: Sendable {
    public var events: [Event]
    /// Where the next poll continues.
    public var cursor: Timetoken

    public init(events: [Event], cursor: Timetoken) {
        self.events = events
        self.cursor = cursor
    }
}

extension Chat {
    /// The next events of a selection after a position: at once when there are some, else the first that come. Empty
    /// when the hold ends first.
    ///
    /// - Parameters:
    ///   - after: at most the log's watermark, see `resume(at:)`. Everything that was in the log before the call is in
    ///     the answer, or follows its cursor.
    ///   - limit: how many at most; the cursor never passes one that was left out.
    ///   - hold: returns when the wait is over, or soon after its task was cancelled; handed in so that tests decide
    ///     the time.
    /// - Throws: `.unavailable` while events do not reach subscribers; what the log throws.
    public func poll(
        _ selection: Selection, after: Timetoken, limit: Int, hold: @escaping @Sendable () async -> Void
    ) async throws(ChatError) -> PollBatch {
        let outbox = Outbox(capacity: limits.listenerBacklog)
        // Whoever was told of an event before asking finds it in the answer, though the hub may not have seen it yet.
        let newest = try await log.watermark(of: space)
        let upTo = try await service.hub.open(outbox, selection, after: max(after, newest))
        let missed: [Event]
        do {
            missed = try await firstPage(selection, after: after, upTo: upTo)
        } catch {
            _ = await service.hub.close(outbox, selection)
            throw error
        }
        if missed.isEmpty { await Self.wait(for: outbox, hold) }
        let end = await service.hub.close(outbox, selection)
        if !missed.isEmpty { return Self.batch(missed, limit) }

        let arrived = outbox.drain()
        if !arrived.isEmpty { return Self.batch(arrived, limit) }
        // More came in one turn than the outbox takes: it is in the log.
        let dropped = outbox.hasOverflown ? try await firstPage(selection, after: upTo, upTo: end) : []
        return dropped.isEmpty ? PollBatch(events: [], cursor: end) : Self.batch(dropped, limit)
    }

    private func firstPage(
        _ selection: Selection, after: Timetoken, upTo: Timetoken
    ) async throws(ChatError) -> [Event] {
        var catchUp = catchUp(selection, after: after, upTo: upTo)
        while !catchUp.isOver {
            let page = try await catchUp.nextPage(limit: limits.pageMost)
            if !page.isEmpty { return page }
        }
        return []
    }

    private static func wait(for outbox: Outbox, _ hold: @escaping @Sendable () async -> Void) async {
        await withTaskGroup { group in
            group.addTask { await outbox.ready() }
            group.addTask { await hold() }
            await group.next()
            group.cancelAll()
        }
    }

    private static func batch(_ events: [Event], _ limit: Int) -> PollBatch {
        let events = events.prefix(limit)
        return PollBatch(events: Array(events), cursor: events.last?.timetoken ?? .zero)
    }
}

extension Hub {
    /// Attaches, and tells up to where the store must be read: at least up to `after`.
    func open(_ sink: any FeedSink, _ selection: Selection, after: Timetoken) async throws(ChatError) -> Timetoken {
        guard await reach(after) else { throw ChatError.notListening }
        attach(sink, to: selection)
        return position
    }

    /// Detaches, and tells up to where the sink was handed everything.
    func close(_ sink: any FeedSink, _ selection: Selection) -> Timetoken {
        detach(sink, from: selection)
        return position
    }
}

extension ChatError {
    /// Committed events do not reach subscribers: the gateway is starting or stopping.
    public static let notListening = ChatError(
        .unavailable, "events cannot be followed now: the gateway is starting or stopping", retryAfter: .seconds(1))
}
