import ChatModel
import HTTPServer
import JSON
import Testing

@testable import NativeAPI

@Suite("An unknown name") struct AcceptedNamesTests {
    @Test("without a near match gets the accepted names")
    func listed() async throws {
        try await APIFixture.run { api in
            let parameter = await api.call(.get, "/v1/users?starting_after=x")
            #expect(parameter.code == "unknown_parameter")
            let detail = try #require(parameter["errors"]?[0]?["detail"]?.string)
            #expect(detail.contains("; accepted: ") && detail.contains("'cursor'"), "\(detail)")
            let member = await api.call(.patch, "/v1/channels/a/messages/1", #"{"content":"x"}"#)
            #expect(member["detail"]?.string == "#/content: unknown member; accepted: 'text', 'data', 'by'")
            let none = await api.call(.get, "/v1/users/ana?email=x")
            #expect(none["detail"]?.string == "unknown query parameter 'email'; no names are accepted here")
        }
    }

    @Test("gets at most twenty names")
    func bounded() {
        let hint = AcceptedNames((10..<35).map { "name\($0)" }).hint(for: "zzzzzzzzzz")
        #expect(hint.contains("'name29'") && !hint.contains("'name30'") && hint.hasSuffix(" and 5 more"), "\(hint)")
    }

    @Test("'filter' on the lists of a channel points at the list that takes one", arguments: ["events", "messages"])
    func filter(_ list: String) async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.get, "/v1/channels/a/\(list)?filter=data.x==1")
            #expect(
                answer["detail"]?.string
                    == "unknown query parameter 'filter'; send GET /v1/events?channel=…&filter=…", "\(answer.text)")
        }
    }
}
