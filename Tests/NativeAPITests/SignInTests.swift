import ChatCore
import ChatModel
import HTTPServer
import JSON
import Signing
import TestSupport
import Testing

@testable import NativeAPI

@Suite("A page that signs in") struct SignInTests {
    private static let own: [(name: String, value: String)] = [
        ("Host", "gw.example:8080"), ("Origin", "http://gw.example:8080"),
    ]

    /// Signs in and returns the cookie as a browser sends it back, with its header field.
    private func signIn(
        _ api: APIFixture, key: String? = nil, headers: [(name: String, value: String)] = own
    ) async throws -> (cookie: (name: String, value: String), field: String) {
        let answer = await api.call(
            .post, "/v1/session", #"{"key":"\#(key ?? api.adminKey)"}"#, key: nil, headers: headers)
        try #require(answer.status == 200, "\(answer.text)")
        let field = try #require(answer.header("Set-Cookie"))
        return (("Cookie", "theme=dark; " + field.prefix(while: { $0 != ";" })), field)
    }

    @Test("gets a cookie that no script reads and no other site sends, and its own identity")
    func cookie() async throws {
        try await APIFixture.run { api in
            let (cookie, field) = try await signIn(api)
            #expect(field.hasPrefix("parley="))
            for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"] { #expect(field.contains(part)) }
            #expect(!field.contains("Secure") && !field.contains(api.adminKey))
            let who = await api.call(.get, "/v1/session", key: nil, headers: [cookie])
            #expect(who["app"]?["id"]?.string == "default" && who["operator"]?.boolean == true)
            #expect(who["scopes"]?.strings == ["admin"])
            #expect(who.header("Cache-Control") == "no-store")
            #expect(await api.call(.get, "/v1/keys", key: nil, headers: [cookie])["data"]?.count == 1)
        }
    }

    @Test("gets a cookie for encrypted ways alone where it came by one")
    func secure() async throws {
        try await APIFixture.run { api in
            let (cookie, field) = try await signIn(
                api, headers: [("Host", "gw.example"), ("Origin", "https://gw.example")])
            #expect(field.hasPrefix("__Host-parley=") && field.hasSuffix("; Secure"))
            #expect(await api.call(.get, "/v1/keys", key: nil, headers: [cookie]).status == 200)
        }
    }

    @Test("shows no cookie under the plain name at the encrypted public address, where another host may have set it")
    func plainName() async throws {
        try await APIFixture.run { api in
            let (cookie, _) = try await signIn(api)
            let there = await api.call(.get, "/v1/keys", key: nil, headers: [cookie, ("Host", "gw.example")])
            #expect(there.code == "credential_missing")
            let inside = await api.call(.get, "/v1/keys", key: nil, headers: [cookie, ("Host", "127.0.0.1:8080")])
            #expect(inside.status == 200)
        }
    }

    @Test("has no identity without a cookie, with a forged one, and after signing out")
    func nobody() async throws {
        try await APIFixture.run { api in
            #expect(await api.call(.get, "/v1/session", key: nil).status == 204)
            #expect(await api.call(.post, "/v1/session", #"{"key":"none"}"#, key: nil).code == "credential_invalid")
            let failed = await api.call(.get, "/v1/audit?action=sign_in")
            #expect(failed["data"]?[0]?["result"]?.string == "refused")
            let (cookie, _) = try await signIn(api)
            #expect(await api.call(.get, "/v1/audit?action=session.*")["data"]?[0]?["result"]?.string == "done")
            let forged = ("Cookie", String(cookie.value.dropLast(3)) + "AAA")
            #expect(await api.call(.get, "/v1/session", key: nil, headers: [forged]).status == 204)
            #expect(await api.call(.get, "/v1/keys", key: nil, headers: [forged]).code == "session_ended")
            let out = await api.call(.delete, "/v1/session", key: nil, headers: Self.own + [cookie])
            #expect(out.status == 204)
            #expect(out.headers.filter { $0.name == "Set-Cookie" }.allSatisfy { $0.value.contains("Max-Age=0") })
        }
    }

    @Test(
        "changes things from the gateway's own pages only",
        arguments: [
            ([("Host", "gw.example:8080"), ("Origin", "http://gw.example:8080")], 201),
            ([("Host", "inner:1"), ("Origin", "https://gw.example")], 201),
            ([("Sec-Fetch-Site", "same-origin")], 201),
            ([("Host", "gw.example:8080"), ("Origin", "http://gw.example:8081")], 403),
            ([("Host", "inner:1"), ("Origin", "null")], 403), ([("Origin", "null")], 403),
            ([("Host", "inner:1"), ("Origin", "https://gw.example.evil.example")], 403),
            ([("Host", "inner:1"), ("Origin", "http://inner:1"), ("Sec-Fetch-Site", "same-site")], 403),
            ([("Sec-Fetch-Site", "none")], 403), ([], 403),
        ])
    func origins(_ headers: [(String, String)], _ status: Int) async throws {
        try await APIFixture.run { api in
            let (cookie, _) = try await signIn(api)
            let fields = headers.map { (name: $0.0, value: $0.1) } + [cookie]
            let answer = await api.call(
                .post, "/v1/channels/a/messages", #"{"text":"x"}"#, key: nil, headers: fields)
            #expect(answer.status == status)
            if status == 403 { #expect(answer.code == "foreign_origin") }
        }
    }

    @Test("reads without an origin, but not from another's page")
    func reading() async throws {
        try await APIFixture.run { api in
            let (cookie, _) = try await signIn(api)
            #expect(await api.call(.get, "/v1/keys", key: nil, headers: [cookie]).status == 200)
            for site in ["cross-site", "same-site"] {
                let fields = [cookie, ("Sec-Fetch-Site", site)]
                #expect(await api.call(.get, "/v1/keys", key: nil, headers: fields).status == 403)
                #expect(await api.call(.get, "/v1/stream", key: nil, headers: fields).status == 403)
                let body = #"{"key":"\#(api.adminKey)"}"#
                #expect(await api.call(.post, "/v1/session", body, key: nil, headers: fields).status == 403)
            }
        }
    }

    @Test("has no more rights than its key, and a key in the header goes before the cookie")
    func rights() async throws {
        try await APIFixture.run { api in
            let narrow = try await api.key([.read], channels: ["a.*"])
            let (cookie, _) = try await signIn(api, key: narrow)
            #expect(await api.call(.get, "/v1/keys", key: nil, headers: [cookie]).status == 403)
            #expect(await api.call(.get, "/v1/channels/b/events", key: nil, headers: [cookie]).status == 403)
            #expect(await api.call(.get, "/v1/keys", headers: [cookie]).status == 200)
            #expect(await api.call(.get, "/v1/keys", key: "wrong", headers: [cookie]).status == 401)
        }
    }

    @Test("is signed out when its key is removed, has expired, or twelve hours have passed")
    func ends() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.post, "/v1/keys", #"{"scopes":["read"]}"#)
            let (removed, _) = try await signIn(api, key: try #require(made["key"]?.string))
            #expect(await api.call(.delete, "/v1/keys/\(made["id"]?.string ?? "")").status == 204)
            #expect(await api.call(.get, "/v1/streams", key: nil, headers: [removed]).code == "session_ended")

            let hour = api.service.clock.now.adding(.seconds(3600))
            let (short, _) = try await signIn(api, key: try await api.key([.read], expires: hour))
            let (long, _) = try await signIn(api)
            api.clock.advance(by: .seconds(3601))
            #expect(await api.call(.get, "/v1/streams", key: nil, headers: [short]).code == "session_ended")
            #expect(await api.call(.get, "/v1/streams", key: nil, headers: [long]).status == 200)
            api.clock.advance(by: .seconds(11 * 3600))
            #expect(await api.call(.get, "/v1/streams", key: nil, headers: [long]).code == "session_ended")
        }
    }

    @Test("is known again by another gateway on the same data, and by no ticket's place")
    func stateless() async throws {
        let session = BrowserSession(app: AppID("a"), key: "key_1", expires: Timetoken(1))
        let seal = TextSealer(key: Secret(text: "s"), purpose: BrowserSession.sealPurpose)
        let text = session.text(sealedBy: seal)
        #expect(BrowserSession(text: text, sealedBy: seal)?.key == "key_1")
        for (key, purpose) in [("other", BrowserSession.sealPurpose), ("s", StreamTicket.sealPurpose)] {
            #expect(BrowserSession(text: text, sealedBy: TextSealer(key: Secret(text: key), purpose: purpose)) == nil)
        }
    }
}
