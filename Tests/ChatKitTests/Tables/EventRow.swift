import ChatKit
import Testing

/// A type of the catalogue: how it comes about, and which devices hear it. All others do not.
struct EventRow: Sendable, CustomTestStringConvertible {
    typealias Act = @Sendable (Stage) async throws -> Void

    let type: String
    let hears: Set<Ear>
    /// On which channel; nil: on any.
    var channel: String?
    var ways = MatchStrategy.allCases
    /// What has been done before anybody listens.
    var before: Act = { _ in }
    let cause: Act

    init(
        _ type: String, on channel: String? = "crew", hears: Set<Ear>, ways: [MatchStrategy] = MatchStrategy.allCases,
        before: @escaping Act = { _ in }, cause: @escaping Act
    ) {
        self.type = type
        self.channel = channel
        self.hears = hears
        self.ways = ways
        self.before = before
        self.cause = cause
    }

    var testDescription: String { type }

    func isAbout(_ event: Event) -> Bool {
        event.type == type && (channel.map { $0 == event.channel.name } ?? true)
    }

    static let all = messages + members + records + values + attendance + connections
}
