public import ChatModel

/// Which events a subscriber wants. Equal selections share one feed: an event is matched once for all of them.
public struct Selection: Sendable, Hashable {
    public var channels: ChannelSet
    /// Sorted, never empty.
    public var types: [NamePattern]
    public var filter: Filter?

    public init(channels: ChannelSet, types: [NamePattern] = [.all], filter: Filter? = nil) {
        self.channels = channels
        self.types = types.isEmpty ? [.all] : types.sorted { $0.description < $1.description }
        self.filter = filter
    }

    /// Whether the event is wanted. Events for webhooks only are nobody's here (`events.md` 4).
    public func admits(_ subject: FilterSubject) -> Bool {
        channels.contains(subject.event.channel) && admitsBesideChannel(subject)
    }

    /// The same, for a caller that found the selection by the event's channel.
    func admitsBesideChannel(_ subject: FilterSubject) -> Bool {
        guard subject.event.audience != .webhooks, types.match(subject.event.type) else { return false }
        return filter?.accepts(subject) ?? true
    }

    /// What a caller asked for, held against what it may see: nothing asked means all it may see.
    ///
    /// - Throws: `.forbidden` for a pattern that reaches beyond the caller's.
    static func narrow(
        _ asked: [NamePattern], to allowed: [NamePattern], what: String
    ) throws(ChatError) -> [NamePattern] {
        guard !asked.isEmpty else { return allowed.contains(.all) ? [] : allowed }
        for pattern in asked where !allowed.contains(where: { $0.covers(pattern) }) {
            throw ChatError(.forbidden, "this credential does not reach \(what) '\(pattern)'")
        }
        return asked
    }
}

extension Chat {
    /// A selection the caller may follow.
    ///
    /// - Parameters:
    ///   - channels: names and patterns; empty means every channel the caller reaches.
    ///   - types: empty means every type the caller reaches.
    /// - Throws: `.forbidden` beyond the caller's rights, `.malformed` for bad names and too many of them.
    public func selection(
        channels: [String], types: [String] = [], filter: Filter? = nil
    ) throws(ChatError) -> Selection {
        try caller.demand(.read)
        guard channels.count <= limits.streamChannels else {
            throw ChatError(.malformed, "at most \(limits.streamChannels) channels and patterns in one stream")
        }
        var asked: [NamePattern] = []
        for text in channels where text == ChannelID.systemName {
            try caller.demand(channel: text)
            asked.append(.exact(text))
        }
        let others = try Self.patterns(channels.filter { $0 != ChannelID.systemName }, what: "channel")
        // `$system` alone must not widen to everything the caller reaches.
        if !others.isEmpty || asked.isEmpty {
            asked += try Selection.narrow(others, to: caller.channels, what: "channel")
        }
        if asked.isEmpty { asked = [.all] }
        let wanted = try Selection.narrow(
            try Self.patterns(types, what: "type"), to: caller.types, what: "type")
        return Selection(channels: ChannelSet(space: space, patterns: asked), types: wanted, filter: filter)
    }

    private static func patterns(_ texts: [String], what: String) throws(ChatError) -> [NamePattern] {
        var patterns: [NamePattern] = []
        for text in texts {
            guard let pattern = NamePattern(text) else {
                throw ChatError(
                    .malformed, "'\(text)' is no \(what) pattern: a name, 'a.b.*', or '*'")
            }
            if case .exact(let name) = pattern {
                if what == "channel" { try Names.check(channel: name) } else { try Names.check(type: name) }
            }
            patterns.append(pattern)
        }
        return patterns
    }
}
