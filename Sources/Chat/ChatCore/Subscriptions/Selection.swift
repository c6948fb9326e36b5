public import ChatModel

/// The events that a subscriber selects. Subscribers with equal selections share one feed, so an event is matched once
/// for all of them.
///
/// A selection is stored in a normal form, without channels and types that another pattern covers. So different
/// requests for the same events are equal, and an event is found under one channel entry only. Copies share their
/// storage, because a stream and its feed each have a copy.
public struct Selection: Sendable {
    private final class Parts: Sendable {
        let channels: ChannelSet
        let types: [NamePattern]
        let filter: Filter?
        let viewer: Viewer?
        let isOfUser: Bool
        let isWire: Bool
        let namesActivity: Bool
        /// The stored hash. A selection may have hundreds of channels, and a dictionary computes the hash of each key
        /// when it grows.
        let hash: Int

        init(
            _ channels: ChannelSet, _ types: [NamePattern], _ filter: Filter?, _ viewer: Viewer?, _ isOfUser: Bool,
            _ isWire: Bool
        ) {
            self.channels = channels
            self.types = types
            self.filter = filter
            self.viewer = viewer
            self.isOfUser = isOfUser
            self.isWire = isWire
            namesActivity = types.contains { $0.isNamedOnly }
            var hasher = Hasher()
            hasher.combine(channels)
            hasher.combine(types)
            hasher.combine(filter)
            hasher.combine(viewer)
            hasher.combine(isOfUser)
            hasher.combine(isWire)
            hash = hasher.finalize()
        }
    }

    private static let everyType = [NamePattern.all]

    private let parts: Parts

    /// The channels, by name and by pattern.
    public var channels: ChannelSet { parts.channels }
    /// The event types, by name and by pattern, sorted; never empty.
    public var types: [NamePattern] { parts.types }
    /// The filter for the events; nil selects all events of the channels and types.
    public var filter: Filter? { parts.filter }
    /// The user for whom the subscriber receives events. The subscriber then receives only events whose audience
    /// includes this user. Nil selects events of any audience.
    public var viewer: Viewer? { parts.viewer }
    /// True for a selection with a user's own credential and without a viewer. A channel pattern then selects only
    /// events for everyone with access to the channel. A channel name also selects events for users in the channel.
    /// Events for single users are not selected.
    public var isOfUser: Bool { parts.isOfUser }
    /// True when the subscriber uses the PubNub-compatible API. Only such subscribers receive events with the audience
    /// ``Audience/wire``.
    public var isWire: Bool { parts.isWire }
    /// True when the selection includes a type of `BuiltInTypes.namedOnly`.
    var namesActivity: Bool { parts.namesActivity }

    /// Creates a selection in normal form.
    ///
    /// - Parameters:
    ///   - types: names and patterns of event types; empty selects every type.
    ///   - isOfUser: see ``isOfUser``. Copy the value when you create a selection from an existing selection, because
    ///     the value restricts the selected events.
    public init(
        channels: ChannelSet, types: [NamePattern] = [], filter: Filter? = nil, viewer: Viewer? = nil,
        isOfUser: Bool = false, isWire: Bool = false
    ) {
        // Here a channel name may select more events than a pattern, so the channels are not reduced to the patterns
        // that cover them.
        let isExact = viewer != nil || isOfUser
        parts = Parts(
            isExact ? channels : channels.normalized, Self.normalized(types), filter, viewer, isOfUser, isWire)
    }

    /// Returns a copy of the selection for the device of a viewer. The returned selection does not include events that
    /// are only for the PubNub-compatible API, because devices get the same information from other events.
    func heard(by viewer: Viewer) -> Selection {
        Selection(channels: channels, types: types, filter: filter, viewer: viewer, isOfUser: false)
    }

    /// Returns true when the event matches the selection. An event that is only for webhooks never matches.
    public func admits(_ subject: FilterSubject) -> Bool {
        guard let event = subject.event else { return false }
        return channels.find(event) && admitsBesideChannel(subject)
    }

    /// Returns true when the event matches the selection. Does not check the event's channel, because the caller has
    /// found the selection by this channel.
    public func admitsBesideChannel(_ subject: FilterSubject) -> Bool {
        guard let event = subject.event, event.audience != .webhooks, isWire || event.audience != .wire,
            types.match(event.type), !event.isNamedOnly || namesActivity
        else { return false }
        guard !isOfUser || isOpen(event) else { return false }
        return filter?.accepts(subject) ?? true
    }

    /// Returns true when any user with access to the channel may receive the event. This method does not check the
    /// access to a channel that the selection names, because that access was checked before.
    private func isOpen(_ event: Event) -> Bool {
        if channels.names.contains(ExactText(event.channel.name)) { return !event.audience.isPersonal }
        return event.audience.isOpen && event.kind != .presence
            && ChatAccess.channel(moderatedOn: event.channel.name) == nil && MappedThread(event.channel.name) == nil
    }

    private static func normalized(_ types: [NamePattern]) -> [NamePattern] {
        // A pattern such as `*` does not cover a type that must be selected by name.
        let named = types.filter(\.isNamedOnly)
        guard !types.isEmpty, !types.contains(.all) else {
            return named.isEmpty ? everyType : Set(everyType + named).sorted()
        }
        let wide = types.filter { if case .below = $0 { true } else { false } }
        let kept = Set(types).filter { type in type.isNamedOnly || !wide.contains { $0 != type && $0.covers(type) } }
        return kept.sorted()
    }
}

extension Selection: Hashable {
    public static func == (left: Selection, right: Selection) -> Bool {
        let (left, right) = (left.parts, right.parts)
        if left === right { return true }
        return left.hash == right.hash && left.channels == right.channels && left.types == right.types
            && left.filter == right.filter && left.viewer == right.viewer && left.isOfUser == right.isOfUser
            && left.isWire == right.isWire
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(parts.hash) }
}

extension Selection {
    /// The channels under which the index lists the selection. Channels that a pattern covers are left out, so that an
    /// event finds the selection once. The selection itself then tests whether the event's channel is selected by name.
    var indexedChannels: ChannelSet { isOfUser ? channels.normalized : channels }

    /// The channels as patterns, in the order of their text.
    public var channelPatterns: [NamePattern] {
        var patterns = channels.names.map { NamePattern.exact($0.text) } + channels.prefixes.map { .below($0.text) }
        if channels.isAll { patterns.append(.all) }
        return patterns.sorted()
    }

    /// Returns true when the caller may follow every channel and type of the selection now.
    public func isPermitted(to caller: Caller) -> Bool {
        guard caller.app == channels.app, caller.scopes.allow(.read) else { return false }
        return caller.types.coversAll(types) && channelPatterns.allSatisfy { caller.reaches(channels: $0) }
    }

    /// Returns the requested patterns, after the check that the caller's patterns cover them. If no pattern is
    /// requested, returns all of the caller's patterns, or an empty list if the caller's patterns include `*`.
    ///
    /// - Parameter what: the kind of the patterns, for the error message.
    /// - Throws: `.forbidden` for a pattern that the caller's patterns do not cover, and for a caller without patterns.
    static func narrow(
        _ asked: [NamePattern], to allowed: [NamePattern], what: String
    ) throws(ChatError) -> [NamePattern] {
        // Later steps take an empty list for all patterns. So a caller without patterns must be rejected here.
        guard !allowed.isEmpty else {
            throw ChatError(.forbidden, "this credential does not have access to any \(what)")
        }
        guard !asked.isEmpty else { return allowed.contains(.all) ? [] : allowed }
        for pattern in asked where !allowed.covers(pattern) {
            throw ChatError(.forbidden, "this credential has no access to \(what) '\(pattern)'")
        }
        return asked
    }
}

extension ChatAccess {
    /// Creates a selection that the caller may follow.
    ///
    /// - Parameters:
    ///   - channels: names and patterns; empty selects every channel that the caller's patterns cover. `$system` is
    ///     selected only by its name.
    ///   - types: names and patterns; empty selects every type that the caller's patterns cover.
    ///   - isOfDevice: true for the stream of a user's device. Empty `channels` then also selects the user's own
    ///     channel. If false, empty `channels` selects only what the caller's patterns cover, so the selections of all
    ///     users with the same patterns are equal.
    /// - Throws: `.forbidden` for channels or types that the caller may not use; `.malformed` for invalid names or too
    ///   many of them.
    public func selection(
        channels: [String], types: [String] = [], filter: Filter? = nil, isOfDevice: Bool = false
    ) throws(ChatError) -> Selection {
        try caller.require(.read)
        let reach = channels.isEmpty && !isOfDevice ? caller.channels : caller.readableChannels
        return Selection(
            channels: ChannelSet(app: app, patterns: try channelPatterns(channels, within: reach)),
            types: try typePatterns(types), filter: filter, isOfUser: caller.user != nil)
    }

    /// Creates a selection from an existing selection, with other channels or types; nil leaves the channels or types
    /// unchanged. The rules are the same as for a new selection.
    ///
    /// - Throws: `.forbidden` for channels or types that the caller may not use; `.malformed` for invalid names or too
    ///   many of them.
    public func selection(
        changing old: Selection, channels: [String]?, types: [String]?
    ) throws(ChatError) -> Selection {
        try caller.require(.read)
        let channels = try channels.map { texts throws(ChatError) in
            ChannelSet(app: app, patterns: try channelPatterns(texts, within: caller.readableChannels))
        }
        let types = try types.map { texts throws(ChatError) in try typePatterns(texts) }
        return Selection(
            channels: channels ?? old.channels, types: types ?? old.types, filter: old.filter, viewer: old.viewer,
            isOfUser: old.isOfUser)
    }

    private func channelPatterns(
        _ texts: [String], within reach: [NamePattern]
    ) throws(ChatError) -> [NamePattern] {
        try checkCount(texts, "channels and patterns", "channels")
        let others = texts.filter { $0 != ChannelID.systemName }
        var patterns: [NamePattern] = []
        if others.count < texts.count {
            try caller.require(channel: ChannelID.systemName)
            patterns.append(.exact(ChannelID.systemName))
        }
        // A request for only `$system` must not select all channels of the caller. A request for all channels does not
        // include `$system`.
        guard !others.isEmpty || patterns.isEmpty else { return patterns }
        let narrowed = try Selection.narrow(
            try Self.patterns(others, "channel") { name throws(ChatError) in
                try Names.check(channel: name)
                try Names.check(followed: name)
            },
            to: reach.filter { $0 != .exact(ChannelID.systemName) }, what: "channel")
        return patterns + (narrowed.isEmpty ? [.all] : narrowed)
    }

    private func typePatterns(_ texts: [String]) throws(ChatError) -> [NamePattern] {
        try checkCount(texts, "types", "types")
        let types = try Selection.narrow(
            try Self.patterns(texts, "type") { name throws(ChatError) in try Names.check(type: name) },
            to: caller.types, what: "type")
        guard texts.isEmpty else { return types }
        // A type that must be selected by name is left out here, unless the credential permits no other type.
        let others = types.filter { !$0.isNamedOnly }
        return others.isEmpty ? types : others
    }

    private func checkCount(_ texts: [String], _ what: String, _ field: String) throws(ChatError) {
        guard texts.count <= limits.streamChannels else {
            throw .over(
                .malformed, "one stream may name at most \(limits.streamChannels) \(what)",
                limit: limits.streamChannels,
                field: field)
        }
    }

    private static func patterns(
        _ texts: [String], _ what: String, check: (String) throws(ChatError) -> Void
    ) throws(ChatError) -> [NamePattern] {
        var patterns: [NamePattern] = []
        for text in texts {
            guard let pattern = NamePattern(text) else {
                throw ChatError(
                    .malformed, "'\(text)' is not a \(what) pattern; send a name, 'a.b.*' or '*'", slug: "bad_pattern",
                    field: what)
            }
            switch pattern {
            case .exact(let name): try check(name)
            // The text before `*` is the beginning of a name, so it must follow the rules for names.
            case .below(let prefix): try check(prefix)
            case .all: break
            }
            patterns.append(pattern)
        }
        return patterns
    }
}

extension ChannelSet {
    /// The same channels, without names and prefixes that a pattern covers.
    fileprivate var normalized: ChannelSet {
        var rest = self
        if isAll {
            rest.names.formIntersection([ExactText(ChannelID.systemName)])
            rest.prefixes = []
        } else if !prefixes.isEmpty {
            rest.names = names.filter { !isBelowPrefix($0) }
            rest.prefixes = prefixes.filter { !isBelowPrefix($0) }
        }
        return rest
    }

    /// Returns true when a shorter dotted prefix of the text is one of `prefixes`.
    private func isBelowPrefix(_ name: ExactText) -> Bool {
        DottedPrefixes(of: name.text).contains { prefixes.contains($0) }
    }
}
