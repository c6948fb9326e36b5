import ChatKit
import ChatModel
import ChatRemote
public import Dispatch
public import FoundationEssentials
import Locking

/// A client with calls on one object and completion closures, over the same code as `ChatKit`.
///
/// ```swift
/// let pubnub = PubNub(
///     configuration: PubNubConfiguration(url: "https://chat.example.com", key: "parley_…", userId: "ana"))
/// pubnub.publish(channel: "room.1", message: "hello") { result in print(result) }
/// ```
/// Completion closures are called once, on the queue of the ``RequestConfiguration``. Releasing the client ends its
/// subscriptions; a call that was made is completed.
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

    /// Creates a client. Nothing is sent before the first call; an invalid address is the error of every call.
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

    /// Uses another token, or key, for every request and connection from now on.
    public func set(token: String) {
        guard case .success(let connection) = connection else { return }
        connection.backend.replaceKey(with: token)
    }
}

extension PubNub {
    /// The options of one request.
    public struct RequestConfiguration: Sendable {
        /// The queue on which the completion closure is called.
        public var responseQueue: DispatchQueue
        /// The maximum time of each attempt, in seconds; nil selects 30.
        public var timeout: Double?
        /// The number of times that a failed request is repeated; nil selects 4.
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
        // The task retains the client, whose connections close when it is released.
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

/// A value that one task hands to one queue, or a closure that is called on one queue only.
struct Handover<Value>: @unchecked Sendable {
    // Safe to share: the sender does not use the value after the handover, and closures run on the queue of their owner.
    let value: Value

    init(_ value: Value) { self.value = value }
}

extension ChatModel.Timetoken {
    var date: Date { Date(timeIntervalSince1970: Double(rawValue) / Double(Self.ticksPerSecond)) }
}
