import ChatModel
import Locking
import NATS

/// Checks the NATS servers with a message from one connection to another.
struct BusCheck: Sendable {
    let settings: BusSettings
    let deadline: Duration

    private enum Outcome: Sendable {
        case received
        case denied(String)
        case silent
    }

    /// - Parameter installation: the identity of the cluster; nil if it is not known, and so are its subjects.
    func finding(installation: String?) async -> ClusterFinding {
        let (outcomes, outcome) = AsyncStream<Outcome>.makeStream()
        do throws(NATSFailure) {
            let connection = try settings.connection(deadline: deadline) { event in
                if case .denied(let text) = event { outcome.yield(.denied(text)) }
            }
            let receiver = try await Connection.open(connection)
            let finding: ClusterFinding
            do throws(NATSFailure) {
                let sender = try await Connection.open(connection)
                if let installation {
                    finding = try await roundTrip(
                        BusSubjects(installation: installation).check, sender, receiver, outcomes, outcome)
                } else {
                    finding = ClusterFinding("bus", .ok, "NATS is connected")
                }
                await sender.close()
            } catch {
                await receiver.close()
                throw error
            }
            await receiver.close()
            return finding
        } catch {
            return ClusterFinding(error.kind == .libraryMissing ? "libraries" : "bus", .failure, error.message)
        }
    }

    private func roundTrip(
        _ subject: String, _ sender: Connection, _ receiver: Connection, _ outcomes: AsyncStream<Outcome>,
        _ outcome: AsyncStream<Outcome>.Continuation
    ) async throws(NATSFailure) -> ClusterFinding {
        _ = try receiver.subscribe(subject, pendingBytes: 1024) { _ in outcome.yield(.received) }
        try await receiver.flush()
        let start = ContinuousClock.now
        try sender.publish([0], to: subject)
        let timeout = Task { [deadline] in
            try? await Task.sleep(for: deadline)
            outcome.yield(.silent)
        }
        defer { timeout.cancel() }
        switch await outcomes.first(where: { _ in true }) {
        case .received:
            let microseconds = Int((ContinuousClock.now - start) / .microseconds(1))
            return ClusterFinding(
                "bus", .ok, "a message between two connections to NATS took \(Double(microseconds) / 1000) ms")
        case .denied(let text):
            return ClusterFinding(
                "bus", .failure, "NATS denies a subject: \(text)",
                advice: "grant publish and subscribe on parley.> to the user of the nodes")
        case .silent, nil:
            return ClusterFinding(
                "bus", .failure, "a message between two connections to NATS did not arrive",
                advice: "check that the NATS servers form one cluster")
        }
    }
}
