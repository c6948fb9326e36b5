import ChatCore
import ChatModel

/// Finds the webhooks and subscriptions of one app that are told of an event, without asking each of them.
///
/// Immutable: made anew when a webhook of the app changes. Who may be told is looked up as the feeds of streams are.
struct WebhookMatcher: Sendable {
    /// A class, so that looking at one copies nothing.
    final class Entry: Sendable {
        let id: String
        let settings: WebhookSettings
        let since: Timetoken
        /// When it was last changed.
        let updated: Timetoken

        /// - Parameter id: a webhook's or a subscription's.
        init(_ id: String, _ settings: WebhookSettings, since: Timetoken, updated: Timetoken) {
            self.id = id
            self.settings = settings
            self.since = since
            self.updated = updated
        }

        /// Whether the channels it names include this one. Written out: the generic search of a sequence costs five times
        /// as much, and this is what is asked most often.
        func admits(channel: String) -> Bool {
            for pattern in settings.channels where pattern.matches(channel) { return true }
            return false
        }
    }

    let entries: [Entry]
    /// By their places among the entries.
    private var index = SelectionIndex()

    init(_ webhooks: some Collection<Webhook>, _ subscriptions: some Collection<Subscription> = []) {
        let told =
            webhooks.map { Entry($0.id, $0.settings, since: $0.since, updated: $0.updated) }
            + subscriptions.map { Entry($0.id, $0.settings.selection, since: $0.since, updated: $0.updated) }
        entries = told.sorted { $0.id < $1.id }
        // Of one app, and whose it is does not matter for finding them.
        let app = webhooks.first?.app ?? subscriptions.first?.app ?? .gateway
        for (place, entry) in entries.enumerated() {
            let settings = entry.settings
            let channels = ChannelSet(app: app, patterns: settings.channels)
            index.insert(
                UInt32(place), Selection(channels: channels, types: settings.types, filter: settings.filter))
        }
    }

    /// Calls `body` with the id of each webhook and subscription that is told of the event, each once.
    func visit(_ event: Event, _ body: (String) -> Void) {
        // Another event says the same to webhooks.
        guard event.audience != .wire else { return }
        let subject = FilterSubject(event)
        let channel = event.channel.name
        let type = event.type
        lazy var isChatty = BuiltInTypes.isChatty(type)
        index.visit(subject) { place in
            let entry = entries[Int(place)]
            guard event.timetoken > entry.since, entry.admits(channel: channel),
                Self.admits(entry.settings.types, type, isChatty: isChatty),
                entry.settings.filter?.accepts(subject) ?? true
            else { return }
            body(entry.id)
        }
    }

    /// Whether the types a webhook names include this one. `*` leaves out the chatty ones (`product.md` 6), and every pattern
    /// those that must be named.
    static func admits(_ patterns: [NamePattern], _ type: String, isChatty: @autoclosure () -> Bool) -> Bool {
        for pattern in patterns {
            if case .all = pattern {
                if !isChatty() { return true }
            } else if pattern.selects(type: type) {
                return true
            }
        }
        return false
    }
}
