import ChatCore
import ChatModel

/// Finds the webhooks and subscriptions of one app that match an event, without testing each of them. Uses the same kind
/// of index as the hub uses for the feeds of streams.
struct WebhookMatcher: Sendable {
    /// A webhook or subscription with its settings. A class, so that reading an entry copies nothing.
    final class Entry: Sendable {
        /// The id of the webhook or subscription.
        let id: String
        let settings: WebhookSettings
        let since: Timetoken
        /// The time of the last change of the webhook.
        let updated: Timetoken
        /// The selection under which the index lists the entry.
        let selection: Selection

        init(_ webhook: Webhook) {
            (id, settings, since, updated) = (webhook.id, webhook.settings, webhook.since, webhook.updated)
            selection = settings.selection(in: webhook.app)
        }

        init(_ subscription: Subscription) {
            (id, settings) = (subscription.id, subscription.settings.selection)
            (since, updated) = (subscription.since, subscription.updated)
            selection = settings.selection(in: subscription.app)
        }

        /// Returns true when a pattern of the settings matches the channel. This is the most frequent test; a loop
        /// takes a fifth of the time of the standard library's search.
        func admits(channel: String) -> Bool {
            for pattern in settings.channels where pattern.matches(channel) { return true }
            return false
        }
    }

    /// The lowest position from which an entry receives events; nil before the first entry. Removing an entry does not
    /// raise it, because all entries would have to be examined.
    private(set) var since: Timetoken?
    /// The entries by their numbers in the index; nil for a free number.
    private var slots: [Entry?] = []
    private var numbers: [String: UInt32] = [:]
    private var free: [UInt32] = []
    private var index = SelectionIndex()

    init(_ entries: [Entry] = []) {
        for entry in entries { set(entry, of: entry.id) }
    }

    /// All entries, in the order of their ids.
    var entries: [Entry] { slots.compactMap(\.self).sorted { $0.id < $1.id } }

    /// Sets the entry of a webhook or subscription, or removes it if `entry` is nil.
    mutating func set(_ entry: Entry?, of id: String) {
        if let number = numbers.removeValue(forKey: id), let former = slots[Int(number)] {
            index.remove(number, former.selection)
            slots[Int(number)] = nil
            free.append(number)
        }
        guard let entry else { return }
        let number = free.popLast() ?? UInt32(slots.count)
        if number == slots.count { slots.append(entry) } else { slots[Int(number)] = entry }
        numbers[id] = number
        index.insert(number, entry.selection)
        since = min(since ?? entry.since, entry.since)
    }

    /// Calls `body` once with the id of each webhook and subscription that matches the event.
    func visit(_ event: Event, _ body: (String) -> Void) {
        // An event with the audience `.wire` is for PubNub readers only. The same change also has another event, which
        // webhooks receive.
        guard event.audience != .wire else { return }
        let subject = FilterSubject(event)
        let channel = event.channel.name
        let type = event.type
        lazy var isFrequent = BuiltInTypes.isFrequent(type)
        index.visit(subject) { number in
            guard let entry = slots[Int(number)], event.timetoken > entry.since, entry.admits(channel: channel),
                Self.admits(entry.settings.types, type, isFrequent: isFrequent),
                entry.settings.filter?.accepts(subject) ?? true
            else { return }
            body(entry.id)
        }
    }

    /// Returns true when one of the patterns matches the type. The pattern `*` does not match frequent types. A type of
    /// `BuiltInTypes.namedOnly` is matched only by its exact name.
    static func admits(_ patterns: [NamePattern], _ type: String, isFrequent: @autoclosure () -> Bool) -> Bool {
        for pattern in patterns {
            if case .all = pattern {
                if !isFrequent() { return true }
            } else if pattern.selects(type: type) {
                return true
            }
        }
        return false
    }
}

extension WebhookSettings {
    fileprivate func selection(in app: AppID) -> Selection {
        Selection(channels: ChannelSet(app: app, patterns: channels), types: types, filter: filter)
    }
}
