import HTTPServer
import JSON
import Testing
import YAML

@testable import NativeAPI

@Suite("The body of a request") struct RequestBodyTests {
    @Test(
        "is an object where one is required: an empty one has the same answer on every method",
        arguments: [
            (.post, "/v1/channels/a/messages"), (.post, "/v1/channels/a/events"), (.post, "/v1/events/batch"),
            (.post, "/v1/keys"), (.post, "/v1/webhooks"), (.post, "/v1/webhooks/none/replay"),
            (.post, "/v1/event-types/t/versions"), (.put, "/v1/users/ana"), (.put, "/v1/sources/s"),
            (.put, "/v1/event-types/t/candidate"), (.patch, "/v1/users/ana"),
        ] as [(HTTPMethod, String)])
    func empty(_ method: HTTPMethod, _ path: String) async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/event-types/t", "{}")
            for body in ["", " \r\n\t"] {
                let answer = await api.call(method, path, body)
                #expect(answer.status == 400 && answer.code == "member_missing", "\(answer.text)")
                #expect(
                    answer["detail"]?.string
                        == "#: the body must be a JSON object; send {} for an object without members",
                    "\(answer.text)")
                #expect(answer["errors"]?[0]?["pointer"]?.string == "#")
            }
        }
    }

    @Test(
        "is refused where none is taken, whatever the method",
        arguments: [
            (.get, "/v1/users"), (.delete, "/v1/users/ana"), (.post, "/v1/webhooks/none/test"),
            (.post, "/v1/deliveries/none/retry"), (.put, "/v1/channels/a/typing/ana"),
            (.put, "/v1/channels/a/messages/17957317735978788/reactions/x?user=ana"),
        ] as [(HTTPMethod, String)])
    func unexpected(_ method: HTTPMethod, _ path: String) async throws {
        try await APIFixture.run { api in
            let answer = await api.call(method, path, "{}")
            #expect(answer.status == 400 && answer.code == "unexpected_body", "\(answer.text)")
            #expect(await api.call(method, path).code != "unexpected_body")
        }
    }

    @Test("is described for every route that takes one, and for no other")
    func described() async throws {
        try await APIFixture.run { api in
            for operation in try Description().operations {
                let route = api.router.routes.first {
                    $0.method.rawValue.lowercased() == operation.method && $0.pattern.description == operation.path
                }
                let takesBody = route.map { $0.body != .none }
                #expect(
                    takesBody == (operation.node["requestBody"] != nil), "\(operation.method) \(operation.path)")
            }
        }
    }

    @Test("that is a form gets the advice to send JSON")
    func forms() async throws {
        try await APIFixture.run { api in
            for body in ["name=Ana", "name=Ana&email=a%40b.example", "--x\r\nContent-Disposition: form-data"] {
                let answer = await api.call(.put, "/v1/users/ana", body)
                #expect(answer.status == 400 && answer.code == "malformed_request")
                #expect(answer["detail"]?.string?.contains("the body is a form; send JSON") == true, "\(answer.text)")
            }
            let other = await api.call(.put, "/v1/users/ana", "{name=Ana}")
            #expect(other["detail"]?.string?.contains("form") == false, "\(other.text)")
        }
    }
}
