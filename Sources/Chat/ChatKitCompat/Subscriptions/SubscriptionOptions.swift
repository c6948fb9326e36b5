/// The options of a subscription. The operator `+` combines two of them.
public class SubscriptionOptions: @unchecked Sendable {
    // Safe to share: options are immutable, and only one task at a time calls a predicate.
    private let parts: [SubscriptionOptions]

    fileprivate init(parts: [SubscriptionOptions] = []) { self.parts = parts }

    /// No options.
    public static func empty() -> SubscriptionOptions { SubscriptionOptions() }

    public static func + (left: SubscriptionOptions, right: SubscriptionOptions) -> SubscriptionOptions {
        SubscriptionOptions(parts: [left, right])
    }

    var hasPresence: Bool { self is ReceivePresenceEvents || parts.contains(where: \.hasPresence) }

    func accepts(_ event: PubNubEvent) -> Bool {
        (self as? FilterOption)?.predicate(event) != false && parts.allSatisfy { $0.accepts(event) }
    }
}

/// The option that includes presence events.
public final class ReceivePresenceEvents: SubscriptionOptions, @unchecked Sendable {
    /// Creates the option.
    public init() { super.init() }
}

/// The option that leaves out the events for which a closure returns false.
public final class FilterOption: SubscriptionOptions, @unchecked Sendable {
    /// Returns true for the events to receive.
    public let predicate: (PubNubEvent) -> Bool

    /// Creates the option.
    ///
    /// - Parameter predicate: returns true for the events to receive.
    public init(predicate: @escaping (PubNubEvent) -> Bool) {
        self.predicate = predicate
        super.init()
    }
}
