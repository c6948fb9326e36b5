import ChatModel

/// Removes the records of messages that no longer exist. When a message is deleted permanently, is deleted by range, or
/// expires, some records of the message may remain. Nobody can read these records, so a slow scan removes them later.
extension ChatService {
    /// Scans the message records of all apps repeatedly, until cancelled. Reads one page per second, and waits one hour
    /// between two scans.
    func keepGleaning() async {
        while !Task.isCancelled {
            for app in keyring.apps { await cleanUp(app.id, pausing: .seconds(1)) }
            // If the task was cancelled, the loop's condition ends the loop.
            try? await Task.sleep(for: .seconds(3600))
        }
    }

    /// Scans the message records of an app once. If a page cannot be read, the scan ends; the next scan tries again.
    func cleanUp(_ app: AppID, pausing pause: Duration = .zero) async {
        var query = RecordQuery(.message, in: app, limit: limits.pageMost)
        repeat {
            guard let page = try? await cleanUpPage(query) else { return }
            query.cursor = page.cursor
            if page.hasMore { try? await Task.sleep(for: pause) }
        } while query.cursor != nil && !Task.isCancelled
    }

    private func cleanUpPage(_ query: RecordQuery) async throws(ChatError) -> Page<Record> {
        // The events of records above this timetoken may not be visible yet, so these records are skipped.
        let edge = try await log.watermark(of: query.app)
        let page = try await engine.directory.list(query)
        for message in page.items.compactMap({ MessageRecord($0) }) where message.timetoken <= edge {
            guard try await isOver(message, in: query.app) else { continue }
            try await remove(message, in: query.app)
        }
        return page
    }

    /// Returns true when the record of a message can be removed: the message is no longer stored, or was permanently
    /// deleted at least `Limits.repeatWindow` ago. Until then, the record lets a repeated deletion of the message
    /// succeed without an effect.
    private func isOver(_ message: MessageRecord, in app: AppID) async throws(ChatError) -> Bool {
        if let deletion = message.deletion, deletion.isHard {
            return deletion.at.adding(limits.repeatWindow) <= clock.now
        }
        return try await log.event(at: message.timetoken, in: app) == nil
    }

    /// Removes the actions of a message in pages, and then its record. If the process crashes before the end, the
    /// record is still stored, so the next scan finds it.
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
                // The removed message was a reply. Its event is no longer stored, so its author is unknown: the
                // thread's count is reduced without an author.
                thread.thread.remove(by: nil)
                decision.changes.append(thread.change(in: app))
            }
            return decision
        }
    }
}
