import ChatCore
import ChatModel
import HTTPServer
import JSON
import Testing

@testable import NativeAPI

@Suite("Event types over HTTP") struct EventTypesTests {
    static let schema = #"""
        {"type":"object","required":["amount","currency"],"additionalProperties":false,
         "properties":{"amount":{"type":"integer","minimum":1},"currency":{"enum":["EUR","USD"]}}}
        """#

    @Test("are declared, violated, corrected, reported on streams, and evolve")
    func story() async throws {
        try await APIFixture.run { api in
            let declared = await api.call(
                .put, "/v1/event-types/order.paid", #"{"description":"An order was paid","owner":"payments"}"#)
            #expect(declared.status == 201 && declared.header("Location") == "/v1/event-types/order.paid")
            #expect(declared["latest_version"]?.isNull == true && declared["mode"]?.string == "enforce")
            let first = await api.addVersion(
                Self.schema, #""examples":[{"amount":1,"currency":"EUR"}],"counter_examples":[{"amount":0}]"#)
            #expect(first.status == 201 && first["version"]?.integer == 1)
            #expect(first.header("Location") == "/v1/event-types/order.paid/versions/1")

            let wrong = await api.emit(#"{"amount":"4200","curency":"EUR"}"#)
            #expect(wrong.status == 422 && wrong.code == "schema_violation")
            #expect(wrong["event_type"]?.string == "order.paid" && wrong["schema_version"]?.integer == 1)
            let errors = try #require(wrong["errors"]?.elements)
            #expect(errors.contains { $0["pointer"]?.string == "#/amount" && $0["keyword"]?.string == "type" })
            #expect(errors.contains { $0["detail"]?.string?.contains("did you mean") == true })
            #expect(errors.allSatisfy { $0["schema"]?.string != nil })
            #expect(await api.history("shop").isEmpty)

            let right = await api.emit(#"{"amount":4200,"currency":"EUR"}"#)
            #expect(right.status == 201)
            let poll = await api.call(.get, "/v1/poll?channel=shop&cursor=earliest")
            let schema = try #require(poll["data"]?[0]?["schema"])
            #expect(schema["type"]?.string == "order.paid" && schema["version"]?.integer == 1)

            let narrower = Self.schema.replacing(#"["amount","currency"]"#, with: #"["amount","currency","shop"]"#)
                .replacing(#""properties":{"#, with: #""properties":{"shop":{"type":"string"},"#)
            let refused = await api.addVersion(narrower)
            #expect(refused.status == 409 && refused.code == "incompatible_schema")
            #expect(refused["errors"]?[0]?["pointer"]?.string?.hasPrefix("#/") == true)
            // The witness has the property that the refusal states.
            let witness = try #require(refused.raw("witness"))
            #expect(await api.emit(witness.description).status == 201)
            let tried = await api.call(
                .post, "/v1/event-types/order.paid/versions?dry_run=true", #"{"schema":\#(narrower)}"#)
            #expect(tried.code == "incompatible_schema")
            let would = await api.call(
                .post, "/v1/event-types/order.paid/versions?dry_run=true", #"{"schema":\#(narrower),"force":"x"}"#)
            #expect(would.status == 200 && would["version"]?.integer == 2)
            #expect(await api.call(.get, "/v1/event-types/order.paid")["latest_version"]?.integer == 1)
            #expect(await api.emit(witness.description).status == 201)
            let forced = await api.addVersion(narrower, #""force":"all shops send it since May""#)
            #expect(forced.status == 201 && forced["version"]?.integer == 2)
            #expect(forced["forced"]?.string == "all shops send it since May")
            #expect(await api.emit(witness.description).status == 422)
            #expect(await api.emit(#"{"amount":1,"currency":"EUR","shop":"7"}"#).status == 201)
        }
    }

    @Test("are listed with the gateway's own in the order of their names, page by page")
    func listing() async throws {
        try await APIFixture.run { api in
            for type in ["order.paid", "order.sent", "zebra"] {
                #expect(await api.call(.put, "/v1/event-types/\(type)", "{}").status == 201)
            }
            func names(_ query: String) async -> [String] {
                await api.call(.get, "/v1/event-types?\(query)")["data"]?.elements?.compactMap { $0["type"]?.string }
                    ?? []
            }
            #expect(await names("prefix=order.") == ["order.paid", "order.sent"])
            #expect(await names("built_in=false&limit=250") == ["order.paid", "order.sent", "zebra"])
            let builtIn = await names("built_in=true&limit=250")
            #expect(builtIn.contains("message.created") && !builtIn.contains("zebra"))
            let all = await names("limit=250")
            #expect(all == all.sorted() && all.count == builtIn.count + 3)
            let page = await api.call(.get, "/v1/event-types?built_in=false&limit=2")
            let next = try #require(page["next_cursor"]?.string)
            #expect(page.header("Link")?.contains("built_in=false") == true)
            #expect(await names("built_in=false&limit=2&cursor=\(next)") == ["zebra"])
            #expect(await api.call(.get, "/v1/event-types?built_in=yes").code == "bad_parameter")
            #expect(await api.call(.get, "/v1/event-types?cursor=nothing").code == "bad_cursor")
        }
    }

    @Test("change only at the version that If-Match names")
    func conditions() async throws {
        try await APIFixture.run { api in
            let tag = try #require(await api.call(.put, "/v1/event-types/t", "{}").header("ETag"))
            #expect(await api.call(.get, "/v1/event-types/t", headers: [("If-None-Match", tag)]).status == 304)
            let changed = await api.call(.put, "/v1/event-types/t", #"{"mode":"off"}"#, headers: [("If-Match", tag)])
            #expect(changed.status == 200 && changed["mode"]?.string == "off")
            let late = await api.call(.put, "/v1/event-types/t", "{}", headers: [("If-Match", tag)])
            #expect(late.status == 412)
            #expect(await api.call(.put, "/v1/event-types/new", "{}", headers: [("If-Match", tag)]).status == 412)
            #expect(await api.addVersion("true", to: "t").status == 201)
            let inUse = await api.call(.delete, "/v1/event-types/t")
            #expect(inUse.status == 409 && inUse.code == "event_type_in_use")
            let current = try #require(await api.call(.get, "/v1/event-types/t").header("ETag"))
            #expect(await api.call(.delete, "/v1/event-types/t", headers: [("If-Match", current)]).status == 204)
            #expect(await api.call(.get, "/v1/event-types/t").status == 404)
            // Events refer to versions, so versions are kept.
            #expect(await api.call(.get, "/v1/event-types/t/versions/1").status == 200)
            #expect(await api.call(.put, "/v1/event-types/t", "{}")["latest_version"]?.integer == 1)
            let own = await api.call(.get, "/v1/event-types/message.created")
            let ownTag = try #require(own.header("ETag"))
            // The tag is computed from the response body, because a release may change the built-in type.
            #expect(ownTag == EntityTag.of(own.bytes))
            let known = await api.call(
                .get, "/v1/event-types/message.created", headers: [("If-None-Match", ownTag)])
            #expect(known.status == 304)
        }
    }

    @Test("cannot be declared under the gateway's own names, and say what is wrong with their settings")
    func refusals() async throws {
        try await APIFixture.run { api in
            for name in ["message.created", "custom", "stream.anything", "open"] {
                let answer = await api.call(.put, "/v1/event-types/\(name)", "{}")
                #expect(answer.status == 400 && answer.code == "type_reserved", "\(name)")
            }
            for (body, pointer) in [
                (#"{"mode":"strict"}"#, "#/mode"), (#"{"compatibility":"both"}"#, "#/compatibility"),
                (#"{"descripton":""}"#, "#/descripton"), (#"{"owner":1}"#, "#/owner"),
            ] {
                let answer = await api.call(.put, "/v1/event-types/t", body)
                #expect(answer.status == 400)
                #expect(answer["errors"]?[0]?["pointer"]?.string == pointer)
            }
            #expect(await api.addVersion("true", to: "undeclared").status == 404)
            let reader = try await api.key([.read])
            #expect(await api.call(.put, "/v1/event-types/t", key: reader).status == 403)
            #expect(await api.call(.get, "/v1/event-types/message.created", key: reader).status == 200)
            let narrow = try await api.key([.manage], types: ["order.*"])
            #expect(await api.call(.put, "/v1/event-types/order.paid", "{}", key: narrow).status == 201)
            #expect(await api.call(.put, "/v1/event-types/t", "{}", key: narrow).status == 403)
            let seen = await api.call(.get, "/v1/event-types", key: narrow)
            #expect(seen["data"]?.count == 1)
        }
    }

    @Test("are demanded of every event where the app says so")
    func requirement() async throws {
        try await APIFixture.run { api in
            let app = await api.call(.patch, "/v1/apps/default", #"{"require_declared_types":true}"#)
            #expect(app.status == 200 && app["require_declared_types"]?.boolean == true)
            #expect(await api.call(.get, "/v1/apps/default")["require_declared_types"]?.boolean == true)
            let refused = await api.emit("1", type: "odrer.paid")
            #expect(refused.status == 422 && refused.code == "undeclared_type")
            #expect(await api.call(.post, "/v1/channels/shop/messages", #"{"text":"hi"}"#).status == 201)
            #expect(await api.call(.put, "/v1/event-types/order.paid", "{}").status == 201)
            #expect(await api.emit("1").status == 201)
            #expect(await api.call(.patch, "/v1/apps/default", #"{"require_declared_types":false}"#).status == 200)
            #expect(await api.emit("1", type: "odrer.paid").status == 201)
        }
    }

    @Test("of an app are required by its own admin alone")
    func requirementRights() async throws {
        try await APIFixture.run { api in
            let other = try #require(await api.call(.post, "/v1/apps", #"{"name":"acme"}"#)["id"]?.string)
            let body = #"{"require_declared_types":true}"#
            #expect(await api.call(.patch, "/v1/apps/\(other)", body).status == 403)
            let manager = try await api.key([.manage])
            #expect(await api.call(.patch, "/v1/apps/default", body, key: manager).status == 403)
        }
    }
}

extension APIFixture {
    /// Adds a version to a type, `order.paid` unless said otherwise.
    func addVersion(_ schema: String, _ more: String = "", to type: String = "order.paid") async -> Answer {
        let rest = more.isEmpty ? "" : "," + more
        return await call(.post, "/v1/event-types/\(type)/versions", #"{"schema":\#(schema)\#(rest)}"#)
    }

    /// Declares a type with one schema.
    func declare(_ schema: String, as type: String = "order.paid", settings: String = "{}") async {
        let declared = await call(.put, "/v1/event-types/\(type)", settings)
        let added = await addVersion(schema, to: type)
        #expect(declared.status == 201 && added.status == 201, "\(declared.text) \(added.text)")
    }

    func emit(_ data: String, type: String = "order.paid", channel: String = "shop") async -> Answer {
        await call(.post, "/v1/channels/\(channel)/events", #"{"type":"\#(type)","data":\#(data)}"#)
    }
}

extension Answer {
    /// A member of the body as it was written.
    func raw(_ name: String) -> JSONText? { JSONText(trusted: bytes).rawMember(name) }
}
