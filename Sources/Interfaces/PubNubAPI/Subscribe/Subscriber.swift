import ChatCore
import ChatModel

/// Who reads, and what of all that happens is theirs: what is kept of a request while it waits, which thousands do.
struct Subscriber: Sendable {
    let app: AppID
    let subscribeKey: String
    let match: SubscriptionMatch
    let filter: Filter?

    /// Everything that is said or that happens in those channels; what of it this subscriber gets is the match's to say.
    var selection: Selection { Selection(channels: match.channels(in: app), isWire: true) }

    /// Whether the subscriber gets the event.
    func wants(_ event: Event, _ print: SubscribePrinter) -> Bool {
        guard match.place(of: event) != nil else { return false }
        guard let filter else { return VisiblePayload.showsAtOnce(event) || print.shown(event) != nil }
        return print.isShown(event, by: filter)
    }
}
