import ChatCore
import ChatModel
import Testing

@testable import PubNubAPI

@Suite("A PubNub app's rates", .timeLimit(.minutes(2))) struct PubNubRateTests {
    @Test("limit all its clients together, and are reported in the wire's format")
    func requests() async throws {
        try await PubNubHarness.run { gateway in
            let owner = try #require(gateway.service.keyring.app(PubNubHarness.app))
            let caller = Caller(app: owner.id, credential: "test", scopes: [.admin], isOperator: true)
            let rates = RatePolicies(requests: RatePolicy(1, in: .seconds(60)))
            try await gateway.service.change(owner.id, rates: { _ in rates }, by: caller)
            #expect(try await gateway.publish("a", "1").status == 200)
            let refused = try await gateway.publish("a", "2")
            #expect(refused.status == 429)
            #expect(
                refused.text
                    == #"{"message":"Too Many Requests","error":true,"service":"Balancer","status":429}"#)
            #expect(refused.header("Retry-After") != nil)
            #expect(try await gateway.events("a").count == 1)
        }
    }

    @Test("count events that are published")
    func events() async throws {
        try await PubNubHarness.run { gateway in
            let caller = Caller(
                app: PubNubHarness.app, credential: "test", scopes: [.admin], isOperator: true)
            let rates = RatePolicies(events: RatePolicy(1, in: .seconds(60)))
            try await gateway.service.change(PubNubHarness.app, rates: { _ in rates }, by: caller)
            #expect(try await gateway.publish("a", "1").status == 200)
            #expect(try await gateway.publish("a", "2").status == 429)
            #expect(try await gateway.get("/v3/history/sub-key/sub-demo/channel/a").status == 200)
        }
    }

    @Test("are not used up by requests without a valid token or signature")
    func strangers() async throws {
        try await PubNubHarness.run { gateway in
            let caller = Caller(
                app: PubNubHarness.app, credential: "test", scopes: [.admin], isOperator: true)
            try await gateway.service.change(caller.app, AppChange(requiresTokens: true), by: caller)
            let rates = RatePolicies(requests: RatePolicy(3, in: .seconds(60)))
            try await gateway.service.change(PubNubHarness.app, rates: { _ in rates }, by: caller)
            for _ in 0..<5 {
                #expect(try await gateway.publish("a", "1").status == 403)
                #expect(try await gateway.call("POST", "/v3/pam/sub-demo/grant", "{}").status == 403)
            }
            let meters = try #require(gateway.service.keyring.app(PubNubHarness.app)?.meters)
            #expect(meters.requests?.state(at: gateway.service.clock.now).left == 3)
        }
    }
}
