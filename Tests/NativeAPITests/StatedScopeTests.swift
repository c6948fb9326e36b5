import ChatCore
import ChatModel
import HTTPServer
import JSON
import Testing
import YAML

@testable import NativeAPI

@Suite("The scope of an operation") struct StatedScopeTests {
    private static let scopes: [(word: String, scope: Scopes)] = [
        ("`read`", .read), ("`emit`", .emit), ("`manage`", .manage),
    ]

    /// The description in one line.
    private func text(of operation: Description.Operation) -> String {
        operation.node["description"]?.string?.replacing(/\s+/, with: " ") ?? ""
    }

    @Test("is stated in the description of each one")
    func stated() throws {
        for operation in try Description().operations {
            let text = text(of: operation)
            #expect(text.contains("Requires "), "\(operation.method) \(operation.path)")
            guard !operation.needsCredential else { continue }
            #expect(text.contains("Requires no "), "\(operation.method) \(operation.path)")
        }
    }

    @Test("is needed: a key with the other scopes is refused")
    func needed() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/users/ana", "{}")
            _ = await api.call(.put, "/v1/users/ben", "{}")
            _ = await api.call(.put, "/v1/channels/room", #"{"kind":"group"}"#)
            let sent = await api.call(.post, "/v1/channels/room/messages", #"{"text":"hi","user":"ana"}"#)
            let message = try #require(sent["timetoken"]?.string)
            let segments = ["channel": "room", "user": "ana", "other": "ben", "timetoken": message]
            var refused = 0
            for operation in try Description().operations where operation.needsCredential {
                let text = text(of: operation)
                let sentence = text.firstMatch(of: /Requires[^.]*\./).map { String($0.0) } ?? ""
                let others = Self.scopes.filter { !sentence.contains($0.word) }.map(\.scope)
                guard others.count < Self.scopes.count || sentence.contains("`admin`"), !others.isEmpty else {
                    continue
                }
                let key = try await api.key(others.reduce(into: []) { $0.formUnion($1) })
                let path = operation.path.replacing(/\{([a-z]+)\}/) { segments[String($0.1)] ?? "x" }
                let answer = await api.call(
                    HTTPMethod(rawValue: operation.method.uppercased()), path,
                    operation.node["requestBody"] == nil ? "" : "{}", key: key)
                #expect(answer.status >= 400, "\(operation.method) \(path): \(sentence) \(answer.text)")
                refused += answer.status == 403 ? 1 : 0
            }
            #expect(refused > 60)
        }
    }
}
