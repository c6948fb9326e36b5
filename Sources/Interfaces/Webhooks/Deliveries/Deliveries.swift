import ChatKit
public import ChatModel
public import JSON

/// What became of what was owed to webhooks. Every verb demands the scope `manage`.
public struct Deliveries: Sendable {
    let service: ChatService

    /// The app's deliveries, newest event first.
    /// - Throws: `.malformed` for a cursor that is none of ours.
    public func list(
        webhook: String? = nil, status: DeliveryStatus? = nil, event: Timetoken? = nil, limit: Int,
        cursor: String? = nil, by caller: Caller
    ) async throws(ChatError) -> Page<Delivery> { throw ChatError(.unavailable, "not ready") }

    /// One delivery with its attempts, oldest first.
    /// - Throws: `.notFound`.
    public func delivery(
        _ id: String, by caller: Caller
    ) async throws(ChatError) -> (delivery: Delivery, attempts: [DeliveryAttempt]) {
        throw ChatError(.unavailable, "not ready")
    }

    /// Makes a delivery due now, whatever became of it; its id stays, a pending retry is brought forward.
    /// - Throws: `.notFound`; `.conflict` when an attempt is under way.
    public func retry(_ id: String, by caller: Caller) async throws(ChatError) -> Delivery {
        throw ChatError(.unavailable, "not ready")
    }

    /// Posts a sample event (`webhook.test`) to a webhook, enabled or not, and waits for the answer. Not queued, not
    /// repeated, not in the list; what it shows is the way a delivery takes.
    public func test(webhook id: String, by caller: Caller) async throws(ChatError) -> DeliveryAttempt {
        throw ChatError(.unavailable, "not ready")
    }
}

extension Delivery {
    /// Prints the delivery as the native API lists it, as the next value of `writer`.
    /// - Parameter attempts: added as `attempt_log` when given.
    public func print(to writer: inout JSONWriter, attempts: [DeliveryAttempt]? = nil) {}
}

extension DeliveryAttempt {
    /// Prints the attempt as it stands in `attempt_log`, as the next value of `writer`.
    public func print(to writer: inout JSONWriter) {}
}
