import ChatModel

/// The id of the delivery of an event to a webhook or subscription. It depends on nothing else, so that planning an
/// event twice makes one delivery. The id is not secret, and its origin may be recognized.
func deliveryID(of event: Timetoken, to webhook: String) -> String {
    "dlv_\(event.rawValue)_\(webhook.hasPrefix("wh_") ? webhook.dropFirst(3) : webhook[...])"
}
