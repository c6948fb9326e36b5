public import ChatModel
import JSON
import Locking
import Synchronization

/// The answers to requests with an `Idempotency-Key`, stored for as long as repeats are recognized.
///
/// A note that the request has begun (``PendingAnswer``) is part of the commit of its first change, or is written
/// before the request is carried out (``write(_:)``). The answer follows in a commit of its own. If a repeat arrives
/// between the two, it is known that the request must not be carried out again.
public final class StoredAnswers: Sendable {
    /// An answer as it was sent.
    public struct Answer: Sendable {
        /// The HTTP status.
        public var status: Int
        /// The header fields that belong to the answer, in the order in which they were sent.
        public var headers: [(name: String, value: String)]
        /// UTF-8 text.
        public var body: [UInt8]

        /// An answer to store.
        public init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
            self.status = status
            self.headers = headers
            self.body = body
        }
    }

    /// The state of a request's key.
    public enum Earlier: Sendable {
        /// Not used yet. The caller binds the note while the request is carried out, then calls ``conclude(_:with:)``.
        case none(PendingAnswer)
        /// Used with another request.
        case other
        /// The request began a moment ago, here or on another node.
        case running
        /// The request began, and ended before its answer was stored.
        case lost
        case answered(Answer)
    }

    /// The maximum size of a stored answer. A repeat of a request with a larger answer is reported as lost.
    static let answerBytes = 256 * 1024
    /// The time after which a request without an answer is no longer running.
    private static let timeout: Duration = .seconds(60)

    private let directory: any Directory
    private let clock: WallClock
    private let window: Duration
    private let lost = Atomic<UInt64>(0)

    init(directory: any Directory, clock: WallClock, window: Duration) {
        self.directory = directory
        self.clock = clock
        self.window = window
    }

    /// The number of answers that were not stored, because they exceed 256 KiB or the store rejected them. Repeats of
    /// these requests get 409.
    public var lostAnswers: UInt64 { lost.load(ordering: .relaxed) }

    /// Looks up a request's key.
    ///
    /// - Parameters:
    ///   - scope: app, credential, method, path and key, as a hash in hexadecimal.
    ///   - fingerprint: the request, as a hash in hexadecimal.
    /// - Throws: `.unavailable` when the store cannot be read.
    public func begin(
        _ scope: String, fingerprint: String, in app: AppID
    ) async throws(ChatError) -> Earlier {
        let key = RecordKey(.answer, scope, in: app)
        let stored = try await directory.read(key)
        let now = clock.now
        if let stored, let entry = Entry(stored.body), now < entry.begun.adding(window) {
            guard entry.fingerprint == fingerprint else { return .other }
            if let answer = entry.answer { return .answered(answer) }
            return now < entry.begun.adding(Self.timeout) ? .running : .lost
        }
        let begun = Entry(fingerprint: fingerprint, begun: now)
        return .none(
            PendingAnswer(RecordChange(key, body: begun.body, precondition: stored.map { .etag($0.etag) } ?? .absent)))
    }

    /// Writes the note in a commit of its own, before a request that writes no records is carried out. Does nothing
    /// when it is already written.
    ///
    /// - Throws: `.conflict` or `.stale` when the same request began at the same moment; `.unavailable` when the store
    ///   cannot be reached.
    public func write(_ pending: PendingAnswer) async throws(ChatError) {
        guard let change = pending.consume() else { return }
        do throws(ChatError) {
            _ = try await directory.write([change])
        } catch {
            pending.retract()
            throw error
        }
    }

    /// Removes the note of a rejected request, so that its key is free again. A note that cannot be removed is counted
    /// as a lost answer.
    public func withdraw(_ pending: PendingAnswer) async {
        do throws(ChatError) {
            _ = try await directory.write([RecordChange(pending.key, body: nil)])
        } catch {
            lost.add(1, ordering: .relaxed)
        }
    }

    /// Stores the answer, also for a request that changed nothing, because a repeat may arrive when there is something
    /// to change. The request is already done, so an answer that cannot be stored is counted (``lostAnswers``) and is
    /// not an error.
    ///
    /// - Parameter answer: nil when its body is not available.
    public func conclude(_ pending: PendingAnswer, with answer: Answer?) async {
        do throws(ChatError) {
            try await write(pending)
            guard let answer, answer.body.count <= Self.answerBytes, let record = try await directory.read(pending.key),
                var entry = Entry(record.body)
            else {
                lost.add(1, ordering: .relaxed)
                return
            }
            entry.answer = answer
            _ = try await directory.write([
                RecordChange(pending.key, body: entry.body, parent: record.parent, precondition: .etag(record.etag))
            ])
        } catch {
            lost.add(1, ordering: .relaxed)
        }
    }

    /// Removes the answers that contain the text of a message. Answers that are not stored yet will not be stored.
    func forget(about message: Timetoken, in channel: ChannelID) async throws(ChatError) {
        var query = RecordQuery(.answer, in: channel.app, limit: 200)
        query.parent = Self.parent(ofAnswersAbout: message, in: channel)
        var page: Page<Record>
        repeat {
            page = try await directory.list(query)
            if !page.items.isEmpty {
                _ = try await directory.write(page.items.map { RecordChange($0.key, body: nil) })
            }
        } while page.hasMore
    }

    static func parent(ofAnswersAbout message: Timetoken, in channel: ChannelID) -> String {
        MessageRecord.key(channel.name, message, in: channel.app).id
    }

    /// Removes answers that are older than the repeat window.
    func sweep(_ app: AppID) async throws(ChatError) {
        let edge = clock.now.adding(.zero - window)
        var query = RecordQuery(.answer, in: app, limit: 200)
        query.sort = [(.updated, true)]
        while !Task.isCancelled {
            let page = try await directory.list(query)
            let doomed = page.items.prefix { $0.updated < edge }
            guard !doomed.isEmpty else { return }
            _ = try await directory.write(doomed.map { RecordChange($0.key, body: nil) })
        }
    }
}

/// The body of a record of the kind `answer`.
private struct Entry {
    var fingerprint: String
    var begun: Timetoken
    var answer: StoredAnswers.Answer?

    init(fingerprint: String, begun: Timetoken) {
        self.fingerprint = fingerprint
        self.begun = begun
    }

    init?(_ body: JSONText) {
        guard let root = try? JSONDocument(body).root, let fingerprint = root["request"]?.string,
            let begun = root["begun"]?.string.flatMap({ Timetoken(text: $0) })
        else { return nil }
        self.init(fingerprint: fingerprint, begun: begun)
        guard let status = root["status"]?.integer, let text = root["body"]?.string else { return }
        let headers = root["headers"]?.elements ?? []
        answer = StoredAnswers.Answer(
            status: Int(status),
            headers: headers.compactMap { pair in
                guard let parts = pair.strings, parts.count == 2 else { return nil }
                return (parts[0], parts[1])
            }, body: Array(text.utf8))
    }

    var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("request", fingerprint)
            writer.member("begun", begun.description)
            if let answer {
                writer.member("status", answer.status)
                writer.key("headers")
                writer.beginArray()
                for (name, value) in answer.headers {
                    writer.beginArray()
                    writer.string(name)
                    writer.string(value)
                    writer.endArray()
                }
                writer.endArray()
                writer.member("body", String(decoding: answer.body, as: UTF8.self))
            }
            writer.endObject()
        }
    }
}

/// A request with an `Idempotency-Key` that is being carried out. Code that writes records for the request adds this
/// note to its commit, so that both are stored together.
///
/// It is a task-local value, as ``PendingAuditEntry`` is.
public final class PendingAnswer: Sendable {
    /// The request that the current task carries out; nil without an `Idempotency-Key`.
    @TaskLocal public static var current: PendingAnswer?

    private let begun: RecordChange
    private let isWritten = Lock(false)
    private let subject = Lock<String?>(nil)

    init(_ begun: RecordChange) { self.begun = begun }

    /// The key of the record that holds the answer.
    var key: RecordKey { begun.key }

    /// Names the message whose text the answer will contain, before the request's first change. The answer is removed
    /// with the message.
    func concern(_ message: Timetoken, in channel: ChannelID) {
        subject.withLock { $0 = StoredAnswers.parent(ofAnswersAbout: message, in: channel) }
    }

    /// The parent of the record, which names that message; nil for most requests.
    var parent: String? { subject.withLock { $0 } }

    /// The note as a change to add to a commit; nil when no such request is being carried out or the note is already
    /// written.
    public static func change() -> RecordChange? { current?.consume() }

    /// Marks the note as not written, after the commit that contained it has failed.
    public static func retract() { current?.retract() }

    func consume() -> RecordChange? {
        let isFirst = isWritten.withLock { isWritten in
            defer { isWritten = true }
            return !isWritten
        }
        guard isFirst else { return nil }
        var begun = begun
        begun.parent = parent
        return begun
    }

    func retract() { isWritten.withLock { $0 = false } }
}
