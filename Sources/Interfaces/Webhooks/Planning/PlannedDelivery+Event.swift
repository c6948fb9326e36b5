import ChatCore
import ChatModel
import JSON

extension PlannedDelivery {
    /// - Parameter printed: the event's body, when it is available already.
    init(_ event: Event, to webhook: String, printed: [UInt8]? = nil) {
        self.init(
            id: deliveryID(of: event.timetoken, to: webhook), subscriber: SubscriberID(webhook, in: event.channel.app),
            event: event.timetoken, type: event.type, channel: event.channel.name,
            // An ephemeral event cannot be read later.
            body: event.retention == .passing ? printed ?? event.forCopies.envelope.bytes : nil)
    }
}

/// The id of the delivery of an event to a webhook or subscription. It depends on nothing else, so that planning an
/// event twice makes one delivery. The id is not secret, and its origin may be recognized.
func deliveryID(of event: Timetoken, to webhook: String) -> String {
    "dlv_\(event.rawValue)_\(webhook.hasPrefix("wh_") ? webhook.dropFirst(3) : webhook[...])"
}
