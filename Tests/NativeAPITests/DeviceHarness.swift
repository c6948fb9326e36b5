import ChatModel
import JSON
import TestSupport
import Testing

@testable import ChatCore
@testable import NativeAPI

/// Writes records and events for tests of devices as the chat's operations would, without those operations.
extension StreamHarness {
    /// Writes like the chat's operations: the change is in effect when this returns.
    private func write(_ change: RecordChange) async throws {
        _ = try await service.decide([change.key]) { _ in Decision((), changes: [change]) }
    }

    func member(_ user: String, of channel: String, _ state: MemberState = .joined) async throws {
        var membership = MembershipRecord(user: user, channel: channel, state: state)
        membership.joined = state == .joined ? service.clock.now : .zero
        membership.invited = service.clock.now
        let key = MembershipRecord.key(user, channel, in: Self.app)
        try await write(RecordChange(key, body: membership.body, parent: channel))
    }

    func channel(_ name: String, _ kind: ChannelKind) async throws {
        let key = ChannelRecord.key(name, in: Self.app)
        try await write(RecordChange(key, body: ChannelRecord(id: name, kind: kind).body))
    }

    func ban(_ user: String, in channel: String, until: Timetoken? = nil) async throws {
        var restriction = RestrictionRecord(user: user, channel: channel, isBanned: true, isMuted: false)
        restriction.until = until
        let key = RestrictionRecord.key(user, channel, in: Self.app)
        try await write(RecordChange(key, body: restriction.body, parent: channel))
    }

    /// Appends an event for an audience.
    @discardableResult
    func tell(
        _ channel: String, _ n: Int, for audience: Audience, type: String = "order.paid", by user: String? = nil,
        from device: String? = nil, data: String? = nil
    ) async throws -> Timetoken {
        let text = data ?? "{\"n\":\(n)}"
        var draft = EventDraft(
            channel: ChannelID(channel, in: Self.app), type: type, data: JSONText(trusted: Array(text.utf8)),
            user: user)
        draft.audience = audience
        draft.originDevice = device
        return try await service.engine.log.append([draft], claim: nil).events[0].event.timetoken
    }

    /// A membership change, which its subject receives as well.
    @discardableResult
    func change(
        _ type: String, _ user: String, in channel: String, _ rule: AudienceRule = .joinedAndSubjects, n: Int = 0
    ) async throws -> Timetoken {
        try await tell(
            channel, n, for: .rule(rule, subjects: [user]), type: type,
            data: #"{"user":{"id":"\#(user)"},"restriction":{"user":"\#(user)"},"n":\#(n)}"#)
    }

    /// Sends an event to every user's own channel, so that a test knows that nothing else will arrive.
    func end(_ users: [String]) async throws {
        for user in users { try await tell(user, 999, for: .rule(.user, subjects: [user])) }
    }
}

extension EventStreamReader {
    /// The numbers of the events up to the end mark.
    func heard() async -> [Int] {
        var numbers: [Int] = []
        while let event = await next() {
            guard let number = event.number else { continue }
            if number == 999 { return numbers }
            numbers.append(number)
        }
        Issue.record("the stream ended before its end mark: \(numbers)")
        return numbers
    }
}
