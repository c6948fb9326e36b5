import ChatCore
import ChatModel
import HTTPServer
import JSON
import Testing

@testable import NativeAPI

@Suite("The AsyncAPI document") struct AsyncAPITests {
    /// Resolves `#/…` in the document.
    private static func resolve(_ reference: String?, in document: JSONValue?) -> JSONValue? {
        guard let reference, reference.hasPrefix("#"), let pointer = JSONPointer(reference.dropFirst()) else {
            return nil
        }
        return document?.at(pointer)
    }

    private static func references(in value: JSONValue) -> [String] {
        switch value.kind {
        case .object:
            (value.members ?? []).flatMap { name, member in
                if name == "$ref", let reference = member.string { return [reference] }
                return references(in: member)
            }
        case .array: (value.elements ?? []).flatMap { references(in: $0) }
        default: []
        }
    }

    @Test("has every type that the caller may see as a message with the newest schema")
    func messages() async throws {
        try await APIFixture.run { api in
            await api.declare(EventTypesTests.schema, settings: #"{"description":"Paid","owner":"payments"}"#)
            #expect(await api.addVersion(#"{"type":"object"}"#, #""examples":[{"any":1}]"#).status == 201)
            #expect(await api.call(.put, "/v1/event-types/bare", #"{"deprecated":"use order.paid"}"#).status == 201)
            let document = await api.call(.get, "/v1/asyncapi.json")
            #expect(document["asyncapi"]?.string == "3.0.0")
            let components = try #require(document["components"])
            let messages = try #require(components["messages"]?.members?.map(\.name))
            #expect(Set(BuiltInCatalogue.all.map(\.name) + ["order.paid", "bare"]) == Set(messages))

            let paid = try #require(components["messages"]?["order.paid"])
            #expect(paid["description"]?.string == "Paid" && paid["x-schema-version"]?.integer == 2)
            #expect(paid["payload"]?["$ref"]?.string == "#/components/schemas/order.paid.v2")
            #expect(paid["examples"]?[0]?["payload"]?["any"]?.integer == 1)
            let schema = try #require(components["schemas"]?["order.paid.v2"])
            #expect(schema["schemaFormat"]?.string == "application/schema+json;version=draft-07")
            #expect(schema["x-dialect"]?.string == "https://json-schema.org/draft/2020-12/schema")
            #expect(schema["schema"]?["type"]?.string == "object")
            let bare = try #require(components["messages"]?["bare"])
            #expect(bare["payload"] == nil && bare["tags"]?[1]?["name"]?.string == "deprecated")

            let emit = document["operations"]?["emit"]?["messages"]?.elements?.compactMap { $0["$ref"]?.string } ?? []
            #expect(emit.contains("#/channels/channel/messages/order.paid"))
            #expect(!emit.contains("#/channels/channel/messages/member.joined"))
            #expect(document["servers"]?["gateway"]?["host"]?.string == "gw.example")
        }
    }

    @Test("has no reference that leads nowhere, those inside schemas included")
    func references() async throws {
        try await APIFixture.run { api in
            await api.declare(
                #"""
                {"$id":"https://shop.example/order","$defs":{"node":{"properties":{"$ref":{"type":"string"},
                 "next":{"$ref":"#/$defs/node"}}}},"properties":{"tree":{"$ref":"#/$defs/node"},"self":{"$ref":"#"}}}
                """#)
            let document = await api.call(.get, "/v1/asyncapi.json")
            let root = try #require(document.json)
            let place = "#/components/schemas/order.paid.v1/schema"
            let all = Self.references(in: root)
            #expect(all.contains(place) && all.contains(place + "/$defs/node"))
            for reference in all { #expect(Self.resolve(reference, in: root) != nil, "\(reference)") }
            // With an `$id`, references would be relative to it instead of to the document.
            #expect(Self.resolve(place, in: root)?["$id"] == nil)
        }
    }

    @Test(
        "refers by address to schemas that would change meaning inside it",
        arguments: [
            ##"{"$defs":{"x":{"$anchor":"a"}},"items":{"$ref":"#a"}}"##,
            ##"{"properties":{"a":{"$id":"b","$ref":"#/$defs/c","$defs":{"c":{}}}}}"##,
            ##"{"const":{"$ref":"#/nowhere"}}"##,
            #"{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}"#,
        ])
    func foreign(_ schema: String) async throws {
        try await APIFixture.run { api in
            await api.declare(schema)
            let schemas = await api.call(.get, "/v1/asyncapi.json")["components"]?["schemas"]
            let shown = try #require(schemas?["order.paid.v1"]?["schema"])
            #expect(shown.members?.count == 1)
            #expect(
                shown["description"]?.string?.hasSuffix("https://gw.example/v1/event-types/order.paid/versions/1")
                    == true)
        }
    }

    @Test("says in which dialect a schema was written")
    func dialects() async throws {
        try await APIFixture.run { api in
            let dialect = "http://json-schema.org/draft-04/schema#"
            await api.declare(#"{"$schema":"\#(dialect)","type":"object"}"#)
            let schema = await api.call(.get, "/v1/asyncapi.json")["components"]?["schemas"]?["order.paid.v1"]
            #expect(schema?["x-dialect"]?.string == dialect && schema?["schema"]?["type"]?.string == "object")
        }
    }

    @Test("changes its tag with every change, and with nothing else")
    func tag() async throws {
        try await APIFixture.run { api in
            func tag() async -> String? { await api.call(.get, "/v1/asyncapi.json").header("ETag") }
            var tags = [try #require(await tag())]
            #expect(await tag() == tags[0])
            let known = await api.call(.get, "/v1/asyncapi.json", headers: [("If-None-Match", tags[0])])
            #expect(known.status == 304 && known.bytes.isEmpty)
            #expect(await api.call(.put, "/v1/event-types/order.paid", "{}").status == 201)
            tags.append(try #require(await tag()))
            #expect(await api.addVersion("true").status == 201)
            tags.append(try #require(await tag()))
            #expect(await api.call(.put, "/v1/event-types/order.paid", #"{"mode":"warn"}"#).status == 200)
            tags.append(try #require(await tag()))
            #expect(Set(tags).count == 4)
            _ = await api.emit("1")
            #expect(await tag() == tags[3])
        }
    }

    @Test("shows a narrow credential its own types only, and nothing without a credential")
    func rights() async throws {
        try await APIFixture.run { api in
            await api.declare("true")
            await api.declare("true", as: "secret.kept")
            let narrow = try await api.key([.read], types: ["order.*"])
            let document = await api.call(.get, "/v1/asyncapi.json", key: narrow)
            #expect(document["components"]?["messages"]?.members?.map(\.name) == ["order.paid"])
            #expect(!document.text.contains("secret.kept"))
            #expect(await api.call(.get, "/v1/asyncapi.json", key: nil).status == 401)
        }
    }

    @Test("names schemas by their address once it holds 16 MiB")
    func bound() async throws {
        var limits = Limits()
        limits.schemaMemoryBytes = 1024 * 1024 * 1024
        try await APIFixture.run(limits: limits) { api in
            let filler = #"{"description":"\#(String(repeating: "x", count: 240_000))"}"#
            for index in 0..<72 { await api.declare(filler, as: "large.\(index)") }
            let document = await api.call(.get, "/v1/asyncapi.json")
            #expect(document.bytes.count < 18 * 1024 * 1024)
            let last = try #require(document["components"]?["schemas"]?["large.9.v1"]?["schema"])
            #expect(last["description"]?.string?.hasSuffix("/v1/event-types/large.9/versions/1") == true)
        }
    }
}
