import JSON
import Synchronization

/// The meter of one rate policy: a token bucket that fills evenly over the policy's window (``GenericCellRate``).
///
/// Its state is one number. It is therefore updated without a lock, and an unused bucket costs nothing.
public final class RateMeter: Sendable {
    /// The limit that the meter enforces.
    public let policy: RatePolicy
    /// The time at which the bucket is full, in nanoseconds of the wall clock.
    private let fullAt = Atomic<UInt64>(0)
    private let rate: GenericCellRate

    /// A meter whose bucket is full.
    public init(_ policy: RatePolicy) {
        self.policy = policy
        let window = UInt64(max(1, policy.window.components.seconds)) * 1_000_000_000
        rate = GenericCellRate(window: window, cost: window / UInt64(max(1, policy.quantity)))
    }

    /// Takes `count` units from the bucket.
    ///
    /// - Parameter count: at most the policy's quantity. More units are never available.
    /// - Returns: nil when the units were taken; otherwise the time until they would be available.
    public func consume(_ count: Int, at now: Timetoken) -> Duration? {
        let now = Self.nanoseconds(now)
        while true {
            let seen = fullAt.load(ordering: .relaxed)
            switch rate.consume(count, fullAt: seen, at: now) {
            case .wait(let time): return .nanoseconds(Int64(clamping: time))
            case .consumed(let after):
                let (isTaken, _) = fullAt.compareExchange(expected: seen, desired: after, ordering: .relaxed)
                if isTaken { return nil }
            }
        }
    }

    /// Returns units that were taken for work that was not done.
    func refund(_ count: Int) {
        while true {
            let seen = fullAt.load(ordering: .relaxed)
            let (isGiven, _) = fullAt.compareExchange(
                expected: seen, desired: rate.returned(count, fullAt: seen), ordering: .relaxed)
            if isGiven { return }
        }
    }

    /// The number of units left, and the number of seconds until the bucket is full.
    public func state(at now: Timetoken) -> (left: Int, full: Int) {
        let missing = rate.missing(fullAt: fullAt.load(ordering: .relaxed), at: Self.nanoseconds(now))
        let left = min(policy.quantity, Int((rate.window - missing) / rate.cost))
        return (left, Int((missing + 999_999_999) / 1_000_000_000))
    }

    private static func nanoseconds(_ moment: Timetoken) -> UInt64 { moment.rawValue &* 100 }
}

/// The rate meters for a caller's requests: the caller's own, then those that all callers of the app share.
public final class RateMeters: Sendable {
    /// The meter of requests; nil without a limit.
    public let requests: RateMeter?
    /// The meter of emitted events; nil without a limit.
    public let events: RateMeter?
    /// The name of the policies in responses: `key` or `app`.
    public let name: String
    /// The meters that are checked after these.
    public let next: RateMeters?

    /// Makes meters; nil when the policies set no limit.
    ///
    /// - Parameter former: the meters that these replace. A policy that stays the same keeps its bucket.
    public init?(_ policies: RatePolicies, name: String, next: RateMeters? = nil, former: RateMeters? = nil) {
        guard !policies.isEmpty || next != nil else { return nil }
        self.name = name
        self.next = next
        requests = Self.meter(policies.requests, former?.requests)
        events = Self.meter(policies.events, former?.events)
    }

    private init(name: String, events: RateMeter?, next: RateMeters?) {
        self.name = name
        self.next = next
        self.events = events
        requests = nil
    }

    /// The same meters without those for requests; nil when none remains.
    public var ofEvents: RateMeters? {
        let rest = next?.ofEvents
        return events == nil && rest == nil ? nil : RateMeters(name: name, events: events, next: rest)
    }

    private static func meter(_ policy: RatePolicy?, _ former: RateMeter?) -> RateMeter? {
        guard let policy else { return nil }
        return former?.policy == policy ? former : RateMeter(policy)
    }

    /// Counts one request in every bucket, or in none.
    ///
    /// - Throws: `.tooMany` with the slug `quota_exceeded`, the exceeded policy and the time to retry.
    public func admitRequest(at now: Timetoken) throws(ChatError) {
        if let wait = requests?.consume(1, at: now) { throw .quotaExceeded(name, "requests", wait) }
        do throws(ChatError) {
            try next?.admitRequest(at: now)
        } catch {
            requests?.refund(1)
            throw error
        }
    }

    /// Counts emitted events in every bucket, or in none.
    ///
    /// - Throws: `.tooLarge` with the slug `too_many_events` for more events than a policy ever allows at once;
    ///   otherwise as ``admitRequest(at:)``.
    public func admit(events count: Int, at now: Timetoken) throws(ChatError) {
        if let policy = events?.policy, count > policy.quantity { throw .beyond(policy, name + "-events", count) }
        if let wait = events?.consume(count, at: now) { throw .quotaExceeded(name + "-events", "events", wait) }
        do throws(ChatError) {
            try next?.admit(events: count, at: now)
        } catch {
            events?.refund(count)
            throw error
        }
    }

    /// Every policy with its remaining units.
    public func states(at now: Timetoken) -> [(name: String, policy: RatePolicy, left: Int, full: Int)] {
        var states: [(name: String, policy: RatePolicy, left: Int, full: Int)] = []
        for (name, meter) in [(name, requests), (name + "-events", events)] {
            guard let meter else { continue }
            let state = meter.state(at: now)
            states.append((name, meter.policy, state.left, state.full))
        }
        return states + (next?.states(at: now) ?? [])
    }
}

/// Meters do not take part in the equality of callers.
extension RateMeters: Hashable {
    public static func == (left: RateMeters, right: RateMeters) -> Bool { true }
    public func hash(into hasher: inout Hasher) {}
}

extension ChatError {
    /// The error for a request that a policy can never allow.
    fileprivate static func beyond(_ policy: RatePolicy, _ name: String, _ count: Int) -> ChatError {
        let window = policy.window.components.seconds
        return .over(
            .tooLarge,
            "\(count) events in one request; the policy '\(name)' allows \(policy.quantity) per \(window) s; "
                + "send fewer at once",
            slug: "too_many_events", limit: policy.quantity)
    }

    fileprivate static func quotaExceeded(_ policy: String, _ what: String, _ wait: Duration) -> ChatError {
        var error = ChatError(
            .tooMany, "the policy '\(policy)' allows no more \(what) now", slug: "quota_exceeded", retryAfter: wait)
        let violated = JSONText { writer in
            writer.beginArray()
            writer.string(policy)
            writer.endArray()
        }
        error.members = [("violated-policies", violated)]
        return error
    }
}

/// A rate limit: a quantity per window of time, used all at once or spread over the window.
public struct RatePolicy: Hashable, Sendable {
    /// The number of requests or events per window.
    public var quantity: Int
    /// The window, in whole seconds.
    public var window: Duration

    /// A limit of a quantity per window.
    public init(_ quantity: Int, in window: Duration) {
        self.quantity = quantity
        self.window = window
    }

    /// Makes the policy of the deployment's default; nil for zero, which means no limit.
    public init?(default quantity: Int, in window: Duration) {
        guard quantity > 0 else { return nil }
        self.init(quantity, in: window)
    }
}

/// The rate limits of a key or an app: for requests, and for events emitted.
public struct RatePolicies: Hashable, Sendable {
    /// The limit of requests; nil for none.
    public var requests: RatePolicy?
    /// The limit of emitted events; nil for none.
    public var events: RatePolicy?

    /// Limits of requests and events.
    public init(requests: RatePolicy? = nil, events: RatePolicy? = nil) {
        self.requests = requests
        self.events = events
    }

    /// These policies, with the deployment's defaults for missing ones.
    public func completed(by defaults: RatePolicies) -> RatePolicies {
        RatePolicies(requests: requests ?? defaults.requests, events: events ?? defaults.events)
    }

    /// True when neither has a limit.
    var isEmpty: Bool { requests == nil && events == nil }
}
