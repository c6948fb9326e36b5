import ChatCore
import ChatModel
import JSON
import TestSupport
import Testing

@testable import PubNubAPI

@Suite("PubNub's wire", .timeLimit(.minutes(2))) struct FuzzTests {
    private static let targets: [(method: String, path: String)] = [
        ("GET", "/time/0"), ("GET", "/publish/pub-demo/sub-demo/0/@/0/@"), ("POST", "/publish/pub-demo/sub-demo/0/@/0"),
        ("GET", "/signal/pub-demo/sub-demo/0/@/0/@"), ("GET", "/v2/subscribe/sub-demo/@/0"),
        ("GET", "/v3/history/sub-key/sub-demo/channel/@"), ("DELETE", "/v3/history/sub-key/sub-demo/channel/@"),
        ("GET", "/v3/history/sub-key/sub-demo/message-counts/@"),
        ("GET", "/v3/history-with-actions/sub-key/sub-demo/channel/@"),
        ("GET", "/v2/history/sub-key/sub-demo/channel/@"),
        ("GET", "/v1/channel-registration/sub-key/sub-demo/channel-group"),
        ("GET", "/v1/channel-registration/sub-key/sub-demo/channel-group/@"),
        ("GET", "/v1/channel-registration/sub-key/sub-demo/channel-group/@/remove"),
        ("GET", "/v2/presence/sub-key/sub-demo"), ("GET", "/v2/presence/sub-key/sub-demo/channel/@"),
        ("GET", "/v2/presence/sub-key/sub-demo/channel/@/heartbeat"),
        ("GET", "/v2/presence/sub-key/sub-demo/channel/@/leave"),
        ("GET", "/v2/presence/sub-key/sub-demo/channel/@/uuid/@"),
        ("GET", "/v2/presence/sub-key/sub-demo/channel/@/uuid/@/data"), ("GET", "/v2/presence/sub-key/sub-demo/uuid/@"),
        ("GET", "/v1/message-actions/sub-demo/channel/@"), ("POST", "/v1/message-actions/sub-demo/channel/@/message/@"),
        ("DELETE", "/v1/message-actions/sub-demo/channel/@/message/@/action/@"),
        ("GET", "/v2/objects/sub-demo/uuids"), ("GET", "/v2/objects/sub-demo/uuids/@"),
        ("PATCH", "/v2/objects/sub-demo/uuids/@"), ("DELETE", "/v2/objects/sub-demo/uuids/@"),
        ("GET", "/v2/objects/sub-demo/uuids/@/channels"), ("PATCH", "/v2/objects/sub-demo/uuids/@/channels"),
        ("GET", "/v2/objects/sub-demo/channels"), ("GET", "/v2/objects/sub-demo/channels/@"),
        ("PATCH", "/v2/objects/sub-demo/channels/@"), ("DELETE", "/v2/objects/sub-demo/channels/@"),
        ("GET", "/v2/objects/sub-demo/channels/@/uuids"), ("PATCH", "/v2/objects/sub-demo/channels/@/uuids"),
        ("POST", "/v3/pam/sub-demo/grant"), ("DELETE", "/v3/pam/sub-demo/grant/@"),
    ]

    private static let values = [
        "a", "%20", "a%2Cb", ",", "*", "a.*", "%00", "%FF", "%F0%9F%98%80", "room-pnpres", "$system", "-1", "0",
        "99999999999999999999", "17324123456789012", "%7B%7D", "%5B%5D", "null", "%22", "%7B%22a%22%3A", "1e400",
        String(repeating: "x", count: 300), "(((((", "a%20%3D%3D%20'", "NaN", "..", "%2F%2F",
    ]

    private static let names = [
        "uuid", "tt", "channel-group", "filter-expr", "heartbeat", "state", "max", "start", "end", "count", "limit",
        "offset", "timetoken", "channelsTimetoken", "include", "filter", "sort", "add", "remove", "meta", "ttl",
        "store",
        "custom_message_type", "auth", "signature", "timestamp", "reverse",
    ]

    private static let bodies = [
        "", "{}", "[]", "null", "\"x\"", #"{"type":"reactions","value":"x"}"#,
        #"{"set":[{"uuid":{"id":"a"}}],"delete":7}"#,
        #"{"set":[{"channel":{"id":"$x"},"custom":{"a":{}}}]}"#, #"{"name":"a","custom":{"a":1}}"#, "{\"a\":", "\u{FF}",
    ]

    @Test("answers any input in its own format, and never fails", arguments: [1, 2, 3])
    func fuzz(_ seed: UInt64) async throws {
        var limits = Limits()
        limits.pubnubPollHold = .seconds(1)
        try await PubNubHarness.run(limits: limits) { gateway in
            var random = SeededGenerator(seed: seed)
            for _ in 0..<600 {
                let (method, pattern) = Self.targets[random.below(Self.targets.count)]
                var path = ""
                for character in pattern {
                    path += character == "@" ? Self.values[random.below(Self.values.count)] : String(character)
                }
                let query = (0..<random.below(5)).map { _ in
                    Self.names[random.below(Self.names.count)] + "=" + Self.values[random.below(Self.values.count)]
                }
                // A waiting poll would wait for the test's clock, which does not advance here.
                guard !pattern.contains("subscribe") || !query.contains(where: { $0.hasPrefix("tt=") }) else {
                    continue
                }
                let target = path + "?" + query.joined(separator: "&")
                let body = method == "GET" ? "" : Self.bodies[random.below(Self.bodies.count)]
                let answer = try await gateway.call(method, target, body)
                #expect((200..<500).contains(answer.status), "\(method) \(target) \(body): \(answer.text)")
                // A payload is returned as it was sent, and may contain a number that is too large to read here.
                let json = try? JSONDocument(Array(answer.text.utf8), numbers: .lenient)
                #expect(json != nil, "\(method) \(target) \(body): \(answer.text)")
            }
        }
    }
}
