import Glibc
import NATS
import NATSSupport
import TestSupport
import Testing

/// The events of a test's connection, and its settings.
final class Events: Sendable {
    let seen = Observed([ConnectionEvent]())

    func settings(_ servers: String...) -> ConnectionSettings {
        ConnectionSettings(servers: servers, name: "test") { [seen] in seen.append($0) }
    }

    /// Waits until an event has occurred.
    func wait(for event: ConnectionEvent, sourceLocation: SourceLocation = #_sourceLocation) async {
        await seen.wait("no \(event)", sourceLocation: sourceLocation) { $0.contains(event) }
    }
}

/// The failure of an operation, or nil with a recorded issue when it succeeds.
func failure<Value>(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Value
) async -> NATSFailure? {
    do {
        _ = try await body()
        Issue.record("no failure", sourceLocation: sourceLocation)
    } catch let failure as NATSFailure {
        return failure
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
    }
    return nil
}

extension Connection {
    /// Subscribes with a large buffer, and waits until the subscription is active.
    func collect(_ subject: String, into messages: Observed<[[UInt8]]>) async throws -> Subscription {
        let subscription = try subscribe(subject, pendingBytes: 64 << 20) { messages.append($0) }
        try await flush()
        return subscription
    }
}

/// Writes a small text file.
func write(_ text: String, to path: String) throws {
    let file = try #require(fopen(path, "w"))
    defer { fclose(file) }
    fputs(text, file)
}
