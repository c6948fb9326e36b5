import ChatModel
import HTTPServer
import JSON
import Testing

@testable import NativeAPI

@Suite("An app") struct NeighbourTests {
    private static let source = #"{"scheme":"none","mapping":{"channel":"in","type":"posted","data":{"$":"body"}}}"#

    /// True when no two consecutive texts are close as numbers, so that their difference does not count what is in
    /// between.
    private static func areScattered(_ texts: [String], radix: Int) -> Bool {
        let numbers = texts.compactMap { UInt64($0, radix: radix) }
        guard numbers.count == texts.count, texts.count > 1 else { return false }
        return zip(numbers, numbers.dropFirst()).allSatisfy { max($0, $1) - min($0, $1) > 1 << 16 }
    }

    @Test("cannot infer the activity of other apps from its etags and ids")
    func counts() async throws {
        try await APIFixture.run { api in
            let made = await api.call(.post, "/v1/apps", #"{"name":"other"}"#)
            let (app, key) = (try #require(made["id"]?.string), try #require(made["admin_key"]?.string))
            #expect(await api.call(.put, "/v1/sources/s", Self.source).status == 201)
            #expect(await api.call(.put, "/v1/sources/s", Self.source, key: key).status == 201)
            var headers: [String] = []
            var bodies: [String] = []
            for turn in 0..<8 {
                for number in 0..<turn {
                    _ = await api.call(.put, "/v1/users/u\(number)", #"{"name":"\#(turn)"}"#)
                    _ = await api.call(.post, "/in/s", "{}", key: nil)
                }
                let own = await api.call(.put, "/v1/users/ana", #"{"name":"\#(turn)"}"#, key: key)
                headers.append(try #require(own.header("ETag")).replacing("\"", with: ""))
                bodies.append(try #require(own["etag"]?.string))
                #expect(await api.call(.post, "/in/\(app)/s", "{}", key: nil).status == 202)
                #expect(await api.call(.put, "/v1/event-types/t\(turn)", "{}", key: key).status == 201)
            }
            #expect(headers == bodies)
            #expect(Self.areScattered(headers, radix: 16), "\(headers)")
            let requests = await api.call(.get, "/v1/sources/s/requests", key: key)["data"]?.elements ?? []
            let requestIDs = requests.compactMap { $0["id"]?.string }
            #expect(
                Self.areScattered(requestIDs.compactMap { $0.split(separator: "_").last.map(String.init) }, radix: 36))
            let one = await api.call(.get, "/v1/sources/s/requests/\(requestIDs[0])", key: key)
            #expect(one["id"]?.string == requestIDs[0])
            let entries = await api.call(.get, "/v1/audit?limit=20", key: key)["data"]?.elements ?? []
            let entryIDs = entries.compactMap { $0["id"]?.string?.split(separator: "-").last.map(String.init) }
            #expect(Self.areScattered(entryIDs, radix: 36), "\(entryIDs)")
        }
    }

    @Test("cannot infer from stream ids how many others open")
    func streams() {
        let ids = StreamIDs(node: 7)
        let texts = (1...50).map { ids.id(of: $0) }
        #expect(texts.map { ids.number(of: $0) } == (1...50).map { UInt64($0) })
        #expect(ids.number(of: ids.id(of: .max)) == .max && ids.number(of: ids.id(of: 0)) == 0)
        let prefix = texts[0].prefix("str_".count + 8)
        #expect(texts.allSatisfy { $0.hasPrefix(prefix) })
        #expect(texts.allSatisfy { StreamIDs.node(of: $0) == 7 })
        #expect(
            Self.areScattered(texts.map { String($0.dropFirst(prefix.count).dropLast(2)) }, radix: 36), "\(texts)")
        // These ids are from another process.
        #expect(StreamIDs(node: 7).number(of: texts[0]) == nil && ids.number(of: "str_x") == nil)
    }
}
