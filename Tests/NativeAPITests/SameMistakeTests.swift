import HTTPServer
import Testing

@Suite("The same mistake") struct SameMistakeTests {
    /// A route, and a request it accepts but for one member that it needs, if there is one.
    private static let routes: [(method: HTTPMethod, path: String, needs: String?)] = [
        (.post, "/v1/channels/a/messages", "{}"), (.post, "/v1/channels/a/events", "{}"),
        (.post, "/v1/channels/a/signals", "{}"), (.post, "/v1/channels/a/fire", "{}"),
        (.post, "/v1/events", #"{"channel":"a"}"#), (.post, "/v1/events/batch", "{}"),
        (.post, "/v1/events/validate", #"{"type":"t"}"#), (.post, "/v1/history", "{}"),
        (.put, "/v1/event-types/u", nil), (.post, "/v1/event-types/t/versions", "{}"),
        (.post, "/v1/event-types/t/validate", "{}"), (.post, "/v1/event-types/t/infer", nil),
        (.put, "/v1/event-types/t/candidate", "{}"), (.post, "/v1/event-types/t/candidate/promote", nil),
        (.post, "/v1/stream-tickets", nil), (.post, "/v1/keys", nil), (.post, "/v1/apps", "{}"),
        (.patch, "/v1/apps/default", nil),
    ]

    @Test(
        "has the same code on every route",
        arguments: [
            (#"{"no_such_member":1}"#, "unknown_member"), ("[]", "wrong_type"), (#"{"a":"#, "malformed_request"),
            (#"{"a":1,"a":2}"#, "duplicate_name"),
        ])
    func codes(_ body: String, _ code: String) async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/event-types/t", "{}")
            for route in Self.routes {
                let answer = await api.call(route.method, route.path, body)
                #expect(answer.status == 400 && answer.code == code, "\(route.method) \(route.path)")
            }
        }
    }

    @Test("of leaving out what is needed has one code, and of a mistyped parameter another")
    func missing() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/event-types/t", "{}")
            for route in Self.routes {
                if let body = route.needs {
                    #expect(await api.call(route.method, route.path, body).code == "member_missing", "\(route.path)")
                }
                let query = await api.call(route.method, route.path + "?no_such_parameter=1", "{}")
                // An emit looks at its event first, so either mistake may be told.
                let codes = route.needs == nil ? ["unknown_parameter"] : ["unknown_parameter", "member_missing"]
                #expect(codes.contains(query.code ?? ""), "\(route.path)")
            }
        }
    }
}
