import ChatCore
import ChatModel
import JSON
import Testing

@testable import PubNubAPI

@Suite("From the wire to a type") struct WireTypingTests {
    /// A payload and the event that it becomes when published or signalled.
    struct Example: Sendable, CustomTestStringConvertible {
        var channel = "room.1"
        let json: String
        var label: String?
        let type: String
        /// Nil for the payload as it was sent.
        var data: String?
        var customType: String?
        var testDescription: String { "\(json) \(label ?? "")" }
    }

    static let published: [Example] = [
        Example(json: "42", type: "message.created"),
        Example(
            json: #"{"type":"text","text":"hi"}"#, label: "order-paid", type: "message.created",
            customType: "order-paid"),
        Example(json: #"{"a":1}"#, label: "text", type: "message.created", customType: "text"),
        Example(json: #"{"a":1}"#, label: "order-paid", type: "order-paid"),
        Example(json: #"{"a":1}"#, label: "error", type: "message.created", customType: "error"),
        Example(json: #"{"a":1}"#, label: "open", type: "message.created", customType: "open"),
        Example(json: #"{"a":1}"#, label: "message", type: "message.created", customType: "message"),
        Example(json: #"{"type":"custom","a":1}"#, type: "custom"),
        Example(json: #"{"type":"else","a":1}"#, type: "message.created"),
        Example(
            channel: "bob", json: #"{"type":"mention","messageTimetoken":"17324123456799999","channel":"room.1"}"#,
            type: "user.mentioned",
            data:
                #"{"message":{"timetoken":"17324123456799999","channel":"room.1","user":"ana"}}"#
        ),
        Example(
            channel: "bob", json: #"{"type":"invite","channelType":"group","channelId":"room.1"}"#,
            type: "member.invited", data: #"{"channel":{"id":"room.1","kind":"group"},"inviter":{"id":"ana"}}"#),
        Example(
            channel: "PUBNUB_INTERNAL_MODERATION_room.1",
            json:
                #"{"type":"report","text":"bad","reason":"rude","reportedMessageTimetoken":"17324123456799999","reportedMessageChannelId":"room.1","reportedUserId":"mallory","autoModerationId":null}"#,
            type: "report.created",
            data:
                #"{"reason":"rude","text":"bad","message":{"timetoken":"17324123456799999","channel":"room.1","user":"mallory"},"author":{"id":"mallory"},"user":{"id":"ana"}}"#
        ),
        Example(
            channel: "PUBNUB_INTERNAL_MODERATION.mallory",
            json:
                #"{"type":"moderation","channelId":"PUBNUB_INTERNAL_MODERATION_room.1","restriction":"banned","reason":"spam"}"#,
            label: "moderated", type: "user.banned",
            data: #"{"restriction":{"user":"mallory","channel":"room.1","ban":true,"mute":false,"reason":"spam"}}"#,
            customType: "moderated"),
        Example(
            channel: "mallory", json: #"{"type":"moderation","channelId":"room.1","restriction":"lifted"}"#,
            type: "user.unbanned",
            data: #"{"restriction":{"user":"mallory","channel":"room.1","ban":false,"mute":false,"reason":null}}"#),
        // A payload that claims a type and lacks its required members is a message.
        Example(json: #"{"type":"mention"}"#, type: "message.created"),
        Example(json: #"{"type":"report","reason":"rude"}"#, type: "message.created"),
        Example(json: #"{"type":"moderation","channelId":"a","restriction":"teased"}"#, type: "message.created"),
    ]

    static let signalled: [Example] = [
        Example(
            json: #"{"type":"typing","value":true}"#, type: "typing.started",
            data: #"{"user":{"id":"ana"}}"#),
        Example(
            json: #"{"type":"typing","value":false}"#, type: "typing.stopped",
            data: #"{"user":{"id":"ana"}}"#),
        Example(
            json: #"{"type":"receipt","messageTimetoken":"17324123456799999"}"#, type: "receipt.read",
            data: #"{"user":{"id":"ana"},"read_timetoken":"17324123456799999"}"#),
        Example(json: #"{"type":"custom","a":1}"#, type: "signal.sent"),
        Example(json: #"{"x":1}"#, label: "cursor", type: "signal.sent", customType: "cursor"),
        Example(json: #"{"type":"typing","value":"x"}"#, type: "signal.sent"),
        Example(json: #"{"type":"receipt","messageTimetoken":1}"#, type: "signal.sent"),
    ]

    @Test("a publish becomes the event of its type", arguments: published)
    func publish(_ example: Example) throws {
        let draft = try typing(example).publish()
        check(draft, example)
        #expect(draft.retention == .kept)
        #expect(draft.kind == .message)
    }

    @Test("a signal becomes the event of its type", arguments: signalled)
    func signal(_ example: Example) throws {
        let draft = try typing(example).signal()
        check(draft, example)
        #expect(draft.retention == .passing)
        #expect(draft.kind == .signal)
    }

    private func typing(_ example: Example) throws -> WireEventMapper {
        let payload = try #require(WirePayload(Array(example.json.utf8), depth: 64))
        return WireEventMapper(channel: example.channel, payload, user: "ana", label: example.label)
    }

    private func check(_ draft: EventDraft, _ example: Example) {
        #expect(draft.type == example.type)
        #expect(draft.data.description == example.data ?? example.json)
        #expect(draft.customType == example.customType)
        #expect(draft.wire?.description == example.data.map { _ in example.json })
    }

    @Test("every typed event is validated, and its reader gets the payload as it was sent with its label")
    func gate() async throws {
        try await PubNubHarness.run { gateway in
            for example in Self.published {
                let label = example.label.map { "&custom_message_type=\($0)" } ?? ""
                #expect(try await gateway.publish(example.channel, example.json, label).status == 200)
                let request = HistoryRequest(
                    channel: ChannelID(example.channel, in: PubNubHarness.app), order: .newestFirst, limit: 1)
                let event = try #require(try await gateway.chat.history([request], onWire: true)[0].items.first)
                #expect(event.type == example.type)
                let shown = try #require(VisiblePayload(event))
                #expect(shown.payload.description == example.json)
                #expect(shown.label == example.label)
                #expect(shown.kind == nil)
            }
            for example in Self.signalled {
                let label = example.label.map { "&custom_message_type=\($0)" } ?? ""
                let answer = try await gateway.signal(example.channel, example.json, label)
                let event = try await gateway.chat.event(try #require(Timetoken(text: answer.timetoken)))
                #expect(event.type == example.type)
                let shown = try #require(VisiblePayload(event))
                #expect(shown.payload.description == example.json)
                #expect(shown.label == example.label)
                #expect(shown.kind == 1)
            }
        }
    }

    @Test("a signal is small and never kept")
    func size() async throws {
        try await PubNubHarness.run { gateway in
            let fitting = "\"" + String(repeating: "x", count: 62) + "\""
            let taken = try await gateway.signal("a", fitting)
            #expect(taken.shape == #"[1,"Sent","<tt>"]"#)
            let long = "\"" + String(repeating: "x", count: 63) + "\""
            #expect(try await gateway.signal("a", long).shape == #"[0,"Signal size too large","<tt>"]"#)
            #expect(try await gateway.events("a").count == 0)
        }
    }

    @Test("a payload that violates its schema is refused with the place and the reason")
    func schema() async throws {
        try await PubNubHarness.run { gateway in
            let schema = JSONText(trusted: Array(#"{"type":"object","required":["amount"]}"#.utf8))
            _ = try await gateway.chat.declare("order-paid", EventTypeSettings())
            _ = try await gateway.chat.addVersion(SchemaProposal(schema: schema), to: "order-paid")
            let label = "&custom_message_type=order-paid"
            let refused = try await gateway.publish("a", "{}", label)
            #expect(refused.status == 400)
            #expect(refused.shape.hasPrefix(#"[0,"Schema violation: # "#))
            #expect(refused.shape.hasSuffix(#"","<tt>"]"#))
            #expect(try await gateway.publish("a", #"{"amount":1}"#, label).status == 200)
            let event = try #require(try await gateway.events("a").first)
            #expect(event.draft.schema == SchemaReference(type: "order-paid", version: 1))
        }
    }
}

@Suite("A native event on the PubNub wire") struct ShownPayloadTests {
    struct Example: Sendable, CustomTestStringConvertible {
        var channel = "room.1"
        let type: String
        var kind = EventKind.other
        let data: String
        var customType: String?
        /// Nil when the event is not shown.
        let shown: String?
        var label: String?
        var e: Int?
        var testDescription: String { "\(type) \(data)" }
    }

    @Test(
        "is shown as the Chat SDKs would have sent it, or not at all",
        arguments: [
            Example(
                type: "message.created", data: #"{"text":"hi \u00e9"}"#,
                shown: #"{"type":"text","text":"hi \u00e9","files":[]}"#),
            Example(type: "message.created", data: #"{"a":1}"#, customType: "note", shown: #"{"a":1}"#, label: "note"),
            Example(
                type: "message.created", data: #""hi""#, customType: "a label with spaces", shown: #""hi""#,
                label: "a label with spaces"),
            Example(type: "order-paid", data: "[1]", shown: "[1]", label: "order-paid"),
            Example(type: "order.paid", data: "[1]", shown: "[1]", label: "order.paid"),
            Example(type: "ab", data: "[1]", shown: "[1]", label: "ab"),
            Example(type: "user.shouted", data: "[1]", shown: "[1]", label: "user.shouted"),
            Example(type: "custom", data: "{}", shown: "{}"),
            Example(type: "signal.sent", kind: .signal, data: "1", shown: "1", e: 1),
            Example(type: "typing.started", data: "{}", shown: #"{"type":"typing","value":true}"#, e: 1),
            Example(
                type: "receipt.read", data: #"{"user":{"id":"ana"},"read_timetoken":"17324123456799999"}"#,
                shown: #"{"type":"receipt","messageTimetoken":"17324123456799999"}"#, e: 1),
            Example(
                channel: "bob", type: "member.invited",
                data: #"{"channel":{"id":"room.1","kind":"group"},"inviter":null}"#,
                shown: #"{"type":"invite","channelType":"group","channelId":"room.1"}"#),
            Example(
                type: "member.invited", data: #"{"channel":{"id":"room.1","kind":"group"},"inviter":null}"#, shown: nil),
            Example(
                channel: "PUBNUB_INTERNAL_MODERATION.mallory", type: "user.muted",
                data: #"{"restriction":{"user":"mallory","channel":"room.1","ban":false,"mute":true,"reason":"spam"}}"#,
                shown:
                    #"{"type":"moderation","channelId":"PUBNUB_INTERNAL_MODERATION_room.1","restriction":"muted","reason":"spam"}"#,
                label: "moderated"),
            Example(
                type: "user.muted",
                data: #"{"restriction":{"user":"mallory","channel":"room.1","ban":false,"mute":true}}"#,
                shown: nil),
            Example(
                type: "channel.frozen", data: "{}",
                shown:
                    #"{"source":"objects","version":"2.0","event":"set","type":"channel","data":{"id":"room.1","updated":"2024-11-24T01:39:05.678901Z","eTag":"4qkw0g2k5ck"}}"#,
                e: 2),
            Example(type: "channel.member_count.updated", data: "{}", shown: nil),
        ])
    func shown(_ example: Example) {
        var draft = EventDraft(
            channel: ChannelID(example.channel, in: AppID("demo")), type: example.type, kind: example.kind,
            data: JSONText(trusted: Array(example.data.utf8)))
        draft.customType = example.customType
        let shown = VisiblePayload(Event(timetoken: 17_324_123_456_789_012, draft: draft))
        #expect(shown?.payload.description == example.shown)
        #expect(shown?.label == example.label)
        #expect(shown?.kind == example.e)
    }
}
