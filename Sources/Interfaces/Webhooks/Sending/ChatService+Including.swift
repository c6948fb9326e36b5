import ChatCore
import ChatModel
import JSON

extension ChatService {
    /// Adds the included objects (such as the sender's user record) in their current state to the envelopes of events.
    ///
    /// - Parameters:
    ///   - envelopes: the timetokens and plain envelopes of events of one app.
    /// - Throws: the errors of the store.
    func including(
        _ inclusion: IncludePolicy, in envelopes: [(event: Timetoken, envelope: [UInt8])], of app: AppID
    ) async throws(ChatError) -> [[UInt8]] {
        var events: [Event] = []
        for (timetoken, envelope) in envelopes {
            let kept = try await engine.log.event(at: timetoken, in: app)
            events.append(kept ?? Self.event(at: timetoken, printed: envelope, in: app))
        }
        let included = try await chat(for: .gateway(in: app)).included(with: events, inclusion)
        return zip(envelopes, included).map { one, included in
            JSONText(trusted: one.envelope).envelope(including: included.text).bytes
        }
    }

    /// Creates an event from its printed envelope, for an event that is no longer in the log. The event has only the
    /// parts that determine its included objects: timetoken, channel, type and user. Only an ephemeral event can be
    /// missing from the log, so the event is in no thread.
    private static func event(at timetoken: Timetoken, printed envelope: [UInt8], in app: AppID) -> Event {
        func text(_ name: String) -> String? {
            JSONText(trusted: envelope).rawMember(name).flatMap { try? JSONDocument($0).root.string }
        }
        let draft = EventDraft(
            channel: ChannelID(text("channel") ?? "", in: app), type: text("type") ?? "", retention: .passing,
            data: .null, user: text("user"))
        return Event(timetoken: timetoken, draft: draft)
    }
}
