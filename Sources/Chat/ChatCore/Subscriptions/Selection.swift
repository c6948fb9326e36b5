public import ChatModel

/// The events that a subscriber selects. Equal selections share one feed, so an event is matched once for all of them.
///
/// Stored in a normal form, without parts that another part covers. Different requests for the same events are
/// therefore equal, and an event matches a selection in one place only. Copies share the parts: a stream and its feed
/// have a copy each.
public struct Selection: Sendable {
    private final class Parts: Sendable {
        let channels: ChannelSet
        let types: [NamePattern]
        let filter: Filter?
        let viewer: Viewer?
        let isOfUser: Bool
        let isWire: Bool
        let namesActivity: Bool
        /// The stored hash: a selection may have hundreds of channels, and a dictionary requests the hash each time it
        /// grows.
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
    /// The types, sorted; never empty.
    public var types: [NamePattern] { parts.types }
    /// The condition over the events; nil selects all events of the channels and types.
    public var filter: Filter? { parts.filter }
    /// The user that the subscriber listens as. It then receives only the events whose audience includes the user. Nil:
    /// all events.
    public var viewer: Viewer? { parts.viewer }
    /// True when a user's own credential made the selection, without listening as the user. Patterns then select events
    /// for everyone with access, exact names also those for users in the channel, and neither selects events for a
    /// single user.
    public var isOfUser: Bool { parts.isOfUser }
    /// True when the subscriber reads another service's protocol. Only such subscribers receive events with the
    /// audience ``Audience/wire``.
    public var isWire: Bool { parts.isWire }
    /// True when it selects a type of `BuiltInTypes.namedOnly`.
    var namesActivity: Bool { parts.namesActivity }

    /// - Parameters:
    ///   - types: empty means every type.
    ///   - isOfUser: must be copied when a selection is derived from another; without it, the derived selection would
    ///     also match other events.
    public init(
        channels: ChannelSet, types: [NamePattern] = [], filter: Filter? = nil, viewer: Viewer? = nil,
        isOfUser: Bool = false, isWire: Bool = false
    ) {
        // When exact names select more than patterns, neither covers the other.
        let isExact = viewer != nil || isOfUser
        parts = Parts(
            isExact ? channels : channels.normalized, Self.normalized(types), filter, viewer, isOfUser, isWire)
    }

    /// The same selection for a user's device. Events of another service's protocol are left out, because devices get
    /// the same information from other events.
    func heard(by viewer: Viewer) -> Selection {
        Selection(channels: channels, types: types, filter: filter, viewer: viewer, isOfUser: false)
    }

    /// True when the event matches. Events for webhooks only never do.
    public func admits(_ subject: FilterSubject) -> Bool {
        guard let event = subject.event else { return false }
        return channels.find(event) && admitsBesideChannel(subject)
    }

    /// The same, for a caller that found the selection by the event's channel.
    public func admitsBesideChannel(_ subject: FilterSubject) -> Bool {
        guard let event = subject.event, event.audience != .webhooks, isWire || event.audience != .wire,
            types.match(event.type), !event.isNamedOnly || namesActivity
        else { return false }
        guard !isOfUser || isOpen(event) else { return false }
        return filter?.accepts(subject) ?? true
    }

    /// True when any user may receive the event here. For a channel selected by name, the user's access was checked.
    private func isOpen(_ event: Event) -> Bool {
        if channels.names.contains(ExactText(event.channel.name)) { return !event.audience.isPersonal }
        return event.audience.isOpen && event.kind != .presence
            && ChatAccess.channel(moderatedOn: event.channel.name) == nil && MappedThread(event.channel.name) == nil
    }

    private static func normalized(_ types: [NamePattern]) -> [NamePattern] {
        // No pattern covers a type that must be named.
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
    /// The channels under which the index lists the selection, without parts that another part covers, so that an event
    /// finds it once. Events that a covered part selects in addition are tested by the selection itself.
    var indexedChannels: ChannelSet { isOfUser ? channels.normalized : channels }

    /// The channels as patterns, in the order of their texts.
    public var channelPatterns: [NamePattern] {
        var patterns = channels.names.map { NamePattern.exact($0.text) } + channels.prefixes.map { .below($0.text) }
        if channels.isAll { patterns.append(.all) }
        return patterns.sorted()
    }

    /// True when the caller may (still) follow the whole selection.
    public func isPermitted(to caller: Caller) -> Bool {
        guard caller.app == channels.app, caller.scopes.allow(.read) else { return false }
        return caller.types.coversAll(types) && channelPatterns.allSatisfy { caller.reaches(channels: $0) }
    }

    /// The requested patterns, checked against the caller's; an empty request gives all of the caller's patterns.
    ///
    /// - Throws: `.forbidden` for a pattern beyond the caller's.
    static func narrow(
        _ asked: [NamePattern], to allowed: [NamePattern], what: String
    ) throws(ChatError) -> [NamePattern] {
        // An empty list means everything in later steps, so it must never result from a caller without rights.
        guard !allowed.isEmpty else { throw ChatError(.forbidden, "this credential reaches no \(what)") }
        guard !asked.isEmpty else { return allowed.contains(.all) ? [] : allowed }
        for pattern in asked where !allowed.covers(pattern) {
            throw ChatError(.forbidden, "this credential does not reach \(what) '\(pattern)'")
        }
        return asked
    }
}

extension ChatAccess {
    /// A selection that the caller may follow.
    ///
    /// - Parameters:
    ///   - channels: names and patterns; empty means every channel that the caller reaches. `$system` is included only
    ///     by name.
    ///   - types: names and patterns; empty means every type that the caller reaches.
    ///   - isOfDevice: true when a user listens with it; an empty `channels` then includes the user's own channel.
    ///     Without it, the selections of all users with the same access are equal.
    /// - Throws: `.forbidden` beyond the caller's rights, `.malformed` for invalid names or too many of them.
    public func selection(
        channels: [String], types: [String] = [], filter: Filter? = nil, isOfDevice: Bool = false
    ) throws(ChatError) -> Selection {
        try caller.require(.read)
        let reach = channels.isEmpty && !isOfDevice ? caller.channels : caller.readableChannels
        return Selection(
            channels: ChannelSet(app: app, patterns: try channelPatterns(channels, within: reach)),
            types: try typePatterns(types), filter: filter, isOfUser: caller.user != nil)
    }

    /// A selection with other channels or types; a nil argument leaves them unchanged. The rules are those for a new
    /// selection.
    ///
    /// - Throws: `.forbidden` beyond the caller's rights, `.malformed` for invalid names or too many of them.
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
        // `$system` alone must not widen to everything the caller reaches, and everything does not include it.
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
        // A credential's right to a type does not select it by name, unless the credential reaches no other type.
        let others = types.filter { !$0.isNamedOnly }
        return others.isEmpty ? types : others
    }

    private func checkCount(_ texts: [String], _ what: String, _ field: String) throws(ChatError) {
        guard texts.count <= limits.streamChannels else {
            throw .over(
                .malformed, "at most \(limits.streamChannels) \(what) in one stream", limit: limits.streamChannels,
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
            // The text before the star is the beginning of a name, so the rules for names apply.
            case .below(let prefix): try check(prefix)
            case .all: break
            }
            patterns.append(pattern)
        }
        return patterns
    }
}

extension ChannelSet {
    /// The same channels without parts that another part covers.
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

    /// True when a proper prefix of the text is one of the prefixes.
    private func isBelowPrefix(_ name: ExactText) -> Bool {
        DottedPrefixes(of: name.text).contains { prefixes.contains($0) }
    }
}
