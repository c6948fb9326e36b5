import ChatCore
import ChatModel
import HTTPServer
import JSON

/// Channel calls of the PubNub objects API. A channel that is created by these calls is public: it has members, and
/// every user may follow it.
extension PubNubAPI {
    func getChannels(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 2)
        let page = try ObjectPage(request)
        let include = ObjectInclude(request)
        let channels = try await listing { () async throws(ChatError) in
            try await chat(keyset, for: request).channels(
                page.list(.wireChannels), isForUsers: request.token != nil, of: request.token?.user)
        }
        return .structured { writer in
            page.print(channels, to: &writer) { view, writer in view.channel.print(include.own, to: &writer) }
        }
    }

    func getChannel(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 2)
        guard let view = try await chat(keyset, for: request).channelView(request.segment(4) ?? "") else {
            throw WireError.noObject
        }
        return Self.answer(view.channel, request)
    }

    func patchChannel(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 2)
        let id = request.segment(4) ?? ""
        let edit = try ObjectBody(request.body, limits).channel()
        let chat = chat(keyset, for: request)
        let tag = request.ifMatch
        let channel = try await Self.writing("Channel") { () async throws(ChatError) in
            if let tag {
                let precondition = try Self.require(
                    tag, try await chat.channelView(id).map { ($0.channel.updated, $0.channel.etag) })
                return try await chat.update(channel: id, edit, precondition: precondition).channel
            }
            return try await Self.upsert { () async throws(ChatError) in
                try await chat.update(channel: id, edit).channel
            } orMake: { () async throws(ChatError) in
                try await Self.make(channel: id, edit, chat)
            }
        }
        return Self.answer(channel, request)
    }

    static func make(
        channel id: String, _ edit: ChannelEdit, _ chat: ChatAccess
    ) async throws(ChatError) -> ChannelRecord {
        var new = NewChannel(kind: .public, id: id)
        new.edit = edit
        return try await chat.make(new).record.channel
    }

    func deleteChannel(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 2)
        let id = request.segment(4) ?? ""
        let chat = chat(keyset, for: request)
        let tag = request.ifMatch
        try await Self.writing("Channel") { () async throws(ChatError) in
            var precondition = RecordChange.Precondition.none
            if let tag {
                precondition = try Self.require(
                    tag, try await chat.channelView(id).map { ($0.channel.updated, $0.channel.etag) })
            }
            try await chat.delete(channel: id, precondition: precondition)
        }
        return Self.deleted
    }

    private static func answer(_ channel: ChannelRecord, _ request: WireRequest) -> Response {
        let include = ObjectInclude(request)
        return .structured { writer in
            writer.key("data")
            channel.print(include.own, to: &writer)
        }
    }
}
