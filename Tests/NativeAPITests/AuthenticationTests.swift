import ChatCore
import ChatModel
import HTTPServer
import JSON
import TestSupport
import Testing

@Suite("Authentication") struct AuthenticationTests {
    @Test(
        "refuses an invalid key, and explains how to send one",
        arguments: [
            "", "Bearer", "Bearer ", "Basic YTpi", "Bearer nonsense", "parley_x", "Bearer a b",
        ])
    func invalid(_ field: String) async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.get, "/v1/keys", key: nil, headers: [("Authorization", field)])
            #expect(answer.status == 401)
            #expect(answer.header("WWW-Authenticate")?.hasPrefix("Bearer") == true)
        }
    }

    @Test("takes the scheme in any case and spaces before the key")
    func spelling() async throws {
        try await APIFixture.run { api in
            for scheme in ["Bearer ", "bearer   ", "BEARER "] {
                let answer = await api.call(
                    .get, "/v1/keys", key: nil, headers: [("Authorization", scheme + api.adminKey)])
                #expect(answer.status == 200)
            }
        }
    }

    @Test("needs a key on every route under /v1 but those that sign in and out")
    func everywhere() async throws {
        try await APIFixture.run { api in
            for route in api.router.routes
            where route.pattern.description.hasPrefix("/v1/") && route.pattern != "/v1/session" {
                let target = route.pattern.description.replacing("{channel}", with: "a").replacing("{id}", with: "x")
                let answer = await api.call(route.method, target, key: nil)
                #expect(answer.status == 401, "\(route.method) \(route.pattern)")
            }
        }
    }

    @Test("refuses keys in the URL", arguments: ["key", "api_key", "access_token", "Authorization", "TOKEN"])
    func inURL(_ name: String) async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.get, "/v1/keys?\(name)=\(api.adminKey)", key: nil)
            #expect(answer.code == "credential_in_url")
            #expect(!answer.text.contains(api.adminKey))
        }
    }

    @Test("accepts a key that has the form of a token") func keyLikeToken() async throws {
        try await APIFixture.run { api in
            let key = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJvdGhlciJ9.c2lnbmF0dXJl"
            let app = AppRecord(
                id: AppID("other"), name: "other", publishKey: "pub-other", subscribeKey: "sub-other",
                secretKey: "other-secret", created: api.service.clock.now)
            _ = try await api.service.keyring.establish(app, keyText: key)
            #expect(await api.call(.get, "/v1/channels/a/events", key: key).status == 200)
            #expect(await api.call(.get, "/v1/channels/a/events", key: key + "2").code == "credential_invalid")
        }
    }

    @Test("forgets a key when it expires and when it is removed")
    func endings() async throws {
        try await APIFixture.run { api in
            let key = try await api.key([.read], expires: api.service.clock.now.adding(.seconds(60)))
            #expect(await api.call(.get, "/v1/channels/a/events", key: key).status == 200)
            api.clock.advance(by: .seconds(61))
            #expect(await api.call(.get, "/v1/channels/a/events", key: key).code == "credential_invalid")
            let made = await api.call(.post, "/v1/keys", #"{"scopes":["read"]}"#)
            let text = try #require(made["key"]?.string)
            let id = try #require(made["id"]?.string)
            #expect(await api.call(.get, "/v1/channels/a/events", key: text).status == 200)
            #expect(await api.call(.delete, "/v1/keys/\(id)").status == 204)
            #expect(await api.call(.get, "/v1/channels/a/events", key: text).status == 401)
        }
    }
}

@Suite("API keys") struct KeyRouteTests {
    @Test("are closed to an admin with narrowed rights, like the app's settings and other apps")
    func narrowing() async throws {
        try await APIFixture.run { api in
            let narrow = try await api.key([.admin], channels: ["a.*"], types: ["order.*"])
            let other = await api.call(.post, "/v1/keys", #"{"scopes":["read"]}"#)
            let id = try #require(other["id"]?.string)
            for (method, path, body) in [
                (HTTPMethod.post, "/v1/keys", #"{"scopes":["read"],"channels":["a.b"],"types":["order.paid"]}"#),
                (.get, "/v1/keys", ""), (.get, "/v1/keys/\(id)", ""), (.delete, "/v1/keys/\(id)", ""),
                (.patch, "/v1/keys/\(id)", #"{"requests":{"per_second":1}}"#),
                (.patch, "/v1/apps/default", #"{"retention_hours":1}"#),
                (.patch, "/v1/apps/default", #"{"demand_tokens":false}"#),
                (.post, "/v1/apps/default/rotate-secret", ""), (.get, "/v1/apps", ""),
                (.post, "/v1/apps", #"{"name":"x"}"#),
            ] { #expect(await api.call(method, path, body, key: narrow).status == 403, "\(method) \(path)") }
        }
    }

    @Test("create no key that outlives them")
    func time() async throws {
        try await APIFixture.run { api in
            let brief = await api.call(
                .post, "/v1/keys", #"{"scopes":["admin"],"expires_at":"2100-01-31T12:00:00Z"}"#)
            let key = try #require(brief["key"]?.string)
            let same = await api.call(.post, "/v1/keys", #"{"scopes":["read"]}"#, key: key)
            #expect(same["expires_at"]?.string == "2100-01-31T12:00:00.000000Z")
            let longer = #"{"scopes":["read"],"expires_at":"2100-01-31T12:00:01Z"}"#
            #expect(await api.call(.post, "/v1/keys", longer, key: key).status == 403)
            // Tokens signed with an app's secret, and the keys of PubNub's wire, do not expire.
            let app = await api.call(.get, "/v1/apps/default")
            #expect(app["secret_key"]?.string != nil)
            let shown = await api.call(.get, "/v1/apps/default", key: key)
            #expect(shown.status == 200 && shown["id"]?.string == "default")
            for name in ["secret_key", "publish_key", "subscribe_key"] { #expect(shown[name] == nil, "\(name)") }
            #expect(await api.call(.post, "/v1/apps/default/rotate-secret", key: key).status == 403)
            #expect(await api.call(.get, "/v1/apps/default")["secret_key"]?.string == app["secret_key"]?.string)
            // An app's admin key never expires.
            #expect(await api.call(.post, "/v1/apps", #"{"name":"x"}"#, key: key).status == 403)
        }
    }

    @Test("are made with their text, listed and read without it")
    func life() async throws {
        try await APIFixture.run { api in
            let made = await api.call(
                .post, "/v1/keys",
                #"{"name":"ci","scopes":["emit","read"],"channels":["orders.*"],"types":["*"],"expires_at":"2100-01-31T12:00:00+02:00"}"#
            )
            #expect(made.status == 201)
            #expect(made["key"]?.string?.hasPrefix("parley_") == true)
            #expect(made["expires_at"]?.string == "2100-01-31T10:00:00.000000Z")
            let id = try #require(made["id"]?.string)
            #expect(made.header("Location") == "/v1/keys/\(id)")
            #expect(made.header("Cache-Control") == "no-store")
            let read = await api.call(.get, "/v1/keys/\(id)")
            #expect(read["channels"]?.strings == ["orders.*"])
            #expect(read["key"] == nil)
            let list = await api.call(.get, "/v1/keys")
            #expect(list["data"]?.count == 2)
            #expect(!list.text.contains(#""key""#))
        }
    }

    @Test("are listed in pages")
    func pages() async throws {
        try await APIFixture.run { api in
            for _ in 0..<4 { _ = try await api.key([.read]) }
            var ids: [String] = []
            var target = "/v1/keys?limit=2"
            while true {
                let page = await api.call(.get, target)
                ids += page["data"]?.elements?.compactMap { $0["id"]?.string } ?? []
                guard let next = page["next_cursor"]?.string else { break }
                target = "/v1/keys?limit=2&cursor=\(next)"
            }
            #expect(ids.count == 5)
            #expect(Set(ids).count == 5)
            #expect(await api.call(.get, "/v1/keys?cursor=key_none").code == "bad_cursor")
        }
    }

    @Test(
        "are refused for bad bodies",
        arguments: [
            (#"{}"#, "member_missing"), (#"{"scopes":[]}"#, "bad_member"), (#"{"scopes":["fly"]}"#, "bad_member"),
            (#"{"scopes":"read"}"#, "wrong_type"), (#"{"scopes":["read"],"channels":["a*"]}"#, "bad_member"),
            (#"{"scopes":["read"],"channels":[]}"#, "bad_member"), (#"{"scopes":["read"],"types":[1]}"#, "wrong_type"),
            (#"{"scopes":["read"],"expires_at":"tomorrow"}"#, "bad_member"),
            (#"{"scopes":["read"],"expires_at":"2001-01-01T00:00:00Z"}"#, "bad_member"),
        ])
    func malformed(_ body: String, _ code: String) async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.post, "/v1/keys", body)
            #expect(answer.status == 400)
            #expect(answer.code == code)
        }
    }

    @Test("are for admins, and those of other apps are invisible")
    func rights() async throws {
        try await APIFixture.run { api in
            let manager = try await api.key([.emit, .read, .manage])
            #expect(await api.call(.get, "/v1/keys", key: manager).status == 403)
            #expect(await api.call(.post, "/v1/keys", #"{"scopes":["read"]}"#, key: manager).status == 403)
            let app = await api.call(.post, "/v1/apps", #"{"name":"other"}"#)
            let foreign = try #require(app["admin_key"]?.string)
            let own = try #require(await api.call(.get, "/v1/keys")["data"]?[0]?["id"]?.string)
            #expect(await api.call(.get, "/v1/keys/\(own)", key: foreign).status == 404)
            #expect(await api.call(.delete, "/v1/keys/\(own)", key: foreign).status == 404)
            #expect(await api.call(.get, "/v1/keys", key: foreign)["data"]?.count == 1)
        }
    }

    @Test("cannot remove themselves")
    func lastOne() async throws {
        try await APIFixture.run { api in
            let own = try #require(await api.call(.get, "/v1/keys")["data"]?[0]?["id"]?.string)
            #expect(await api.call(.delete, "/v1/keys/\(own)").status == 409)
        }
    }
}

@Suite("Apps") struct AppRouteTests {
    @Test("are created by operators with their keys, which only their own admin reads again")
    func life() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.post, "/v1/apps", #"{"name":"acme","retention_hours":24}"#)
            #expect(made.status == 201)
            let id = try #require(made["id"]?.string)
            let admin = try #require(made["admin_key"]?.string)
            #expect(made["retention_hours"]?.integer == 24)
            let asOperator = await api.call(.get, "/v1/apps/\(id)")
            #expect(asOperator["name"]?.string == "acme")
            #expect(asOperator["secret_key"] == nil)
            let asAdmin = await api.call(.get, "/v1/apps/\(id)", key: admin)
            #expect(asAdmin["secret_key"]?.string == made["secret_key"]?.string)
            #expect(await api.call(.get, "/v1/apps")["data"]?.count == 2)
            #expect(await api.call(.delete, "/v1/apps/\(id)").status == 204)
            #expect(await api.call(.get, "/v1/apps/\(id)", key: admin).status == 401)
            #expect(await api.call(.delete, "/v1/apps/default").status == 409)
        }
    }

    @Test("are invisible to keys of other apps")
    func rights() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.post, "/v1/apps", #"{"name":"acme"}"#)
            let admin = try #require(made["admin_key"]?.string)
            #expect(await api.call(.get, "/v1/apps", key: admin).status == 403)
            #expect(await api.call(.post, "/v1/apps", #"{"name":"x"}"#, key: admin).status == 403)
            #expect(await api.call(.delete, "/v1/apps/default", key: admin).status == 403)
            let foreign = await api.call(.get, "/v1/apps/default", key: admin)
            let missing = await api.call(.get, "/v1/apps/app_none", key: admin)
            #expect(foreign.status == 404 && missing.status == 404)
            #expect(foreign["detail"]?.string == missing["detail"]?.string)
        }
    }
}
