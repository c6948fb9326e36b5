import ChatModel
import ChatSupport
import JSON
import TestSupport
import Testing

@testable import ChatCore

/// Every question about a user's access to a channel, put to every part of the service that answers it. The expected
/// answers are derived from the stored records (`RecordedAccess`).
@Suite("The access of a user to a channel") struct UserAccessTests {
    @Test("is the same for requests, presence and streams after each step of a random history", arguments: 1...6)
    func histories(seed: UInt64) async throws {
        try await Room.open { room in
            var history = AccessHistory(in: room, seed: seed)
            let streams = try await DeviceStreams(in: room)
            try await history.begin()
            for step in 0..<40 {
                let act = await history.advance()
                let story = "seed \(seed), step \(step): \(act)"
                // Until the consequences of a change have happened, such as the end of an expired ban, only requests are
                // exact.
                if history.hasConsequences { try await checkRequests(room, story) }
                try await history.settle()
                try await checkRequests(room, story)
                try await streams.check(room, story)
            }
        }
    }

    private func checkRequests(_ room: Room, _ story: String) async throws {
        let cold = ChannelAccessCache(
            directory: room.service.engine.directory, keyring: room.service.keyring,
            pendingDeletions: room.service.pendingDeletions, limits: room.service.limits)
        try await cold.load()
        for user in AccessHistory.users {
            var bans: Set<String> = []
            var known: Set<String> = []
            for channel in AccessHistory.channels {
                let recorded = try await RecordedAccess(of: user, in: channel, room)
                if recorded.isBanned { bans.insert(channel) }
                if recorded.kind != nil, recorded.slug(.knowing, ofUserToken: true) == nil { known.insert(channel) }
                for isUserToken in [false, true] {
                    let chat = isUserToken ? room.chat(of: user) : room.chat
                    try await check(recorded, chat, cold, isUserToken, "\(story); \(user) in \(channel)")
                }
                let key = PresenceKey(.occupant, of: user, on: ChannelID(channel, in: ChatFixture.app))
                let permitted = try await room.service.presence.permitted([key])
                #expect(permitted.isEmpty == recorded.isBanned, "\(story); presence of \(user) in \(channel)")
                let restriction = try? await room.chat.restriction(of: user, in: channel)
                #expect(restriction == recorded.restriction, "\(story); restriction of \(user) in \(channel)")
            }
            #expect(Set(try await room.chat.bans(of: user).map(\.channel)) == bans, "\(story); bans of \(user)")
            let listed = try await room.chat(of: user).channels(RecordList(limit: 100)).items.map(\.channel.id)
            #expect(Set(listed) == known, "\(story); list for \(user)")
            let named = try await room.chat(of: user).channels(named: AccessHistory.channels).compactMap { $0?.id }
            #expect(Set(named) == known, "\(story); named list for \(user)")
        }
    }

    /// Compares the paths of a request: the cache, an empty cache, the snapshot of a decision, an emit and a read.
    private func check(
        _ recorded: RecordedAccess, _ chat: ChatAccess, _ cold: ChannelAccessCache, _ isUserToken: Bool, _ story: String
    ) async throws {
        let (user, channel) = (recorded.user, recorded.channel)
        let permissions: [ChannelPermission] = [.knowing, .receiving, .being, .writing]
        let expected = permissions.map { recorded.slug($0, ofUserToken: isUserToken) }
        var cached: [String?] = []
        for permission in permissions {
            let obstacle = try await chat.refusal(to: permission, of: user, in: channel)
            cached.append(obstacle?.slug)
        }
        #expect(cached == expected, "\(story), cache")
        let access = try await cold.channelAccess(of: user, in: ChannelID(channel, in: ChatFixture.app))
        let read = permissions.map {
            chat.refusal(to: $0, of: user, in: channel, channel: access.channel, access.user)?.slug
        }
        #expect(read == expected, "\(story), records")
        let keys = chat.rightsKeys(of: user, in: channel)
        let decided = try await chat.service.decide(keys) { snapshot throws(ChatError) -> Decision<[String?]> in
            var slugs: [String?] = []
            for permission in permissions {
                do throws(ChatError) {
                    try chat.require(permission, of: user, in: channel, snapshot)
                    slugs.append(nil)
                } catch { slugs.append(error.slug) }
            }
            return Decision(slugs)
        }.value
        #expect(decided == expected, "\(story), decision")
        var draft = EventDraft.event(channel: channel, type: "wave", data: Room.text("hi"))
        draft.user = user
        #expect(await slug { _ = try await chat.prepare(draft) } == expected[3], "\(story), emit")
        guard isUserToken else { return }
        let request = HistoryRequest(channel: ChannelID(channel, in: ChatFixture.app), limit: 1)
        #expect(await slug { _ = try await chat.history([request]) } == expected[1], "\(story), history")
    }

    private func slug(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch { return (error as? ChatError)?.slug ?? "\(error)" }
    }
}

// MARK: - Expectations

/// A user's relation to a channel as the stored records have it, with the rules of the documentation.
private struct RecordedAccess {
    let user: String
    let channel: String
    var kind: ChannelKind?
    var isFrozen = false
    var isOperator = false
    var state: MemberState?
    /// The restriction in force.
    var restriction: RestrictionRecord?
    var isInside = false

    init(of user: String, in channel: String, _ room: Room) async throws {
        self.user = user
        self.channel = channel
        let app = ChatFixture.app
        let directory = room.service.engine.directory
        let records = try await directory.read([
            ChannelRecord.key(channel, in: app), MembershipRecord.key(user, channel, in: app),
            RestrictionRecord.key(user, channel, in: app), CascadeDeletionRecord.key(channel, in: app),
        ])
        let deleted = records[3].flatMap { CascadeDeletionRecord($0) }?.since ?? .zero
        if let record = records[0].flatMap({ ChannelRecord($0) }) {
            (kind, isFrozen, isOperator) = (record.kind, record.isFrozen, record.operators.contains(user))
        }
        if let record = records[1], record.updated > deleted { state = MembershipRecord(record)?.state }
        if let record = records[2], record.updated > deleted, let stored = RestrictionRecord(record),
            stored.until.map({ $0 > room.service.clock.now }) ?? true
        {
            restriction = stored
        }
        let inside = try await room.service.presence.store.channels(of: UserID(user, in: app), as: .participant)
        isInside = inside.contains { $0.name == channel }
    }

    var isBanned: Bool { restriction?.isBanned ?? false }
    private var isPrivate: Bool { kind == .group || kind == .direct }
    /// The user's own channel is always open to the user.
    private var isOwn: Bool { user == channel }

    /// The reason for which a permission is refused.
    func slug(_ permission: ChannelPermission, ofUserToken isUserToken: Bool) -> String? {
        if permission != .knowing, isBanned { return "banned" }
        if permission == .writing, restriction != nil { return "muted" }
        if permission == .writing, isFrozen, !isOperator { return "frozen" }
        guard isUserToken, isPrivate, !isOwn else { return nil }
        return state == .joined || permission == .knowing && state == .invited ? nil : "not_a_member"
    }

    /// True when a stream of the user that names the channel, or one that follows all channels, receives an event.
    ///
    /// - Parameter blocked: the users that this user has blocked.
    func receives(_ event: Event, isNamed: Bool, without blocked: Set<String> = []) -> Bool {
        let isWord = ["message.created", "message.updated", "user.mentioned", "channel.activity"].contains(event.type)
        if isWord, let author = event.user, blocked.contains(author) { return false }
        let isOpen = isNamed && !isPrivate
        let isJoined = isOwn || state == .joined
        let isIn = isOwn || isInside
        let isMember = isOwn || state != nil
        guard case .rule(let rule, let subjects) = event.audience else {
            return [.subscribers, .insiders].contains(event.audience) && !isBanned && (isOpen || isJoined || isIn)
        }
        let isSubject = subjects.contains(user)
        if isBanned, !isSubject || !["user.banned", "user.unbanned"].contains(event.type) { return false }
        let isOther = event.draft.originDevice == nil
        return switch rule {
        case .participants: isIn
        case .participantsButOrigin: isIn && isOther
        case .participantsAndSubjects: isIn || isSubject
        case .joined: isJoined
        case .joinedButOrigin: isJoined && isOther
        case .joinedAndSubjects: isJoined || isSubject
        case .joinedButSubjects: isJoined && !isSubject
        case .joinedAndThreadButOrigin: (isJoined || isSubject) && isOther
        case .members: isMember
        case .membersButOrigin: isMember && isOther
        case .mentioned: isSubject && (isMember || isIn)
        case .mentionedButOrigin: isSubject && (isMember || isIn) && isOther
        case .user: isSubject
        case .device: !isOther
        case .channelList: isMember || isIn || isOpen || isSubject
        }
    }

    /// True when a stream that names the channel follows it.
    var isFollowed: Bool { receives(Self.event(on: channel, audience: .subscribers), isNamed: true) }

    static func event(
        on channel: String, _ type: String = "wave", by author: String = "zoe", on device: String? = nil,
        audience: Audience
    ) -> Event {
        var draft = EventDraft(
            channel: ChannelID(channel, in: ChatFixture.app), type: type, data: JSONText(trusted: Array("{}".utf8)))
        draft.user = author
        draft.originDevice = device
        draft.audience = audience
        return Event(timetoken: Timetoken(99_999_999_999_999_999), draft: draft)
    }

    /// An event for every audience, with and without this user among its subjects, from this user's device and others.
    var events: [Event] {
        var events = [Audience.subscribers, .insiders, .webhooks, .wire].map { Self.event(on: channel, audience: $0) }
        events += AccessHistory.users.map {
            Self.event(on: channel, BuiltInTypes.messageCreated, by: $0, audience: .subscribers)
        }
        for rule in AudienceRule.allCases {
            for subjects in [["zoe"], ["zoe", user]] {
                let audience = Audience.rule(rule, subjects: subjects)
                events.append(Self.event(on: channel, audience: audience))
                events.append(Self.event(on: channel, by: user, on: "phone", audience: audience))
                events.append(Self.event(on: channel, "user.banned", audience: audience))
                events.append(Self.event(on: channel, "user.unbanned", audience: audience))
            }
        }
        return events
    }
}

/// The streams of every user's device: their state follows the events from the beginning of the history.
private struct DeviceStreams {
    /// By user: a stream that names every channel, and one that follows all channels of the user.
    private var selections: [String: (named: Selection, all: Selection)] = [:]

    init(in room: Room) async throws {
        for user in AccessHistory.users {
            let chat = room.chat(of: user)
            let named = try await chat.selection(
                try chat.selection(channels: AccessHistory.channels, isOfDevice: true), heardBy: user, on: "phone")
            let all = Selection(channels: ChannelSet(app: ChatFixture.app, isAll: true))
            selections[user] = (named, all.heard(by: try #require(named.viewer)))
        }
    }

    /// Compares the streams with the records, and with streams that begin now.
    func check(_ room: Room, _ story: String) async throws {
        let hub = room.service.hub
        for (user, (named, all)) in selections {
            let fresh = named.heard(by: try await newViewer(user, room))
            var followed: Set<String> = []
            var blocked: Set<String> = []
            for other in AccessHistory.users where try await room.chat.block(of: other, for: user) != nil {
                blocked.insert(other)
            }
            let followedNow = Set(await hub.channels(heardBy: named))
            let snapshot = try #require(await hub.audienceSnapshot(of: named))
            let snapshotOfAll = try #require(await hub.audienceSnapshot(of: all))
            for channel in AccessHistory.channels {
                let recorded = try await RecordedAccess(of: user, in: channel, room)
                if recorded.isFollowed { followed.insert(channel) }
                for event in recorded.events {
                    let expected = recorded.receives(event, isNamed: true, without: blocked)
                    let expectedOfAll = recorded.receives(event, isNamed: false, without: blocked)
                    let answers = [named.isForViewer(event), fresh.isForViewer(event), snapshot.admits(event)]
                    let answersOfAll = [all.isForViewer(event), snapshotOfAll.admits(event)]
                    guard answers.contains(!expected) || answersOfAll.contains(!expectedOfAll) else { continue }
                    Issue.record(
                        """
                        \(story); \(user) in \(channel), \(event.type) for \(event.audience): named \(answers), expected \
                        \(expected); all \(answersOfAll), expected \(expectedOfAll)
                        """)
                }
            }
            #expect(followedNow == followed, "\(story); channels of \(user)")
        }
    }

    private func newViewer(_ user: String, _ room: Room) async throws -> Viewer {
        let id = UserID(user, in: ChatFixture.app)
        let now = room.service.clock.now
        let stored = try await MembershipSnapshot.read(
            id, naming: Set(AccessHistory.channels.map { ExactText($0) }), from: room.service.engine.directory,
            room.service.presence.store, pendingDeletions: room.service.pendingDeletions, now: now)
        let memberships = UserMemberships(id)
        for (name, isPrivate) in stored.named {
            memberships.name(SubscribedChannel(isPrivate: isPrivate), name, at: now)
        }
        memberships.add(stored, [])
        return Viewer(memberships, device: "phone")
    }
}

// MARK: - Histories

/// Operations in a random order, some of which are refused.
private struct AccessHistory {
    static let users = ["ana", "ben", "cleo"]
    /// Two of them are users' own channels, and the last one is a direct channel.
    static let channels = ["crew", "plaza", "hall", "ana", "ben", ChannelRecord.direct(between: ["ana", "ben"]).id]

    private let room: Room
    private var random: SeededGenerator
    /// True when the last operation has consequences that come later.
    private(set) var hasConsequences = false

    init(in room: Room, seed: UInt64) {
        self.room = room
        random = SeededGenerator(seed: seed)
    }

    /// Creates most of the channels.
    func begin() async throws {
        for (id, kind) in [("crew", ChannelKind.group), ("plaza", .public), ("hall", .open), ("ben", .group)] {
            var new = NewChannel(kind: kind, id: id)
            if kind.hasMembers { new.users = ["ana"] }
            _ = try await room.chat.make(new)
        }
        var direct = NewChannel(kind: .direct)
        direct.users = ["ana", "ben"]
        _ = try await room.chat.make(direct)
        try await settle()
    }

    /// Carries out one operation and returns its description.
    mutating func advance() async -> String {
        let user = Self.users[random.below(Self.users.count)]
        let other = Self.users[random.below(Self.users.count)]
        let channel = Self.channels[random.below(Self.channels.count)]
        let kind = ChannelKind.allCases[random.below(ChannelKind.allCases.count)]
        let (act, isOn) = (random.below(18), random.below(2) == 0)
        hasConsequences = [14, 15, 17].contains(act)
        do throws(ChatError) {
            try await perform(act, user, other, channel, kind, isOn)
            return "operation \(act) of \(user) in \(channel), \(kind), \(isOn)"
        } catch { return "operation \(act) of \(user) in \(channel) refused: \(error.slug ?? error.message)" }
    }

    private func perform(
        _ act: Int, _ user: String, _ other: String, _ channel: String, _ kind: ChannelKind, _ isOn: Bool
    ) async throws(ChatError) {
        let chat = room.chat
        switch act {
        case 0:
            var new = NewChannel(kind: kind, id: kind == .direct ? nil : channel)
            new.users = kind == .direct ? ["ana", "ben"] : kind.hasMembers ? [other] : []
            _ = try await chat.make(new, by: kind == .direct || isOn ? nil : user)
        case 1, 2: _ = try await chat.join(user, to: channel)
        case 3: _ = try await room.chat(of: user).join(user, to: channel)
        case 4: _ = try await chat.invite([user], to: channel)
        case 5: _ = try await chat.leave(user, from: channel)
        case 6: try await chat.declineInvite(of: user, to: channel, by: user)
        case 7, 8, 16:
            var request = RestrictionRequest(isBan: act != 8, isMute: act == 8)
            if isOn { request.until = room.service.clock.now.adding(.seconds(5)) }
            _ = try await chat.restrict(user, in: channel, request)
        case 9: try await chat.lift(restrictionOf: user, in: channel)
        case 10: _ = try await chat.freeze(channel, isOn)
        case 11: _ = try await chat.appoint(user, in: channel, isOn ? .operator : .member)
        case 12 where isOn: _ = try await chat.enter(user, into: "hall")
        case 12: _ = try await chat.exit(user, from: channel)
        case 13 where isOn: _ = try await chat.block(other, for: user)
        case 13: _ = try await chat.unblock(other, for: user)
        case 14: try await chat.delete(channel: channel)
        case 15: _ = try await chat.put(channel: channel, kind: kind, ChannelEdit())
        default: room.advance(.seconds(3))
        }
    }

    /// Completes what follows from the operations: ends of restrictions, removals of records, presence, and the
    /// distribution of all events.
    func settle() async throws {
        await room.service.sweepRestrictions()
        await room.service.sweepDeleted()
        try await room.service.presence.tick()
        let newest = try await room.service.engine.log.watermark(of: ChatFixture.app)
        #expect(await room.service.hub.reach(newest))
    }
}
