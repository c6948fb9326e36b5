import ChatCore
import ChatModel
import JSON

/// Stores the time at which a webhook's failures began, together with the event that notifies the operators.
///
/// The time is not part of the webhook's record, so that failures of the receiver do not change the record's etag.
struct WebhookHealth: Sendable {
    let directory: any Directory

    /// Stores that a webhook is failing or has recovered, together with the event that reports it. Returns false when
    /// another process or an earlier run has already stored the change.
    func write(
        _ notices: WebhookFailureState.OperatorNotice, of subscriber: SubscriberID, _ event: EventDraft
    ) async throws(ChatError) -> Bool {
        let change =
            switch notices {
            case .failing(let since):
                RecordChange(Self.recordKey(of: subscriber), body: Self.body(since), precondition: .absent)
            case .recovered: RecordChange(Self.recordKey(of: subscriber), body: nil, precondition: .present)
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

    /// The failing webhooks that earlier runs have stored, each with the start of its failures.
    func load(_ app: AppID) async throws(ChatError) -> [(subscriber: SubscriberID, since: Timetoken)] {
        var query = RecordQuery(.setting, in: app, limit: 500)
        query.idPrefix = Self.idPrefix
        var found: [(subscriber: SubscriberID, since: Timetoken)] = []
        try await directory.forEachPage(query) { records in
            for record in records {
                guard let subscriber = Self.subscriber(of: record.key), let since = Self.failingSince(record) else {
                    continue  // not a valid record
                }
                found.append((subscriber, since))
            }
        }
        return found
    }

    static func recordKey(of subscriber: SubscriberID) -> RecordKey {
        RecordKey(.setting, idPrefix + subscriber.name, in: subscriber.app)
    }

    /// The webhook whose failures a record contains; nil for a record of another setting.
    static func subscriber(of key: RecordKey) -> SubscriberID? {
        guard key.kind == .setting, key.id.hasPrefix(idPrefix) else { return nil }
        return SubscriberID(String(key.id.dropFirst(idPrefix.count)), in: key.app)
    }

    /// The start of the failures in a record; nil for an invalid record.
    static func failingSince(_ record: Record) -> Timetoken? {
        (try? JSONDocument(record.body))?.root["failing_since"]?.string.flatMap { Timetoken(text: $0) }
    }

    private static let idPrefix = "webhook-health/"
}
