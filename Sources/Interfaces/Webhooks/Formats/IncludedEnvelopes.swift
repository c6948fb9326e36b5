import ChatCore
import ChatModel
import JSON

extension ChatService {
    /// Envelopes with the objects beside their events, read now.
    ///
    /// - Parameters:
    ///   - envelopes: plain envelopes of one app's events, with their places.
    /// - Throws: what the store throws.
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

    /// As much of an event that the log does not hold any more as says which objects stand beside it. It is a passing one, and so
    /// in no thread.
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

extension PreparedDelivery {
    /// The same with the objects beside its event, as they are now; itself where an attempt before has stored what it sent.
    ///
    /// - Throws: what the store throws.
    func including(_ objects: Set<IncludedObject>, from service: ChatService) async throws(ChatError) -> PreparedDelivery {
        guard let inclusion = IncludePolicy.ofApp(objects), PostContent.isEnvelope(body) else { return self }
        let delivery = lease.delivery
        let envelope = try await service.including(
            inclusion, in: [(event: delivery.event, envelope: body)], of: delivery.subscriber.app)[0]
        return PreparedDelivery(lease: lease, body: envelope, trace: trace)
    }
}
