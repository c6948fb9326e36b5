import ChatCore
public import ChatKit
public import ChatModel

extension EngineBackend {
    public func post(_ posting: OutgoingMessage) async throws(ChatError) -> Timetoken {
        try await access.emit(emission(posting)).event.timetoken
    }

    func emission(_ posting: OutgoingMessage) -> Emission {
        var emission: Emission
        switch posting.form {
        case .message:
            emission = .message(channel: posting.channel, data: posting.data, user: user, meta: posting.meta)
        case .signal: emission = .signal(channel: posting.channel, data: posting.data, user: user)
        case .event(let type):
            emission = Emission(
                channel: posting.channel, type: type ?? BuiltInTypes.custom, data: posting.data, user: user,
                meta: posting.meta)
        case .fire:
            emission = Emission(
                channel: posting.channel, data: posting.data, user: user, meta: posting.meta, retention: .passing)
            emission.audience = .webhooks
        }
        emission.customType = posting.customType
        if !posting.isStored { emission.retention = .passing }
        if let hours = posting.hours { emission.timeToLive = .seconds(hours * 3600) }
        return emission
    }

    public func history(_ query: EventQuery) async throws(ChatError) -> Page<Event> {
        try await access.history([try request(query)])[0]
    }

    public func count(_ query: EventQuery) async throws(ChatError) -> Int {
        try await access.counts([try request(query)])[0]
    }

    func request(_ query: EventQuery) throws(ChatError) -> HistoryRequest {
        try Names.check(channel: query.channel)
        var request = HistoryRequest(
            channel: ChannelID(query.channel, in: app), after: query.after, before: query.before,
            order: query.order, limit: query.limit)
        request.types = try query.types.map { text throws(ChatError) in
            guard let pattern = NamePattern(text) else {
                throw ChatError(
                    .malformed, "'\(text)' is no type pattern: a name, 'a.b.*', or '*'", slug: "bad_pattern")
            }
            return pattern
        }
        return request
    }

    public func events(_ selection: EventSelection) -> LiveEvents {
        LiveEvents {
            let opening = Opening(self, selection)
            return { () async throws(ChatError) -> LiveUpdate? in try await opening.next() }
        }
    }

    fileprivate func reader(_ wanted: EventSelection) throws(ChatError) -> HubReader {
        HubReader(host, try HubSelection(wanted, access, user: user, device: device))
    }
}

/// The reader of an iterator, made when the first news is asked for: only then can what is wrong be thrown.
private actor Opening {
    private let backend: EngineBackend
    private let selection: EventSelection
    private var reader: HubReader?

    init(_ backend: EngineBackend, _ selection: EventSelection) {
        self.backend = backend
        self.selection = selection
    }

    func next() async throws(ChatError) -> LiveUpdate? {
        if let reader { return try await reader.next() }
        let made = try backend.reader(selection)
        reader = made
        return try await made.next()
    }
}
