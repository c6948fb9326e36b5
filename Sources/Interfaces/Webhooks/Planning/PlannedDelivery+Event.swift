import ChatCore
import ChatModel
import JSON

extension PlannedDelivery {
    /// Plans the delivery of an event to a webhook or subscription.
    ///
    /// - Parameter printed: the event's envelope, if it was already printed; nil otherwise.
    init(_ event: Event, to webhook: String, printed: [UInt8]? = nil) {
        self.init(
            id: deliveryID(of: event.timetoken, to: webhook), subscriber: SubscriberID(webhook, in: event.channel.app),
            event: event.timetoken, type: event.type, channel: event.channel.name,
            // The delivery of an ephemeral event contains the envelope, because the log does not store the event.
            body: event.retention == .passing ? printed ?? event.forCopies.envelope.bytes : nil)
    }
}

/// The id of the delivery of an event to a webhook or subscription. The id depends only on the event and the
/// subscriber, so planning an event twice creates one delivery. The id is not secret: it may reveal the event and the
/// webhook.
func deliveryID(of event: Timetoken, to webhook: String) -> String {
    "dlv_\(event.rawValue)_\(webhook.hasPrefix("wh_") ? webhook.dropFirst(3) : webhook[...])"
}
