public import ChatModel
import JSON
import Locking
import Synchronization

/// The stored responses of requests with an `Idempotency-Key`. A response is stored for as long as repeated requests
/// are recognized.
///
/// A record of the key (``PendingAnswer``) is stored first: in the commit of the request's first change, or before the
/// request is executed (``write(_:)``). The response is stored in a later commit. If a repeated request arrives between
/// the two commits, the gateway knows that it must not execute the request again.
public final class StoredAnswers: Sendable {
    /// The response to a request.
    public struct Answer: Sendable {
        /// The HTTP status code.
        public var status: Int
        /// The header fields of the response to repeat, in the order in which they were sent.
        public var headers: [(name: String, value: String)]
        /// The body, as UTF-8 text.
        public var body: [UInt8]

        /// Creates a response to store.
        public init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
            self.status = status
            self.headers = headers
            self.body = body
        }
    }

    /// The state of an idempotency key when a request with it arrives.
    public enum Earlier: Sendable {
        /// The key was not used before. The caller sets ``PendingAnswer/current`` to the associated value while it
        /// executes the request, and then calls ``conclude(_:with:)``.
        case none(PendingAnswer)
        /// The key was used with a different request.
        case other
        /// A request with this key is still running, on this node or on another node.
        case running
        /// A request with this key has ended, but its response was not stored.
        case lost
        case answered(Answer)
    }

    /// The maximum size in bytes of a stored response body. For a repeated request whose first response was larger, the
    /// state is ``Earlier/lost``.
    static let answerBytes = 256 * 1024
    /// The time after which a request without a stored response counts as ended.
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

    /// The number of responses that were not stored, because they were larger than 256 KiB, their body was not
    /// available, or the store rejected them. Repeats of these requests get status 409.
    public var lostAnswers: UInt64 { lost.load(ordering: .relaxed) }

    /// Looks up the idempotency key of a request.
    ///
    /// - Parameters:
    ///   - scope: a hash of app, credential, method, path and idempotency key, in hex.
    ///   - fingerprint: a hash of the request, in hex. A request with the same key but another fingerprint is a
    ///     different request.
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

    /// Stores the record of the key in a commit of its own. For requests that write no other records. Does nothing when
    /// the record is already stored.
    ///
    /// - Throws: `.conflict` or `.stale` when a request with the same key started at the same moment; `.unavailable`
    ///   when the store cannot be written.
    public func write(_ pending: PendingAnswer) async throws(ChatError) {
        guard let change = pending.consume() else { return }
        do throws(ChatError) {
            _ = try await directory.write([change])
        } catch {
            pending.retract()
            throw error
        }
    }

    /// Removes the record of a rejected request, so that its idempotency key can be used again. If the record cannot be
    /// removed, it counts as a lost response.
    public func withdraw(_ pending: PendingAnswer) async {
        do throws(ChatError) {
            _ = try await directory.write([RecordChange(pending.key, body: nil)])
        } catch {
            lost.add(1, ordering: .relaxed)
        }
    }

    /// Stores the response. Also stores the response of a request that changed nothing, so that a repeat cannot change
    /// anything later. The request is already executed, so a response that cannot be stored is not an error; it is
    /// counted in ``lostAnswers``.
    ///
    /// - Parameter answer: the response; nil when its body is not available.
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

    /// Removes the stored responses that contain the text of a message. Also removes the records of running requests
    /// that declared this message with ``PendingAnswer/concern(_:in:)``, so their responses will not be stored.
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

    /// Removes responses that are older than the time in which repeated requests are recognized.
    func sweep(_ app: AppID) async throws(ChatError) {
        let edge = clock.now.adding(.zero - window)
        var query = RecordQuery(.answer, in: app, limit: 200)
        query.sort = [(.updated, true)]
        while !Task.isCancelled {
            let page = try await directory.list(query)
            let doomed = page.items.prefix { $0.updated < edge }
            guard !doomed.isEmpty else { return }
            let keys = doomed.map(\.key)
            _ = try await directory.decide(keys) { snapshot in
                // Another request may use the key again in the meantime.
                let old = keys.filter { key in snapshot[key].map { $0.updated < edge } ?? false }
                return Decision((), changes: old.map { RecordChange($0, body: nil) })
            }
        }
    }
}

/// The content of a record of the kind `answer`.
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

/// A request with an `Idempotency-Key` that is being executed. Code that writes records for the request adds the record
/// of the key to its commit, so that both are stored together.
///
/// The request is bound to the task-local value ``current``, so that modules need not pass the request to each other.
public final class PendingAnswer: Sendable {
    /// The request that the current task executes; nil for a request without an `Idempotency-Key`.
    @TaskLocal public static var current: PendingAnswer?

    private let begun: RecordChange
    private let isWritten = Lock(false)
    private let subject = Lock<String?>(nil)

    init(_ begun: RecordChange) { self.begun = begun }

    /// The key of the record for the response.
    public var key: RecordKey { begun.key }

    /// Declares that the response will contain the text of a message. The stored response is then removed together with
    /// the message. Call this before the first change of the request.
    func concern(_ message: Timetoken, in channel: ChannelID) {
        subject.withLock { $0 = StoredAnswers.parent(ofAnswersAbout: message, in: channel) }
    }

    /// The `parent` of the stored record: the id of the message that ``concern(_:in:)`` declared; nil when that method
    /// was not called. The record is removed together with the message.
    var parent: String? { subject.withLock { $0 } }

    /// Returns the change that stores the record of the key, to add to a commit; nil when there is no current request
    /// with a key, or when the record is already stored.
    public static func change() -> RecordChange? { current?.consume() }

    /// Marks the record as not stored, because the commit that contained it failed.
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
