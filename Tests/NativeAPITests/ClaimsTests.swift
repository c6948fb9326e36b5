import ChatModel
import HTTPServer
import Testing
import Text

@testable import NativeAPI

@Suite("A claim of an Idempotency-Key") struct ClaimsTests {
    @Test("under way makes a repeat 409 with Retry-After")
    func running() async throws {
        let claims = Claims(limits: Limits(), clock: .system)
        let caller = Caller(app: AppID("a"), credential: "key_1", scopes: [.emit])
        let request = Request(.post, "/v1/events", headers: Headers([("Idempotency-Key", "k")]))
        let key = try #require(try IdempotencyKey(request.headers))
        let first = try await claims.run(key, .anyChannel, request, caller) { _ in
            let second = await #expect(throws: ChatError.self) {
                try await claims.run(key, .anyChannel, request, caller) { _ in .empty() }
            }
            #expect(second?.slug == "idempotency_key_running")
            #expect(second?.retryAfter == .seconds(1))
            return .empty()
        }
        #expect(first.status == 204)
        // The first request has ended, so the next one runs.
        #expect(try await claims.run(key, .anyChannel, request, caller) { _ in .empty() }.status == 204)
    }

    @Test("has the published fingerprint")
    func fingerprint() {
        let body =
            #"{"type":"message.created","timestamp":"2023-11-14T22:13:20.000Z","data":{"channel":"general","user":"u_1","text":"héllo"}}"#
        let request = Request(
            .post, "/v1/channels/general/events", headers: Headers([("Content-Type", "application/json")]),
            body: Array(body.utf8))
        #expect(
            Hex.encode(Claims.fingerprint(request))
                == "58757f433ef2d32ec75f579b0dd3825625221f4c04c389328d435e3338ae20a1")
    }
}
