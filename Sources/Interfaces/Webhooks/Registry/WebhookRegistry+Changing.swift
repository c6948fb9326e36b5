import ChatKit
import ChatModel
import HTTPClient
import JSON
import Locking

extension WebhookRegistry {
    /// Holds a webhook's deliveries back and says so on `$system`, both in one commit.
    func disable(_ endpoint: EndpointID, reason: String) async throws(ChatError) -> Webhook {
        try await change(endpoint, ifMatch: nil) { $0.disable(reason) }
    }

    func change(
        _ id: String, ifMatch etag: String?, by caller: Caller,
        _ alter: (inout Webhook) throws(ChatError) -> Void
    ) async throws(ChatError) -> Webhook {
        try await change(EndpointID(id, in: caller.space), ifMatch: etag) { (webhook) throws(ChatError) in
            try demandReach(of: webhook.settings, by: caller)
            try alter(&webhook)
        }
    }

    /// Reads, alters and writes a webhook, and again when another write came between; then brings its lane in line.
    func change(
        _ endpoint: EndpointID, ifMatch etag: String?, _ alter: (inout Webhook) throws(ChatError) -> Void
    ) async throws(ChatError) -> Webhook {
        for _ in 0..<8 {
            let old = try await current(endpoint)
            if let etag, etag != old.etag {
                throw ChatError(.stale, "the webhook has changed since it was read")
            }
            var new = old
            try alter(&new)
            do {
                let stored = try await write(new, demand: .etag(old.etag), from: old)
                try await settleLane(of: endpoint)
                return stored
            } catch {
                // The demanded etag was the one just read: somebody else wrote in between.
                if error.code != .stale || etag != nil { throw error.code == .notFound ? Self.unknown : error }
            }
        }
        throw ChatError(.conflict, "the webhook is being changed by others; ask again", retryAfter: .seconds(1))
    }

    func write(
        _ webhook: Webhook, demand: RecordChange.Demand, from old: Webhook? = nil
    ) async throws(ChatError) -> Webhook {
        var changes = [RecordChange(Webhook.recordKey(of: webhook.endpoint), body: webhook.body, demand: demand)]
        let isRevived = old?.status == .disabled && webhook.status == .enabled
        // A webhook that is enabled begins anew: what it failed at before must not disable it at the next failure.
        if isRevived { changes.append(RecordChange(HealthBoard.recordKey(of: webhook.endpoint), body: nil)) }
        let events = old.map { news(from: $0, to: webhook) } ?? []
        let record = try await mirror.write(changes, events: events, take)[0]
        if isRevived { health.forget(webhook.endpoint) }
        if isRevived || old?.settings.url != webhook.settings.url { await circuits.reset(webhook.endpoint) }
        var stored = webhook
        stored.etag = record.etag
        stored.updated = record.updated
        return withHealth(stored)
    }

    /// The webhook as the directory has it now.
    /// - Throws: `.notFound` when there is none; `.conflict` when there is one that cannot be read.
    func current(_ endpoint: EndpointID) async throws(ChatError) -> Webhook {
        guard let record = try await directory.read(Webhook.recordKey(of: endpoint)) else { throw Self.unknown }
        guard let webhook = Webhook(record) else { throw Self.unreadable }
        return withHealth(webhook)
    }

    /// Opens or pauses the lane as the webhook's status says.
    ///
    /// Two changes at once may reach the queue in the other order than the directory. So the status is looked at again
    /// after the lane was set: whoever sets it last sees the last status.
    func settleLane(of endpoint: EndpointID) async throws(ChatError) {
        var isSet = false
        while true {
            let (state, webhook) = snapshot.withLock { ($0.laneState(of: endpoint), $0[endpoint]) }
            // Deleted meanwhile: whoever deleted it may have closed the lane before it was set here.
            guard let state else { return isSet ? try await close(endpoint) : () }
            try await queue.set(
                state, of: endpoint, concurrency: webhook.map(concurrency) ?? service.limits.deliveryConcurrency)
            isSet = true
            if snapshot.withLock({ $0.laneState(of: endpoint) }) == state { return }
        }
    }

    /// The webhook is gone: what was owed to it turns dead.
    func close(_ endpoint: EndpointID) async throws(ChatError) {
        health.forget(endpoint)
        await circuits.reset(endpoint)
        try await queue.set(.closed, of: endpoint, concurrency: 1)
    }

    /// Attempts that may be under way at once.
    func concurrency(of webhook: Webhook) -> Int {
        webhook.settings.concurrency ?? service.limits.deliveryConcurrency
    }

    func withHealth(_ webhook: Webhook) -> Webhook {
        var webhook = webhook
        webhook.failingSince = health.failingSince(webhook.endpoint)
        return webhook
    }

    /// - Throws: `.malformed` for a URL the guard refuses; `.forbidden` for events the caller may not read itself.
    func check(_ settings: WebhookSettings, by caller: Caller) throws(ChatError) {
        do {
            try options.addressGuard.check(settings.url)
        } catch {
            var refusal = ChatError(.malformed, error.message, slug: "url_refused")
            refusal.faults = [ChatError.Fault(pointer: "#/url", keyword: "url", detail: error.message)]
            throw refusal
        }
        try demandReach(of: settings, by: caller)
    }

    /// Who may not read what a webhook is told of may neither change it nor see its secrets.
    func demandReach(of settings: WebhookSettings, by caller: Caller) throws(ChatError) {
        for pattern in settings.channels {
            let isCovered =
                pattern == .exact(ChannelID.systemName)
                ? caller.reaches(channel: ChannelID.systemName) : caller.channels.contains { $0.covers(pattern) }
            guard isCovered else {
                throw ChatError(.forbidden, "this credential does not reach the channels '\(pattern)'")
            }
        }
        for pattern in settings.types where !caller.types.contains(where: { $0.covers(pattern) }) {
            throw ChatError(.forbidden, "this credential does not reach the types '\(pattern)'")
        }
    }

    /// The same for one that may be unreadable: what it is told of is unknown then, so only who reaches everything may.
    func demandReach(of endpoint: EndpointID, by caller: Caller) async throws(ChatError) {
        guard let record = try await directory.read(Webhook.recordKey(of: endpoint)) else { throw Self.unknown }
        if let webhook = Webhook(record) { return try demandReach(of: webhook.settings, by: caller) }
        guard caller.channels.contains(.all), caller.types.contains(.all) else { throw Self.unreadable }
    }

    private func news(from old: Webhook, to new: Webhook) -> [EventDraft] {
        guard old.status == .enabled, new.status == .disabled else { return [] }
        return [
            Self.notice("webhook.disabled", of: new.endpoint) { writer in
                writer.member("reason", new.statusReason ?? "")
            }
        ]
    }

    /// An event on `$system` about a webhook.
    static func notice(
        _ type: String, of endpoint: EndpointID, _ details: (inout JSONWriter) -> Void
    ) -> EventDraft {
        let data = JSONText { writer in
            writer.beginObject()
            writer.member("webhook", endpoint.name)
            details(&writer)
            writer.endObject()
        }
        return EventDraft(channel: ChannelID(ChannelID.systemName, in: endpoint.space), type: type, data: data)
    }
}
