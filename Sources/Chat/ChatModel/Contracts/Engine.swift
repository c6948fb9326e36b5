/// Everything the gateway asks of whatever remembers for it (`engine.md` part I).
///
/// `EngineConformance` is the executable meaning of these promises; every engine runs it.
public protocol Engine: Sendable {
    var log: any EventLog { get }
    var directory: any Directory { get }
    var presence: any PresenceBoard { get }
    var deliveries: any DeliveryQueue { get }
    /// Ready only when an append would be durable. Degraded says which promise is slow or blocked.
    func health() async -> EngineHealth
    /// Stops intake, finishes what was accepted, gives up leases. After it returns, nothing is written.
    func close() async
}

public enum EngineHealth: Sendable, Equatable {
    case ready
    /// Works, but slowly or in part; the sentence is for the operator.
    case degraded(String)
    case unavailable(String)
}
