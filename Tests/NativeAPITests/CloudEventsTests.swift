import HTTPServer
import JSON
import Testing

@Suite("CloudEvents") struct CloudEventsTests {
    private static let structured: [(name: String, value: String)] = [
        ("Content-Type", "application/cloudevents+json; charset=utf-8")
    ]

    @Test("in structured mode become events of their subject's channel")
    func structuredMode() async throws {
        try await APIFixture.run { api in
            let answer = await api.call(
                .post, "/v1/events",
                #"{"specversion":"1.0","id":"1","source":"/shop","type":"order.paid","subject":"orders","data":{"n":1.0},"tenant":"x"}"#,
                headers: Self.structured)
            #expect(answer.status == 201)
            #expect(answer["channel"]?.string == "orders")
            #expect(answer["type"]?.string == "order.paid")
            let id = try #require(answer["id"]?.string)
            let event = await api.call(.get, "/v1/events/\(id)")
            #expect(event.text.contains(#""data":{"n":1.0}"#))
            #expect(event["meta"]?["cloudevent"]?["source"]?.string == "/shop")
            #expect(event["meta"]?["cloudevent"]?["tenant"]?.string == "x")
        }
    }

    @Test("in binary mode are read from the header, decoded once")
    func binaryMode() async throws {
        try await APIFixture.run { api in
            let headers: [(name: String, value: String)] = [
                ("ce-specversion", "1.0"), ("ce-id", "1"), ("ce-source", "/s"), ("ce-type", "t"),
                ("CE-Subject", "Euro%20%E2%82%AC%20%F0%9F%98%80"), ("Content-Type", "application/json"),
                ("ce-percent", "100%2525"), ("ce-quoted", #""a \"b\"""#),
            ]
            let answer = await api.call(.post, "/v1/events", #"{"a":[1]}"#, headers: headers)
            #expect(answer.status == 201)
            #expect(answer["channel"]?.string == "Euro € 😀")
            let id = try #require(answer["id"]?.string)
            let event = await api.call(.get, "/v1/events/\(id)")
            #expect(event.text.contains(#""data":{"a":[1]}"#))
            #expect(event["meta"]?["cloudevent"]?["percent"]?.string == "100%25")
            #expect(event["meta"]?["cloudevent"]?["quoted"]?.string == #"a "b""#)
            #expect(event["meta"]?["cloudevent"]?["datacontenttype"]?.string == "application/json")
            let twice = await api.call(
                .post, "/v1/events", "{}", headers: headers + [("ce-datacontenttype", "text/plain")])
            #expect(twice.status == 400 && twice.code == "bad_cloud_event")
        }
    }

    @Test("in batches are stored all or none")
    func batchMode() async throws {
        try await APIFixture.run { api in
            let headers: [(name: String, value: String)] = [("Content-Type", "application/cloudevents-batch+json")]
            func event(_ id: String, _ type: String) -> String {
                #"{"specversion":"1.0","id":"\#(id)","source":"/s","type":"\#(type)","subject":"a","data":1}"#
            }
            let good = await api.call(.post, "/v1/events", "[\(event("1", "t")),\(event("2", "t"))]", headers: headers)
            #expect(good.status == 201)
            #expect(good["events"]?.count == 2)
            let bad = await api.call(.post, "/v1/events", "[\(event("3", "t")),\(event("4", ""))]", headers: headers)
            #expect(bad.status == 400)
            #expect(bad["errors"]?[0]?["pointer"]?.string == "#/1")
            #expect(await api.history("a").count == 2)
        }
    }

    @Test("with source and id seen before give the first event back")
    func duplicates() async throws {
        try await APIFixture.run { api in
            func post(_ source: String, _ id: String, _ data: Int) async -> Answer {
                await api.call(
                    .post, "/v1/events?channel=a",
                    #"{"specversion":"1.0","id":"\#(id)","source":"\#(source)","type":"t","data":\#(data)}"#,
                    headers: Self.structured)
            }
            let first = await post("/s", "1", 1)
            let again = await post("/s", "1", 2)
            let other = await post("/s1", "", 3)
            #expect(first["duplicate"]?.boolean == false)
            #expect(again.status == 201)
            #expect(again["duplicate"]?.boolean == true)
            #expect(again["id"]?.string == first["id"]?.string)
            #expect(other.status == 400)
            #expect(await api.history("a").count == 1)
        }
    }

    @Test("carry text and Base64, and refuse what is neither JSON nor text")
    func data() async throws {
        try await APIFixture.run { api in
            func post(_ more: String) async -> Answer {
                await api.call(
                    .post, "/v1/events?channel=a&dry_run=false",
                    #"{"specversion":"1.0","id":"\#(more.utf8.count)","source":"/s","type":"t"\#(more)}"#,
                    headers: Self.structured)
            }
            #expect(await post("").status == 201)
            #expect(await post(#","data_base64":"eyJhIjoxfQ==""#).status == 201)
            #expect(await post(#","datacontenttype":"text/plain","data_base64":"aGVsbG8=""#).status == 201)
            #expect(await post(#","datacontenttype":"image/png","data_base64":"aGVsbG8=""#).status == 415)
            #expect(await post(#","datacontenttype":"image/png","data":"hello""#).status == 415)
            #expect(await post(#","datacontenttype":"","data":1"#).status == 415)
            #expect(await post(#","datacontenttype":"text/xml","data":{"a":1}"#).code == "bad_cloud_event")
            #expect(await post(#","datacontenttype":"text/xml","data":"<a/>""#).status == 201)
            #expect(await post(#","datacontenttype":"application/x+json","data":{"a":1}"#).status == 201)
            #expect(await post(#","data_base64":"%%""#).status == 400)
            #expect(await post(#","data":1,"data_base64":"aGVsbG8=""#).status == 400)
            #expect(await api.history("a").count == 5)
        }
    }

    @Test(
        "keep their time, which must be valid",
        arguments: [
            (#""2018-04-05T17:31:00Z""#, 201), (#""1969-07-20T20:17:40.5+01:00""#, 201), (#""yesterday""#, 400),
            (#""2018-04-05""#, 400), (#""2018-13-05T17:31:00Z""#, 400), (#""""#, 400), ("1522949460", 400),
            ("null", 201),
        ])
    func time(_ time: String, _ status: Int) async throws {
        try await APIFixture.run { api in
            let answer = await api.call(
                .post, "/v1/events",
                #"{"specversion":"1.0","id":"1","source":"/s","type":"t","subject":"a","time":\#(time)}"#,
                headers: Self.structured)
            #expect(answer.status == status)
            #expect(answer.code == (status == 400 ? "bad_cloud_event" : nil))
        }
    }

    @Test(
        "that are invalid are refused",
        arguments: [
            #"{"specversion":"1.0","id":"1","source":"/s","subject":"a"}"#,
            #"{"specversion":"9.9","id":"1","source":"/s","type":"t","subject":"a"}"#,
            #"{"specversion":"1.0","id":"","source":"/s","type":"t","subject":"a"}"#,
            #"{"specversion":"1.0","id":1,"source":"/s","type":"t","subject":"a"}"#,
            #"{"specversion":"1.0","id":"1","source":"/s","type":"t"}"#,
            #"{"specversion":"1.0","id":"1","source":"/s","type":"t","subject":"a","Bad_Name":"x"}"#,
            #"{"specversion":"1.0","id":"1","source":"/s","type":"t","subject":"a","ext":{}}"#,
            #"{"specversion":"1.0","id":"1","source":"/s","type":"message.created","subject":"a"}"#, "[]", "7",
        ])
    func malformed(_ body: String) async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.post, "/v1/events", body, headers: Self.structured)
            #expect(answer.status == 400)
            #expect(await api.history("a").isEmpty)
        }
    }

    @Test("with broken header values are refused", arguments: ["%C0%A0", "%E2%82", "%zz", "%4"])
    func brokenHeaders(_ subject: String) async throws {
        try await APIFixture.run { api in
            let headers: [(name: String, value: String)] = [
                ("ce-specversion", "1.0"), ("ce-id", "1"), ("ce-source", "/s"), ("ce-type", "t"),
                ("ce-subject", subject),
            ]
            #expect(await api.call(.post, "/v1/events", "{}", headers: headers).code == "bad_cloud_event")
        }
    }

    @Test("in formats other than JSON are 415")
    func formats() async throws {
        try await APIFixture.run { api in
            for type in ["application/cloudevents+avro", "application/cloudevents-batch+protobuf"] {
                let answer = await api.call(.post, "/v1/events", "x", headers: [("Content-Type", type)])
                #expect(answer.status == 415)
            }
        }
    }
}
