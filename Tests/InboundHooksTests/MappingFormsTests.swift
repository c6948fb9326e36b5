import ChatCore
import ChatModel
import InboundHooks
import JSON
import Testing

@Suite("A mapping of several events") struct MappingFormsTests {
    /// The events that a post produces, each as `channel type data`.
    private static func events(
        _ mapping: String, _ post: InboundPost, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [String] {
        nonisolated(unsafe) var events: [String] = []
        try await InboundFixture.with { fixture in
            try await fixture.put("s", #"{"scheme":"none","mapping":\#(mapping)}"#)
            events = try await fixture.gate.accept(post, for: "s").events.map {
                "\($0.event.channel.name) \($0.event.type) \($0.event.data)"
            }
        }
        return events
    }

    static let byKind =
        #"{"$switch":"header/X-Kind","cases":{"push":{"channel":"a","type":"push","data":{"$":"body"}},"ping":null},"default":{"channel":"b","type":"other","data":0}}"#

    @Test(
        "chooses between events, and may produce none",
        arguments: [("push", ["a push 7"]), ("ping", []), ("x", ["b other 0"])])
    func choice(kind: String, expected: [String]) async throws {
        #expect(try await Self.events(Self.byKind, InboundPost([("x-kind", kind)], text: "7")) == expected)
    }

    @Test("produces one event for each element for which its condition holds")
    func each() async throws {
        let mapping =
            #"{"each":"body/items","as":"item","when":{"item/skip":{"not":true}},"channel":"{body/shop}.{item/id}","type":"sold","data":{"$":"item"}}"#
        let body = #"{"shop":"s1","items":[{"id":1},{"id":2,"skip":true},{"id":3}]}"#
        #expect(
            try await Self.events(mapping, InboundPost(text: body))
                == [#"s1.1 sold {"id":1}"#, #"s1.3 sold {"id":3}"#])
    }

    @Test("produces nothing where its condition does not hold")
    func when() async throws {
        let mapping = #"{"when":{"body/action":["opened","closed"]},"channel":"a","type":"{body/action}","data":{}}"#
        #expect(try await Self.events(mapping, InboundPost(text: #"{"action":"opened"}"#)) == ["a opened {}"])
        #expect(try await Self.events(mapping, InboundPost(text: #"{"action":"labeled"}"#)).isEmpty)
    }

    @Test("takes texts from instructions too")
    func instructions() async throws {
        let mapping =
            #"{"channel":"a","type":{"$join":["shop",{"$":"header/X-Topic","to":"name"}],"separator":"."},"data":{}}"#
        #expect(
            try await Self.events(mapping, InboundPost([("X-Topic", "orders/create")], text: ""))
                == ["a shop.orders.create {}"])
    }

    @Test("produces no more events, bytes or work than a batch may have")
    func bounds() async throws {
        func failing(_ mapping: String, _ text: String) async throws -> ChatError {
            try await failure { _ = try await Self.events(mapping, InboundPost(text: text)) }
        }
        let one = #"{"each":"body","as":"i","channel":"a","type":"t","data":{"$":"i"}}"#
        func list(_ count: Int, _ element: String = "1") -> String {
            "[" + Array(repeating: element, count: count).joined(separator: ",") + "]"
        }
        #expect(try await Self.events(one, InboundPost(text: list(500))).count == 500)
        #expect(try await failing(one, list(501)).code == .tooLarge)
        // One element of 100 KiB exceeds the limit for data. Twenty elements of 60 KiB exceed the limit for a batch.
        let text = "\"" + String(repeating: "x", count: 60 * 1024) + "\""
        let copies =
            #"{"each":"body/n","as":"i","channel":"a","type":"t","data":{"$":"body/text"}}"#
        #expect(try await failing(copies, #"{"n":\#(list(20)),"text":\#(text)}"#).code == .tooLarge)
        let nested =
            #"{"channel":"a","type":"t","data":{"$join":{"$each":"body","as":"i","value":{"$join":{"$each":"body","as":"j","when":{"j":2},"value":1}}}}}"#
        #expect(try await failing(nested, list(2000)).slug == "mapping_too_costly")
    }

    @Test(
        "with a mistake is refused with the place of it",
        arguments: [
            (#"null"#, "#"), (#"[null]"#, "#/0"),
            (#"{"$switch":"header/X","cases":{"a":{"channel":"a"}}}"#, "#/cases/a"),
            (#"{"$switch":"header/X","cases":{"a":null},"x":1}"#, "#/x"),
            (#"{"each":"body","channel":"a","type":"t","data":1}"#, "#/as"),
            (#"{"as":"i","channel":"a","type":"t","data":1}"#, "#/each"),
            (#"{"when":{"bdoy":1},"channel":"a","type":"t","data":1}"#, "#/when/bdoy"),
            (#"{"channel":"a","type":"t","data":"{item/x}"}"#, "#/data"),
            (#"{"channel":1,"type":"t","data":1}"#, "#/channel"), (#"{"channel":"","type":"t","data":1}"#, "#/channel"),
        ])
    func mistakes(mapping: String, pointer: String) throws {
        let error = #expect(throws: ChatError.self) { try Mapping(JSONText(trusted: Array(mapping.utf8))) }
        #expect(error?.faults.map(\.pointer).contains(pointer) == true, "\(String(describing: error?.faults))")
    }

    @Test("of one post recognises each event when the post is repeated")
    func repeated() async throws {
        try await InboundFixture.with { fixture in
            let mapping = #"{"each":"body","as":"i","channel":"a","type":"t","data":{"$":"i"}}"#
            try await fixture.put("s", #"{"scheme":"github","secrets":["topsecret"],"mapping":\#(mapping)}"#)
            let post = PostReceiverTests.github("[1,2,3]")
            #expect(try await fixture.gate.accept(post, for: "s").events.map(\.isDuplicate) == [false, false, false])
            #expect(try await fixture.gate.accept(post, for: "s").events.map(\.isDuplicate) == [true, true, true])
            #expect(try await fixture.events(on: "a").count == 3)
        }
    }

    @Test("of one post is not confused with that of another, whatever its id")
    func distinct() async throws {
        try await InboundFixture.with { fixture in
            let mapping = #"{"each":"body","as":"i","channel":"a","type":"t","data":{"$":"i"}}"#
            try await fixture.put("s", #"{"scheme":"github","secrets":["topsecret"],"mapping":\#(mapping)}"#)
            for (id, body) in [("x", "[1,2]"), ("x/1", "[3]"), ("1/x", "[4]"), ("0/x", "[5]")] {
                let post = PostReceiverTests.github(body, delivery: id)
                #expect(try await fixture.gate.accept(post, for: "s").events.allSatisfy { !$0.isDuplicate }, "\(id)")
            }
            #expect(try await fixture.events(on: "a").count == 5)
        }
    }
}

@Suite("A post that is not JSON") struct PostFormsTests {
    private static func data(_ template: String, _ post: InboundPost) async throws -> String {
        nonisolated(unsafe) var data = ""
        try await InboundFixture.with { fixture in
            try await fixture.put("s", #"{"scheme":"none","mapping":{"channel":"a","type":"t","data":\#(template)}}"#)
            data = try await fixture.gate.accept(post, for: "s").events[0].event.data.description
        }
        return data
    }

    private static let form: [InboundPost.Field] = [
        ("content-type", "application/x-www-form-urlencoded; charset=utf-8")
    ]

    @Test(
        "is read as the form it is",
        arguments: [
            (#""{form/From} {form/Body}""#, "From=%2B1415&Body=a+b%20%C3%A9", #""+1415 a b é""#),
            (#"{"$":"body"}"#, "a=1&b=&c", #"{"a":"1","b":"","c":""}"#),
            (#"{"$":"body"}"#, "a=1&b=2&a=3", #"{"a":["1","3"],"b":"2"}"#),
            (#"{"$":"form/n","to":"number"}"#, "n=100.10", "100.10"),
            // The forms of GitHub and Slack.
            (#"{"$":"body/ref"}"#, "payload=%7B%22ref%22%3A1.50%7D", "1.50"),
            (#"{"$":"body/payload"}"#, "payload=none", #""none""#),
            // curl's default content type for a JSON body.
            (#"{"$":"body/a"}"#, #"{"a":1.0}"#, "1.0"), (#"{"$":"form/{a"}"#, "%7Ba=1", #""1""#),
        ])
    func forms(template: String, body: String, expected: String) async throws {
        #expect(try await Self.data(template, InboundPost(Self.form, text: body)) == expected)
    }

    @Test("nor a form is refused", arguments: ["a=%", "a=%zz", "a=%ff"])
    func brokenForms(body: String) async throws {
        let error = try await failure { _ = try await Self.data(#"{"$":"body"}"#, InboundPost(Self.form, text: body)) }
        #expect(error.code == .malformed)
    }

    @Test(
        "is refused where it begins as invalid JSON, also as the field 'payload'",
        arguments: [
            (#"{"a":1,"a":2}"#, "duplicate_name"), (#"{"a":"#, nil),
            (String(repeating: "[", count: 100) + String(repeating: "]", count: 100), "too_deep"),
            ("payload=%7B%22ref%22%3A1%2C%22ref%22%3A2%7D", "duplicate_name"), ("payload=%7Bref", nil),
        ])
    func refusedJSON(body: String, slug: String?) async throws {
        let error = try await failure { _ = try await Self.data(#"{"$":"body"}"#, InboundPost(Self.form, text: body)) }
        #expect(error.code == .malformed && error.slug == slug)
        #expect(error.message.hasPrefix("the JSON is not accepted"))
    }

    @Test("is text or JSON by its declared type")
    func texts() async throws {
        let plain: [InboundPost.Field] = [("Content-Type", "text/plain")]
        #expect(try await Self.data(#"{"$":"body"}"#, InboundPost(plain, text: "a \"b\"")) == #""a \"b\"""#)
        #expect(try await Self.data(#"{"$":"body"}"#, InboundPost(plain, text: #"{"a":1.0}"#)) == #"{"a":1.0}"#)
    }
}

@Suite("A CloudEvent posted to a source") struct CloudEventPostTests {
    static let structured =
        #"{"specversion":"1.0","id":"1","source":"/s","type":"order.paid","subject":"orders","data":{"n":1.50}}"#

    static let binary: [InboundPost.Field] = [
        ("ce-specversion", "1.0"), ("ce-id", "1"), ("ce-source", "/s"), ("ce-type", "order.paid"),
        ("ce-subject", "Euro%20%E2%82%AC"), ("content-type", "application/json"),
    ]

    private static func receive(_ posts: [InboundPost]) async throws -> [Appended] {
        nonisolated(unsafe) var events: [Appended] = []
        try await InboundFixture.with { fixture in
            try await fixture.put("s", #"{"scheme":"none"}"#)
            for post in posts { events += try await fixture.gate.accept(post, for: "s").events }
        }
        return events
    }

    @Test("needs no mapping, in whatever mode it comes")
    func modes() async throws {
        let structured = InboundPost([("Content-Type", "application/cloudevents+json")], text: Self.structured)
        let other = Self.structured.replacing(#""id":"1""#, with: #""id":"2""#)
        let batch = InboundPost(
            [("Content-Type", "application/cloudevents-batch+json")], text: "[\(Self.structured),\(other)]")
        var binary = InboundPost(Self.binary, text: #"{"n":1.50}"#)
        binary.headers.removeAll { $0.name == "ce-subject" }
        binary.headers.append(("CE-Subject", "orders"))
        let events = try await Self.receive([structured, batch, binary])
        #expect(events.map(\.event.channel.name) == ["orders", "orders", "orders", "orders"])
        #expect(events.map(\.event.type) == Array(repeating: "order.paid", count: 4))
        #expect(events.map(\.event.data.description) == Array(repeating: #"{"n":1.50}"#, count: 4))
        // The pair of source and id identifies a repeat: the first of the batch and the binary one repeat the
        // structured one.
        #expect(events.map(\.isDuplicate) == [false, true, false, true])
    }

    @Test("may be an empty batch, which is accepted and produces no event")
    func emptyBatch() async throws {
        let batch = InboundPost([("Content-Type", "application/cloudevents-batch+json")], text: "[]")
        #expect(try await Self.receive([batch]).isEmpty)
    }

    @Test("in a batch shares the limits of one post with the others")
    func shared() async throws {
        var limits = Limits()
        limits.batchEvents = 3
        limits.batchBodyBytes = 100_000
        let one = #"{"channel":"a","type":"t","data":{"$":"cloudevent/data"}}"#
        let large = #"{"channel":"a","type":"t","data":{"$":"cloudevent/data"}}"#
        let costly =
            #"{"channel":"a","type":"t","data":{"$each":"cloudevent/data","as":"e","when":{"e":"x"},"value":1}}"#
        let cases = [
            ("[\(one),\(one)]", "1", 3, "more than 3 events"),
            (large, #""\#(String(repeating: "x", count: 60_000))""#, 2, "together larger"),
            (costly, "[\(Array(repeating: "1", count: 30_000).joined(separator: ","))]", 1, "too much work"),
        ]
        try await InboundFixture.with(limits: limits) { fixture in
            for (index, (mapping, data, accepted, complaint)) in cases.enumerated() {
                try await fixture.put("s\(index)", #"{"scheme":"none","mapping":\#(mapping)}"#)
                let events = (0..<3).prefix(index == 0 ? 2 : 3).map { number in
                    #"{"specversion":"1.0","id":"\#(number)","source":"/s","type":"t","data":\#(data)}"#
                }
                let post = InboundPost(
                    [("Content-Type", "application/cloudevents-batch+json")],
                    text: "[\(events.joined(separator: ","))]")
                let trial = try await fixture.gate.test(post, for: "s\(index)", by: InboundFixture.owner)
                #expect(trial.outcomes.count == accepted, "\(complaint)")
                #expect(trial.errors.first?.message.contains(complaint) == true, "\(trial.errors)")
                let refused = try await failure { _ = try await fixture.gate.accept(post, for: "s\(index)") }
                #expect(refused.code == .tooLarge && refused.message.contains(complaint))
            }
        }
    }

    @Test("in binary mode has its attributes decoded")
    func decoded() async throws {
        let event = try await Self.receive([InboundPost(Self.binary, text: "{}")])[0].event
        #expect(event.channel.name == "Euro €")
        #expect(try JSONDocument(try #require(event.meta)).root["cloudevent"]?["source"]?.string == "/s")
    }

    @Test("in binary mode is refused with an attribute twice, and with the type of its data twice")
    func twice() async throws {
        for field in [("CE-ID", "2"), ("ce-datacontenttype", "text/plain")] {
            let error = try await failure {
                _ = try await Self.receive([InboundPost(Self.binary + [field], text: "{}")])
            }
            #expect(error.slug == "bad_cloud_event", "\(field)")
        }
    }

    @Test(
        "that is invalid is refused",
        arguments: [
            #"{"specversion":"9.9","id":"1","source":"/s","type":"t"}"#,
            #"{"specversion":"1.0","source":"/s","type":"t"}"#,
            #"{"specversion":"1.0","id":"","source":"/s","type":"t"}"#,
            #"{"specversion":"1.0","id":"1","source":"/s"}"#,
            "[]", "7",
        ])
    func refused(text: String) async throws {
        let error = try await failure {
            _ = try await Self.receive([InboundPost([("Content-Type", "application/cloudevents+json")], text: text)])
        }
        #expect(error.slug == "bad_cloud_event")
    }

    @Test("is asked for by no provider's scheme without a mapping")
    func mappingForgotten() async throws {
        try await InboundFixture.with { fixture in
            let error = try await failure { try await fixture.put("s", #"{"scheme":"github","secrets":["x"]}"#) }
            #expect(error.faults.map(\.detail) == ["missing member 'mapping'"])
        }
    }
}
