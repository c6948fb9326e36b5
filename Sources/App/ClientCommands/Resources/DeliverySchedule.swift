import JSON

/// When deliveries are attempted next: not before the circuit of their webhook closes, and never where a subscription pulls
/// them.
struct DeliverySchedule: Sendable {
    /// Until when the circuits of webhooks are open, by the webhooks' ids.
    private var openUntil: [String: String] = [:]

    /// The most webhooks whose circuits are looked at.
    private static let webhooks = 1000

    /// Reads the circuits of the app's webhooks.
    init(_ access: GatewayAccess) async throws {
        var found: [String: String] = [:]
        let pages = PagedList(access: access, path: RequestPath("v1", "webhooks"))
        _ = try await pages.each(limit: Self.webhooks) { _, webhook in
            if let id = webhook["id"]?.string, let until = webhook["open_until"]?.string { found[id] = until }
        }
        openUntil = found
    }

    /// In words: a time, or why there is none.
    func next(of delivery: JSONValue) -> String {
        guard let due = delivery["next_attempt_at"]?.string else { return delivery["reason"]?.string ?? "-" }
        let subscriber = delivery["subscriber"]?.string ?? ""
        if subscriber.hasPrefix("sub_") { return "waits to be pulled" }
        // Times of the API have one form, whose order is the texts'.
        if let until = openUntil[subscriber], until > due {
            return "after \(EventLine.time(until)), the receiver rests"
        }
        return EventLine.time(due)
    }
}
