import ChatCore
import ChatModel
import LongPolling
import JSON
import TestSupport
import Testing

@testable import PubNubAPI

/// Actions that a token does not allow, although a call that it permits could perform them.
extension AccessTests {
    /// A user's token for the channel `entry`, with these permissions.
    private func auth(_ user: String, _ permissions: Int, _ gateway: PubNubHarness) async throws -> String {
        let grants = #"{"resources":{"channels":{"room":\#(permissions)},"groups":{"g":1}},"uuid":"\#(user)"}"#
        return "?uuid=\(user)&auth=" + (try await token(grants, gateway))
    }

    @Test("changes others' messages only with the right to manage the channel")
    func foreignMessages() async throws {
        try await run { gateway in
            let (ana, bob) = (try await auth("ana", 3, gateway), try await auth("bob", 3, gateway))
            let publish = "/publish/pub-demo/sub-demo/0/room/0/1"
            let message = try await gateway.get(publish + bob).timetoken
            let base = "/v1/message-actions/sub-demo/channel/room/message/\(message)"
            func add(_ type: String, _ query: String, _ value: String? = nil) async throws -> WireAnswer {
                try await gateway.call("POST", base + query, #"{"type":"\#(type)","value":"\#(value ?? type)"}"#)
            }
            for type in ["edited", "deleted"] { #expect(try await add(type, ana).status == 403) }
            #expect(
                try await gateway.history("room", ana.replacing("?uuid=ana", with: ""))["channels"]?["room"]?.count == 1
            )
            #expect(try await add("deleted", ana, "for:ana").status == 200)
            let reaction = try await add("reaction", ana)
            #expect(reaction.status == 200)
            let place = reaction["data"]?["actionTimetoken"]?.string ?? ""
            #expect(try await gateway.call("DELETE", base + "/action/\(place)" + ana).status == 403)
            let deleting = try await auth("ana", 11, gateway)
            #expect(try await gateway.call("DELETE", base + "/action/\(place)" + deleting).status == 200)
            #expect(try await add("deleted", deleting).status == 403)
            #expect(try await add("edited", bob).status == 200)
            #expect(try await add("deleted", try await auth("mod", 7, gateway)).status == 200)
        }
    }

    @Test("shows a user's own state only, and as that user")
    func foreignState() async throws {
        try await run { gateway in
            try await gateway.chat.appear("bob", onAll: ["room"], for: .seconds(300))
            let ana = try await auth("ana", 1, gateway)
            let base = "/v2/presence/sub-key/sub-demo/channel/room/uuid/"
            #expect(try await gateway.get(base + "ana/data" + ana + "&state=%7B%7D").status == 200)
            #expect(try await gateway.get(base + "bob/data" + ana + "&state=%7B%22a%22%3A1%7D").status == 403)
            #expect(try await gateway.get(base + "bob/data" + ana + "&uuid=bob&state=%7B%22a%22%3A1%7D").status == 403)
            #expect(try await gateway.get(base + "bob" + ana)["payload"]?.count == 0)
        }
    }

    @Test("lists the groups and whereabouts that it lets its holder read, and a signature all")
    func lists() async throws {
        try await run { gateway in
            for group in ["g", "h"] {
                _ = try await gateway.chat.write(group: group, .change(adding: ["a"], removing: []))
            }
            try await gateway.chat.appear("bob", onAll: ["room", "other"], for: .seconds(300))
            let ana = try await auth("ana", 1, gateway)
            let groups = "/v1/channel-registration/sub-key/sub-demo/channel-group"
            #expect(try await gateway.get(groups + ana)["payload"]?["groups"]?.strings == ["g"])
            #expect(try await gateway.get(signed("GET", groups, at: gateway))["payload"]?["groups"]?.count == 2)
            let place = "/v2/presence/sub-key/sub-demo/uuid/bob"
            #expect(try await gateway.get(place + ana)["payload"]?["channels"]?.strings == ["room"])
            #expect(try await gateway.get(signed("GET", place, at: gateway))["payload"]?["channels"]?.count == 2)
            #expect(try await gateway.get(place).status == 403)
        }
    }

    @Test("changes members with 'manage' and deletes history with 'delete'")
    func permissions() async throws {
        try await run { gateway in
            let members = "/v2/objects/sub-demo/channels/room/uuids"
            let history = "/v3/history/sub-key/sub-demo/channel/room"
            let body = #"{"set":[{"uuid":{"id":"bob"}}]}"#
            for (permissions, onMembers, onHistory) in [(3, 403, 403), (4, 200, 403), (8, 403, 200)] {
                let ana = try await auth("ana", permissions, gateway)
                #expect(try await gateway.call("PATCH", members + ana, body).status == onMembers)
                #expect(try await gateway.call("DELETE", history + ana).status == onHistory)
            }
        }
    }

    @Test(
        "ends a held poll with it: in its time, revoked, or with its user's tokens or the app's secret",
        arguments: ["time", "token", "user", "secret"])
    func heldPoll(_ end: String) async throws {
        try await run { gateway in
            let query = try await auth("bob", 3, gateway).replacing("?uuid=bob", with: "")
            let text = query.dropFirst(6).replacing("%2D", with: "-").replacing("%5F", with: "_").replacing(
                "%3D", with: "")
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("room", "0", query).cursor
            try poller.ask("room", start, query)
            await gateway.untilHeld()
            let now = gateway.service.clock.now
            switch end {
            case "time": gateway.clock.advance(by: .seconds(3600))
            case "token": try await gateway.chat.revoke(token: String(text).bareToken, until: now.adding(.seconds(60)))
            case "user": _ = try await gateway.chat.revokeTokens(of: "bob")
            default: _ = try await gateway.service.keyring.rotateSecret(overlap: .zero, by: gateway.chat.caller)
            }
            await gateway.polls.pass()
            let answer = await poller.answer()
            #expect(answer.status == 403)
            #expect(answer.json?["message"]?.string == Self.reasons[end])
            poller.close()
        }
    }

    private static let reasons = [
        "time": "Token is expired.", "token": "Token is revoked", "user": "Token is revoked", "secret": "Invalid token",
    ]

    @Test("is cached while it is valid, and an invalid one is not")
    func keeping() async throws {
        try await run { gateway in
            let known = VerifiedTokenCache()
            let now = gateway.service.clock.now
            let app = try #require(gateway.service.keyring.app(PubNubHarness.app))
            let entry = try await token(#"{"resources":{"channels":{"room":3}}}"#, gateway)
            let text = entry.replacing("%2D", with: "-").replacing("%5F", with: "_").replacing("%3D", with: "=")
            for _ in 0..<2 { #expect(known.token(text, of: app, at: now)?.allows(.read, .channel, "room") == true) }
            var other = app
            other.secretKey = "another"
            #expect(known.token(text, of: other, at: now) == nil)
            #expect(known.token(String(text.dropLast()) + "x", of: app, at: now) == nil)
            #expect(known.token("", of: app, at: now) == nil)
        }
    }

    @Test("is refused at once when it is revoked, with the store out of reach")
    func revocation() async throws {
        try await run { gateway in
            let entry = try await token(#"{"resources":{"channels":{"room":3}}}"#, gateway)
            let text = entry.replacing("%2D", with: "-").replacing("%5F", with: "_").replacing("%3D", with: "=")
            #expect(!gateway.chat.isRevoked(token: text))
            try await gateway.chat.revoke(token: text, until: gateway.service.clock.now.adding(.seconds(60)))
            await gateway.service.engine.close()
            #expect(gateway.chat.isRevoked(token: text))
        }
    }

    @Test("is good for its own app")
    func foreignApp() async throws {
        try await run { gateway in
            let admin = Caller(app: AppID("other"), credential: "test", scopes: [.admin])
            try await gateway.service.change(admin.app, AppChange(requiresTokens: true), by: admin)
            let ana = try await auth("ana", 3, gateway)
            #expect(try await gateway.get("/v3/history/sub-key/sub-demo/channel/room" + ana).status == 200)
            let foreign = try await gateway.get("/v3/history/sub-key/sub-other/channel/room" + ana)
            #expect(foreign.status == 403 && foreign["message"]?.string == "Invalid token")
            #expect(try await gateway.get("/publish/pub-demo/sub-other/0/room/0/1" + ana).status == 403)
        }
    }
}
