import ChatModel
import HTTPServer
import JSON
import Testing

@testable import NativeAPI

@Suite("Payloads held against a schema") struct EventTypesValidationTests {
    @Test("get their violations, and the standard's output format")
    func validate() async throws {
        try await APIFixture.run { api in
            await api.declare(EventTypesTests.schema, settings: #"{"mode":"off"}"#)
            func validate(_ data: String, _ more: String = "") async -> Answer {
                await api.call(.post, "/v1/event-types/order.paid/validate", #"{"data":\#(data)\#(more)}"#)
            }
            let right = await validate(#"{"amount":1,"currency":"EUR"}"#)
            #expect(right["valid"]?.boolean == true && right["version"]?.integer == 1)
            #expect(right["errors"]?.count == 0 && right["output"] == nil)
            let wrong = await validate(#"{"amount":0,"currency":"EUR"}"#, #","output":"basic""#)
            #expect(wrong.status == 200 && wrong["valid"]?.boolean == false)
            #expect(wrong["errors"]?[0]?["pointer"]?.string == "#/amount")
            let unit = try #require(wrong["output"]?["errors"]?[0])
            #expect(unit["instanceLocation"]?.string == "/amount")
            #expect(unit["keywordLocation"]?.string == "/properties/amount/minimum")
            #expect(await validate("1", #","version":2"#).status == 404)
            #expect(await validate("1", #","output":"flag""#).status == 400)
            #expect(await validate("12345678901234567890").code == "number_out_of_range")
            let without = await api.call(.post, "/v1/event-types/order.paid/validate", "{}")
            #expect(without.code == "member_missing")
        }
    }

    @Test("are held against an older version when it is named, and against the gateway's own types")
    func versions() async throws {
        try await APIFixture.run { api in
            await api.declare(#"{"type":"integer"}"#)
            #expect(await api.addVersion(#"{"type":"number"}"#).status == 201)
            func isValid(_ body: String, type: String = "order.paid") async -> Bool? {
                await api.call(.post, "/v1/event-types/\(type)/validate", body)["valid"]?.boolean
            }
            #expect(await isValid(#"{"data":1.5}"#) == true)
            #expect(await isValid(#"{"data":1.5,"version":1}"#) == false)
            #expect(await isValid(#"{"data":1}"#, type: "message.created") == true)
            #expect(await isValid(#"{"data":1}"#, type: "member.joined") == false)
        }
    }

    @Test("in a dry run show the version and the errors, also where the type only warns")
    func dryRun() async throws {
        try await APIFixture.run { api in
            await api.declare(EventTypesTests.schema)
            func dryRun(_ data: String) async -> Answer {
                await api.call(
                    .post, "/v1/events/validate", #"{"channel":"shop","type":"order.paid","data":\#(data)}"#)
            }
            let right = await dryRun(#"{"amount":1,"currency":"EUR"}"#)
            #expect(right["valid"]?.boolean == true && right["version"]?.integer == 1)
            let wrong = await dryRun(#"{"amount":"1","currency":"EUR"}"#)
            #expect(wrong["valid"]?.boolean == false && wrong["version"]?.integer == 1)
            #expect(wrong["errors"]?[0]?["pointer"]?.string == "#/amount")
            #expect(await api.call(.put, "/v1/event-types/order.paid", #"{"mode":"warn"}"#).status == 200)
            let warned = await dryRun(#"{"amount":"1","currency":"EUR"}"#)
            #expect(warned["valid"]?.boolean == true && warned["version"]?.integer == 1)
            #expect(warned["errors"]?[0]?["pointer"]?.string == "#/amount")
            #expect(await api.call(.put, "/v1/event-types/order.paid", #"{"mode":"off"}"#).status == 200)
            let unlooked = await dryRun(#"{"amount":"1","currency":"EUR"}"#)
            #expect(unlooked["version"]?.isNull == true && unlooked["errors"]?.count == 0)
        }
    }

    @Test("that were stored are explained: which version accepted them, and the newest version's verdict")
    func explanation() async throws {
        try await APIFixture.run { api in
            await api.declare(#"{"type":"integer"}"#, settings: #"{"compatibility":"none"}"#)
            let id = try #require(await api.emit("1")["id"]?.string)
            let before = await api.call(.get, "/v1/events/\(id)/explain")
            #expect(before["schema"]?["version"]?.integer == 1 && before["validation"]?["valid"]?.boolean == true)
            #expect(await api.addVersion(#"{"type":"string"}"#).status == 201)
            let after = await api.call(.get, "/v1/events/\(id)/explain")
            #expect(after["schema"]?["version"]?.integer == 1)
            #expect(after["validation"]?["valid"]?.boolean == false && after["validation"]?["version"]?.integer == 2)
            let other = try #require(await api.emit("1", type: "undeclared")["id"]?.string)
            let none = await api.call(.get, "/v1/events/\(other)/explain")
            #expect(none["schema"]?.isNull == true && none["validation"]?.isNull == true)
        }
    }

    @Test("are shadowed by a candidate, which then becomes a version")
    func candidate() async throws {
        try await APIFixture.run { api in
            await api.declare(#"{"type":"object"}"#)
            let path = "/v1/event-types/order.paid/candidate"
            #expect(await api.call(.get, path).status == 404)
            let set = await api.call(.put, path, #"{"schema":{"type":"object","required":["shop"]}}"#)
            #expect(set.status == 201 && set["accepted"]?.integer == 0)
            #expect(await api.emit("{}").status == 201)
            #expect(await api.emit(#"{"shop":1}"#).status == 201)
            // The candidate is evaluated after the sender's response.
            let report = await api.answer(to: path) { $0["accepted"]?.integer != 0 && $0["refused"]?.integer != 0 }
            #expect(report["accepted"]?.integer == 1 && report["refused"]?.integer == 1)
            let sample = try #require(report["samples"]?[0])
            #expect(sample["error"]?["keyword"]?.string == "required" && sample["count"]?.integer == 1)
            let narrowed = await api.call(.post, path + "/promote")
            #expect(narrowed.status == 409 && narrowed.code == "incompatible_schema")
            let promoted = await api.call(.post, path + "/promote", #"{"force":"all send it"}"#)
            #expect(promoted.status == 201 && promoted["version"]?.integer == 2)
            #expect(promoted.header("Location") == "/v1/event-types/order.paid/versions/2")
            #expect(await api.call(.get, path).status == 404)
            #expect(await api.call(.put, path, #"{"schema":{"type":1}}"#).code == "schema_invalid")
            #expect(await api.call(.put, path, #"{"schema":true}"#).status == 201)
            #expect(await api.call(.delete, path).status == 204)
            #expect(await api.call(.delete, path).status == 404)
        }
    }

    @Test("are drafted into a schema that accepts them, and can be declared as it is")
    func inference() async throws {
        try await APIFixture.run { api in
            #expect(await api.call(.post, "/v1/event-types/order.paid/infer").status == 404)
            for amount in 1...3 {
                #expect(await api.emit(#"{"amount":\#(amount),"at":"2024-05-01T10:00:00Z"}"#).status == 201)
            }
            #expect(await api.emit(#""other""#, type: "order.sent").status == 201)
            let draft = await api.call(.post, "/v1/event-types/order.paid/infer", #"{"last":2,"closed":true}"#)
            #expect(draft.status == 200 && draft["events"]?.integer == 2)
            #expect(draft["schema"]?["properties"]?["amount"]?["type"]?.string == "integer")
            let schema = try #require(draft.raw("schema"))
            await api.declare(schema.description)
            #expect(await api.emit(#"{"amount":9,"at":"2024-05-01T10:00:00Z"}"#).status == 201)
            #expect(await api.emit(#"{"amount":9,"at":"2024-05-01T10:00:00Z","new":1}"#).status == 422)
            #expect(await api.call(.post, "/v1/event-types/order.paid/infer", #"{"last":0}"#).status == 400)
        }
    }
}
