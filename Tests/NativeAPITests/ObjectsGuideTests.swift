import ChatCore
import ChatModel
import HTTPServer
import JSON
import Testing

@testable import NativeAPI

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("The guide to objects") struct ObjectsGuideTests {
    /// The rows of the tables of a section, each a list of cells.
    private func rows(of section: String) throws -> [[String]] {
        let top = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: top.appending(path: "docs/objects.md"), encoding: .utf8)
        let part = try #require(text.split(separator: "\n## ").first { $0.hasPrefix(section) })
        return part.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst(2).map { row in
            row.split(separator: "|").map { String($0) }
        }
    }

    private func codes(_ cell: String) -> [String] { cell.matches(of: /`([^`]+)`/).map { String($0.1) } }

    @Test("has every built-in type once, with a path that its schema has")
    func types() throws {
        var listed: [String] = []
        for row in try rows(of: "The object of an event") {
            let path = try #require(codes(row[1]).first)
            for name in codes(row[0]) {
                listed.append(name)
                guard path != "data" else { continue }
                let type = try #require(BuiltInCatalogue.named(name), "\(name)")
                let schema = try JSONDocument(Array(type.schema.utf8)).root
                #expect(schema["properties"]?[String(path.dropFirst(5))] != nil, "\(name): \(path)")
            }
        }
        #expect(listed.sorted() == BuiltInCatalogue.all.map(\.name).sorted())
    }

    @Test("says under which name a written value is read")
    func names() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/users/ben", #"{"name":"Ben"}"#)
            let messages = "/v1/channels/room/messages"
            let first = await api.call(.post, messages, #"{"text":"one","user":"ana"}"#)
            let root = try #require(first["timetoken"]?.string)
            let sent = await api.call(
                .post, messages,
                #"{"text":"two","user":"ana","mentions":["ben"],"quote":"\#(root)","thread_of":"\#(root)"}"#)
            let path = try #require(sent["timetoken"]?.string)
            _ = await api.call(.patch, "\(messages)/\(path)", #"{"text":"three","by":"ana"}"#)
            let message = try #require(await api.call(.get, "\(messages)/\(path)").json)
            let written = ["text", "quote", "mentions", "thread_of"]
            var found = 0
            for row in try rows(of: "Names in requests and responses") {
                guard let name = codes(row[0]).first, written.contains(name) || name == "by" else { continue }
                for target in codes(row[1]) where target != "deleted.by" {
                    let value = target.split(separator: ".").reduce(message as JSONValue?) { $0?[String($1)] }
                    #expect(value.map { !$0.isNull } == true, "\(name): \(target)")
                    found += 1
                }
            }
            #expect(found == 6)
        }
    }

    @Test("says how a deletion of nothing is answered")
    func deletions() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/channels/room", #"{"kind":"group"}"#)
            _ = await api.call(.put, "/v1/channels/hall", #"{"kind":"open"}"#)
            let sent = await api.call(.post, "/v1/channels/room/messages", #"{"text":"hi","user":"ana"}"#)
            let message = "/v1/channels/room/messages/" + (sent["timetoken"]?.string ?? "")
            let missing = [
                "/v1/users/nil", "/v1/users/nil/blocks/ana", "/v1/channels/nil", "/v1/channels/room/members/nil",
                "/v1/channels/room/restrictions/nil", "/v1/channels/room/metadata/nil",
                "/v1/channels/room/metacounters/nil", "/v1/channel-groups/nil", "/v1/keys/nil", "/v1/apps/nil",
                "/v1/webhooks/nil", "/v1/subscriptions/nil", "/v1/sources/nil", "/v1/event-types/nil",
                "/v1/event-types/nil/candidate", "/v1/streams/nil", "/v1/users/nil/sessions/nil",
            ]
            for path in missing { #expect(await api.call(.delete, path).status == 404, "\(path)") }
            let states = [
                message + "/pin", message, message, "/v1/channels/room/operators/nil", "/v1/channels/room/freeze",
                "/v1/channels/room/presence/nil", "/v1/channels/hall/participants/nil", "/v1/channels/room/typing/nil",
            ]
            for path in states { #expect(await api.call(.delete, path).status == 204, "\(path)") }
        }
    }
}
