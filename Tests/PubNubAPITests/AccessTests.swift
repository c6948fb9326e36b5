import ChatCore
import ChatModel
import JSON
import Signing
import TestSupport
import Testing
import Text

@testable import PubNubAPI

@Suite("An app that demands access tokens", .timeLimit(.minutes(2))) struct AccessTests {
    private static let secret = Secret(text: "demo-secret")
    private static let grantPath = "/v3/pam/sub-demo/grant"

    func run(_ body: (PubNubHarness) async throws -> Void) async throws {
        try await PubNubHarness.run { gateway in
            let admin = Caller(app: PubNubHarness.app, credential: "test", scopes: [.admin])
            try await gateway.service.change(admin.app, AppChange(requiresTokens: true), by: admin)
            try await body(gateway)
        }
    }

    /// The target with a timestamp and a signature. `query` is in the order of its names.
    func signed(
        _ method: String, _ path: String, _ query: String = "", body: String = "", at gateway: PubNubHarness,
        later seconds: UInt64 = 0
    ) -> String {
        let second = gateway.service.clock.now.rawValue / Timetoken.ticksPerSecond - seconds
        let query = (query.split(separator: "&") + ["timestamp=\(second)"]).sorted().joined(separator: "&")
        let input = "\(method)\npub-demo\n\(path)\n\(query)\n\(body)"
        let code = MessageAuthentication.code(.sha256, of: Array(input.utf8), key: Self.secret)
        return "\(path)?\(query)&signature=v2.\(Base64.encodeURL(code))"
    }

    private func grant(_ permissions: String, ttl: String = "60", _ gateway: PubNubHarness) async throws -> WireAnswer {
        let body = #"{"ttl":\#(ttl),"permissions":\#(permissions)}"#
        return try await gateway.call("POST", signed("POST", Self.grantPath, body: body, at: gateway), body)
    }

    func token(_ permissions: String, _ gateway: PubNubHarness) async throws -> String {
        let answer = try await grant(permissions, gateway)
        return PubNubHarness.escaped(answer["data"]?["token"]?.string ?? "")
    }

    private static let entry =
        #"{"resources":{"channels":{"room":3},"groups":{"g":1},"uuids":{"ana":96}},"patterns":{"channels":{"^team\\..*$":1}},"meta":{"k":1},"uuid":"ana"}"#

    @Test("grants tokens that SDKs can read to holders of the secret key")
    func granting() async throws {
        try await run { gateway in
            let answer = try await grant(Self.entry, gateway)
            let text = answer["data"]?["token"]?.string ?? ""
            #expect(
                answer.text
                    == #"{"data":{"message":"Success","token":"\#(text)"},"service":"Access Manager","status":200}"#)
            let token = try #require(AccessToken(text, secret: Self.secret))
            #expect(token.value.members.map(\.key.string) == ["v", "t", "ttl", "res", "pat", "meta", "uuid", "sig"])
            #expect(token.value["res"]?.members.map(\.key.string) == ["chan", "grp", "usr", "spc", "uuid"])
            #expect(token.value["res"]?["chan"]?["room"] == .unsigned(3))
            #expect(token.value["meta"]?["k"] == .unsigned(1))
            #expect(token.user == "ana")
            #expect(AccessToken(text, secret: Secret(text: "other")) == nil)
            #expect(AccessToken(String(text.dropFirst(4)), secret: Self.secret) == nil)
            let unsigned = try await gateway.call("POST", Self.grantPath, "{}")
            #expect(unsigned.status == 403)
            let bad = try await grant(Self.entry, ttl: "50000", gateway)
            #expect(
                bad.text
                    == #"{"status":400,"service":"Access Manager","error":{"message":"Invalid ttl","source":"grant","details":[{"message":"Range should be 1 to 43200 minute(s).","location":"ttl","locationType":"body"}]}}"#
            )
        }
    }

    @Test("shows tokens every field of the users they grant, and of others what the app makes public")
    func publicFields() async throws {
        try await run { gateway in
            let base = "/v2/objects/sub-demo"
            for user in ["ana", "ben"] {
                let body = #"{"name":"N","email":"\#(user)@example.com","externalId":"4711","custom":{"n":1}}"#
                let target = signed("PATCH", "\(base)/uuids/\(user)", body: body, at: gateway)
                #expect(try await gateway.call("PATCH", target, body).status == 200)
                _ = try await gateway.chat.join(user, to: try await hall(gateway), MembershipEdit())
            }
            let text = #"{"resources":{"uuids":{"ana":32},"channels":{"hall":33,"ben":1}},"uuid":"ana"}"#
            let auth = "uuid=ana&auth=" + (try await token(text, gateway))
            let users = try await gateway.get("\(base)/uuids?include=custom&\(auth)")["data"]
            #expect(users?.elements?.map { $0["email"]?.string } == ["ana@example.com", nil])
            #expect(users?[1]?["externalId"]?.isNull == true && users?[1]?["custom"]?["n"]?.integer == 1)
            let members = try await gateway.get("\(base)/channels/hall/uuids?include=uuid&\(auth)")["data"]
            #expect(members?.elements?.map { $0["uuid"]?["email"]?.string } == ["ana@example.com", nil])
            #expect(try await gateway.get("\(base)/uuids/ana?\(auth)")["data"]?["email"]?.string == "ana@example.com")
            #expect(try await gateway.get("\(base)/uuids/ben?\(auth)").status == 403)
            for query in [
                "uuids?filter=email+LIKE+%22b*%22", "uuids?sort=externalId",
                "channels/hall/uuids?filter=uuid.email+LIKE+%22b*%22",
                "channels/hall/uuids?sort=uuid.email",
            ] {
                #expect(try await gateway.get("\(base)/\(query)&\(auth)").status == 400, "\(query)")
            }
            let signedList = try await gateway.get(signed("GET", "\(base)/uuids", at: gateway))
            #expect(signedList["data"]?[1]?["email"]?.string == "ben@example.com")

            let poller = try WirePoller(gateway)
            let start = try await poller.batch("ben", "0", "&" + auth).cursor
            var edit = UserEdit()
            edit.status = .set("away")
            edit.email = .set("new@example.com")
            _ = try await gateway.chat.update(user: "ben", edit)
            let batch = try await poller.batch("ben", start, "&" + auth)
            #expect(batch.items.first?["d"]?["data"]?["status"]?.string == "away")
            #expect(!batch.text.contains("example.com"))
        }
    }

    @Test("lists private channels to tokens of their members, and to signed requests")
    func privateChannels() async throws {
        try await run { gateway in
            var new = NewChannel(kind: .group, id: "crew")
            new.users = ["ana"]
            _ = try await gateway.chat.make(new)
            let hall = try await hall(gateway)
            let target = "/v2/objects/sub-demo/channels"
            func listed(_ user: String) async throws -> [String?]? {
                let text = "{\"resources\":{\"uuids\":{\"x\":32}}\(user.isEmpty ? "" : ",\"uuid\":\"\(user)\"")}"
                let query = "?count=true&uuid=\(user)&auth=" + (try await token(text, gateway))
                let answer = try await gateway.get(target + query)
                #expect(answer["totalCount"]?.integer == answer["data"].map { Int64($0.count) })
                return answer["data"]?.elements?.map { $0["id"]?.string }
            }
            #expect(try await listed("ana") == ["crew", hall])
            #expect(try await listed("eve") == [hall])
            #expect(try await listed("") == [hall])
            #expect(try await gateway.get(signed("GET", target, at: gateway))["data"]?.count == 2)
        }
    }

    private func hall(_ gateway: PubNubHarness) async throws -> String {
        if try await gateway.chat.channelView("hall") == nil {
            _ = try await gateway.chat.make(NewChannel(kind: .public, id: "hall"))
        }
        return "hall"
    }

    @Test("allows lifting restrictions to managers of the channel, not to users who may join it")
    func restrictions() async throws {
        try await run { gateway in
            _ = try await gateway.chat.restrict("ana", in: "room", RestrictionRequest(isBan: true))
            let path = "/v2/objects/sub-demo/uuids/ana/channels?uuid=ana"
            let lift = #"{"delete":[{"channel":{"id":"PUBNUB_INTERNAL_MODERATION_room"}}]}"#
            func all(_ permission: Int) -> String {
                #"{"patterns":{"channels":{"^.*$":\#(permission)}},"resources":{"uuids":{"ana":96}},"uuid":"ana"}"#
            }
            let joins = "&auth=" + (try await token(all(128), gateway))
            let join = #"{"set":[{"channel":{"id":"hall"}}]}"#
            #expect(try await gateway.call("PATCH", path + joins, join).status == 200)
            #expect(try await gateway.call("PATCH", path + joins, lift).status == 403)
            #expect(try await gateway.chat.restriction(of: "ana", in: "room").isBanned)
            let manages = "&auth=" + (try await token(all(4), gateway))
            #expect(try await gateway.call("PATCH", path + manages, lift).status == 200)
            await #expect(throws: ChatError.self) { try await gateway.chat.restriction(of: "ana", in: "room") }
        }
    }

    @Test("accepts a token, for its grants and no more")
    func enforcement() async throws {
        try await run { gateway in
            let auth = "&auth=" + (try await token(Self.entry, gateway))
            let denied = try await gateway.publish("room", "1")
            #expect(
                denied.text
                    == #"{"message":"Forbidden","payload":{"channels":["room"]},"error":true,"service":"Access Manager","status":403}"#
            )
            #expect(try await gateway.publish("room", "1", auth).status == 200)
            #expect(try await gateway.publish("team.1", "1", auth).status == 403)
            #expect(try await gateway.history("room,team.1", auth).status == 200)
            #expect(try await gateway.history("room,other", auth)["payload"]?["channels"]?.strings == ["other"])
            #expect(try await gateway.history("steam.1x", auth).status == 403)
            let base = "/v2/subscribe/sub-demo/"
            #expect(
                try await gateway.get(base + "room,room-pnpres/0?uuid=ana&channel-group=g,g-pnpres" + auth).status
                    == 200)
            let group = try await gateway.get(base + "room/0?uuid=ana&channel-group=h" + auth)
            #expect(group["payload"]?["channel-groups"]?.strings == ["h"])
            #expect(try await gateway.get(base + "room/0?uuid=bob" + auth).status == 403)
            let objects = "/v2/objects/sub-demo/uuids/"
            #expect(try await gateway.call("PATCH", objects + "ana?uuid=ana" + auth, "{}").status == 200)
            let foreign = try await gateway.call("PATCH", objects + "bob?uuid=ana" + auth, "{}")
            #expect(foreign.status == 403)
            #expect(foreign["error"]?["message"]?.string?.hasPrefix("Supplied authorization key does not have") == true)
            #expect(try await gateway.call("DELETE", objects + "ana?uuid=ana" + auth).status == 403)
            #expect(
                try await gateway.get("/v1/channel-registration/sub-key/sub-demo/channel-group/g?add=a" + auth).status
                    == 403)
            #expect(try await gateway.get("/time/0").status == 200)
            #expect(try await gateway.get("/v3/history/sub-key/sub-other/channel/a").status == 200)
        }
    }

    @Test("lets every token of a user read the user's own channel, and nothing more of it")
    func ownChannel() async throws {
        try await run { gateway in
            let auth = "&auth=" + (try await token(#"{"resources":{"channels":{"room":1}},"uuid":"ana"}"#, gateway))
            for (target, status) in [
                ("/v2/subscribe/sub-demo/room,ana,ana-pnpres/0?uuid=ana", 200),
                ("/v2/subscribe/sub-demo/bob/0?uuid=ana", 403), ("/v2/subscribe/sub-demo/ana/0?uuid=bob", 403),
                ("/v3/history/sub-key/sub-demo/channel/ana?uuid=ana", 200),
                ("/v2/presence/sub-key/sub-demo/channel/ana?uuid=ana", 200),
                ("/publish/pub-demo/sub-demo/0/ana/0/1?uuid=ana", 403),
            ] {
                #expect(try await gateway.get(target + auth).status == status, "\(target)")
            }
            let anybody = "&auth=" + (try await token(#"{"resources":{"channels":{"room":1}}}"#, gateway))
            #expect(try await gateway.get("/v2/subscribe/sub-demo/ana/0?uuid=ana" + anybody).status == 403)
        }
    }

    @Test("delivers mentions on the user's own channel, whatever the token grants")
    func mention() async throws {
        try await run { gateway in
            let auth = "&auth=" + (try await token(#"{"resources":{"channels":{"room":1}},"uuid":"bob"}"#, gateway))
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("room,bob", "0", auth).cursor
            try poller.ask("room,bob", start, auth)
            await gateway.untilHeld()
            let data = #"{"message":{"timetoken":"17324123456799999","channel":"room","user":"ana"}}"#
            var mention = EventDraft(
                channel: ChannelID("bob", in: PubNubHarness.app), type: "user.mentioned",
                data: JSONText(trusted: Array(data.utf8)), user: "ana")
            mention.audience = .rule(.mentioned, subjects: ["bob"])
            _ = try await gateway.service.engine.log.append([mention], claim: nil)
            let answer = await poller.answer()
            #expect(answer.items.map { $0["c"]?.string } == ["bob"])
            poller.close()
        }
    }

    @Test("answers polls without a token when it begins to require them, and checks the next")
    func demanded() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("room", "0").cursor
            try poller.ask("room", start)
            await gateway.untilHeld()
            let admin = Caller(app: PubNubHarness.app, credential: "test", scopes: [.admin])
            try await gateway.service.change(admin.app, AppChange(requiresTokens: true), by: admin)
            let answer = await poller.answer()
            #expect(answer.status == 200 && answer.items.isEmpty && answer.cursor == start)
            #expect(try await poller.batch("room", start).status == 403)
            poller.close()
        }
    }

    @Test("refuses an expired, revoked or invalid token")
    func endings() async throws {
        try await run { gateway in
            let text = try await token(Self.entry, gateway)
            let auth = "&auth=" + text
            let none = try await gateway.publish("room", "1", "&auth=abc")
            #expect(none.status == 403 && none["message"]?.string == "Invalid token")
            let path = Self.grantPath + "/" + text
            let revoked = try await gateway.call("DELETE", signed("DELETE", path, at: gateway))
            #expect(revoked.text == #"{"data":{"message":"Success"},"service":"Access Manager","status":200}"#)
            #expect(try await gateway.publish("room", "1", auth)["message"]?.string == "Token is revoked")
            gateway.clock.advance(by: .seconds(3601))
            #expect(try await gateway.publish("room", "1", auth)["message"]?.string == "Token is expired.")
            let late = try await gateway.call("DELETE", signed("DELETE", path, at: gateway))
            #expect(late.status == 400)
            #expect(late["error"]?["details"]?[0]?["message"]?.string == "Token is expired.")
        }
    }

    @Test("takes a right signature for everything, and a wrong or old one for nothing")
    func signatures() async throws {
        try await run { gateway in
            let path = "/v3/history/sub-key/sub-demo/channel/a%20b"
            let right = signed("GET", path, "auth=a%20%7Eb&max=2", at: gateway)
            #expect(try await gateway.get(right).status == 200)
            #expect(try await gateway.get(right + "x").status == 403)
            #expect(try await gateway.get(right.replacing("max=2", with: "max=3")).status == 403)
            #expect(try await gateway.get(signed("GET", path, at: gateway, later: 100)).status == 403)
            let publish = "/publish/pub-demo/sub-demo/0/room/0"
            // The older signature does not cover method and body, so it is not accepted for anything else.
            #expect(try await gateway.get(older("\(publish)/1", at: gateway)).status == 403)
            let actions = "/v1/message-actions/sub-demo/channel/room/message/1"
            #expect(try await gateway.call("POST", older(actions, at: gateway), "{}").status == 403)
            let old = try await gateway.call("POST", older(publish, at: gateway), "1")
            #expect(old.status == 200)
        }
    }

    @Test("takes the signature of a publish by POST as JavaScript SDKs make it, and for nothing else")
    func signedAsGet() async throws {
        try await run { gateway in
            let publish = "/publish/pub-demo/sub-demo/0/room/0"
            let actions = "/v1/message-actions/sub-demo/channel/room/message/1"
            for (target, status) in [
                (signed("POST", publish, body: "1", at: gateway), 200),
                (signed("GET", publish, at: gateway), 200),
                (signed("GET", publish, body: "x", at: gateway), 403),
                // The signature of a publish by GET does not allow another payload.
                (signed("GET", publish + "/2", at: gateway), 403),
                (signed("GET", Self.grantPath, at: gateway), 403),
                (signed("GET", actions, at: gateway), 403),
            ] {
                let answer = try await gateway.call("POST", target, "1")
                #expect(answer.status == status, "\(target)")
            }
        }
    }

    @Test("asks for the rights to every channel of a list, also where its commas are escaped")
    func escapedCommas() async throws {
        try await run { gateway in
            let one = "&auth=" + (try await token(#"{"resources":{"channels":{"a":1}}}"#, gateway))
            let both = "&auth=" + (try await token(#"{"resources":{"channels":{"a":1,"b":1}}}"#, gateway))
            let refused = try await gateway.history("a%2Cb", one)
            #expect(refused.status == 403)
            #expect(refused["payload"]?["channels"]?.strings == ["b"])
            #expect(try await gateway.history("a%2Cb", both).status == 200)
            #expect(try await gateway.get("/v2/subscribe/sub-demo/a%2Cb/0?uuid=ana" + one).status == 403)
            #expect(try await gateway.get("/v2/subscribe/sub-demo/a%2Cb/0?uuid=ana" + both).status == 200)
        }
    }

    /// The target with a signature in the older form.
    private func older(_ path: String, at gateway: PubNubHarness) -> String {
        let second = gateway.service.clock.now.rawValue / Timetoken.ticksPerSecond
        let input = "sub-demo\npub-demo\n\(path)\ntimestamp=\(second)"
        let code = MessageAuthentication.code(.sha256, of: Array(input.utf8), key: Self.secret)
        let signature = Base64.encode(code).replacing("+", with: "-").replacing("/", with: "_")
        return "\(path)?timestamp=\(second)&signature=\(PubNubHarness.escaped(signature))"
    }

    @Test("reads CBOR as RFC 8949 writes it, and nothing that is cut or goes too deep")
    func encoding() throws {
        for (hex, value) in [
            ("00", CBOR.unsigned(0)), ("1818", .unsigned(24)), ("1903e8", .unsigned(1000)),
            ("1a000f4240", .unsigned(1_000_000)),
            ("20", .negative(0)), ("43010203", .bytes([1, 2, 3])), ("6161", .text("a")),
            ("820102", .array([.unsigned(1), .unsigned(2)])),
            ("a1616101", .map([(.text("a"), .unsigned(1))])), ("f5", .boolean(true)), ("f6", .null),
            ("fb3ff199999999999a", .double(1.1)),
        ] {
            let bytes = try #require(Hex.decode(hex))
            #expect(CBOR(bytes)?.encoded == bytes)
            #expect(value.encoded == bytes)
            #expect(CBOR(Array(bytes.dropLast())) == nil)
            #expect(CBOR(bytes + [0]) == nil)
        }
        #expect(CBOR(Array(repeating: 0x81, count: 100) + [0]) == nil)
        #expect(CBOR([0xBB, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]) == nil)
    }
}
