import JSON

@testable import PubNubAPI

/// A call of every kind in the method table, each with its response. None is refused.
struct EveryCall {
    let answers: [(name: String, answer: WireAnswer)]

    subscript(name: String) -> WireAnswer? { answers.first { $0.name == name }?.answer }

    init(in gateway: PubNubHarness) async throws {
        var answers: [(name: String, answer: WireAnswer)] = []
        func call(_ name: String, _ method: String, _ target: String, _ body: String = "") async throws -> WireAnswer {
            let answer = try await gateway.call(method, target, body)
            answers.append((name, answer))
            return answer
        }
        func get(_ name: String, _ target: String) async throws { _ = try await call(name, "GET", target) }

        try await get("time", "/time/0")
        let sent = try await call("publish", "GET", "/publish/pub-demo/sub-demo/0/a/0/1?uuid=ana")
        _ = try await call("publish by POST", "POST", "/publish/pub-demo/sub-demo/0/a/0?uuid=ana", "2")
        try await get("fire", "/publish/pub-demo/sub-demo/0/a/0/1?norep=1")
        try await get("signal", "/signal/pub-demo/sub-demo/0/a/0/1?uuid=ana")
        try await get(
            "file", "/v1/files/publish-file/pub-demo/sub-demo/0/a/0/%7B%22message%22%3A1%2C%22file%22%3A%7B%7D%7D")
        try await get("handshake", "/v2/subscribe/sub-demo/a/0?uuid=ana&tt=0")
        try await get("poll", "/v2/subscribe/sub-demo/a/0?uuid=ana&tt=\(sent.timetoken.dropLast())0")

        let groups = "/v1/channel-registration/sub-key/sub-demo/channel-group"
        try await get("add to group", groups + "/g?add=a,b")
        try await get("take from group", groups + "/g?remove=b")
        try await get("group", groups + "/g")
        try await get("groups", groups)
        try await get("delete group", groups + "/g/remove")

        let presence = "/v2/presence/sub-key/sub-demo"
        try await get("heartbeat", presence + "/channel/a,b/heartbeat?uuid=ana&heartbeat=300")
        try await get("set state", presence + "/channel/a/uuid/ana/data?uuid=ana&state=%7B%22m%22%3A1%7D")
        try await get("state", presence + "/channel/a/uuid/ana")
        try await get("states", presence + "/channel/a,b/uuid/ana")
        try await get("here now", presence + "/channel/a?state=1")
        try await get("here now of several", presence + "/channel/a,b?state=1")
        try await get("here now everywhere", presence)
        try await get("where now", presence + "/uuid/ana")
        try await get("leave", presence + "/channel/a,b/leave?uuid=ana")

        let message = "/v1/message-actions/sub-demo/channel/a/message/\(sent.timetoken)"
        let added = try await call(
            "add action", "POST", message + "?uuid=ana", #"{"type":"reaction","value":"smile"}"#)
        try await get("actions", "/v1/message-actions/sub-demo/channel/a")
        let shown = "?include_meta=true&include_uuid=true&include_message_type=true&include_custom_message_type=true"
        try await get("history", "/v3/history/sub-key/sub-demo/channel/a" + shown)
        try await get("history of several", "/v3/history/sub-key/sub-demo/channel/a,b")
        try await get("history with actions", "/v3/history-with-actions/sub-key/sub-demo/channel/a" + shown)
        try await get("counts", "/v3/history/sub-key/sub-demo/message-counts/a,b?timetoken=0")
        try await get("old history", "/v2/history/sub-key/sub-demo/channel/a?include_token=true")
        let place = added["data"]?["actionTimetoken"]?.string ?? ""
        _ = try await call("remove action", "DELETE", message + "/action/\(place)?uuid=ana")
        _ = try await call("delete history", "DELETE", "/v3/history/sub-key/sub-demo/channel/a")

        let objects = "/v2/objects/sub-demo"
        let all = "?include=custom,status,type"
        _ = try await call("set user", "PATCH", objects + "/uuids/ana" + all, #"{"name":"Ana","custom":{"a":1}}"#)
        _ = try await call("set channel", "PATCH", objects + "/channels/a" + all, #"{"name":"A"}"#)
        _ = try await call(
            "set memberships", "PATCH", objects + "/uuids/ana/channels?include=custom,channel,channel.custom",
            #"{"set":[{"channel":{"id":"a"},"custom":{"r":1}}],"delete":[{"channel":{"id":"b"}}]}"#)
        _ = try await call(
            "set members", "PATCH", objects + "/channels/a/uuids?include=custom,uuid",
            #"{"set":[{"uuid":{"id":"bob"}}]}"#)
        for (name, path) in [
            ("user", "/uuids/ana"), ("users", "/uuids"), ("channel", "/channels/a"), ("channels", "/channels"),
            ("memberships", "/uuids/ana/channels"), ("members", "/channels/a/uuids"),
        ] {
            try await get(name, objects + path + "?count=true")
        }
        _ = try await call("delete channel", "DELETE", objects + "/channels/a")
        _ = try await call("delete user", "DELETE", objects + "/uuids/ana")
        self.answers = answers
    }
}
