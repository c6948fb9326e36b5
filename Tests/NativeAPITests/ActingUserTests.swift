import ChatModel
import HTTPServer
import JSON
import Testing

@testable import NativeAPI

@Suite("A missing acting user") struct ActingUserTests {
    @Test(
        "is reported with the member to send in the body",
        arguments: [
            (.patch, "/v1/channels/room/messages/{message}", #"{"text":"e1"}"#),
            (.put, "/v1/users/kay", "{}"), (.put, "/v1/channels/kch", #"{"kind":"group"}"#),
            (.put, "/v1/channels/room/operators/ana", ""),
        ] as [(HTTPMethod, String, String)])
    func inBody(_ method: HTTPMethod, _ path: String, _ body: String) async throws {
        try await APIFixture.run { api in
            let answer = try await answer(method, path, body, api)
            #expect(answer.status == 400 && answer.code == "member_missing", "\(answer.text)")
            #expect(answer["errors"]?[0]?["pointer"]?.string == "#/by", "\(answer.text)")
            #expect(answer["detail"]?.string?.hasSuffix("; send `by` in the body") == true, "\(answer.text)")
        }
    }

    @Test(
        "is reported with the parameter to send where there is no body",
        arguments: [
            (.delete, "/v1/channels/room/messages/{message}", "by"), (.delete, "/v1/users/kay", "by"),
            (.put, "/v1/channels/room/messages/{message}/pin", "by"),
            (.get, "/v1/channels/room/messages/{message}/reactions/x", "user"),
            (.put, "/v1/channels/room/messages/{message}/reactions/x", "user"),
            (.delete, "/v1/channels/room/messages/{message}/reactions/x", "user"),
            (.delete, "/v1/channels/room/messages/{message}/actions/17957317735978788", "user"),
        ] as [(HTTPMethod, String, String)])
    func inQuery(_ method: HTTPMethod, _ path: String, _ name: String) async throws {
        try await APIFixture.run { api in
            let answer = try await answer(method, path, "", api)
            #expect(answer.status == 400 && answer.code == "parameter_missing", "\(answer.text)")
            #expect(answer["errors"]?[0]?["parameter"]?.string == name, "\(answer.text)")
            #expect(answer["detail"]?.string?.hasSuffix("; send ?\(name)=…") == true, "\(answer.text)")
            #expect(await api.call(.get, "/problems/parameter-missing", key: nil).status == 200)
        }
    }

    /// The answer to a key that may emit and read only, about a message of the channel `room`.
    private func answer(
        _ method: HTTPMethod, _ path: String, _ body: String, _ api: APIFixture
    ) async throws -> Answer {
        _ = await api.call(.put, "/v1/channels/room", #"{"kind":"group"}"#)
        let sent = await api.call(.post, "/v1/channels/room/messages", #"{"text":"hi","user":"ana"}"#)
        let message = try #require(sent["timetoken"]?.string)
        let key = try await api.key([.emit, .read])
        return await api.call(method, path.replacing("{message}", with: message), body, key: key)
    }

    @Test("under the name of another route gets the name of this one")
    func otherName() async throws {
        try await APIFixture.run { api in
            let sender = await api.call(.post, "/v1/channels/room/messages", #"{"text":"hi","by":"ana"}"#)
            #expect(sender["detail"]?.string == "#/by: unknown member; did you mean 'user'?")
            let actor = await api.call(.put, "/v1/users/ana", #"{"user":"ana"}"#)
            #expect(actor["detail"]?.string == "#/user: unknown member; did you mean 'by'?")
            let reaction = "/v1/channels/room/messages/17957317735978788/reactions/x?by=ana"
            let parameter = await api.call(.put, reaction)
            #expect(parameter["detail"]?.string == "unknown query parameter 'by'; did you mean 'user'?")
            let deletion = await api.call(.delete, "/v1/users/ana?user=ana")
            #expect(deletion["detail"]?.string == "unknown query parameter 'user'; did you mean 'by'?")
        }
    }
}
