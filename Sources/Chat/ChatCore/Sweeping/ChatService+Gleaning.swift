import ChatModel

/// What became of a message is kept beside it, in records. Messages go in many ways (deleted for good or by the stretch,
/// past their own time or their app's), so nobody who removes one looks for its records. Nobody sees them afterwards
/// either; a slow walk finds them.
extension ChatService {
    /// Walks over the records of all messages again and again, a page a second, until cancelled.
    func keepGleaning() async {
        while !Task.isCancelled {
            for app in keyring.apps { await glean(app.id, pausing: .seconds(1)) }
            // Cancellation shows at the loop's head.
            try? await Task.sleep(for: .seconds(3600))
        }
    }

    /// Walks once over the records of an app's messages. What cannot be reached is left for the next time.
    func glean(_ app: AppID, pausing pause: Duration = .zero) async {
        var query = RecordQuery(.message, in: app, limit: limits.pageMost)
        repeat {
            guard let page = try? await gleanPage(query) else { return }
            query.cursor = page.cursor
            if page.hasMore { try? await Task.sleep(for: pause) }
        } while query.cursor != nil && !Task.isCancelled
    }

    private func gleanPage(_ query: RecordQuery) async throws(ChatError) -> Page<Record> {
        // Events of younger records may not be visible yet.
        let edge = try await engine.log.watermark(of: query.app)
        let page = try await engine.directory.list(query)
        for message in page.items.compactMap({ MessageRecord($0) }) where message.timetoken <= edge {
            guard try await isOver(message, in: query.app) else { continue }
            try await remove(message, in: query.app)
        }
        return page
    }

    /// One that was deleted for good is remembered for a while, so that whoever deletes it again hears that it is gone.
    private func isOver(_ message: MessageRecord, in app: AppID) async throws(ChatError) -> Bool {
        if let deletion = message.deletion, deletion.isHard {
            return deletion.at.adding(limits.repeatWindow) <= clock.now
        }
        return try await engine.log.event(at: message.timetoken, in: app) == nil
    }

    /// First what is attached, a page in each step; what a crash leaves is found by the record, which goes last.
    private func remove(_ message: MessageRecord, in app: AppID) async throws(ChatError) {
        var query = RecordQuery(.messageAction, in: app, limit: limits.pageMost)
        query.idPrefix = MessageActionRecord.prefix(message.channel, message.timetoken)
        var page: Page<Record>
        repeat {
            page = try await engine.directory.list(query)
            let changes = page.items.map { RecordChange($0.key, body: nil) }
            if !changes.isEmpty { _ = try await engine.directory.write(changes) }
        } while page.hasMore
        let key = MessageRecord.key(message.channel, message.timetoken, in: app)
        let root = message.threadKey(in: app)
        _ = try await decide([key] + (root.map { [$0] } ?? [])) { snapshot in
            guard let record = snapshot[key].flatMap({ MessageRecord($0) }) else { return Decision(()) }
            var decision = Decision((), changes: [RecordChange(key, body: nil)])
            if record.deletion == nil, let root, var thread = snapshot[root].flatMap({ MessageRecord($0) }) {
                // Whose reply it was, nobody knows any more.
                thread.thread.remove(by: nil)
                decision.changes.append(thread.change(in: app))
            }
            return decision
        }
    }
}
