public import ChatModel
import JSON
import Locking
import Synchronization

/// Announces the newest message of a channel with a `channel.activity` event, if the channel has a follower of this
/// type. Each channel has at most one such event per second, always with the newest message.
///
/// The hub passes every committed event to ``record(_:)``; without followers, this costs one read of a flag. For each
/// channel, the first message that is not announced yet is recorded. The newest message is read at the time of the
/// announcement, so a message that is already deleted is not announced.
final class ChannelActivity: Sendable {
    /// The minimum time between two announcements of a channel.
    static let interval: Duration = .seconds(1)
    /// The maximum number of announcements that run concurrently. The store can commit concurrent announcements
    /// together.
    private static let atOnce = 32

    /// A channel with a message that is not announced yet, or with an announcement less than ``interval`` ago.
    private struct Entry {
        /// The first message that is not announced yet; nil when all are announced.
        var first: Timetoken?
        /// The earliest time of the next announcement.
        var due: Timetoken
    }

    private struct State {
        var followers: ActivityFollowers
        var entries: [ChannelID: Entry] = [:]
    }

    private let engine: any Engine
    private let clock: WallClock
    private let channelsMost: Int
    /// True if other nodes announce the same messages.
    private let isShared: Bool
    private let state: Lock<State>
    private let isFollowed = Atomic(false)
    private let changeSignal = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(engine: any Engine, limits: Limits, clock: WallClock) {
        self.engine = engine
        self.clock = clock
        channelsMost = limits.activityChannelsHeld
        isShared = engine.directory.isShared
        state = Lock(State(followers: ActivityFollowers(endedMost: limits.activityChannelsHeld)))
    }
}

// MARK: - Followers

extension ChannelActivity {
    /// True when there is a follower of the type `channel.activity`. Costs one atomic read.
    var hasFollowers: Bool { isFollowed.load(ordering: .acquiring) }

    /// Changes the followers with `body`, and updates ``hasFollowers``.
    func change(_ body: (inout ActivityFollowers) -> Void) {
        state.withLock { state in
            body(&state.followers)
            isFollowed.store(!state.followers.isEmpty, ordering: .releasing)
        }
    }
}

// MARK: - Messages

extension ChannelActivity {
    /// The number of channels with a message that is not announced yet, or with an announcement less than a second ago.
    var channelsHeld: Int { state.withLock { $0.entries.count } }
}

extension ChannelActivity {
    /// Records that the channel of a committed event has a message to announce. Ignores the event unless it is a stored
    /// message, is not a reply, and its channel has a follower. Also ignores new channels while
    /// `Limits.activityChannelsHeld` channels are recorded.
    func record(_ event: Event) {
        guard hasFollowers else { return }
        if isShared, event.type == BuiltInTypes.channelActivity { return postpone(event) }
        guard event.type == BuiltInTypes.messageCreated, event.retention == .kept, event.draft.thread == nil
        else { return }
        let isNew = state.withLock { state in
            guard state.followers.follow(event) else { return false }
            guard state.entries[event.channel] == nil else {
                if state.entries[event.channel]?.first == nil { state.entries[event.channel]?.first = event.timetoken }
                return false
            }
            guard state.entries.count < channelsMost else { return false }
            state.entries[event.channel] = Entry(first: event.timetoken, due: clock.now)
            return true
        }
        if isNew { changeSignal.continuation.yield() }
    }

    /// Postpones the next announcement of a channel, because a node has just made one.
    private func postpone(_ event: Event) {
        // An event about the unread count of one user announces no message.
        if case .rule(.user, _) = event.audience { return }
        let due = clock.now.adding(Self.interval)
        state.withLock { $0.entries[event.channel]?.due = due }
    }

    /// Announces due messages repeatedly, until cancelled. Waits while there is nothing to announce.
    func runReports() async {
        for await _ in changeSignal.stream {
            while !Task.isCancelled {
                await report()
                guard state.withLock({ !$0.entries.isEmpty }) else { break }
                // If the task was cancelled, the loop's condition ends the loop.
                try? await Task.sleep(for: Self.interval)
            }
        }
    }

    /// Announces the newest message of every channel with a new message and no announcement in the last second.
    func report() async {
        var due = removeDue(at: clock.now)[...]
        while !due.isEmpty {
            await withDiscardingTaskGroup { group in
                for (channel, first) in due.prefix(Self.atOnce) {
                    group.addTask { await self.report(channel, since: first) }
                }
            }
            due = due.dropFirst(Self.atOnce)
        }
    }

    private func removeDue(at now: Timetoken) -> [(channel: ChannelID, first: Timetoken)] {
        let next = now.adding(Self.interval)
        return state.withLock { state in
            state.followers.forgetEnded()
            isFollowed.store(!state.followers.isEmpty, ordering: .releasing)
            var due: [(channel: ChannelID, first: Timetoken)] = []
            // If the clock was set back, all channels are due.
            for (channel, entry) in state.entries where entry.due <= now || entry.due > next {
                guard let first = entry.first else {
                    state.entries[channel] = nil
                    continue
                }
                state.entries[channel] = Entry(first: nil, due: next)
                due.append((channel, first))
            }
            return due
        }
    }

    private func report(_ channel: ChannelID, since first: Timetoken) async {
        do throws(ChatError) {
            try await reportNewest(of: channel, since: first)
        } catch {
            // The next round tries again, together with newer messages.
            state.withLock { $0.entries[channel, default: Entry(first: first, due: clock.now)].first = first }
        }
    }

    /// Announces the newest message that still exists. Announces nothing if all new messages were deleted.
    private func reportNewest(of channel: ChannelID, since first: Timetoken) async throws(ChatError) {
        var request = HistoryRequest(
            channel: channel, after: Timetoken(first.rawValue - 1), order: .newestFirst, limit: 10)
        request.types = [.exact(BuiltInTypes.messageCreated)]
        request.thread = .none
        while true {
            let page = try await engine.log.history([request])[0]
            for message in page.items {
                if try await report(message) { return }
            }
            guard let rest = request.rest(behind: page) else { return }
            request = rest
        }
    }

    /// Announces a message.
    ///
    /// - Returns: true when the message is still there: either the message was announced, or the readers of the message
    ///   are unknown because the channel has no record. False when the message is deleted or no longer stored.
    private func report(_ message: Event) async throws(ChatError) -> Bool {
        let app = message.channel.app
        let keys = [
            MessageRecord.key(message.channel.name, message.timetoken, in: app),
            ChannelRecord.key(message.channel.name, in: app),
        ]
        do throws(ChatError) {
            return try await engine.directory.decide(keys) { [isShared] snapshot in
                let shown = Message(message, snapshot[keys[0]].flatMap { MessageRecord($0) })
                guard !shown.isDeleted else { return Decision(false) }
                let channel = snapshot[keys[1]].flatMap { ChannelRecord($0) }
                // The message was only for the members of the channel. Without the channel's record, its members are
                // unknown, so nothing is announced.
                guard channel != nil || message.audience == .subscribers else { return Decision(true) }
                var event = Self.event(of: shown, in: channel)
                // The nodes announce the message once.
                if isShared { event.deduplicationKey = "activity/\(message.timetoken)" }
                var decision = Decision(true, events: [event])
                decision.requires = [(message.channel, message.timetoken)]
                return decision
            }.value
        } catch {
            guard error.code == .notFound else { throw error }
            return false
        }
    }

    private static func event(of message: Message, in channel: ChannelRecord?) -> EventDraft {
        var draft = draft(on: message.event.channel, about: message.event.channel.name, channel) { writer in
            writer.key("last_message")
            message.print(to: &writer)
        }
        draft.user = message.event.user
        draft.audience = channel.audience(members: .joined, inside: .participants)
        return draft
    }

    /// Creates a draft of a `channel.activity` event.
    ///
    /// - Parameters:
    ///   - place: the channel on which the event is sent.
    ///   - name: the name of the channel that the event describes.
    ///   - channel: the record of the described channel; nil when that channel has no record.
    ///   - print: prints the further members of the event's data.
    static func draft(
        on place: ChannelID, about name: String, _ channel: ChannelRecord?, _ print: (inout JSONWriter) -> Void
    ) -> EventDraft {
        let data = JSONText { writer in
            writer.beginObject()
            writer.key("channel")
            writer.beginObject()
            if let channel { channel.printReferenceMembers(to: &writer) } else { writer.member("id", name) }
            writer.endObject()
            print(&writer)
            writer.endObject()
        }
        return EventDraft(channel: place, type: BuiltInTypes.channelActivity, retention: .passing, data: data)
    }
}

extension ChatService {
    /// Sets the channels for which a webhook or subscription receives `channel.activity`.
    ///
    /// - Parameter channels: the channels of the webhook or subscription, if it receives events and selects this type by
    ///   name; otherwise nil.
    public func followActivity(_ channels: ChannelSet?, by subscriber: SubscriberID) {
        activity.change { $0.setWebhook(channels, of: subscriber) }
    }
}
