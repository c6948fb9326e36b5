import ChatCore
import ChatModel

/// By which of a subscriber's names an event comes to it (`pubnub-wire.md` 8.6, 8.7).
struct SubscriptionMatch: Sendable {
    /// One side of it: what is said in channels, or who is in them.
    private struct Side {
        var names: Set<ExactText> = []
        /// The text before the star, the longest first.
        var prefixes: [String] = []
        /// The first group that holds a channel.
        var groups: [ExactText: String] = [:]

        func subscription(of channel: String) -> Subscription? {
            if let group = groups[ExactText(channel)] { return .named(group) }
            if let prefix = prefixes.first(where: { NamePattern.below($0).matches(channel) }) {
                return .named(prefix + "*")
            }
            return names.contains(ExactText(channel)) ? .direct : nil
        }
    }

    /// Where a subscriber gets an event.
    struct Place: Sendable, Equatable {
        /// The channel that it is shown on: of a reply its thread's.
        let channel: String
        let subscription: Subscription
    }

    enum Subscription: Sendable, Equatable {
        /// The channel itself.
        case direct
        /// A group or a wildcard, without the suffix of presence.
        case named(String)
    }

    private var messages = Side()
    private var presence = Side()
    /// The channels whose threads are followed, and what they begin with.
    private var parents = Side()
    /// Channels of which the subscriber gets nothing before a moment, whatever its names say.
    private var withheld: [ExactText: Timetoken] = [:]

    /// A name that stands in the list of channels.
    ///
    /// - Throws: `WireError.unreadable`, `.malformed`.
    mutating func add(_ name: String) throws {
        guard let pattern = NamePattern(name.withoutPresence) else { throw WireError.unreadable }
        let side = side(of: name)
        switch pattern {
        case .exact(let exact):
            try Names.check(channel: exact)
            guard exact != ChannelID.systemName else { throw WireError.unreadable }
            self[keyPath: side].names.insert(ExactText(exact))
            follow(threadOf: exact)
        case .below(let prefix):
            try Names.check(channel: prefix)
            self[keyPath: side].prefixes.append(prefix)
            self[keyPath: side].prefixes.sort { $0.utf8.count > $1.utf8.count }
            if prefix.hasPrefix(MappedThread.prefix) {
                parents.prefixes.append(String(prefix.dropFirst(MappedThread.prefix.count)))
            }
        case .all: throw WireError.unreadable
        }
    }

    /// A channel that a group holds. A group may hold presence channels, too.
    mutating func add(_ channel: String, of group: String) {
        let isPresence = group.hasSuffix(String.presenceSuffix) || channel.hasSuffix(String.presenceSuffix)
        let name = ExactText(channel.withoutPresence)
        let side = isPresence ? \Self.presence : \Self.messages
        if self[keyPath: side].groups[name] == nil { self[keyPath: side].groups[name] = group.withoutPresence }
        if !isPresence { follow(threadOf: channel) }
    }

    /// What is said in a thread is natively said in its message's channel.
    private mutating func follow(threadOf channel: String) {
        if let thread = MappedThread(channel) { parents.names.insert(ExactText(thread.parent)) }
    }

    /// Leaves out what is said in a channel until then.
    mutating func withhold(_ channel: String, until end: Timetoken) { withheld[ExactText(channel)] = end }

    private func side(of name: String) -> WritableKeyPath<Self, Side> {
        name.hasSuffix(String.presenceSuffix) ? \.presence : \.messages
    }

    /// Nil for an event that is none of the subscriber's, and for one in a channel whose name reads like presence: clients
    /// take the items of such a channel for presence, and break.
    func place(of event: Event) -> Place? {
        let channel = event.channel.name
        if isWithheld(channel, at: event.timetoken) { return nil }
        if event.kind == .presence {
            return presence.subscription(of: channel).map { Place(channel: channel, subscription: $0) }
        }
        guard !channel.readsLikePresence else { return nil }
        let shown = event.draft.thread.map { MappedThread(parent: channel, root: $0).name } ?? channel
        if let found = messages.subscription(of: shown) { return Place(channel: shown, subscription: found) }
        for echo in event.draft.echoes where !isWithheld(echo, at: event.timetoken) && !echo.readsLikePresence {
            if let found = messages.subscription(of: echo) { return Place(channel: echo, subscription: found) }
        }
        return nil
    }

    private func isWithheld(_ channel: String, at place: Timetoken) -> Bool {
        guard !withheld.isEmpty else { return false }
        return [channel, MappedThread(channel)?.parent].contains { name in
            name.flatMap { withheld[ExactText($0)] }.map { place < $0 } ?? false
        }
    }

    /// Every channel of which anything is wanted.
    func channels(in app: AppID) -> ChannelSet {
        var channels = ChannelSet(app: app)
        channels.hearsEchoes = true
        // Most name channels alone: these share one table with the selection, for as long as the subscriber waits.
        channels.names = messages.names
        if !presence.names.isEmpty { channels.names.formUnion(presence.names) }
        if !parents.names.isEmpty { channels.names.formUnion(parents.names) }
        for side in [messages, presence, parents] {
            if !side.groups.isEmpty { channels.names.formUnion(side.groups.keys) }
            if !side.prefixes.isEmpty { channels.prefixes.formUnion(side.prefixes.map { ExactText($0) }) }
        }
        return channels
    }
}
