import ChatModel

/// The name of what is owed to an endpoint for an event: the same whoever plans it, so that planning twice is planning
/// once. It is no secret and tells where it comes from.
func deliveryID(of event: Timetoken, to webhook: String) -> String {
    "dlv_\(event.rawValue)_\(webhook.hasPrefix("wh_") ? webhook.dropFirst(3) : webhook[...])"
}
