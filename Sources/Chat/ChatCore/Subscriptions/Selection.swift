public import ChatModel

/// Which events a subscriber wants. Equal selections share one feed: an event is matched once for all of them.
///
/// Kept in a normal form, without what another part of it covers, so that different ways to ask for the same are equal,
/// and an event meets a selection in one place only. The parts are shared by all copies: a stream and its feed have one
/// each.
public struct Selection: Sendable {
    private final class Parts: Sendable {
        let channels: ChannelSet
        let types: [NamePattern]
        let filter: Filter?
        let viewer: Viewer?
        let isOfUser: Bool
        let isWire: Bool
        let namesActivity: Bool
        /// Hashed once: there may be hundreds of channels, and a table asks each time it grows.
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

    public var channels: ChannelSet { parts.channels }
    /// Sorted, never empty.
    public var types: [NamePattern] { parts.types }
    public var filter: Filter? { parts.filter }
    /// As whom the subscriber listens: it hears what the audience of each event allows, and nothing else. Nil: everything.
    public var viewer: Viewer? { parts.viewer }
    /// Whether some user's own credential asked for it, though it listens as nobody: patterns bring what everybody may
    /// hear, names what those in the channel do, and neither what is for one user alone.
    public var isOfUser: Bool { parts.isOfUser }
    /// Whether the subscriber reads another service's wire: it alone gets the events with the audience ``Audience/wire``.
    public var isWire: Bool { parts.isWire }
    /// Whether it names a type of `BuiltInTypes.namedOnly`.
    public var namesActivity: Bool { parts.namesActivity }

    /// - Parameters:
    ///   - types: empty means every type.
    ///   - isOfUser: goes with a selection that is made of another: without it, it would hear what that one does not.
    public init(
        channels: ChannelSet, types: [NamePattern] = [], filter: Filter? = nil, viewer: Viewer? = nil,
        isOfUser: Bool = false, isWire: Bool = false
    ) {
        // Where names bring more than patterns do, neither covers the other.
        let isExact = viewer != nil || isOfUser
        parts = Parts(
            isExact ? channels : channels.normalized, Self.normalized(types), filter, viewer, isOfUser, isWire)
    }

    /// The same, as a user hears it. The wire's events are none of a user's devices: they get the same facts by others.
    public func heard(by viewer: Viewer) -> Selection {
        Selection(channels: channels, types: types, filter: filter, viewer: viewer, isOfUser: false)
    }

    /// Whether the event is wanted. Events for webhooks only are nobody's here (`events.md` 4).
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

    /// Whether any user may hear it here: on a channel that is named, who asked was asked for it.
    private func isOpen(_ event: Event) -> Bool {
        if channels.names.contains(ExactText(event.channel.name)) { return !event.audience.isPersonal }
        return event.audience.isOpen && event.kind != .presence
            && ChatAccess.channel(moderatedOn: event.channel.name) == nil && MappedThread(event.channel.name) == nil
    }

    private static func normalized(_ types: [NamePattern]) -> [NamePattern] {
        // No pattern covers what must be named.
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
    /// Where the index has it: without what another part covers, so that an event finds it once. What a part that is left
    /// out brings beyond the others is asked of the selection itself.
    var indexedChannels: ChannelSet { isOfUser ? channels.normalized : channels }

    /// The channels as patterns, in the order of their texts.
    public var channelPatterns: [NamePattern] {
        var patterns = channels.names.map { NamePattern.exact($0.text) } + channels.prefixes.map { .below($0.text) }
        if channels.isAll { patterns.append(.all) }
        return patterns.sorted()
    }

    /// Whether the caller may (still) follow all of this.
    public func isPermitted(to caller: Caller) -> Bool {
        guard caller.app == channels.app, caller.scopes.allow(.read) else { return false }
        return types.allSatisfy { type in caller.types.contains { $0.covers(type) } }
            && channelPatterns.allSatisfy { pattern in
                if pattern == .exact(ChannelID.systemName) { return caller.reaches(channel: ChannelID.systemName) }
                return caller.channels.contains { $0.covers(pattern) }
            }
    }

    /// What a caller asked for, held against what it may see: nothing asked means all it may see.
    ///
    /// - Throws: `.forbidden` for a pattern that reaches beyond the caller's.
    static func narrow(
        _ asked: [NamePattern], to allowed: [NamePattern], what: String
    ) throws(ChatError) -> [NamePattern] {
        // An empty list means everything further down, so it must never come out of having no right at all.
        guard !allowed.isEmpty else { throw ChatError(.forbidden, "this credential reaches no \(what)") }
        guard !asked.isEmpty else { return allowed.contains(.all) ? [] : allowed }
        for pattern in asked where !allowed.contains(where: { $0.covers(pattern) }) {
            throw ChatError(.forbidden, "this credential does not reach \(what) '\(pattern)'")
        }
        return asked
    }
}

extension ChatAccess {
    /// A selection the caller may follow.
    ///
    /// - Parameters:
    ///   - channels: names and patterns; empty means every channel the caller reaches. `$system` is never among them
    ///     unless it is named.
    ///   - types: names and patterns; empty means every type the caller reaches.
    ///   - isOfDevice: whether a user listens by it: every channel includes the user's own then. Without it, the selections of
    ///     all users who may read the same are equal.
    /// - Throws: `.forbidden` beyond the caller's rights, `.malformed` for bad names and too many of them.
    public func selection(
        channels: [String], types: [String] = [], filter: Filter? = nil, isOfDevice: Bool = false
    ) throws(ChatError) -> Selection {
        try caller.demand(.read)
        let reach = channels.isEmpty && !isOfDevice ? caller.channels : caller.readableChannels
        return Selection(
            channels: ChannelSet(app: app, patterns: try channelPatterns(channels, within: reach)),
            types: try typePatterns(types), filter: filter, isOfUser: caller.user != nil)
    }

    /// A selection with other channels or types; what is nil stays as it is. The same rules as for a new one.
    public func selection(
        changing old: Selection, channels: [String]?, types: [String]?
    ) throws(ChatError) -> Selection {
        try caller.demand(.read)
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
            try caller.demand(channel: ChannelID.systemName)
            patterns.append(.exact(ChannelID.systemName))
        }
        // `$system` alone must not widen to everything the caller reaches; nor does everything include it.
        guard !others.isEmpty || patterns.isEmpty else { return patterns }
        let narrowed = try Selection.narrow(
            try Self.patterns(others, "channel") { name throws(ChatError) in try Names.check(channel: name) },
            to: reach.filter { $0 != .exact(ChannelID.systemName) }, what: "channel")
        return patterns + (narrowed.isEmpty ? [.all] : narrowed)
    }

    private func typePatterns(_ texts: [String]) throws(ChatError) -> [NamePattern] {
        try checkCount(texts, "types", "types")
        let types = try Selection.narrow(
            try Self.patterns(texts, "type") { name throws(ChatError) in try Names.check(type: name) },
            to: caller.types, what: "type")
        guard texts.isEmpty else { return types }
        // A credential's right to a type asks for it no more than a pattern does, unless it reaches nothing else.
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
                    .malformed, "'\(text)' is no \(what) pattern: a name, 'a.b.*', or '*'", slug: "bad_pattern",
                    field: what)
            }
            switch pattern {
            case .exact(let name): try check(name)
            // What stands before the star is the beginning of a name, so the same rules hold for it.
            case .below(let prefix): try check(prefix)
            case .all: break
            }
            patterns.append(pattern)
        }
        return patterns
    }
}

extension ChannelSet {
    /// The same channels without what is covered by another part.
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

    /// Whether a proper beginning of the text is one of the prefixes.
    private func isBelowPrefix(_ name: ExactText) -> Bool {
        DottedPrefixes(of: name.text).contains { prefixes.contains($0) }
    }
}
