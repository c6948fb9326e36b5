package import ChatModel

/// The stored state of a delivery. The public status is derived from this state and from the state of the subscriber.
package enum StoredState: Int, Sendable { case waiting = 0, delivered = 1, dead = 2 }

/// A chain: the waiting deliveries of a subscriber that must be delivered one after another, in the order of their
/// events.
package struct Chain: Hashable, Sendable {
    /// The stored due time of a delivery that waits for earlier deliveries of its chain ("in line").
    package static let inLine = Int64.max

    package let subscriber: Int64
    package let number: Int64

    /// Creates the chain of a subscriber's deliveries on a channel; nil when the deliveries are unordered. Channels
    /// with the same hash share a chain, which preserves the order of each channel.
    package init?(_ ordering: DeliveryOrdering, subscriber: Int64, channel: String) {
        self.subscriber = subscriber
        switch ordering {
        case .none: return nil
        case .strict: number = 0
        case .perChannel:
            // FNV-1a is used because the number is stored in the database and must be the same in every process.
            let hash = channel.utf8.reduce(14_695_981_039_346_656_037 as UInt64) { hash, byte in
                (hash ^ UInt64(byte)) &* 1_099_511_628_211
            }
            number = Int64(hash >> 1)
        }
    }

    package init(subscriber: Int64, number: Int64) { (self.subscriber, self.number) = (subscriber, number) }
}

extension DeliveryOutcome {
    /// The outcome to record for a delivery that had `tries` attempts before. A retry becomes dead when the subscriber
    /// is closed or has no further attempt, and is at most ``longestRetry`` from now.
    package func recorded(after tries: Int, _ settings: LaneSettings?, now: Timetoken) -> DeliveryOutcome {
        guard case .retry(let due) = verdict else { return self }
        var outcome = self
        if settings?.state == .closed {
            outcome.verdict = .dead(reason: .webhookDeleted)
        } else if let most = settings?.attempts, tries + 1 >= most {
            outcome.verdict = .dead(reason: .attemptsExhausted)
        } else {
            outcome.verdict = .retry(at: min(due, now.adding(Self.longestRetry)))
        }
        return outcome
    }

    /// The state of the delivery after the attempt.
    package var stored: StoredState {
        switch verdict {
        case .delivered: .delivered
        case .retry: .waiting
        case .dead: .dead
        }
    }

    /// The time of the next attempt; nil when there is none.
    package var due: Timetoken? {
        if case .retry(let due) = verdict { due } else { nil }
    }

    /// The reason why the delivery is dead; nil when it is not.
    package var reason: DeadReason? {
        if case .dead(let reason) = verdict { reason } else { nil }
    }

    /// The outcome of a lease that expired at `now`.
    package static func expired(_ lease: ExpiredLease, now: Timetoken) -> DeliveryOutcome {
        let lasted = Duration.nanoseconds(Int64(lease.lasted))
        let attempt = DeliveryAttempt(
            at: now.adding(.zero - lasted), status: nil, error: "ack_deadline",
            durationMilliseconds: Int(lease.lasted / 1_000_000))
        return DeliveryOutcome(.retry(at: now), attempt: attempt)
    }
}

/// The remaining part of a replay. A replay makes deliveries due again and runs in batches, so that other requests can
/// run between the batches.
package struct ReplayBatch: Sendable {
    package let selection: DeliverySelection
    /// The start of the remaining part. For a replay of listed ids, the index of the next id; for a replay of a range,
    /// the timetoken after which the remaining events follow.
    package let from: UInt64

    /// Creates a part of a replay; nil when nothing remains.
    package init?(_ selection: DeliverySelection, from: UInt64? = nil) {
        self.selection = selection
        switch selection {
        case .ids(let ids, _):
            self.from = from ?? 0
            if self.from >= ids.count { return nil }
        case .range(_, let after, let before, _):
            self.from = from ?? after.rawValue
            if self.from >= before.rawValue { return nil }
        }
    }
}
