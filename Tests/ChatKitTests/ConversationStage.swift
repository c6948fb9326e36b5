import ChatKit
import ChatModel
import ChatRemote
import HTTPClient
import JSON
import Locking
import TestSupport
import Testing

/// The facts about the group `crew` that all three interfaces show, as text.
struct ConversationView: Equatable {
    /// `ana joined`.
    var members: [String] = []
    /// `ana 17…`.
    var marks: [String] = []
    /// The number of messages that ana has not read.
    var unread = 0
    /// `17… ana hello`.
    var texts: [String] = []
    /// `17… one`, by the root's timetoken.
    var replies: [String] = []
    /// `17… heart ana`.
    var reactions: [String] = []
    /// The restriction of ana.
    var restriction = "nothing"

    static func restriction(ban: Bool, mute: Bool, reason: String?) -> String {
        let kind = ban ? "ban" : mute ? "mute" : "nothing"
        return kind + (reason.map { ban || mute ? ", " + $0 : "" } ?? "")
    }

    func sorted() -> ConversationView {
        var view = self
        view.members.sort()
        view.marks.sort()
        view.texts.sort()
        view.replies.sort()
        view.reactions.sort()
        return view
    }
}

/// A gateway, ana's ChatKit client with listeners, and ben's requests.
final class ConversationStage: Sendable {
    static let room = "crew.a"
    private static let threads = "PUBNUB_INTERNAL_THREAD_crew.*"

    let ana: Chat
    private let url: String
    private let client: Client
    private let token: String
    private let heard = Heard<String>()
    private let listeners = Lock<(own: [AutoCloseable], room: [AutoCloseable], actions: Subscription?)>(([], [], nil))
    private let cursor = Lock("0")

    var crew: Channel { ana.channel(Self.room) }

    init(_ url: String) async throws {
        self.url = url
        let gateway = Operator(url: url)
        token = try await gateway.token(of: "ben")
        client = try Client(options: ClientOptions(addressGuard: .disabled))
        ana = try await Chat(url: url, key: try await gateway.token(of: "ana"), user: "ana")
        try await rest("POST", "/channels", #"{"id":"crew.a","kind":"group","name":"Crew"}"#)
        let (user, heard) = (ana.currentUser, heard)
        let own = [
            user.onInvited { heard("invited to \($0.channelId) by \($0.invitedByUserId)") },
            user.onMentioned { heard("mentioned in \($0.messageTimetoken) by \($0.mentionedByUserId)") },
            user.onRestrictionChanged {
                let text = ConversationView.restriction(ban: $0.ban, mute: $0.mute, reason: $0.reason)
                heard("restricted in \($0.channelId): \(text)")
            },
        ]
        for listener in own { try await listener.ready() }
        listeners.withLock { $0.own = own }
        _ = try await heardOnWire()
    }

    /// Subscribes to the events for members of the group, which ana has now joined.
    func follow() async throws {
        let (crew, heard) = (crew, heard)
        let room = [
            crew.onMessageReceived { heard("message \($0.text) by \($0.userId)") },
            crew.onTypingChanged { heard("typing: \($0.sorted().joined(separator: ", "))") },
            crew.onReadReceiptReceived { heard("\($0.userId) has read \($0.lastReadTimetoken)") },
        ]
        for listener in room { try await listener.ready() }
        let actions = ana.subscription(channels: [Self.room])
        actions.onMessageAction = { heard("\($0.event.type) \($0.messageTimetoken)") }
        actions.subscribe()
        try await actions.ready()
        listeners.withLock { listeners in
            for listener in listeners.room { listener.close() }
            listeners.actions?.unsubscribe()
            (listeners.room, listeners.actions) = (room, actions)
        }
    }

    func close() async {
        let listeners = listeners.withLock { $0 }
        for listener in listeners.own + listeners.room { listener.close() }
        listeners.actions?.unsubscribe()
        await ana.close()
        await client.shutdown()
    }

    // MARK: Requests

    @discardableResult
    private func call(_ method: String, _ path: String, _ body: String, key: String?) async throws -> JSONValue? {
        var headers = [("Content-Type", "application/json")]
        if let key { headers.append(("Authorization", "Bearer \(key)")) }
        let answer = await client.send(
            OutboundRequest(method: method, url: url + path, headers: headers, body: Array(body.utf8)))
        let text = String(decoding: answer.body, as: UTF8.self)
        try #require((200..<300).contains(answer.status ?? 0), "\(method) \(path): \(text)")
        return answer.body.isEmpty ? nil : try JSONDocument(answer.body).root
    }

    /// A REST request by ben.
    @discardableResult
    func rest(_ method: String, _ path: String, _ body: String = "") async throws -> JSONValue? {
        try await call(method, "/v1" + path, body, key: token)
    }

    /// A PubNub request by ben.
    private func wire(
        _ path: String, method: String = "GET", _ body: String = ""
    ) async throws -> JSONValue? {
        try await call(method, path + (path.contains("?") ? "&" : "?") + "uuid=ben", body, key: nil)
    }

    private func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }

    func publish(_ channel: String, _ json: String) async throws -> Timetoken {
        let answer = try await wire("/publish/demo/demo/0/\(channel)/0/\(escaped(json))")
        return try #require(Timetoken(text: answer?[2]?.string ?? ""))
    }

    func signal(_ json: String) async throws {
        _ = try await wire("/signal/demo/demo/0/\(Self.room)/0/\(escaped(json))")
    }

    /// Adds an action to a message, as SDKs do to react, edit and delete.
    func act(on message: Timetoken, _ type: String, _ value: String) async throws {
        _ = try await wire(
            "/v1/message-actions/demo/channel/\(Self.room)/message/\(message)", method: "POST",
            #"{"type":"\#(type)","value":"\#(value)"}"#)
    }

    // MARK: Events and views of both users

    /// Checks the events that ana's listeners and the PubNub subscription have received since the last call, and that
    /// all views are equal.
    func expect(
        _ expected: [String], wire: [String] = [], isMember: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        if !expected.isEmpty {
            let heard = await heard.next(expected.count)
            #expect(heard.sorted() == expected.sorted(), sourceLocation: sourceLocation)
        }
        let onWire = try await heardOnWire()
        #expect(onWire.sorted() == wire.sorted(), sourceLocation: sourceLocation)
        let view = try await restView()
        #expect(try await wireView() == view, sourceLocation: sourceLocation)
        if isMember { #expect(try await chatView() == view, sourceLocation: sourceLocation) }
    }

    /// The events about ana that ben's subscription has received since the last call. A publish by ben ends the wait.
    private func heardOnWire() async throws -> [String] {
        let names = "\(Self.room),ben,\(Self.threads)"
        if cursor.withLock({ $0 }) == "0" {
            let start = try await wire("/v2/subscribe/demo/\(names)/0?tt=0")?["t"]?["t"]?.string ?? ""
            cursor.withLock { $0 = start }
            return []
        }
        _ = try await wire("/publish/demo/demo/0/ben/0/%22end%22?store=0")
        var facts: [String] = []
        while true {
            let place = cursor.withLock { $0 }
            let answer = try await wire("/v2/subscribe/demo/\(names)/0?tr=1&tt=\(place)")
            cursor.withLock { $0 = answer?["t"]?["t"]?.string ?? "" }
            for item in answer?["m"]?.elements ?? [] {
                if item["d"]?.string == "end" { return facts }
                if let fact = fact(item) { facts.append(fact) }
            }
        }
    }

    private func fact(_ item: JSONValue) -> String? {
        let data = item["d"]
        if item["e"]?.integer == 2 {
            let user = data?["data"]?["uuid"]?["id"]?.string
            guard user == "ana", item["c"]?.string == Self.room else { return nil }
            return "membership \(data?["event"]?.string ?? "") ana"
        }
        guard item["i"]?.string == "ana" else { return nil }
        if item["e"]?.integer == 3 {
            return "\(data?["data"]?["type"]?.string ?? "") \(data?["data"]?["value"]?.string ?? "") ana"
        }
        let value = data?["value"]?.boolean.map { "\($0)" } ?? data?["text"]?.string
        return [
            data?["type"]?.string == "text" ? "message" : data?["type"]?.string ?? "",
            value ?? data?["messageTimetoken"]?.string ?? "", "ana",
        ]
        .joined(separator: " ")
    }

    /// Ana's view in ChatKit.
    func chatView() async throws -> ConversationView {
        var view = ConversationView()
        for member in try await crew.getMembers().members {
            view.members.append("\(member.userId) \(member.state)")
            if member.lastReadMessageTimetoken > .zero {
                view.marks.append("\(member.userId) \(member.lastReadMessageTimetoken)")
            }
            if member.userId == "ana", member.state == .joined {
                view.unread = try await member.getUnreadMessagesCount()
            }
        }
        for message in try await crew.getHistory().messages {
            for reaction in try await message.getReactions() {
                view.reactions.append("\(message.timetoken) \(reaction.value) \(reaction.userId)")
            }
            guard message.parentTimetoken == nil, !message.isDeleted else { continue }
            view.texts.append("\(message.timetoken) \(message.userId) \(message.text)")
            guard message.hasThread else { continue }
            let replies = try await message.createThread().getHistory().messages
            #expect(replies.count == message.replyCount)
            view.replies += replies.map { "\(message.timetoken) \($0.text)" }
        }
        if let restriction = try await crew.getUserRestrictions(user: ana.currentUser) {
            view.restriction = ConversationView.restriction(
                ban: restriction.ban, mute: restriction.mute, reason: restriction.reason)
        }
        return view.sorted()
    }

    /// Ben's view by REST.
    func restView() async throws -> ConversationView {
        var view = ConversationView()
        let base = "/channels/\(Self.room)"
        for member in try await rest("GET", base + "/members")?["data"]?.elements ?? [] {
            let user = member["user"]?.string ?? ""
            view.members.append("\(user) \(member["state"]?.string ?? "")")
            if let mark = member["read_timetoken"]?.string { view.marks.append("\(user) \(mark)") }
            guard user == "ana", member["state"]?.string == "joined" else { continue }
            let unread = try await call("GET", "/v1\(base)/members/ana/unread", "", key: "dev")
            view.unread = Int(unread?["unread_count"]?.integer ?? -1)
        }
        for message in try await rest("GET", base + "/messages")?["data"]?.elements ?? [] {
            let place = message["timetoken"]?.string ?? ""
            for reaction in try await rest("GET", base + "/messages/\(place)/reactions")?["data"]?.elements ?? [] {
                view.reactions.append("\(place) \(reaction["value"]?.string ?? "") \(reaction["user"]?.string ?? "")")
            }
            guard message["thread_of"]?.string == nil, message["deleted"]?.kind == .null else { continue }
            let text = message["data"]?["text"]?.string ?? ""
            view.texts.append("\(place) \(message["user"]?.string ?? "") \(text)")
            guard message["thread"]?.kind == .object else { continue }
            for reply in try await rest("GET", base + "/messages/\(place)/thread")?["data"]?.elements ?? [] {
                view.replies.append("\(place) \(reply["data"]?["text"]?.string ?? "")")
            }
        }
        for restriction in try await rest("GET", base + "/restrictions")?["data"]?.elements ?? [] {
            view.restriction = ConversationView.restriction(
                ban: restriction["ban"]?.boolean ?? false, mute: restriction["mute"]?.boolean ?? false,
                reason: restriction["reason"]?.string)
        }
        return view.sorted()
    }

    /// Ben's view by PubNub.
    func wireView() async throws -> ConversationView {
        var view = ConversationView()
        var mark: String?
        let objects = "/v2/objects/demo/channels/"
        for member in try await wire(objects + Self.room + "/uuids?include=custom,status")?["data"]?.elements ?? [] {
            let user = member["uuid"]?["id"]?.string ?? ""
            let state = member["status"]?.string == "pending" ? "invited" : "joined"
            view.members.append("\(user) \(state)")
            let read = member["custom"]?["lastReadMessageTimetoken"]?.string
            if let read { view.marks.append("\(user) \(read)") }
            if user == "ana", state == "joined" { mark = read ?? "1" }
        }
        var threads: [String] = []
        var others: [(place: String, isCounted: Bool)] = []
        for message in try await wireMessages(Self.room) {
            threads += message.thread.map { [$0] } ?? []
            others.append((message.place, message.user != "ana" && !message.isDeleted))
            view.reactions += message.reactions
            if !message.isDeleted { view.texts.append("\(message.place) \(message.user) \(message.text)") }
        }
        for thread in threads {
            for reply in try await wireMessages(thread) {
                others.append((reply.place, reply.user != "ana"))
                view.reactions += reply.reactions
                view.replies.append("\(thread.suffix(17)) \(reply.text)")
            }
        }
        if let mark {
            for channel in [Self.room] + threads {
                let counts = try await wire("/v3/history/sub-key/demo/message-counts/\(channel)?timetoken=\(mark)")
                view.unread += Int(counts?["channels"]?[channel]?.integer ?? -1)
            }
            // Message counts include the caller's own messages and soft-deleted ones.
            view.unread -= others.count {
                !$0.isCounted && (mark == "1" || $0.place > mark)
            }
        }
        let beside = "PUBNUB_INTERNAL_MODERATION_\(Self.room)/uuids?include=custom"
        for member in try await wire(objects + beside)?["data"]?.elements ?? [] {
            let custom = member["custom"]
            view.restriction = ConversationView.restriction(
                ban: custom?["ban"]?.boolean ?? false, mute: custom?["mute"]?.boolean ?? false,
                reason: custom?["reason"]?.string)
        }
        return view.sorted()
    }

    private struct WireMessage {
        let place: String
        let user: String
        let text: String
        let thread: String?
        let isDeleted: Bool
        let reactions: [String]
    }

    /// The stored messages of a channel, as Chat SDKs show them.
    private func wireMessages(_ channel: String) async throws -> [WireMessage] {
        let path = "/v3/history-with-actions/sub-key/demo/channel/\(channel)?include_uuid=true"
        let items = try await wire(path)?["channels"]?[channel]?.elements ?? []
        return items.map { item in
            let (place, actions) = (item["timetoken"]?.string ?? "", item["actions"])
            let reactions = (actions?["reactions"]?.members ?? []).flatMap { value in
                (value.value.elements ?? []).map { "\(place) \(value.name) \($0["uuid"]?.string ?? "")" }
            }
            return WireMessage(
                place: place, user: item["uuid"]?.string ?? "",
                text: actions?["edited"]?.members?.last?.name ?? item["message"]?["text"]?.string ?? "",
                thread: actions?["threadRootId"]?.members?.first?.name, isDeleted: actions?["deleted"] != nil,
                reactions: reactions)
        }
    }
}
