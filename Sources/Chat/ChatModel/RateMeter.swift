import JSON
import Synchronization

/// Holds one policy: a bucket that fills evenly over the window, of which everything asked for is taken.
///
/// One number says it all: the moment at which the bucket would be full again (the *generic cell rate algorithm*). So it
/// is changed without a lock, and a bucket nobody asks costs nothing.
public final class RateMeter: Sendable {
    public let policy: RatePolicy
    /// In nanoseconds of the wall clock.
    private let fullAt = Atomic<UInt64>(0)
    private let window: UInt64
    /// What one costs, in nanoseconds of filling.
    private let cost: UInt64

    public init(_ policy: RatePolicy) {
        self.policy = policy
        window = UInt64(max(1, policy.window.components.seconds)) * 1_000_000_000
        cost = max(1, window / UInt64(max(1, policy.quantity)))
    }

    /// Takes so many out of the bucket. More than it can ever hold are taken when it is full: they would never pass
    /// otherwise.
    ///
    /// - Returns: nil when they were taken; else how long to wait until they could be.
    public func take(_ count: Int, at now: Timetoken) -> Duration? {
        let now = Self.nanoseconds(now)
        let needed = min(cost &* UInt64(max(0, count)), window)
        while true {
            let seen = fullAt.load(ordering: .relaxed)
            let after = start(seen, now) + needed
            guard after <= now + window else { return .nanoseconds(Int64(clamping: after - now - window)) }
            let (isTaken, _) = fullAt.compareExchange(expected: seen, desired: after, ordering: .relaxed)
            if isTaken { return nil }
        }
    }

    /// Puts back what was taken for something that was not done in the end.
    func giveBack(_ count: Int) {
        let taken = min(cost &* UInt64(max(0, count)), window)
        while true {
            let seen = fullAt.load(ordering: .relaxed)
            let less = seen - min(seen, taken)
            let (isGiven, _) = fullAt.compareExchange(expected: seen, desired: less, ordering: .relaxed)
            if isGiven { return }
        }
    }

    /// How many are left, and in how many seconds there will be all of them.
    public func state(at now: Timetoken) -> (left: Int, full: Int) {
        let now = Self.nanoseconds(now)
        let missing = start(fullAt.load(ordering: .relaxed), now) - now
        return (min(policy.quantity, Int((window - missing) / cost)), Int((missing + 999_999_999) / 1_000_000_000))
    }

    /// A bucket is empty at most: what says it lacks more was written before the clock was set back.
    private func start(_ fullAt: UInt64, _ now: UInt64) -> UInt64 {
        fullAt > now + window ? now : max(fullAt, now)
    }

    private static func nanoseconds(_ moment: Timetoken) -> UInt64 { moment.rawValue &* 100 }
}

/// The meters a caller's requests pass: its own, and those of its app, which all of the app's callers share.
public final class RateMeters: Sendable {
    public let requests: RateMeter?
    public let events: RateMeter?
    /// What the policies are called in answers: `key` or `app`.
    public let name: String
    /// Asked after these.
    public let next: RateMeters?

    /// Nil when there is nothing to hold.
    ///
    /// - Parameter former: meters that these take the place of: where a policy stays the same, its bucket does.
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

    /// The same buckets without those of requests; nil when that leaves none.
    public var ofEvents: RateMeters? {
        let rest = next?.ofEvents
        return events == nil && rest == nil ? nil : RateMeters(name: name, events: events, next: rest)
    }

    private static func meter(_ policy: RatePolicy?, _ former: RateMeter?) -> RateMeter? {
        guard let policy else { return nil }
        return former?.policy == policy ? former : RateMeter(policy)
    }

    /// Takes a request out of every bucket, or of none.
    ///
    /// - Throws: `.tooMany` with the slug `quota_exceeded`, what was exceeded, and when to ask again.
    public func admitRequest(at now: Timetoken) throws(ChatError) {
        if let wait = requests?.take(1, at: now) { throw .quotaExceeded(name, "requests", wait) }
        do throws(ChatError) {
            try next?.admitRequest(at: now)
        } catch {
            requests?.giveBack(1)
            throw error
        }
    }

    /// The same for events.
    public func admit(events count: Int, at now: Timetoken) throws(ChatError) {
        if let wait = events?.take(count, at: now) { throw .quotaExceeded(name + "-events", "events", wait) }
        do throws(ChatError) {
            try next?.admit(events: count, at: now)
        } catch {
            events?.giveBack(count)
            throw error
        }
    }

    /// Every policy with what is left of it.
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

/// Meters are no part of who asks: callers are compared without them.
extension RateMeters: Hashable {
    public static func == (left: RateMeters, right: RateMeters) -> Bool { true }
    public func hash(into hasher: inout Hasher) {}
}

extension ChatError {
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

/// How much somebody may ask for: so many of something in a window of time, all at once or spread over it.
public struct RatePolicy: Hashable, Sendable {
    public var quantity: Int
    /// Whole seconds.
    public var window: Duration

    public init(_ quantity: Int, in window: Duration) {
        self.quantity = quantity
        self.window = window
    }

    /// The deployment's default; nil for zero, which is no limit.
    public init?(default quantity: Int, in window: Duration) {
        guard quantity > 0 else { return nil }
        self.init(quantity, in: window)
    }
}

/// What each of a key and its app may do: requests, and events emitted.
public struct RatePolicies: Hashable, Sendable {
    public var requests: RatePolicy?
    public var events: RatePolicy?

    public init(requests: RatePolicy? = nil, events: RatePolicy? = nil) {
        self.requests = requests
        self.events = events
    }

    /// With the deployment's defaults where nothing is said.
    public func completed(by defaults: RatePolicies) -> RatePolicies {
        RatePolicies(requests: requests ?? defaults.requests, events: events ?? defaults.events)
    }

    public var isEmpty: Bool { requests == nil && events == nil }
}
