import ChatModel

/// The removal of records of messages that no longer exist. Messages disappear in many ways (deleted permanently or by
/// range, expired by their own time or by the app's retention), and none of them removes the message's records. These
/// records are not visible afterwards; a slow scan finds and removes them.
extension ChatService {
    /// Scans the records of all messages repeatedly, one page per second, until cancelled.
    func keepGleaning() async {
        while !Task.isCancelled {
            for app in keyring.apps { await cleanUp(app.id, pausing: .seconds(1)) }
            // The loop condition checks for cancellation.
            try? await Task.sleep(for: .seconds(3600))
        }
    }

    /// Scans the records of an app's messages once. Records that cannot be read are left for the next scan.
    func cleanUp(_ app: AppID, pausing pause: Duration = .zero) async {
        var query = RecordQuery(.message, in: app, limit: limits.pageMost)
        repeat {
            guard let page = try? await cleanUpPage(query) else { return }
            query.cursor = page.cursor
            if page.hasMore { try? await Task.sleep(for: pause) }
        } while query.cursor != nil && !Task.isCancelled
    }

    private func cleanUpPage(_ query: RecordQuery) async throws(ChatError) -> Page<Record> {
        // Events of newer records may not be visible yet.
        let edge = try await engine.log.watermark(of: query.app)
        let page = try await engine.directory.list(query)
        for message in page.items.compactMap({ MessageRecord($0) }) where message.timetoken <= edge {
            guard try await isOver(message, in: query.app) else { continue }
            try await remove(message, in: query.app)
        }
        return page
    }

    /// True when the record can be removed. The record of a permanently deleted message stays for a while, so that a
    /// repeated deletion reports that the message is gone.
    private func isOver(_ message: MessageRecord, in app: AppID) async throws(ChatError) -> Bool {
        if let deletion = message.deletion, deletion.isHard {
            return deletion.at.adding(limits.repeatWindow) <= clock.now
        }
        return try await engine.log.event(at: message.timetoken, in: app) == nil
    }

    /// Removes the message's actions first, a page per step. After a crash, the record is still there to find the rest,
    /// because it is removed last.
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
                // The author of the reply is no longer known.
                thread.thread.remove(by: nil)
                decision.changes.append(thread.change(in: app))
            }
            return decision
        }
    }
}
