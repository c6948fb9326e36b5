import ChatCore
import ChatModel
import ChatSupport
import JSON
import Signing
import TestSupport
import Testing

@testable import NativeAPI

@Suite("Revocation", .timeLimit(.minutes(1))) struct RevocationTests {
    private func token(_ gateway: StreamHarness, for user: String = "eve") async throws -> String {
        let made = try await gateway.call("POST", "/v1/tokens", "{\"user\":\"\(user)\"}")
        return try #require(made.json?["token"]?.string)
    }

    private func signed(_ claims: String, by secret: String) -> String {
        WebToken.text(claims: Array(claims.utf8), secret: Secret(text: secret))
    }

    private func reads(_ token: String, _ gateway: StreamHarness) async throws -> Int {
        try await gateway.call("GET", "/v1/channels/a/events", as: token).status
    }

    @Test("is refused to a narrowed key, which does not reach everything that the user does")
    func narrowed() async throws {
        try await StreamHarness.run { gateway in
            let narrowed = try await gateway.key([.read, .manage], channels: [.exact("b")])
            let token = try await token(gateway)
            for (method, path) in [("POST", "/v1/users/eve/revoke-tokens"), ("DELETE", "/v1/users/eve")] {
                let refused = try await gateway.call(method, path, as: narrowed.text)
                #expect(refused.status == 403)
            }
            #expect(try await reads(token, gateway) == 200)
        }
    }

    @Test("is not part of deleting a user without a record, whose error names the right route")
    func withoutRecord() async throws {
        try await StreamHarness.run { gateway in
            let token = try await token(gateway)
            let missing = try await gateway.call("DELETE", "/v1/users/eve")
            #expect(missing.status == 404)
            #expect(missing.json?["detail"]?.string?.contains("revoke-tokens") == true)
            #expect(try await reads(token, gateway) == 200)
        }
    }

    @Test("refuses tokens issued in the future, which would outlive the next revocation")
    func future() async throws {
        try await StreamHarness.run { gateway in
            let now = gateway.service.clock.now.rawValue / Timetoken.ticksPerSecond
            for (issued, status) in [(now + 30, 200), (now + 100, 401)] {
                let token = signed(
                    "{\"iss\":\"demo\",\"sub\":\"eve\",\"exp\":\(now + 600),\"iat\":\(issued)}", by: "demo-secret")
                let answer = try await reads(token, gateway)
                #expect(answer == status)
            }
        }
    }

    @Test(
        "voids a user's tokens and tickets, by deleting the user or on request, and no other user's",
        arguments: ["DELETE /v1/users/eve", "POST /v1/users/eve/revoke-tokens"])
    func ofUser(_ request: String) async throws {
        try await StreamHarness.run { gateway in
            let old = try await token(gateway)
            let other = try await token(gateway, for: "ana")
            let made = try await gateway.call("POST", "/v1/stream-tickets", "{}", as: old)
            let ticket = try #require(made.json?["ticket"]?.string)
            let end = gateway.service.clock.now.rawValue / Timetoken.ticksPerSecond + 600
            let ageless = signed("{\"iss\":\"demo\",\"sub\":\"eve\",\"exp\":\(end)}", by: "demo-secret")
            let (reader, _, _) = try await gateway.openReady("channel=a", as: old)
            #expect(try await reads(ageless, gateway) == 200)
            _ = try await gateway.call("PUT", "/v1/users/eve", "{}")
            let parts = request.split(separator: " ").map(String.init)
            let done = try await gateway.call(parts[0], parts[1])
            #expect(done.status < 300)
            #expect(await reader.rest().last?["reason"] == "unauthorized")
            for token in [old, ageless] {
                let refused = try await gateway.call("GET", "/v1/channels/a/events", as: token)
                #expect(refused.status == 401 && refused.json?["code"]?.string == "token_invalid")
            }
            #expect(try await gateway.open("ticket=\(ticket)", as: nil).status == 401)
            #expect(try await reads(other, gateway) == 200)
            // This also holds for a token that is made in the same second.
            #expect(try await reads(token(gateway), gateway) == 200)
        }
    }

    @Test("voids a user's tokens from before a time, which never moves back")
    func moment() async throws {
        try await StreamHarness.run { gateway in
            let old = try await token(gateway)
            gateway.clock.advance(by: .seconds(10))
            let moment = gateway.service.clock.now
            gateway.clock.advance(by: .seconds(10))
            let new = try await token(gateway)
            for before in [moment, Timetoken(1)] {
                let body = "{\"before\":\"\(before.timestamp)\"}"
                let done = try await gateway.call("POST", "/v1/users/eve/revoke-tokens", body)
                #expect(done.json?["tokens_revoked_before"]?.string == moment.timestamp)
            }
            #expect(try await reads(old, gateway) == 401)
            #expect(try await reads(new, gateway) == 200)
            let future = "{\"before\":\"2100-01-01T00:00:00Z\"}"
            #expect(try await gateway.call("POST", "/v1/users/eve/revoke-tokens", future).status == 400)
            #expect(try await gateway.call("POST", "/v1/users/eve/revoke-tokens", "", as: new).status == 403)
        }
    }

    @Test("replaces an app's secret, which is accepted for a while beside the new one")
    func secret() async throws {
        try await StreamHarness.run { gateway in
            let old = try await token(gateway)
            let (reader, _, _) = try await gateway.openReady("channel=a", as: old)
            let path = "/v1/apps/demo/rotate-secret"
            let first = try await gateway.call("POST", path, #"{"overlap_seconds":60}"#)
            #expect(first.status == 200 && first.header("Cache-Control") == "no-store")
            let secret = try #require(first.json?["secret_key"]?.string)
            #expect(secret != "demo-secret")
            let end = gateway.service.clock.now.rawValue / Timetoken.ticksPerSecond + 600
            let claims = "{\"iss\":\"demo\",\"sub\":\"ana\",\"exp\":\(end)}"
            for token in [old, signed(claims, by: "demo-secret"), signed(claims, by: secret)] {
                #expect(try await reads(token, gateway) == 200)
            }
            gateway.clock.advance(by: .seconds(60))
            await gateway.tick()
            #expect(await reader.rest().last?["reason"] == "unauthorized")
            for token in [old, signed(claims, by: "demo-secret")] { #expect(try await reads(token, gateway) == 401) }
            let new = signed(claims, by: secret)
            #expect(try await reads(new, gateway) == 200)
            let (second, _, _) = try await gateway.openReady("channel=a", as: new)
            _ = try await gateway.call("POST", path, #"{"overlap_seconds":0}"#)
            #expect(await second.rest().last?["reason"] == "unauthorized")
            #expect(try await reads(new, gateway) == 401)
        }
    }

    @Test("leaves an app's secret without admin rights: it reads and emits as a user")
    func noAdmin() async throws {
        try await StreamHarness.run { gateway in
            let keyring = gateway.service.keyring
            let caller = try #require(keyring.caller(key: Keyring.secretCredential, in: StreamHarness.app))
            #expect(caller.scopes == [.read, .emit] && !caller.isOperator)
            let seal = TextSealer(key: Secret(text: "demo-secret"), purpose: BrowserSession.sealPurpose)
            let session = BrowserSession(
                app: StreamHarness.app, key: Keyring.secretCredential,
                expires: gateway.service.clock.now.adding(.seconds(60)))
            let answer = try await HTTPExchange.send(
                "GET", "/v1/keys", port: gateway.port, headers: [("Cookie", "parley=" + session.text(sealedBy: seal))])
            #expect(answer.status == 401)
        }
    }
}
