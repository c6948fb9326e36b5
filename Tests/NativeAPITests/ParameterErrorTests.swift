import HTTPServer
import JSON
import Testing

@testable import NativeAPI

@Suite("Errors about parameters") struct ParameterErrorTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var method = HTTPMethod.get
        var target: String
        var headers: [String: String] = [:]
        var code = "bad_parameter"
        var parameter: String
        var keyword: String

        var testDescription: String { "\(method) \(target) \(headers.keys.sorted())" }
    }

    static let cases = [
        Case(target: "/v1/users?limit=0", parameter: "limit", keyword: "range"),
        Case(target: "/v1/users?limit=1&limit=2", parameter: "limit", keyword: "repeated"),
        Case(target: "/v1/users?total=yes", parameter: "total", keyword: "enum"),
        Case(target: "/v1/users?order=up", parameter: "order", keyword: "enum"),
        Case(target: "/v1/users?after=x", parameter: "after", keyword: "format"),
        Case(target: "/v1/users?limt=1", code: "unknown_parameter", parameter: "limt", keyword: "unknown"),
        Case(target: "/v1/users?filter=nme==1", code: "bad_filter", parameter: "filter", keyword: "bad_filter"),
        Case(target: "/v1/users?sort=nme", code: "bad_sort", parameter: "sort", keyword: "bad_sort"),
        Case(target: "/v1/users?cursor=x", code: "bad_cursor", parameter: "cursor", keyword: "bad_cursor"),
        Case(target: "/v1/poll?channel=a&cursor=x", code: "bad_cursor", parameter: "cursor", keyword: "bad_cursor"),
        Case(
            target: "/v1/poll?channel=a&filter=data.x%20%3E", code: "bad_filter", parameter: "filter",
            keyword: "bad_filter"),
        Case(target: "/v1/poll?channel=a&include=moon", parameter: "include", keyword: "enum"),
        Case(target: "/v1/poll?channel=a&device=phone", parameter: "device", keyword: "dependentRequired"),
        Case(target: "/v1/channels/a%2Cb/events", parameter: "channel", keyword: "bad_parameter"),
        Case(method: .delete, target: "/v1/channels/a/events", parameter: "all", keyword: "required"),
        Case(method: .delete, target: "/v1/users/ana?by=a,b", parameter: "by", keyword: "format"),
        Case(
            target: "/v1/users?api_key=x", code: "credential_in_url", parameter: "api_key",
            keyword: "credential_in_url"),
        Case(
            method: .put, target: "/v1/users/ana", headers: ["X-Device-Id": String(repeating: "x", count: 200)],
            parameter: "X-Device-Id", keyword: "bad_parameter"),
        Case(
            method: .post, target: "/v1/channels/a/events", headers: ["Idempotency-Key": "a b"],
            code: "bad_idempotency_key", parameter: "Idempotency-Key", keyword: "bad_idempotency_key"),
    ]

    @Test("name the parameter, and point into no body", arguments: cases)
    func names(_ one: Case) async throws {
        try await APIFixture.run { api in
            let body = one.method == .put ? "{}" : one.method == .post ? #"{"data":1}"# : ""
            let answer = await api.call(
                one.method, one.target, body, headers: one.headers.map { ($0.key, $0.value) })
            #expect(answer.status == 400 && answer.code == one.code, "\(answer.text)")
            let errors = try #require(answer["errors"]?.elements)
            #expect(errors.count == 1 && errors[0]["parameter"]?.string == one.parameter, "\(answer.text)")
            #expect(errors[0]["pointer"] == nil && errors[0]["keyword"]?.string == one.keyword, "\(answer.text)")
            #expect(errors[0]["detail"]?.string?.isEmpty == false)
        }
    }

    @Test("name every unknown parameter, up to ten, each with the nearest known name")
    func unknown() async throws {
        try await APIFixture.run { api in
            let two = await api.call(.get, "/v1/users?limt=1&filtr=x&limit=1")
            #expect(two["errors"]?.elements?.map { $0["parameter"]?.string } == ["limt", "filtr"], "\(two.text)")
            #expect(two["errors"]?[1]?["detail"]?.string == "unknown query parameter; did you mean 'filter'?")
            let many = (0..<12).map { "unknown\($0)=1" }.joined(separator: "&")
            #expect(await api.call(.get, "/v1/users?" + many)["errors"]?.count == 10)
        }
    }

    @Test("point into the body when the body has the member")
    func bodies() async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.post, "/v1/subscriptions", #"{"filter":"data.x >"}"#)
            #expect(answer["errors"]?[0]?["pointer"]?.string == "#/filter" && answer.code == "bad_filter")
            #expect(answer["errors"]?[0]?["parameter"] == nil)
        }
    }
}
