import ChatCore
import ChatModel
import JSON
import Locking

/// The health of failing webhooks, and its stored part: the start of a failure, once the operators were notified.
///
/// Stored beside the webhook's record and not in it, so that failures of the receiver do not change the etag that its
/// owner holds.
final class WebhookHealth: Sendable {
    private let directory: any Directory
    private let entries = Lock<[SubscriberID: WebhookFailureState]>([:])

    init(directory: any Directory) { self.directory = directory }

    /// The start of the failure, from the moment the operators are notified; nil before.
    func failingSince(_ subscriber: SubscriberID) -> Timetoken? { entries.withLock { $0[subscriber]?.noticedSince } }

    /// The newest failure since the last success.
    func lastError(of subscriber: SubscriberID) -> AttemptError? { entries.withLock { $0[subscriber]?.lastError } }

    func forget(_ subscriber: SubscriberID) { entries.withLock { $0[subscriber] = nil } }

    func recordFailure(
        of subscriber: SubscriberID, at now: Timetoken, dead: Int, deadTolerated: Int, error: AttemptError
    ) -> [WebhookFailureState.Effect] {
        entries.withLock { entries in
            entries[subscriber, default: WebhookFailureState()]
                .recordFailure(at: now, dead: dead, deadTolerated: deadTolerated, error: error)
        }
    }

    func recordSuccess(of subscriber: SubscriberID) -> [WebhookFailureState.Effect] {
        change(subscriber) { $0.recordSuccess() } ?? []
    }

    /// Stores each change that is not stored yet, together with the event that reports it. Only one caller at a time
    /// writes; others leave it to that caller.
    ///
    /// - Returns: what was stored, without what another node or an earlier run had stored already.
    /// - Throws: a failure of the store; the write is repeated after the webhook's next attempt.
    func write(
        _ subscriber: SubscriberID, _ event: (WebhookFailureState.OperatorNotice) -> EventDraft
    ) async throws(ChatError) -> [WebhookFailureState.OperatorNotice] {
        var written: [WebhookFailureState.OperatorNotice] = []
        while let news = change(subscriber, { $0.beginWriting() }) ?? nil {
            do throws(ChatError) {
                if try await write(news, of: subscriber, event(news)) { written.append(news) }
            } catch {
                change(subscriber) { $0.endWriting(nil) }
                throw error
            }
            change(subscriber) { $0.endWriting(news) }
        }
        return written
    }

    private func write(
        _ news: WebhookFailureState.OperatorNotice, of subscriber: SubscriberID, _ event: EventDraft
    ) async throws(ChatError) -> Bool {
        let change =
            switch news {
            case .failing(let since):
                RecordChange(Self.recordKey(of: subscriber), body: Self.body(since), demand: .absent)
            case .recovered: RecordChange(Self.recordKey(of: subscriber), body: nil, demand: .present)
            }
        do {
            _ = try await directory.write([change], events: [event])
            return true
        } catch {
            guard error.code == .conflict || error.code == .notFound else { throw error }
            return false
        }
    }

    private static func body(_ since: Timetoken) -> JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("failing_since", since.description)
            writer.endObject()
        }
    }

    /// Changes an entry; nil when there is none.
    @discardableResult
    private func change<Result>(_ subscriber: SubscriberID, _ body: (inout WebhookFailureState) -> Result) -> Result? {
        entries.withLock { entries in
            // Most often no webhook fails, and this runs for each delivery.
            guard !entries.isEmpty, let index = entries.index(forKey: subscriber) else { return nil }
            let result = body(&entries.values[index])
            if entries.values[index].isOver { entries.remove(at: index) }
            return result
        }
    }

    /// Reads what earlier runs have stored.
    func load(_ app: AppID) async throws(ChatError) {
        var query = RecordQuery(.setting, in: app, limit: 500)
        query.idPrefix = Self.idPrefix
        try await directory.forEachPage(query) { records in
            for record in records {
                guard let root = try? JSONDocument(record.body).root,
                    let since = root["failing_since"]?.string.flatMap({ Timetoken(text: $0) })
                else { continue }  // not a valid record
                let subscriber = SubscriberID(String(record.key.id.dropFirst(Self.idPrefix.count)), in: app)
                entries.withLock { $0[subscriber] = WebhookFailureState(writtenSince: since) }
            }
        }
    }

    static func recordKey(of subscriber: SubscriberID) -> RecordKey {
        RecordKey(.setting, idPrefix + subscriber.name, in: subscriber.app)
    }

    private static let idPrefix = "webhook-health/"
}
