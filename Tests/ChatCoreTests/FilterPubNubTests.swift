import ChatCore
import ChatModel
import JSON
import Testing

@Suite("A PubNub filter") struct FilterPubNubTests {
    static let event = sampleEvent(
        type: "message.created", kind: .message, user: "alice", data: #"{"score":80,"typed":true}"#,
        meta: #"{"language":"en","age":20,"region":"eu-1","tag":"B","priority":"high","a":{"b":{"c":1}},"data":7}"#,
        wire: #"{"score":81}"#)

    @Test(
        "reads bare names as members of meta",
        arguments: [
            FilterCase("uuid != 'me'", true), FilterCase("uuid == 'alice'", true),
            FilterCase("userId == 'alice'", true),
            FilterCase("user_id == 'alice'", true), FilterCase("language == 'en' && age >= 18", true),
            FilterCase("meta.region LIKE 'eu-*'", true), FilterCase("('a','b','c') CONTAINS tag", true),
            FilterCase("!(meta.hidden == true)", true),
            FilterCase("data.score > 80 || meta.priority == \"high\"", true),
            FilterCase("data.score > 80", true), FilterCase("data.typed", false), FilterCase("a.b.c == 1", true),
            FilterCase("a['b']['c'] == meta.a.b[\"c\"]", true), FilterCase("data == 7", true),
            FilterCase("type == 'message.created'", false), FilterCase("nothing == 1", false),
        ])
    func names(_ row: FilterCase) throws {
        #expect(try Filter(row.text, dialect: .pubnub).accepts(Self.event) == row.selects)
    }

    @Test("prefers a member of meta to the publisher")
    func publisherInMeta() throws {
        let event = sampleEvent(kind: .message, user: "alice", meta: #"{"uuid":"bob"}"#)
        #expect(try Filter("uuid == 'bob' && userId == 'alice'", dialect: .pubnub).accepts(event))
    }

    @Test("rejects events without meta when it names only meta")
    func noMeta() throws {
        let event = sampleEvent(kind: .message)
        #expect(try !Filter("language == 'en'", dialect: .pubnub).accepts(event))
        #expect(try !Filter("language != 'en'", dialect: .pubnub).accepts(event))
    }

    @Test("reads presence from the metadata its readers are shown")
    func presence() throws {
        let subject = FilterSubject(
            sampleEvent(type: "presence.joined", kind: .presence, user: "u1"),
            wireData: JSONText(trusted: Array(#"{"action":"join"}"#.utf8)),
            wireMeta: JSONText(trusted: Array(#"{"pn_action":"join","pn_occupancy":2,"pn_ispresence":1}"#.utf8)))
        func accepts(_ text: String) throws -> Bool { try Filter(text, dialect: .pubnub).accepts(subject) }
        #expect(try accepts("pn_action == 'join' && pn_occupancy > 1 && data.action == 'join'"))
        #expect(try accepts("language == 'en' || pn_ispresence == 1"))
        #expect(try !accepts("language == 'en'"))
        #expect(try !accepts("uuid == 'u1'"), "presence has no publisher")
    }

    @Test("accepts record changes and actions", arguments: [EventKind.recordChange, .action])
    func neverFiltered(_ kind: EventKind) throws {
        let event = sampleEvent(type: "user.updated", kind: kind)
        #expect(try Filter("false", dialect: .pubnub).accepts(event))
        #expect(try !Filter("false", dialect: .native).accepts(event))
    }
}

/// An event to try filters on.
func sampleEvent(
    type: String = "order.paid", kind: EventKind = .other, channel: String = "orders.eu", user: String? = "ana",
    data: String = "{}", meta: String? = nil, customType: String? = nil, wire: String? = nil
) -> Event {
    var draft = EventDraft(
        channel: ChannelID(channel, in: AppID("demo")), type: type, kind: kind,
        data: JSONText(trusted: Array(data.utf8)), user: user, meta: meta.map { JSONText(trusted: Array($0.utf8)) })
    draft.customType = customType
    draft.wire = wire.map { JSONText(trusted: Array($0.utf8)) }
    return Event(timetoken: 17_324_123_456_789_012, draft: draft)
}

/// One row of a table: an expression, and whether it selects the table's event.
struct FilterCase: Sendable, CustomTestStringConvertible {
    let text: String
    let selects: Bool

    init(_ text: String, _ selects: Bool) {
        self.text = text
        self.selects = selects
    }

    var testDescription: String { "\(text) is \(selects)" }
}
