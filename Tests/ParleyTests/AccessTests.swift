import GatewayClient
import JSON
import Testing

@testable import ClientCommands
@testable import ParleyCommands

@Suite("The gateway's address") struct ServerAddressTests {
    @Test(
        "knows its host and loses its last slashes",
        arguments: [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080", "127.0.0.1", true),
            ("HTTP://localhost/", "HTTP://localhost", "localhost", true),
            ("https://[::1]:8443/x//", "https://[::1]:8443/x", "::1", true),
            ("http://127.9.9.9", "http://127.9.9.9", "127.9.9.9", true),
            ("https://parley.example/gw", "https://parley.example/gw", "parley.example", false),
            ("http://127.0.0.1.example", "http://127.0.0.1.example", "127.0.0.1.example", false),
            ("http://localhost.example", "http://localhost.example", "localhost.example", false),
            ("http://127.1", "http://127.1", "127.1", false), ("http://0.0.0.0", "http://0.0.0.0", "0.0.0.0", false),
        ])
    func good(_ text: String, _ url: String, _ host: String, _ isLoopback: Bool) throws {
        let address = try ServerAddress(text)
        #expect(address.url == url)
        #expect(address.host == host)
        #expect(address.isLoopback == isLoopback)
    }

    @Test(
        "is refused as wrong usage",
        arguments: [
            "", "127.0.0.1:8080", "ftp://x", "http://", "http://:80", "http://x:99999", "http://x:y", "http://u:p@x",
            "http://x/?a=b", "http://x/#a", "http://é", "http://x /", "http://x:80:80",
        ])
    func bad(_ text: String) {
        let failure = #expect(throws: CommandFailure.self) { try ServerAddress(text) }
        #expect(failure?.code == 2)
        #expect(failure?.message.contains(":p@") == false, "a password must not be printed")
    }

    @Test("decides whether dev mode's key may be assumed")
    func keys() throws {
        let here = try ServerAddress("http://localhost:8080")
        let there = try ServerAddress("http://parley.example")
        #expect(try GatewayOptions.key(for: here, [:]) == "dev")
        #expect(try GatewayOptions.key(for: here, ["PARLEY_KEY": "k"]) == "k")
        #expect(try GatewayOptions.key(for: there, ["PARLEY_KEY": "k"]) == "k")
        #expect(throws: CommandFailure.self) { try GatewayOptions.key(for: there, [:]) }
        #expect(throws: CommandFailure.self) { try GatewayOptions.key(for: there, ["PARLEY_KEY": ""]) }
        #expect(throws: CommandFailure.self) { try GatewayOptions.key(for: here, ["PARLEY_KEY": "a\r\nX: y"]) }
    }
}

@Suite("A request's path") struct RequestPathTests {
    @Test("escapes everything that has a meaning in URLs")
    func escapes() {
        var path = RequestPath("channels", "a/b ?#%é*", "events")
        #expect(path.text == "/v1/channels/a%2Fb%20%3F%23%25%C3%A9%2A/events")
        path.add("type", each: ["order.*", "a&b=c"])
        path.add("user", nil)
        path.add("cursor", "1+2")
        #expect(path.text.hasSuffix("?type=order.%2A&type=a%26b%3Dc&cursor=1%2B2"))
        #expect(RequestPath("channels", "..").text == "/v1/channels/%2E%2E")
        #expect(RequestPath("...", root: "/a").text == "/a/...")
    }
}

@Suite("Waiting before the next try") struct BackoffTests {
    @Test(
        "doubles up to its most, half of it drawn",
        arguments: [(1, 500, 1000), (2, 1000, 2000), (4, 4000, 8000), (5, 5000, 10_000), (99, 5000, 10_000)])
    func delays(_ attempt: Int, _ least: Int, _ most: Int) {
        let backoff = Backoff(first: .seconds(1), most: .seconds(10))
        #expect(backoff.delay(after: attempt, draw: 0) == .milliseconds(least))
        #expect(backoff.delay(after: attempt, draw: 1) == .milliseconds(most))
    }
}

@Suite("A refusal") struct ProblemTextTests {
    @Test("is one sentence and its faults")
    func problem() {
        let failure = ProblemDescription.failure(
            status: 422,
            body: Array(
                ##"""
                {"title":"Payload does not match the event schema","status":422,"code":"schema_violation",
                "detail":"2 violations","request_id":"req_1","errors":[
                {"pointer":"#/amount","keyword":"type","detail":"expected integer, got string"},
                {"pointer":"#","keyword":"required"},
                {"parameter":"limit","keyword":"range","detail":"must be a whole number from 1 to 500"}]}
                """##.utf8))
        #expect(failure.message == "Payload does not match the event schema: 2 violations (422 schema_violation)")
        #expect(
            failure.details == [
                "#/amount: expected integer, got string", "#: required",
                "limit: must be a whole number from 1 to 500",
            ])
        #expect(failure.code == 1)
    }

    @Test(
        "of something that is no gateway is reported by its status",
        arguments: [
            (502, "<html>bad</html>", "responded with status 502"), (301, "", "redirect"),
            (404, "not found", "PARLEY_URL"),
            (401, "", "PARLEY_KEY"), (500, "{}", "responded with status 500"),
            (500, "[1]", "responded with status 500"),
        ])
    func foreign(_ status: Int, _ body: String, _ part: String) {
        #expect(ProblemDescription.failure(status: status, body: Array(body.utf8)).message.contains(part))
    }

    @Test("points to the key and names the request where that helps")
    func hints() {
        let unauthorized = ProblemDescription.failure(status: 401, body: Array(#"{"title":"No such key"}"#.utf8))
        #expect(unauthorized.message == "No such key (401); check PARLEY_KEY")
        let broken = ProblemDescription.failure(status: 500, body: Array(#"{"title":"T","request_id":"req_7"}"#.utf8))
        #expect(broken.details == ["request req_7"])
    }
}
