import ChatModel
import HTTPServer
import JSON
import TestSupport
import Testing

@testable import ChatCore
@testable import NativeAPI

@Suite("The audit log") struct AuditTests {
    private static func entries(_ api: APIFixture, _ query: String = "", key: String? = nil) async -> [JSONValue] {
        let answer = await api.call(.get, "/v1/audit" + query, key: key ?? api.adminKey)
        return answer["data"]?.elements ?? []
    }

    private static func actions(_ entries: [JSONValue]) -> [String] { entries.compactMap { $0["action"]?.string } }

    @Test("records who made each change, newest first, without secrets")
    func changes() async throws {
        try await APIFixture.run { api in
            let key = await api.call(
                .post, "/v1/keys", #"{"name":"ci","scopes":["read"]}"#, headers: [("X-Request-Id", "req-1")])
            let id = try #require(key["id"]?.string)
            let hook = await api.call(.post, "/v1/webhooks", #"{"url":"https://example.com/hook"}"#)
            _ = await api.call(.delete, "/v1/keys/\(id)")
            let answer = await api.call(.get, "/v1/audit")
            let entries = answer["data"]?.elements ?? []
            #expect(Self.actions(entries) == ["key.delete", "webhook.create", "key.create"])
            #expect(entries.compactMap { $0["resource"]?.string } == [id, hook["id"]?.string, id])
            let made = try #require(entries.last)
            #expect(made["actor"]?.string == (try api.service.keyring.keys(of: .gateway(in: api.app.id))[0].id))
            #expect(made["address"]?.string == "127.0.0.1" && made["request_id"]?.string == "req-1")
            #expect(made["result"]?.string == "done" && made["code"]?.isNull == true)
            let secret = try #require(key["key"]?.string)
            #expect(!answer.text.contains(secret))
            #expect(!answer.text.contains(try #require(hook["secret"]?.string)))
        }
    }

    @Test("commits the entry in one commit with the change")
    func together() async throws {
        try await APIFixture.run { api in
            let before = try await api.service.engine.directory.revision()
            #expect(await api.call(.post, "/v1/keys", #"{"scopes":["read"]}"#).status == 201)
            #expect(try await api.service.engine.directory.revision() == before + 1)
        }
    }

    @Test("records requests that were refused for a missing right, and no other failure")
    func refusals() async throws {
        try await APIFixture.run { api in
            let key = try #require(
                await api.call(.post, "/v1/keys", #"{"scopes":["read"]}"#)["key"]?.string)
            #expect(await api.call(.post, "/v1/keys", #"{"scopes":["admin"]}"#, key: key).status == 403)
            #expect(await api.call(.post, "/v1/keys", #"{"scopes":["nonsense"]}"#).status == 400)
            let refused = await Self.entries(api, "?result=refused")
            #expect(Self.actions(refused) == ["key.create"])
            #expect(refused.first?["code"]?.string == "forbidden")
        }
    }

    @Test("records sign-ins with invalid keys, up to a limit")
    func signIns() async throws {
        try await APIFixture.run { api in
            for _ in 0..<1010 { #expect(await api.call(.get, "/v1/keys", key: "parley_guessed").status == 401) }
            let first = try #require(await Self.entries(api, "?action=sign_in&limit=1").first)
            #expect(first["actor"]?.isNull == true && first["code"]?.string == "credential_invalid")
            #expect(api.service.audit.lostEntries == 10)
            #expect(!(await api.call(.get, "/v1/audit?action=sign_in")).text.contains("parley_guessed"))
            // Attempts of a caller are recorded as well.
            let reader = try await api.key([.read])
            #expect(await api.call(.post, "/v1/keys", #"{"scopes":["admin"]}"#, key: reader).status == 403)
            #expect(Self.actions(await Self.entries(api, "?result=refused&limit=1")) == ["key.create"])
            #expect(api.service.audit.lostEntries == 10)
        }
    }

    @Test("finds entries by actor, action, subject, resource and time, page by page")
    func filters() async throws {
        try await APIFixture.run { api in
            for _ in 0..<3 { _ = await api.call(.post, "/v1/keys", #"{"scopes":["read"]}"#) }
            _ = await api.call(.patch, "/v1/apps/default", #"{"require_declared_types":true}"#)
            let all = await Self.entries(api)
            #expect(all.count == 4)
            #expect(await Self.entries(api, "?action=key.*").count == 3)
            #expect(await Self.entries(api, "?action=app.update&resource=default").count == 1)
            #expect(await Self.entries(api, "?actor=nobody").isEmpty)
            let middle = try #require(all[1]["timetoken"]?.string)
            #expect(Self.actions(await Self.entries(api, "?after=\(middle)")) == ["app.update"])
            #expect(await Self.entries(api, "?before=\(middle)").count == 2)
            let page = await api.call(.get, "/v1/audit?limit=3")
            let cursor = try #require(page["next_cursor"]?.string)
            #expect(await Self.entries(api, "?limit=3&cursor=\(cursor)").count == 1)
            #expect(await api.call(.get, "/v1/audit?result=perhaps").status == 400)
        }
    }

    @Test("is for the app's admins, of their own app")
    func rights() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.post, "/v1/apps", #"{"name":"acme"}"#)
            let own = try #require(made["admin_key"]?.string)
            _ = await api.call(.post, "/v1/keys", #"{"scopes":["read"]}"#, key: own)
            #expect(Self.actions(await Self.entries(api, key: own)) == ["key.create"])
            #expect(Self.actions(await Self.entries(api)) == ["app.create"])
            let reader = try #require(await api.call(.post, "/v1/keys", #"{"scopes":["manage"]}"#)["key"]?.string)
            #expect(await api.call(.get, "/v1/audit", key: reader).status == 403)
        }
    }

    @Test("drops old entries, and the oldest beyond the limit")
    func sweeping() async throws {
        var limits = Limits()
        limits.auditEntries = 3
        limits.auditKept = .seconds(3600)
        try await APIFixture.run(limits: limits) { api in
            for _ in 0..<5 { _ = await api.call(.post, "/v1/keys", #"{"scopes":["read"]}"#) }
            let newest = await Self.entries(api, "?limit=3").compactMap { $0["id"]?.string }
            try await api.service.audit.sweep(api.app.id)
            #expect(await Self.entries(api).compactMap { $0["id"]?.string } == newest)
            api.clock.advance(by: .seconds(3601))
            try await api.service.audit.sweep(api.app.id)
            #expect(await Self.entries(api).isEmpty)
        }
    }

    @Test("drops routine entries of programs before those of people")
    func frequentFirst() async throws {
        var limits = Limits()
        limits.auditEntries = 4
        try await APIFixture.run(limits: limits) { api in
            _ = await api.call(.post, "/v1/keys", #"{"scopes":["read"]}"#)
            _ = await api.call(.post, "/v1/keys", #"{"scopes":["emit"]}"#)
            for _ in 0..<9 { #expect(await api.call(.post, "/v1/tokens", #"{"user":"ana"}"#).status == 201) }
            for _ in 0..<9 { #expect(await api.call(.get, "/v1/keys", key: "parley_guessed").status == 401) }
            #expect(api.service.audit.isDue)
            try await api.service.audit.sweep(api.app.id)
            #expect(!api.service.audit.isDue)
            #expect(
                Self.actions(await Self.entries(api)) == ["sign_in", "sign_in", "key.create", "key.create"])
        }
    }

    @Test("shows an app's admins an operator's changes to their app")
    func byOperator() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.post, "/v1/apps", #"{"name":"acme"}"#)
            let (id, own) = (try #require(made["id"]?.string), try #require(made["admin_key"]?.string))
            _ = await api.call(.patch, "/v1/apps/\(id)", #"{"retention_hours":24}"#)
            let entry = try #require(await Self.entries(api, key: own).first)
            #expect(entry["action"]?.string == "app.update" && entry["resource"]?.string == id)
            #expect(Self.actions(await Self.entries(api)) == ["app.update", "app.create"])
        }
    }

    @Test("records invalid keys that ask for a stream")
    func streams() async throws {
        try await APIFixture.run { api in
            #expect(await api.call(.get, "/v1/stream?channel=a", key: "parley_guessed").status == 401)
            #expect(Self.actions(await Self.entries(api, "?result=refused")) == ["sign_in"])
        }
    }
}
