import JSON
import Synchronization

/// Enforces one rate policy with a token bucket that fills evenly over the policy's window (``GenericCellRate``).
///
/// The state is one number, updated without a lock. An unused meter costs nothing.
public final class RateMeter: Sendable {
    /// The rate limit that the meter enforces.
    public let policy: RatePolicy
    /// The time at which the bucket is full, in nanoseconds since 1970.
    private let fullAt = Atomic<UInt64>(0)
    private let rate: GenericCellRate

    /// Creates a meter with a full bucket.
    public init(_ policy: RatePolicy) {
        self.policy = policy
        let window = UInt64(max(1, policy.window.components.seconds)) * 1_000_000_000
        rate = GenericCellRate(window: window, cost: window / UInt64(max(1, policy.quantity)))
    }

    /// Consumes `count` units of the bucket.
    ///
    /// - Parameter count: the number of units. A number above the policy's quantity is never available.
    /// - Returns: nil when the units were consumed; otherwise the time until they are available.
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

    /// Returns units to the bucket that were consumed for work that was not done.
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

/// The rate meters that apply to a caller's requests: the meters of its key, and then, in `next`, the meters that all
/// callers of the app share.
public final class RateMeters: Sendable {
    /// The meter of requests; nil when requests are not limited.
    public let requests: RateMeter?
    /// The meter of emitted events; nil when events are not limited.
    public let events: RateMeter?
    /// The name of the policies in response headers and errors: `key` or `app`.
    public let name: String
    /// The meters to check after ``requests`` and ``events``; nil for none.
    public let next: RateMeters?

    /// Creates meters. Nil when `policies` contains no limit and `next` is nil.
    ///
    /// - Parameter former: the meters to replace. A policy that does not change continues with its current bucket.
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

    /// The meters of emitted events only, without the meters of requests; nil when events are not limited.
    public var ofEvents: RateMeters? {
        let rest = next?.ofEvents
        return events == nil && rest == nil ? nil : RateMeters(name: name, events: events, next: rest)
    }

    private static func meter(_ policy: RatePolicy?, _ former: RateMeter?) -> RateMeter? {
        guard let policy else { return nil }
        return former?.policy == policy ? former : RateMeter(policy)
    }

    /// Consumes one unit of each request bucket. If one of these buckets is empty, consumes no unit.
    ///
    /// - Throws: `.tooMany` with the slug `quota_exceeded`, the name of the exceeded policy and the time to retry.
    public func admitRequest(at now: Timetoken) throws(ChatError) {
        if let wait = requests?.consume(1, at: now) { throw .quotaExceeded(name, "requests", wait) }
        do throws(ChatError) {
            try next?.admitRequest(at: now)
        } catch {
            requests?.refund(1)
            throw error
        }
    }

    /// Consumes `count` units of each event bucket. If one of these buckets has fewer units, consumes no unit.
    ///
    /// - Throws: `.tooLarge` with the slug `too_many_events` when `count` is greater than a policy's quantity;
    ///   otherwise the errors of ``admitRequest(at:)``.
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

    /// Every policy with its remaining units (`left`) and the number of seconds until its bucket is full (`full`).
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

/// All meters are equal, so that they do not affect the equality of callers.
extension RateMeters: Hashable {
    public static func == (left: RateMeters, right: RateMeters) -> Bool { true }
    public func hash(into hasher: inout Hasher) {}
}

extension ChatError {
    /// The error for a request with more events than the policy's quantity.
    fileprivate static func beyond(_ policy: RatePolicy, _ name: String, _ count: Int) -> ChatError {
        let window = policy.window.components.seconds
        return .over(
            .tooLarge,
            "\(count) events in one request exceed the rate '\(name)', which allows \(policy.quantity) in \(window) s; "
                + "send fewer events in one request",
            slug: "too_many_events", limit: policy.quantity)
    }

    fileprivate static func quotaExceeded(_ policy: String, _ what: String, _ wait: Duration) -> ChatError {
        var error = ChatError(
            .tooMany, "the rate '\(policy)' allows no more \(what) now; wait for the time in Retry-After",
            slug: "quota_exceeded", retryAfter: wait)
        let violated = JSONText { writer in
            writer.beginArray()
            writer.string(policy)
            writer.endArray()
        }
        error.members = [("violated-policies", violated)]
        return error
    }
}

/// A rate limit: a quantity per window of time. The whole quantity may be used in one moment or spread over the window.
public struct RatePolicy: Hashable, Sendable {
    /// The number of requests or events per window.
    public var quantity: Int
    /// The length of the window; only whole seconds count.
    public var window: Duration

    /// Creates a limit of a quantity per window.
    public init(_ quantity: Int, in window: Duration) {
        self.quantity = quantity
        self.window = window
    }

    /// Creates a policy from a default of the configuration; nil for zero, which means no limit.
    public init?(default quantity: Int, in window: Duration) {
        guard quantity > 0 else { return nil }
        self.init(quantity, in: window)
    }
}

/// The rate limits of a key or an app, on requests and on emitted events.
public struct RatePolicies: Hashable, Sendable {
    /// The limit on requests; nil for no limit.
    public var requests: RatePolicy?
    /// The limit on emitted events; nil for no limit.
    public var events: RatePolicy?

    /// Creates limits on requests and events; nil for no limit.
    public init(requests: RatePolicy? = nil, events: RatePolicy? = nil) {
        self.requests = requests
        self.events = events
    }

    /// Returns these policies. A missing policy is replaced by the default policy of the configuration.
    public func completed(by defaults: RatePolicies) -> RatePolicies {
        RatePolicies(requests: requests ?? defaults.requests, events: events ?? defaults.events)
    }

    /// True when neither requests nor events are limited.
    var isEmpty: Bool { requests == nil && events == nil }
}
