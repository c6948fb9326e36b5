import ChatCore
import ChatModel

/// Reads a selection from the hub, and from the store what was before or what it was too slow for.
actor HubReader {
    /// Events that may wait; a reader further behind goes on from the store.
    private static let waiting = 1000

    private let host: ChatHost
    private let chat: ChatAccess
    private let selection: Selection
    /// Everything up to here has been handed out; nil: begin with what comes.
    private var position: Timetoken?
    private var live: Outbox?
    private var stored: CatchUp?

    init(_ host: ChatHost, _ chat: ChatAccess, _ selection: Selection, since position: Timetoken?) {
        self.host = host
        self.chat = chat
        self.selection = selection
        self.position = position
    }

    deinit {
        guard let live else { return }
        host.remove(live)
        Task { [hub = chat.service.hub, selection] in await hub.detach(live, from: selection) }
    }

    func next() async throws(ChatError) -> LiveNews? {
        while true {
            guard let live else { return try await join() }
            if let news = try await fromStore() { return news }
            if let news = await fromHub(live) { return news }
            guard live.hasOverflown else { return nil }
            await leave(live)
        }
    }

    /// Everything above the hub's position comes to the outbox; the rest is read from the store.
    private func join() async throws(ChatError) -> LiveNews {
        let hub = chat.service.hub
        guard await hub.isRunning else { throw .notListening }
        let outbox = Outbox(capacity: Self.waiting)
        host.add(outbox)
        await hub.attach(outbox, to: selection)
        live = outbox
        let joined = await hub.position
        guard let asked = position else {
            position = joined
            return .connected(at: joined, hasGap: false)
        }
        let resumption = try await chat.resume(at: asked.description)
        position = resumption.from
        stored = chat.catchUp(selection, after: resumption.from, upTo: joined)
        return .connected(at: resumption.from, hasGap: resumption.hasGap)
    }

    private func fromStore() async throws(ChatError) -> LiveNews? {
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
    private func fromHub(_ outbox: Outbox) async -> LiveNews? {
        while let batch = await outbox.batch() {
            let known = position ?? .zero
            let new = batch.filter { $0.timetoken > known }
            guard let last = new.last else { continue }
            position = last.timetoken
            return .events(new, cursor: last.timetoken)
        }
        return nil
    }

    private func leave(_ outbox: Outbox) async {
        live = nil
        host.remove(outbox)
        await chat.service.hub.detach(outbox, from: selection)
    }
}
