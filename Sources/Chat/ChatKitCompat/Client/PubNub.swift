import ChatKit
import ChatModel
import ChatRemote
public import Dispatch
public import FoundationEssentials
import Locking

/// A client whose calls are methods of one object and have completion closures. It uses the same code as `ChatKit`.
///
/// ```swift
/// let pubnub = PubNub(
///     configuration: PubNubConfiguration(url: "https://chat.example.com", key: "parley_…", userId: "ana"))
/// pubnub.publish(channel: "room.1", message: "hello") { result in print(result) }
/// ```
/// A completion closure is called once, on the queue of the ``RequestConfiguration``. When the client is released, its
/// subscriptions end, but calls in progress are completed.
public final class PubNub: EventListenerInterface {
    /// An id of this object.
    public let instanceID = UUID()
    /// The configuration with which the client was created.
    public let configuration: PubNubConfiguration
    public let queue = DispatchQueue.main
    public let uuid = UUID()
    public let closures = EventClosures()

    let connection: Result<(backend: GatewayBackend, chat: Chat), ChatError>
    let session: SubscriptionSession
    let presence: PresenceKeeper

    /// Creates a client. Sends nothing before the first call. When the gateway's address is invalid, every call fails.
    public init(configuration: PubNubConfiguration) {
        self.configuration = configuration
        connection = Result { () throws(ChatError) in
            let backend = try GatewayBackend(
                url: configuration.url, key: configuration.key, user: configuration.userId,
                retry: (configuration.automaticRetry ?? AutomaticRetry.none).rule)
            return (backend, Chat(withoutRecord: backend))
        }
        session = SubscriptionSession(filter: configuration.filterExpression)
        presence = PresenceKeeper((try? connection.get())?.backend, configuration)
        session.follow(self)
    }

    deinit {
        presence.end()
        session.end()
        if case .success(let connection) = connection { Task { await connection.backend.close() } }
    }

    /// Replaces the token or key for all later requests and connections.
    public func set(token: String) {
        guard case .success(let connection) = connection else { return }
        connection.backend.replaceKey(with: token)
    }
}

extension PubNub {
    /// The options of a request.
    public struct RequestConfiguration: Sendable {
        /// The queue on which the completion closure is called.
        public var responseQueue: DispatchQueue
        /// The maximum time of each attempt, in seconds; nil selects 30.
        public var timeout: Double?
        /// The number of retries of a failed request; nil selects 4.
        public var retries: Int?

        /// Creates options.
        public init(responseQueue: DispatchQueue = .main, timeout: Double? = nil, retries: Int? = nil) {
            self.responseQueue = responseQueue
            self.timeout = timeout
            self.retries = retries
        }
    }

    /// Runs a call and passes its result to the completion closure.
    func run<Value>(
        _ options: RequestConfiguration, _ completion: ((Result<Value, any Error>) -> Void)?,
        _ work: @escaping @Sendable (GatewayBackend) async throws -> Value
    ) {
        let completion = Handover(completion)
        // The task retains the client until the call is completed, because releasing the client closes its connections.
        Task { [self] in
            let result: Result<Value, any Error>
            do {
                result = .success(try await work(try connection.get().backend))
            } catch {
                result = .failure(PubNubError(error))
            }
            let outcome = Handover(result)
            options.responseQueue.async { completion.value?(outcome.value) }
        }
    }
}

/// A value that one task passes to one queue, or a closure that only one queue calls.
struct Handover<Value>: @unchecked Sendable {
    // Safe to share: the sender does not use the value after the handover, and only one queue calls a closure.
    let value: Value

    init(_ value: Value) { self.value = value }
}

extension ChatModel.Timetoken {
    var date: Date { Date(timeIntervalSince1970: Double(rawValue) / Double(Self.ticksPerSecond)) }
}
