import ChatCore
import ChatModel
import HTTPServer
import JSON

extension PubNubAPI {
    /// `DELETE /v3/history/sub-key/{s}/channel/{c}`: deletes the messages after `start` up to and including `end`.
    /// Without these parameters, all messages are deleted.
    func deleteHistory(_ request: WireRequest) async throws -> Response {
        let keyset = try keyset(of: request, at: 3)
        let channels = try readable(try request.names(5))
        guard channels.count == 1 else { throw WireError.unreadable }
        var start = try request.timetoken("start") ?? .zero
        var end = try request.timetoken("end") ?? .distantFuture
        if start > end { swap(&start, &end) }
        let chat = chat(keyset, for: request)
        if let thread = MappedThread(channels[0]) {
            try await deleteReplies(of: thread, after: start, before: end.after, keyset, chat)
        }
        _ = try await chat.deleteEvents(after: start, before: end.after, in: channels[0])
        await record("events.delete", request, keyset, resource: channels[0])
        return .wire { writer in
            writer.beginObject()
            writer.member("status", 200)
            writer.member("error", false)
            writer.member("error_message", "")
            writer.endObject()
        }
    }

    /// Deletes the replies of a thread one by one, so that the thread's reply count is updated.
    private func deleteReplies(
        of thread: MappedThread, after: Timetoken, before: Timetoken, _ keyset: Keyset, _ chat: ChatAccess
    ) async throws(ChatError) {
        var query = HistoryRequest(
            channel: ChannelID(thread.parent, in: keyset.app), after: after, before: before, limit: limits.pageMost)
        query.kinds = FetchRequest.kinds
        query.thread = .of(thread.root)
        while true {
            let page = try await chat.history([query], onWire: true)[0]
            for reply in page.items {
                do throws(ChatError) {
                    try await chat.delete(reply.timetoken, in: thread.parent, isHard: true, by: nil)
                } catch {
                    // Another request has deleted the reply in the meantime.
                    guard error.code == .notFound else { throw error }
                }
            }
            guard let rest = query.rest(behind: page) else { return }
            query = rest
        }
    }
}
