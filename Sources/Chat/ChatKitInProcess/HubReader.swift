import ChatCore
import ChatKit
import ChatModel

/// Reads the events of a selection from the hub, which passes new events to readers through an outbox (a bounded
/// queue). Earlier events, and events that did not fit into the outbox, are read from the store.
actor HubReader {
    /// The capacity of the outbox in events. A reader that falls further behind reads from the store.
    private static let waiting = 1000
    /// The pause before reading again from a store that could not be read.
    private static let pause: Duration = .seconds(1)

    private struct Live: Sendable {
        let outbox: Outbox
        let selection: Selection
        /// The number of changes of the channel groups (`HubReader.changes`) at the time at which the selection was
        /// made.
        let changes: Int
    }

    private let host: ChatHost
    private let wanted: HubSelection
    private var chat: ChatAccess { wanted.chat }
    /// The position in the event log up to which all events were delivered; nil starts with new events.
    private var position: Timetoken?
    private var live: Live?
    private var stored: CatchUp?
    private var isDeviceThere = false
    private var isInterrupted = false
    /// The new channels of the channel groups, until they are reported to the reader; nil for none.
    private var changedChannels: [String]?
    /// The number of changes of the selection's channel groups so far.
    private var changes = 0
    /// The number of changes of the channel groups that were reported to the reader.
    private var announced = 0
    private var groupObserver: Task<Void, Never>?

    init(_ host: ChatHost, _ wanted: HubSelection) {
        self.host = host
        self.wanted = wanted
        position = wanted.since
    }

    deinit {
        groupObserver?.cancel()
        if let live { host.remove(live.outbox) }
        Task { [live, wanted, isDeviceThere] in
            if let live { await wanted.chat.service.hub.detach(live.outbox) }
            if isDeviceThere { await wanted.deviceWent() }
        }
    }

    /// Returns the next update. When the store cannot be read, the read is repeated after a pause from the same
    /// position.
    func next() async throws(ChatError) -> LiveUpdate? {
        if isInterrupted {
            isInterrupted = false
            try? await Task.sleep(for: Self.pause)  // cancelled: `join` notices it
        }
        do throws(ChatError) {
            return try await nextUpdate()
        } catch  where [.unavailable, .overloaded].contains(error.code) {
            guard await chat.service.hub.isRunning, !Task.isCancelled else { throw error }
            if let live { await leave(live) }
            stored = nil
            isInterrupted = true
            return .interrupted(error)
        }
    }

    private func nextUpdate() async throws(ChatError) -> LiveUpdate? {
        while true {
            guard let live else { return try await join() }
            if let changed = changedChannels {
                changedChannels = nil
                return .channelsChanged(changed)
            }
            if let update = try await fromStore() { return update }
            if let update = try await fromHub(live) { return update }
            guard live.outbox.hasOverflown || live.changes != changes else { return nil }
            await leave(live)
        }
    }

    /// Attaches a new outbox to the hub. The outbox receives all events after the hub's position. Earlier events are
    /// read from the store.
    private func join() async throws(ChatError) -> LiveUpdate {
        let hub = chat.service.hub
        guard await hub.isRunning else { throw .notListening }
        try await watchGroups()
        let changes = changes
        let selection = try await wanted.selection()
        let outbox = Outbox(capacity: Self.waiting)
        host.add(outbox)
        if changes != announced {
            announced = changes
            changedChannels = selection.channels.names.map(\.text).sorted()
        }
        live = Live(outbox: outbox, selection: selection, changes: changes)
        let (joined, audienceSnapshot) = await hub.join(outbox, selection)
        if changes != self.changes { outbox.close() }
        if !isDeviceThere {
            isDeviceThere = true
            await wanted.deviceCame()
        }
        guard let asked = position else {
            // A committed event is not new, even if the hub has not delivered it yet.
            let now = max(joined, try await chat.watermark())
            position = now
            return .connected(at: now, hasGap: false)
        }
        let resumption = try await chat.resume(selection, at: asked.description)
        position = resumption.from
        stored = chat.catchUp(selection, audienceSnapshot: audienceSnapshot, after: resumption.from, upTo: joined)
        return .connected(at: resumption.from, hasGap: resumption.gap != nil)
    }

    private func fromStore() async throws(ChatError) -> LiveUpdate? {
        guard var reading = stored else { return nil }
        while !reading.isOver {
            let page = try await reading.nextPage(limit: chat.limits.pageMost)
            let events = try await withObjects(page)
            position = max(position ?? .zero, reading.position)
            stored = reading
            if !events.isEmpty { return .events(events, cursor: reading.position) }
        }
        stored = nil
        return nil
    }

    /// Returns the next events of the outbox. Events at or below the position were already read from the store and are
    /// skipped.
    private func fromHub(_ live: Live) async throws(ChatError) -> LiveUpdate? {
        while let batch = await live.outbox.batch() {
            let known = position ?? .zero
            let new = batch.filter { $0.timetoken > known }
            guard let last = new.last else { continue }
            let events = try await withObjects(new)
            position = last.timetoken
            return .events(events, cursor: last.timetoken)
        }
        return nil
    }

    /// Reads the objects to include with the events, and returns the events with these objects.
    private func withObjects(_ events: [Event]) async throws(ChatError) -> [LiveEvent] {
        let objects = wanted.include
        guard !objects.isEmpty, !events.isEmpty else { return events.map { LiveEvent($0) } }
        let inclusion = chat.inclusion(of: objects, following: live?.selection)
        let included = try await chat.included(with: events, inclusion)
        return zip(events, included).map { LiveEvent($0, included: $1.text) }
    }

    private func leave(_ live: Live) async {
        self.live = nil
        host.remove(live.outbox)
        await chat.service.hub.detach(live.outbox)
    }
}

// MARK: - Channel groups

extension HubReader {
    private func watchGroups() async throws(ChatError) {
        let groups = wanted.groups
        guard groupObserver == nil, !groups.isEmpty else { return }
        let directory = chat.service.engine.directory
        let revision = try await directory.revision()
        groupObserver = Task { [weak self] in
            for await commit in await directory.changes(after: revision) where !groups.isDisjoint(with: commit.keys) {
                await self?.groupsChanged()
            }
        }
    }

    /// Counts a change of the channel groups. The reader first returns the events in the outbox. It then continues from
    /// its position with the new channels.
    private func groupsChanged() {
        changes += 1
        live?.outbox.close()
    }
}

extension Hub {
    /// Attaches an outbox to the hub.
    ///
    /// - Returns: the position in the event log after which the outbox receives all selected events, and the audience
    ///   snapshot at this position. The reader uses the snapshot to check access to earlier events. The snapshot is nil
    ///   for a selection without a viewer.
    fileprivate func join(
        _ sink: Outbox, _ selection: Selection
    ) -> (position: Timetoken, audienceSnapshot: AudienceSnapshot?) {
        attach(sink, to: selection)
        return (position, audienceSnapshot(of: selection))
    }
}
