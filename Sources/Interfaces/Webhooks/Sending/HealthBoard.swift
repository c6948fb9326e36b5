import ChatKit
import ChatModel
import JSON
import Locking

/// The health of endpoints that fail, and its durable part: since when, once the operators were told.
///
/// Kept beside the webhook's record and not in it, so that trouble of the receiver does not change the etag its owner
/// holds.
final class HealthBoard: Sendable {
    private let directory: any Directory
    private let entries = Lock<[EndpointID: EndpointHealth]>([:])

    init(directory: any Directory) { self.directory = directory }

    func isSlow(_ endpoint: EndpointID) -> Bool { entries.withLock { $0[endpoint]?.isSlow ?? false } }

    func failingSince(_ endpoint: EndpointID) -> Timetoken? { entries.withLock { $0[endpoint]?.reportedSince } }

    func forget(_ endpoint: EndpointID) { entries.withLock { $0[endpoint] = nil } }

    func recordFailure(of endpoint: EndpointID, at now: Timetoken, isSlow: Bool) -> [EndpointHealth.Effect] {
        entries.withLock { $0[endpoint, default: EndpointHealth()].recordFailure(at: now, isSlow: isSlow) }
    }

    func recordSuccess(of endpoint: EndpointID) -> [EndpointHealth.Effect] {
        entries.withLock { entries in
            guard !entries.isEmpty else { return [] }
            return entries.removeValue(forKey: endpoint)?.recordSuccess() ?? []
        }
    }

    /// Writes down that an endpoint fails, or that it does no longer, together with the event that says so.
    ///
    /// - Returns: false when it was written already, by another node or an earlier run.
    func write(failingSince: Timetoken?, of endpoint: EndpointID, event: EventDraft) async throws(ChatError) -> Bool {
        let body = failingSince.map { since in
            JSONText { writer in
                writer.beginObject()
                writer.member("failing_since", since.description)
                writer.endObject()
            }
        }
        let change = RecordChange(
            Self.recordKey(of: endpoint), body: body, demand: failingSince == nil ? .present : .absent)
        do {
            _ = try await directory.write([change], events: [event])
            return true
        } catch {
            guard error.code == .conflict || error.code == .notFound else { throw error }
            return false
        }
    }

    /// Reads what earlier runs have written.
    func load(_ space: SpaceID) async throws(ChatError) {
        var query = RecordQuery(.setting, in: space, limit: 500)
        query.idPrefix = Self.idPrefix
        while true {
            let page = try await directory.list(query)
            for record in page.items {
                guard let root = try? JSONDocument(record.body).root,
                    let since = root["failing_since"]?.string.flatMap({ Timetoken(text: $0) })
                else { continue }  // no record of ours
                let endpoint = EndpointID(String(record.key.id.dropFirst(Self.idPrefix.count)), in: space)
                entries.withLock { $0[endpoint] = EndpointHealth(reportedSince: since) }
            }
            guard let cursor = page.cursor else { return }
            query.cursor = cursor
        }
    }

    static func recordKey(of endpoint: EndpointID) -> RecordKey {
        RecordKey(.setting, idPrefix + endpoint.name, in: endpoint.space)
    }

    private static let idPrefix = "webhook-health/"
}
