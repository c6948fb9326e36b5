import ChatCore
import ChatModel

/// The names that many subscribers follow. They share one object instead of copies.
final class SharedMatch: Sendable {
    let names: SubscriptionMatch

    init(_ names: SubscriptionMatch) { self.names = names }
}

/// The names that a subscriber follows. Determines through which of these names the subscriber receives an event.
struct SubscriptionMatch: Sendable {
    /// The followed names for one kind of events: messages or presence events.
    private struct Side {
        var names: Set<ExactText> = []
        /// Wildcards without the star, ordered from the longest to the shortest.
        var prefixes: [String] = []
        /// For each channel of a group, the first followed group that contains the channel.
        var groups: [ExactText: String] = [:]

        func subscription(of channel: String) -> Subscription? {
            if let group = groups[ExactText(channel)] { return .named(group) }
            if let prefix = prefixes.first(where: { NamePattern.below($0).matches(channel) }) {
                return .named(prefix + "*")
            }
            return names.contains(ExactText(channel)) ? .direct : nil
        }
    }

    /// The channel and the subscription through which a subscriber receives an event.
    struct Place: Sendable, Equatable {
        /// The channel on which the event is shown; for a reply, the thread's channel.
        let channel: String
        let subscription: Subscription
    }

    enum Subscription: Sendable, Equatable {
        /// The subscription to the channel itself.
        case direct
        /// The subscription to a group or a wildcard, by its name without the presence suffix.
        case named(String)
    }

    private var messages = Side()
    private var presence = Side()
    /// The parent channels of the followed threads, as names and as prefixes.
    private var parents = Side()
    /// The channels from which the user is banned. For each channel, events up to the timetoken are withheld.
    private var withheld: [ExactText: Timetoken] = [:]

    /// Adds a name from the request's list of channels: a channel or a wildcard, with or without the presence suffix.
    ///
    /// - Throws: `WireError.unreadable` for an invalid wildcard, for `*` and for the system channel; `.malformed` for
    ///   an invalid channel name.
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

    /// Adds a channel of a group. Presence channels may be in a group too.
    mutating func add(_ channel: String, of group: String) {
        let isPresence = group.hasSuffix(String.presenceSuffix) || channel.hasSuffix(String.presenceSuffix)
        let name = ExactText(channel.withoutPresence)
        let side = isPresence ? \Self.presence : \Self.messages
        if self[keyPath: side].groups[name] == nil { self[keyPath: side].groups[name] = group.withoutPresence }
        if !isPresence { follow(threadOf: channel) }
    }

    /// If the channel is a thread's channel, also follows the thread's parent channel, because replies are stored in
    /// the parent channel.
    private mutating func follow(threadOf channel: String) {
        if let thread = MappedThread(channel) { parents.names.insert(ExactText(thread.parent)) }
    }

    /// Withholds the events of a channel that are earlier than `end`.
    mutating func withhold(_ channel: String, until end: Timetoken) { withheld[ExactText(channel)] = end }

    /// Returns true when the subscriber receives the presence events of the channel.
    func followsPresence(of channel: String) -> Bool { presence.subscription(of: channel) != nil }

    private func side(of name: String) -> WritableKeyPath<Self, Side> {
        name.hasSuffix(String.presenceSuffix) ? \.presence : \.messages
    }

    /// Returns the channel and subscription through which the subscriber receives an event; nil if the subscriber does
    /// not follow the event. Also nil for a channel whose name contains the presence suffix: clients would parse its
    /// events as presence events and fail.
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

    /// All channels of which the subscriber may receive an event.
    func channels(in app: AppID) -> ChannelSet {
        var channels = ChannelSet(app: app)
        channels.receivesEchoes = true
        // Most subscribers name only channels. Their selection then shares the set of names with `messages`, which
        // saves memory while they wait.
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
