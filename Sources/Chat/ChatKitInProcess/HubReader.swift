import ChatCore
import ChatKit
import ChatModel

/// Reads a selection from the hub, and from the store what was before or what it was too slow for.
actor HubReader {
    /// Events that may wait; a reader further behind goes on from the store.
    private static let waiting = 1000
    /// Between two tries to read a store that cannot be read.
    private static let pause: Duration = .seconds(1)

    private struct Live: Sendable {
        let outbox: Outbox
        let selection: Selection
        /// How often the groups had changed when it was made.
        let changes: Int
    }

    private let host: ChatHost
    private let wanted: HubSelection
    private var chat: ChatAccess { wanted.chat }
    /// Everything up to here has been handed out; nil: begin with what comes.
    private var position: Timetoken?
    private var live: Live?
    private var stored: CatchUp?
    private var isDeviceThere = false
    private var isInterrupted = false
    /// How often the channel groups it follows have changed, and what tells of that.
    private var changes = 0
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
            if let live { await wanted.chat.service.hub.detach(live.outbox, from: live.selection) }
            if isDeviceThere { await wanted.deviceWent() }
        }
    }

    /// What the store cannot give now is asked for again a little later, from the same place.
    func next() async throws(ChatError) -> LiveUpdate? {
        if isInterrupted {
            isInterrupted = false
            try? await Task.sleep(for: Self.pause)  // cancelled: `join` finds out
        }
        do throws(ChatError) {
            return try await news()
        } catch  where [.unavailable, .overloaded].contains(error.code) {
            guard await chat.service.hub.isRunning, !Task.isCancelled else { throw error }
            if let live { await leave(live) }
            stored = nil
            isInterrupted = true
            return .interrupted(error)
        }
    }

    private func news() async throws(ChatError) -> LiveUpdate? {
        while true {
            guard let live else { return try await join() }
            if let news = try await fromStore() { return news }
            if let news = await fromHub(live.outbox) { return news }
            guard live.outbox.hasOverflown || live.changes != changes else { return nil }
            await leave(live)
        }
    }

    /// Everything above the hub's position comes to the outbox; the rest is read from the store.
    private func join() async throws(ChatError) -> LiveUpdate {
        let hub = chat.service.hub
        guard await hub.isRunning else { throw .notListening }
        try await watchGroups()
        let changes = changes
        let selection = try await wanted.selection()
        let outbox = Outbox(capacity: Self.waiting)
        host.add(outbox)
        live = Live(outbox: outbox, selection: selection, changes: changes)
        let (joined, audienceSnapshot) = await hub.join(outbox, selection)
        if changes != self.changes { outbox.close() }
        if !isDeviceThere {
            isDeviceThere = true
            await wanted.deviceCame()
        }
        guard let asked = position else {
            // What is done already is not what happens from now on, although the hub may have yet to hand it out.
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
            position = max(position ?? .zero, reading.position)
            stored = reading
            if !page.isEmpty { return .events(page, cursor: reading.position) }
        }
        stored = nil
        return nil
    }

    /// What came twice, by the store and by the hub, lies at or below the position.
    private func fromHub(_ outbox: Outbox) async -> LiveUpdate? {
        while let batch = await outbox.batch() {
            let known = position ?? .zero
            let new = batch.filter { $0.timetoken > known }
            guard let last = new.last else { continue }
            position = last.timetoken
            return .events(new, cursor: last.timetoken)
        }
        return nil
    }

    private func leave(_ live: Live) async {
        self.live = nil
        host.remove(live.outbox)
        await chat.service.hub.detach(live.outbox, from: live.selection)
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

    /// What is waiting is still read; then it goes on with what the groups hold, from where it stands.
    private func groupsChanged() {
        changes += 1
        live?.outbox.close()
    }
}

extension Hub {
    /// Attaches a sink; in one turn with it, from where on it gets everything and what may be heard of what was before.
    fileprivate func join(
        _ sink: Outbox, _ selection: Selection
    ) -> (position: Timetoken, audienceSnapshot: AudienceSnapshot?) {
        attach(sink, to: selection)
        return (position, audienceSnapshot(of: selection))
    }
}
