public import ChatModel

/// One answer of a long poll.
public struct PollBatch: Sendable {
    public var events: [Event]
    /// Where the next poll continues.
    public var cursor: Timetoken
}

extension Chat {
    /// The next events of a selection after a position: at once when there are some, else the first batch that comes.
    /// Empty when the hold ends first.
    ///
    /// - Parameter sleep: waits for the hold, or throws when cancelled; handed in so that tests decide the time.
    public func poll(
        _ selection: Selection, after: Timetoken, limit: Int, hold: @escaping @Sendable () async -> Void
    ) async throws(ChatError) -> PollBatch {
        let outbox = Outbox(capacity: limits.listenerBacklog)
        let hub = service.hub
        let upTo = await hub.open(outbox, selection)
        do {
            let batch = try await poll(selection, after: after, upTo: upTo, limit: limit, outbox, hold)
            await hub.detach(outbox, from: selection)
            return batch
        } catch {
            await hub.detach(outbox, from: selection)
            throw error
        }
    }

    private func poll(
        _ selection: Selection, after: Timetoken, upTo: Timetoken, limit: Int, _ outbox: Outbox,
        _ hold: @escaping @Sendable () async -> Void
    ) async throws(ChatError) -> PollBatch {
        var missed = catchUp(selection, after: after, upTo: upTo).makeAsyncIterator()
        if let events = try await missed.next() { return Self.batch(events.prefix(limit)) }
        let arrived = await withTaskGroup(of: [Event]?.self) { group in
            group.addTask { await outbox.batch() }
            group.addTask {
                await hold()
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        guard let arrived, !arrived.isEmpty else { return PollBatch(events: [], cursor: max(after, upTo)) }
        return Self.batch(arrived.prefix(limit))
    }

    private static func batch(_ events: ArraySlice<Event>) -> PollBatch {
        PollBatch(events: Array(events), cursor: events.last?.timetoken ?? .zero)
    }
}

extension Hub {
    /// Attaches and tells, in the same turn, up to where the store must be read.
    func open(_ sink: any FeedSink, _ selection: Selection) -> Timetoken {
        attach(sink, to: selection)
        return position
    }
}
