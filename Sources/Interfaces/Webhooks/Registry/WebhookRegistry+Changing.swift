import ChatCore
import ChatModel
import HTTPClient
import JSON
import Locking
import Signing

extension WebhookRegistry {
    /// Disables a webhook after a failed attempt, and emits the event about it on `$system` in the same commit.
    ///
    /// - Returns: false when the webhook was changed or enabled after the attempt had begun. The webhook then stays
    ///   enabled, and the next attempt shows the state of its receiver.
    func disable(after attempt: CompletedAttempt, reason: String) async throws(ChatError) -> Bool {
        let webhook = try await change(attempt.subscriber, ifMatch: nil) { webhook in
            guard webhook.updated <= attempt.start, webhook.settings.url == attempt.plan.webhook.settings.url else {
                return
            }
            webhook.disable(reason)
        }
        return webhook.status == .disabled
    }

    func change(
        _ id: String, ifMatch etag: String?, by caller: Caller,
        _ alter: (inout Webhook) throws(ChatError) -> Void
    ) async throws(ChatError) -> Webhook {
        try await change(SubscriberID(id, in: caller.app), ifMatch: etag, by: caller) { (webhook) throws(ChatError) in
            try requireReach(of: webhook.settings, by: caller)
            try alter(&webhook)
        }
    }

    /// Reads a webhook, changes it with `alter` and writes it. Then updates the webhook's lane (its part of the queue).
    /// Without an etag, starts again if another request has written the webhook in the meantime, at most eight times.
    func change(
        _ subscriber: SubscriberID, ifMatch etag: String?, by caller: Caller? = nil,
        _ alter: (inout Webhook) throws(ChatError) -> Void
    ) async throws(ChatError) -> Webhook {
        for _ in 0..<8 {
            let old = try await current(subscriber)
            if let etag, etag != old.etag {
                throw ChatError(
                    .stale, "the webhook has changed since it was read; read it again, and repeat the change")
            }
            var new = old
            try alter(&new)
            if let caller { try await requireReach(ofWhatWaitsFor: old, turnedTo: new.settings, by: caller) }
            try await complete(&new, from: old)
            do {
                let stored = try await write(new, precondition: .etag(old.etag), from: old)
                try await updateLane(of: subscriber)
                return stored
            } catch {
                // The record that was just read had the required etag, so another write came in between.
                if error.code != .stale || etag != nil { throw error.code == .notFound ? Self.unknown : error }
            }
        }
        throw ChatError(
            .conflict, "the webhook is being changed by another request; try again", retryAfter: .seconds(1))
    }

    func write(
        _ webhook: Webhook, precondition: RecordChange.Precondition, from old: Webhook? = nil
    ) async throws(ChatError) -> Webhook {
        var changes = [
            RecordChange(
                Webhook.recordKey(of: webhook.subscriber), body: webhook.body(service.vault), precondition: precondition
            )
        ]
        let isRevived = old.map { $0.status != .enabled } == true && webhook.status == .enabled
        // The stored start of earlier failures is removed, so that they do not disable the enabled webhook after its
        // next failure.
        if isRevived { changes.append(RecordChange(WebhookHealth.recordKey(of: webhook.subscriber), body: nil)) }
        let events = old.map { notices(from: $0, to: webhook) } ?? []
        let record = try await mirror.write(changes, events: events, apply)[0]
        if isRevived || old.map({ $0.settings.url != webhook.settings.url }) == true {
            await resetCircuit(of: webhook.subscriber, forgetsFailures: isRevived)
        }
        var stored = webhook
        stored.etag = record.etag
        stored.updated = record.updated
        return await withHealth([stored])[0]
    }

    /// Reads the webhook's record from the directory (the store of records).
    ///
    /// - Throws: `.notFound` when it does not exist; `.conflict` when its record cannot be read.
    func current(_ subscriber: SubscriberID) async throws(ChatError) -> Webhook {
        guard let record = try await directory.read(Webhook.recordKey(of: subscriber)) else { throw Self.unknown }
        guard let webhook = Webhook(record, service.vault) else { throw Self.unreadable }
        return webhook
    }

    /// Sets the fields that depend on the settings. These are the app's key, if a signature needs it, and the status:
    /// pending verification if a new or changed webhook needs the receiver's consent.
    func complete(_ new: inout Webhook, from old: Webhook?) async throws(ChatError) {
        if let tls = new.settings.tls, tls.identity != old?.settings.tls?.identity { try await check(tls) }
        if !new.settings.signatures.contains(.standardEd25519) {
            new.appKey = nil
        } else if new.appKey == nil {
            new.appKey = try await signingKey(of: new.app)
        }
        let verification = options.verification(of: new.settings)
        if verification != .cloudevents { new.allowedPerMinute = nil }
        let isTouched = old.map {
            $0.status != new.status || $0.verifiedURL != new.verifiedURL || $0.settings.url != new.settings.url
                || options.verification(of: $0.settings) != verification
        }
        guard isTouched ?? true, new.status != .disabled else { return }
        if old.map({ options.verification(of: $0.settings) != verification }) == true { new.verifiedURL = nil }
        new.status = hasConsent(new) ? .enabled : .pendingVerification
    }

    /// Returns true when posts may be sent to the receiver: the receiver has consented, or no consent is required.
    func hasConsent(_ webhook: Webhook) -> Bool {
        options.verification(of: webhook.settings) == .none || webhook.verifiedURL == webhook.settings.url
    }

    /// Sets the lane (the queue of one subscriber) according to the webhook's status and settings. If this fails, it is
    /// repeated later.
    func updateLane(of subscriber: SubscriberID) async throws(ChatError) {
        try await orLater(subscriber) { () async throws(ChatError) in try await setLane(of: subscriber) }
    }

    /// Closes the lane (the queue) of a deleted webhook, whose waiting deliveries then become dead. If this fails, it
    /// is repeated later.
    func close(_ subscriber: SubscriberID) async throws(ChatError) {
        try await orLater(subscriber) { () async throws(ChatError) in try await closeLane(of: subscriber) }
    }

    /// Runs `update`. If it fails, the update is scheduled again, because the change of the record is already in
    /// effect.
    private func orLater(
        _ subscriber: SubscriberID, _ update: () async throws(ChatError) -> Void
    ) async throws(ChatError) {
        do throws(ChatError) {
            try await update()
        } catch {
            pendingLanes.continuation.yield(subscriber)
            throw error
        }
    }

    /// Sets the subscriber's lane in the delivery queue to the settings in its record. Then reads the record and compares
    /// again, and repeats this while they differ: two simultaneous changes, on one node or two, may write their records
    /// in one order and set the lane in the other order.
    func setLane(of subscriber: SubscriberID) async throws(ChatError) {
        var isSet = false
        while true {
            let lane = snapshot.withLock { self.lane(of: subscriber, in: $0) }
            // The webhook was deleted in the meantime. The deletion may have closed the lane before it was set here.
            guard let lane else { return isSet ? try await closeLane(of: subscriber) : () }
            try await queue.set(lane, of: subscriber)
            isSet = true
            try await refresh(subscriber)
            if snapshot.withLock({ self.lane(of: subscriber, in: $0) }) == lane { return }
        }
    }

    /// The lane settings of a webhook or subscription; nil when it is unknown.
    private func lane(of subscriber: SubscriberID, in snapshot: RegistrySnapshot) -> LaneSettings? {
        if let webhook = snapshot[subscriber] {
            var lane = lane(of: webhook)
            if snapshot.isUnreadable(subscriber) { lane.state = .paused }
            return lane
        }
        if let subscription = snapshot.subscription(subscriber) { return subscription.lane }
        guard snapshot.isUnreadable(subscriber) else { return nil }
        return LaneSettings(state: .paused, concurrency: service.limits.deliveryConcurrency)
    }

    func lane(of webhook: Webhook) -> LaneSettings {
        let settings = webhook.settings
        var lane = LaneSettings(
            state: webhook.status == .enabled ? .open : .paused,
            concurrency: settings.concurrency ?? service.limits.deliveryConcurrency)
        lane.ordering = settings.ordering
        lane.deliveriesPerAttempt = plans.isBatchable(settings) ? settings.batch?.events ?? 1 : 1
        lane.rate = [settings.ratePerSecond, webhook.allowedPerMinute.map { Double($0) / 60 }].compactMap(\.self).min()
        return lane
    }

    func closeLane(of subscriber: SubscriberID) async throws(ChatError) {
        try await queue.set(.closed, of: subscriber, concurrency: 1)
    }

    /// Checks settings before they are stored.
    ///
    /// - Throws: `.malformed` for settings that this gateway does not allow; `.forbidden` for events that the caller
    ///   may not read.
    func check(_ settings: WebhookSettings, by caller: Caller) throws(ChatError) {
        try check(address: settings.url, "url")
        if case .oauth2(let credentials) = settings.auth { try check(address: credentials.tokenURL, "auth/token_url") }
        if settings.tls != nil, !settings.url.lowercased().hasPrefix("https:") {
            throw Self.refusal(
                "tls", "url", "a client certificate can be used only with an https address in 'url'", "bad_member")
        }
        guard plans.knows(formatOf: settings) else {
            let why =
                BuiltInFormat.reserved.contains(settings.format)
                ? "the format '\(settings.format)' is not available on this gateway"
                : "expected one of \(BuiltInFormat.allCases.map(\.rawValue).joined(separator: ", "))"
            throw Self.refusal("format", "enum", why, "bad_member")
        }
        if settings.verification == WebhookVerification.none, options.verification != .none {
            throw Self.refusal(
                "verification", "enum",
                "must be 'echo' or 'cloudevents', because this gateway requires receivers to consent", "bad_member")
        }
        try requireReach(of: settings, by: caller)
    }

    /// Checks that the TLS library accepts the certificate and key. Runs off the loop, because the library may block.
    private func check(_ tls: WebhookTLS) async throws(ChatError) {
        do throws(ClientIdentityError) {
            try await asLongWork { () async throws(ClientIdentityError) in try tls.identity.check() }
        } catch {
            throw Self.refusal("tls", "tls", error.message, "bad_member")
        }
    }

    private func check(address: String, _ member: String) throws(ChatError) {
        do {
            try options.addressGuard.check(address)
        } catch {
            throw Self.refusal(member, "url", error.message, "url_refused")
        }
    }

    private static func refusal(_ member: String, _ keyword: String, _ detail: String, _ slug: String) -> ChatError {
        var refusal = ChatError(.malformed, detail, slug: slug)
        refusal.faults = [ChatError.FieldError(pointer: "#/" + member, keyword: keyword, detail: detail)]
        return refusal
    }

    func reaches(_ settings: WebhookSettings, by caller: Caller) -> Bool {
        do throws(ChatError) {
            try requireReach(of: settings, by: caller)
            return true
        } catch {
            return false
        }
    }

    /// Requires that the caller may read everything that the settings match. Other callers may neither see nor change
    /// the webhook. Included objects also require the scope `read`.
    func requireReach(of settings: WebhookSettings, by caller: Caller) throws(ChatError) {
        if !settings.included.isEmpty { try caller.require(.read) }
        for pattern in settings.channels where !caller.reaches(channels: pattern) {
            throw ChatError(.forbidden, "this credential has no access to the channels '\(pattern)'")
        }
        for pattern in settings.types where !caller.types.covers(pattern) {
            throw ChatError(.forbidden, "this credential has no access to the event types '\(pattern)'")
        }
    }

    /// Requires that the caller may read everything that the webhook matches. If the webhook is unreadable, the caller
    /// must be able to read all events, because the webhook's selection is unknown.
    func requireReach(of subscriber: SubscriberID, by caller: Caller) async throws(ChatError) {
        if let subscription = snapshot.withLock({ $0.subscription(subscriber) }) {
            return try requireReach(of: subscription.settings.selection, by: caller)
        }
        guard let record = try await directory.read(Webhook.recordKey(of: subscriber)) else { throw Self.unknown }
        if let webhook = Webhook(record, service.vault, compilesFilter: false) {
            return try requireReach(of: webhook.settings, by: caller)
        }
        guard caller.channels.contains(.all), caller.types.contains(.all) else { throw Self.unreadable }
    }

    private func notices(from old: Webhook, to new: Webhook) -> [EventDraft] {
        guard old.status != .disabled, new.status == .disabled else { return [] }
        return [
            Self.notice("webhook.disabled", of: new.subscriber) { writer in
                writer.member("reason", new.statusReason ?? "")
            }
        ]
    }

    /// Creates the event on `$system` that reports a change of a webhook.
    static func notice(
        _ type: String, of subscriber: SubscriberID, _ details: (inout JSONWriter) -> Void
    ) -> EventDraft {
        let data = JSONText { writer in
            writer.beginObject()
            writer.member("webhook", subscriber.name)
            details(&writer)
            writer.endObject()
        }
        return EventDraft(channel: ChannelID(ChannelID.systemName, in: subscriber.app), type: type, data: data)
    }
}
