import ChatCore
public import ChatKit
public import ChatModel

/// A chat backend that uses its own engine in this process, without a gateway or network.
public struct EngineBackend: ChatBackend {
    public let user: String
    let host: ChatHost
    let app: AppID
    let device = Device.fresh()

    /// Starts a backend that uses an engine. The backend owns the engine from now on, and ``close()`` closes the
    /// engine.
    ///
    /// - Parameter app: the app of the chat. The app is created when it does not exist.
    /// - Throws: `.malformed` for an invalid name; the errors of the engine.
    public init(
        _ engine: any Engine, app: String, user: String, limits: Limits = Limits(), clock: WallClock = .system
    ) async throws(ChatError) {
        try Names.check(user: user)
        self.user = user
        self.app = AppID(app)
        host = try await ChatHost(engine, app: self.app, limits: limits, clock: clock)
    }

    private init(_ other: EngineBackend, user: String) {
        self.user = user
        app = other.app
        host = other.host
    }

    public func acting(as user: String) -> any ChatBackend { EngineBackend(self, user: user) }

    public func close() async { await host.close() }

    /// The access rights of the program that embeds the chat. The program may do everything. Each operation names the
    /// user who performs it.
    var access: ChatAccess {
        host.service.chat(for: Caller(app: app, credential: "chatkit", scopes: [.admin]), device: device)
    }
}

extension Chat {
    /// Creates a chat that uses an engine in this process. The chat owns the engine from now on, and ``close()`` closes
    /// the engine.
    ///
    /// ```swift
    /// let chat = try await Chat(engine: SQLiteEngine(path: "chat.db"), app: "default", user: "ana")
    /// ```
    ///
    /// - Parameter app: the app of the chat. The app is created when it does not exist.
    /// - Throws: `.malformed` for an invalid user id; the engine's error when the database cannot be read.
    public convenience init(
        engine: any Engine, app: String = "default", user: String, limits: Limits = Limits()
    ) async throws(ChatError) {
        try await self.init(try await EngineBackend(engine, app: app, user: user, limits: limits))
    }
}

extension EngineBackend {
    public func post(_ posting: OutgoingMessage) async throws(ChatError) -> Timetoken {
        try await access.emit(draft(posting)).event.timetoken
    }

    func draft(_ posting: OutgoingMessage) -> EventDraft {
        var draft: EventDraft
        switch posting.form {
        case .message:
            draft = .message(channel: posting.channel, data: posting.data, user: user, meta: posting.meta)
        case .signal: draft = .signal(channel: posting.channel, data: posting.data, user: user)
        case .event(let type):
            draft = .event(
                channel: posting.channel, type: type ?? BuiltInTypes.custom, data: posting.data, user: user,
                meta: posting.meta)
        case .fire:
            draft = .event(
                channel: posting.channel, data: posting.data, user: user, meta: posting.meta, retention: .passing)
            draft.audience = .webhooks
        }
        draft.customType = posting.customType
        if !posting.isStored { draft.retention = .passing }
        if let hours = posting.hours, hours > 0 { draft.timeToLive = .seconds(hours * 3600) }
        return draft
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
                    .malformed, "'\(text)' is not a type pattern; send a name, 'a.b.*' or '*'", slug: "bad_pattern")
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

/// Opens the reader of an iterator at the first `next`, because creating an iterator cannot throw an error.
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

extension EngineBackend {
    public func group(_ id: String) async throws(ChatError) -> GroupRecord? { try await access.group(id) }

    public func groups(limit: Int, cursor: String?) async throws(ChatError) -> Page<String> {
        let page = try await access.groups(ChatCore.RecordList(limit: limit, cursor: cursor))
        return Page(items: page.items.map(\.id), hasMore: page.hasMore, cursor: page.cursor)
    }

    public func change(group id: String, adding: [String], removing: [String]) async throws(ChatError) {
        _ = try await access.write(group: id, .change(adding: adding, removing: removing))
    }

    public func delete(group id: String) async throws(ChatError) { try await access.delete(group: id) }
}

extension EngineBackend {
    public func mark(
        _ mark: ReceiptMark, of user: String, in channel: String, at timetoken: Timetoken?
    ) async throws(ChatError) {
        let kind: ReceiptKind =
            switch mark {
            case .delivered: .delivered
            case .read: .read
            }
        _ = try await access.mark(kind, user, in: channel, at: timetoken, by: self.user)
    }

    public func markAllRead() async throws(ChatError) -> [String] {
        try await access.markAllRead(by: user, named: user)
    }

    public func unread(of user: String, in channel: String) async throws(ChatError) -> Int {
        try await access.unread(of: user, in: channel)
    }

    public func unread() async throws(ChatError) -> UnreadCount {
        let unread = try await access.unread(of: user)
        return UnreadCount(total: unread.total, byCustomType: unread.byCustomType)
    }
}
