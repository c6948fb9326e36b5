public import ChatModel
public import JSON

/// The included objects of one event, printed as the value of its member `included`.
public struct RenderedIncludes: Sendable {
    /// A JSON object with one member for each included object.
    public let text: JSONText
    /// A number for the variant of the text. For one event, readers who see the same objects and fields have the same
    /// number; all other readers have a different number.
    public let form: UInt8
}

/// The records that are included with some events of one app, read from the store in one step.
///
/// The records are read after the events were committed, so they are never older than the events. Each record is
/// printed once for each set of fields that readers may see, for any number of events and readers.
public struct IncludedRecords: Sendable {
    /// The objects and fields that one reader may see for one event. Readers with equal values get the same text.
    private struct ReturnedFields {
        var objects: Set<IncludedObject>
        var showsPrivateFields: Bool
        var knowsChannel: Bool

        var form: UInt8 {
            var form: UInt8 = (showsPrivateFields ? 1 : 0) | (knowsChannel ? 2 : 0)
            for (index, object) in IncludedObject.allCases.enumerated() where objects.contains(object) {
                form |= 4 << UInt8(index)
            }
            return form
        }
    }

    private struct Place: Hashable {
        let event: Timetoken
        let form: UInt8
    }

    private struct UserForm: Hashable {
        let user: ExactText
        let showsPrivateFields: Bool
    }

    private struct MemberForm: Hashable {
        let key: RecordKey
        let showsPrivateFields: Bool
    }

    private let service: ChatService
    private let app: AppID
    private let publicFields: PublicUserFields
    private let records: [RecordKey: Record]
    // Caches of the printed objects. The last one has, for each user and channel, whether the user may see the channel.
    private var texts: [Place: RenderedIncludes] = [:]
    private var users: [UserForm: JSONText?] = [:]
    private var channels: [ExactText: JSONText?] = [:]
    private var members: [MemberForm: JSONText?] = [:]
    private var threads: [RecordKey: JSONText?] = [:]
    private var known: [ExactText: [ExactText: Bool]] = [:]

    /// Reads the records to include with the events `wanted`.
    ///
    /// - Parameter wanted: the events of one app, each with its requested objects.
    /// - Throws: the errors of the store.
    public init(
        of wanted: some Sequence<(event: Event, objects: Set<IncludedObject>)>, in app: AppID,
        from service: ChatService
    ) async throws(ChatError) {
        var keys: Set<RecordKey> = []
        for (event, objects) in wanted { keys.formUnion(event.includedKeys(objects)) }
        let order = Array(keys)
        let found = order.isEmpty ? [] : try await service.engine.directory.read(order)
        self.service = service
        self.app = app
        publicFields = service.keyring.app(app)?.publicUserFields ?? .standard
        records = zip(order, found).reduce(into: [:]) { $0[$1.0] = $1.1 }
    }

    /// Returns the included objects of an event that was passed to the initializer. The result contains only the
    /// objects and fields that a reader with the given policy may see.
    ///
    /// - Throws: the errors of the store, which may be read for the reader's rights.
    public mutating func text(
        beside event: Event, _ inclusion: IncludePolicy
    ) async throws(ChatError) -> RenderedIncludes {
        let returnedFields = try await returnedFields(of: inclusion, event)
        let place = Place(event: event.timetoken, form: returnedFields.form)
        if let known = texts[place] { return known }
        let text = RenderedIncludes(text: printed(beside: event, returnedFields), form: returnedFields.form)
        texts[place] = text
        return text
    }

    private mutating func returnedFields(
        of inclusion: IncludePolicy, _ event: Event
    ) async throws(ChatError) -> ReturnedFields {
        var returnedFields = ReturnedFields(objects: inclusion.objects, showsPrivateFields: false, knowsChannel: true)
        switch inclusion.reader {
        case .app: returnedFields.showsPrivateFields = true
        case .anyUser:
            // The channel may have become private after the event was stored.
            let record = records[ChannelRecord.key(event.channel.name, in: app)].flatMap(ChannelRecord.init)
            returnedFields.knowsChannel = record?.kind.isPrivate != true || !event.audience.isOpen
        case .user(let reader):
            returnedFields.showsPrivateFields = event.user.map { ExactText($0) == reader } ?? false
            returnedFields.knowsChannel = try await knows(event.channel, reader)
        }
        return returnedFields
    }

    /// Returns true when a user may see a channel's record and members.
    private mutating func knows(_ channel: ChannelID, _ reader: ExactText) async throws(ChatError) -> Bool {
        let name = ExactText(channel.name)
        if let answer = known[reader]?[name] { return answer }
        var caller = Caller.gateway(in: app)
        caller.user = reader.text
        let chat = service.chat(for: caller)
        let answer = try await chat.refusal(to: .knowing, of: reader.text, in: channel.name) == nil
        known[reader, default: [:]][name] = answer
        return answer
    }

    private mutating func printed(beside event: Event, _ returnedFields: ReturnedFields) -> JSONText {
        let objects = returnedFields.objects
        let user = objects.contains(.user) ? user(of: event, returnedFields.showsPrivateFields) : nil
        let channel = objects.contains(.channel) && returnedFields.knowsChannel ? channel(of: event) : nil
        let thread = objects.contains(.thread) ? thread(of: event) : nil
        let member =
            objects.contains(.member) && returnedFields.knowsChannel
            ? member(of: event, returnedFields.showsPrivateFields) : nil
        return JSONText(capacity: 1024) { writer in
            writer.beginObject()
            if let user { writer.member("user", user) }
            if let channel { writer.member("channel", channel) }
            if let thread { writer.member("thread", thread) }
            if let member { writer.member("member", member) }
            writer.endObject()
        }
    }

    private mutating func user(of event: Event, _ showsPrivateFields: Bool) -> JSONText? {
        guard let id = event.user else { return nil }
        let form = UserForm(user: ExactText(id), showsPrivateFields: showsPrivateFields)
        if let known = users[form] { return known }
        let record = records[UserRecord.key(id, in: app)].flatMap(UserRecord.init)
        let shown = showsPrivateFields ? record : record.map(publicFields.visible)
        let text = shown.map { user in JSONText(capacity: 512) { user.show(to: &$0) } }
        users[form] = .some(text)
        return text
    }

    private mutating func channel(of event: Event) -> JSONText? {
        let name = ExactText(event.channel.name)
        if let known = channels[name] { return known }
        let record = records[ChannelRecord.key(name.text, in: app)].flatMap(ChannelRecord.init)
        let counts = MemberCounts(records[MemberCounts.key(name.text, in: app)])
        let view = record.map { ChannelView(channel: $0, counts: counts) }
        let text = view.map { view in JSONText(capacity: 512) { view.show(to: &$0) } }
        channels[name] = .some(text)
        return text
    }

    private mutating func member(of event: Event, _ showsPrivateFields: Bool) -> JSONText? {
        guard let user = event.user else { return nil }
        let key = MembershipRecord.key(user, event.channel.name, in: app)
        let form = MemberForm(key: key, showsPrivateFields: showsPrivateFields)
        if let known = members[form] { return known }
        let record = records[key].flatMap(MembershipRecord.init)
            .flatMap { service.pendingDeletions.hide($0, in: app) ? nil : $0 }
        let text = record.map { member in
            JSONText(capacity: 512) { showsPrivateFields ? member.show(to: &$0) : member.showToMembers(to: &$0) }
        }
        members[form] = .some(text)
        return text
    }

    private mutating func thread(of event: Event) -> JSONText? {
        guard let key = event.threadKey else { return nil }
        if let known = threads[key] { return known }
        let thread = records[key].flatMap { MessageRecord($0) }?.thread
        let text = thread.flatMap { $0 == MessageThread() ? nil : $0.body }
        threads[key] = .some(text)
        return text
    }
}

extension ChatAccess {
    /// Reads the records to include with events, and returns the included objects in the order of the events. Empty
    /// when `inclusion` is nil.
    ///
    /// - Parameter events: events of the caller's app that the caller may read.
    /// - Throws: the errors of the store.
    public func included(
        with events: [Event], _ inclusion: IncludePolicy?
    ) async throws(ChatError) -> [RenderedIncludes] {
        guard let inclusion, !events.isEmpty else { return [] }
        var records = try await IncludedRecords(
            of: events.lazy.map { (event: $0, objects: inclusion.objects) }, in: app, from: service)
        var texts: [RenderedIncludes] = []
        texts.reserveCapacity(events.count)
        for event in events { texts.append(try await records.text(beside: event, inclusion)) }
        return texts
    }
}

extension Event {
    fileprivate func includedKeys(_ objects: Set<IncludedObject>) -> [RecordKey] {
        let app = channel.app
        var keys: [RecordKey] = []
        if objects.contains(.user), let user { keys.append(UserRecord.key(user, in: app)) }
        if objects.contains(.channel) {
            keys += [ChannelRecord.key(channel.name, in: app), MemberCounts.key(channel.name, in: app)]
        }
        if objects.contains(.member), let user {
            keys += [MembershipRecord.key(user, channel.name, in: app), ChannelRecord.key(channel.name, in: app)]
        }
        if objects.contains(.thread), let threadKey { keys.append(threadKey) }
        return keys
    }

    /// The key of the message record that contains the thread of this event. For a reply, it is the record of the
    /// thread's first message; for any other stored message, it is the message's own record. Nil for any other event.
    fileprivate var threadKey: RecordKey? {
        let root = draft.thread ?? (isMessage && retention == .kept ? timetoken : nil)
        return root.map { MessageRecord.key(channel.name, $0, in: channel.app) }
    }
}
