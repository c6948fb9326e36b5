import ChatModel

/// The data for a decision that removes replies from a thread.
struct ThreadReplyRemoval: Sendable {
    /// The key of the record of the thread's first message.
    let root: RecordKey
    /// The timetokens of the replies to remove.
    private let replies: Set<Timetoken>
    /// The newest reply that remains in the thread, if the decision removes the thread's current newest reply.
    private let newest: Newest

    private enum Newest: Sendable {
        case notNeeded, none
        case reply(RecordKey, Timetoken)
    }

    /// The error for a thread that changed after it was read. The caller must read the thread again.
    static let isOutdated = ChatError(
        .conflict, "another request changed the thread at the same time; send the request again")
    /// The error for a thread that changed in every attempt.
    static let isBusy = ChatError(
        .overloaded, "other requests are changing the same messages; send the request again", retryAfter: .seconds(1))

    /// The keys of the user records that the event `thread.updated` contains: the authors of replies in the thread.
    private let authors: [RecordKey]

    /// The keys of the records that the decision must read.
    var keys: [RecordKey] {
        if case .reply(let key, _) = newest { [root, key] + authors } else { [root] + authors }
    }

    /// Reads the thread whose first message has the record `root`.
    init(of root: RecordKey, losing replies: Set<Timetoken>, in directory: any Directory) async throws(ChatError) {
        self.root = root
        self.replies = replies
        let record = try await directory.read(root).flatMap { MessageRecord($0) }
        authors = record?.thread.authors.map { UserRecord.key($0.user, in: root.app) } ?? []
        guard let record, replies.contains(record.thread.last) else {
            newest = .notNeeded
            return
        }
        var query = RecordQuery(.message, in: root.app, limit: 100)
        query.parent = MessageRecord.parent(ofRepliesTo: record.timetoken, in: record.channel)
        query.sort = [(.id, false)]
        repeat {
            let page = try await directory.list(query)
            for item in page.items {
                guard let reply = MessageRecord(item), reply.deletion == nil, !replies.contains(reply.timetoken) else {
                    continue
                }
                newest = .reply(item.key, reply.timetoken)
                return
            }
            query.cursor = page.cursor
        } while query.cursor != nil
        newest = .none
    }

    /// Returns the record of the thread's first message without the removed replies; nil when this record does not
    /// exist or the first message was permanently removed.
    ///
    /// - Parameter authors: the author of each removed reply; nil for a reply without an author.
    /// - Throws: ``isOutdated`` when the thread changed after it was read.
    func rest(_ snapshot: RecordSnapshot, without authors: [String?]) throws(ChatError) -> MessageRecord? {
        guard var record = snapshot[root].flatMap({ MessageRecord($0) }), record.deletion?.isHard != true else {
            return nil
        }
        for author in authors { record.thread.remove(by: author) }
        guard replies.contains(record.thread.last) else { return record }
        switch newest {
        case .notNeeded: throw Self.isOutdated
        case .none: record.thread.last = .zero
        case .reply(let key, let timetoken):
            guard let reply = snapshot[key].flatMap({ MessageRecord($0) }), reply.deletion == nil else {
                throw Self.isOutdated
            }
            record.thread.last = timetoken
        }
        return record
    }
}
