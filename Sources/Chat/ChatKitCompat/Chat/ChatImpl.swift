import ChatKit
import ChatModel
import ChatRemote
import Dispatch
import Locking

/// A closure that receives the result of a call on the main queue.
public typealias ChatCompletion<Value> = (Result<Value, any Error>) -> Void

/// The chat of one user on a gateway, with the calls of PubNub's Swift Chat SDK.
///
/// ```swift
/// let chat = ChatImpl(
///     pubNubConfiguration: PubNubConfiguration(url: "https://chat.example.com", key: "parley_…", userId: "ana"))
/// chat.initialize { result in print(result) }
/// ```
/// Each call exists as an `async` method and as a method with a completion closure. Closures are called on the main
/// queue. When the chat and its objects are released, its listeners end.
///
/// Every call throws a ``PubNubError``, or passes one to its completion closure. The documentation of a call names the
/// reasons of this error. In addition, every call may fail with `unauthorized` when the key or token is not valid;
/// `forbidden` when the key or token lacks the scope or has no access to the channel; `tooManyRequests` or
/// `serviceUnavailable` when the gateway is busy; `connectionFailure` when the gateway cannot be reached; `timedOut`
/// when no response came and the operation may have been carried out; `badRequest` when the gateway's address or an id
/// is not valid; `clientCancelled` after ``destroy()``.
public final class ChatImpl: Sendable {
    /// The client that the chat uses. The client has the same user and gateway as the chat.
    public let pubNub: PubNub
    /// The settings with which the chat was created.
    public let config: ChatConfiguration
    /// The list of muted users. The chat leaves out their messages and events.
    public let mutedUsersManager = MutedUsersManager()
    private let ownRecord = Lock<UserRecord?>(nil)
    private let activity = Lock<Task<Void, Never>?>(nil)

    /// Creates a chat. Sends nothing before the first call. When the gateway's address is invalid, every call fails.
    ///
    /// - Parameters:
    ///   - chatConfiguration: the settings of the chat.
    ///   - pubNubConfiguration: the gateway's address, the credential and the id of the chat's user.
    public init(
        chatConfiguration: ChatConfiguration = ChatConfiguration(), pubNubConfiguration: PubNubConfiguration
    ) {
        config = chatConfiguration
        pubNub = PubNub(configuration: pubNubConfiguration)
    }

    deinit { activity.withLock { $0 }?.cancel() }

    /// The chat's user, with the values of the record when ``initialize()`` read it. Before ``initialize()``, only the
    /// id is set.
    public var currentUser: UserImpl {
        UserImpl(self, ownRecord.withLock { $0 } ?? UserRecord(id: pubNub.configuration.userId))
    }

    /// The type of the message action that replaces a message's text.
    public var editMessageActionName: String { "edited" }
    /// The type of the message action that marks a message as deleted.
    public var deleteMessageActionName: String { "deleted" }
    /// The type of the message action that adds a reaction.
    public var reactionsActionName: String { "reactions" }

    /// Reads the record of the chat's user. Creates the record when it does not exist.
    ///
    /// - Returns: this chat.
    /// - Throws: the errors common to all calls (see ``ChatImpl``).
    public func initialize() async throws -> ChatImpl {
        var record = try await withBackend { try await ownUser($0) }
        if config.storeUserActivityTimestamps {
            let user = ChatKit.User(chat: try connected, record)
            record.custom = try await call { _ in try await user.storingActivity() }.custom.text
            keepActive(user)
        }
        ownRecord.withLock { [record] in $0 = record }
        return self
    }

    /// Writes the time of the user's activity at regular intervals until the chat ends.
    private func keepActive(_ user: ChatKit.User) {
        let interval = Duration.seconds(config.interval)
        let task = Task {
            while (try? await Task.sleep(for: interval)) != nil {
                // Errors are ignored: the next write follows after the interval.
                _ = try? await user.storingActivity()
            }
        }
        activity.withLock { activity in
            activity?.cancel()
            activity = task
        }
    }

    /// Reads the record of the chat's user. Creates the record when it does not exist.
    ///
    /// - Parameter completion: receives this chat.
    public func initialize(completion: ChatCompletion<ChatImpl>?) {
        run(completion) { try await self.initialize() }
    }

    /// Closes the listeners and connections of the chat. Later calls fail with `clientCancelled`.
    public func destroy() {
        activity.withLock { $0 }?.cancel()
        guard case .success(let connection) = pubNub.connection else { return }
        Task { await connection.chat.close() }
    }

    private func ownUser(_ backend: GatewayBackend) async throws(ChatError) -> UserRecord {
        if let record = try await backend.user(backend.user) { return record }
        do throws(ChatError) {
            return try await backend.create(user: backend.user, UserFields())
        } catch {
            // Another device has just created the record, or the token may not create records.
            guard error.code == .conflict || error.code == .forbidden else { throw error }
            return try await backend.user(backend.user) ?? UserRecord(id: backend.user)
        }
    }
}

// MARK: - Calls

extension ChatImpl {
    /// Runs a call with the ChatKit chat.
    ///
    /// - Throws: ``PubNubError``.
    func call<Value>(_ work: (ChatKit.Chat) async throws -> Value) async throws -> Value {
        do { return try await work(try pubNub.connection.get().chat) } catch { throw PubNubError(error) }
    }

    /// Runs a call with the connection to the gateway.
    ///
    /// - Throws: ``PubNubError``.
    func withBackend<Value>(_ work: (GatewayBackend) async throws -> Value) async throws -> Value {
        do { return try await work(try pubNub.connection.get().backend) } catch { throw PubNubError(error) }
    }

    /// Runs a call and passes its result to the completion closure on the main queue.
    func run<Value>(_ completion: ChatCompletion<Value>?, _ work: @escaping () async throws -> Value) {
        // From now on, only the task uses the two closures. The caller keeps no mutable state that they capture.
        let (work, completion) = (Handover(work), Handover(completion))
        Task {
            let result: Result<Value, any Error>
            do {
                result = .success(try await work.value())
            } catch {
                result = .failure(PubNubError(error))
            }
            let outcome = Handover(result)
            DispatchQueue.main.async { completion.value?(outcome.value) }
        }
    }

    /// Reads a value for each key, at most ten at a time. Returns the values in the order of the keys.
    ///
    /// - Throws: the first error of `read`.
    func concurrently<Key: Sendable, Value: Sendable>(
        _ keys: [Key], _ read: @escaping @Sendable (Key) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: (Int, Value).self) { group in
            var found: [Int: Value] = [:]
            for (index, key) in keys.enumerated() {
                if index >= 10, let (place, value) = try await group.next() { found[place] = value }
                group.addTask { (index, try await read(key)) }
            }
            for try await (place, value) in group { found[place] = value }
            return keys.indices.compactMap { found[$0] }
        }
    }
}

// MARK: - Listeners

/// A listener that runs until it is closed or released.
public protocol AutoCloseable: AnyObject, Sendable {
    /// Ends the listener. Its closure is not called again. Further calls have no effect.
    func close()

    /// Waits until the listener is connected. After this call has returned, the listener receives every new event.
    ///
    /// - Parameter limit: the maximum wait. After this time, the listener continues to connect.
    /// - Throws: ``PubNubError``: the error that prevents the connection.
    func ready(within limit: Duration) async throws
}

extension AutoCloseable {
    /// Waits at most 30 seconds until the listener is connected; see ``ready(within:)``.
    ///
    /// - Throws: ``PubNubError``: the error that prevents the connection.
    public func ready() async throws { try await ready(within: .seconds(30)) }
}

/// A ChatKit listener whose closure is called on the main queue. It retains the chat, because the chat's connections
/// close when the chat is released.
private final class MainQueueListener: AutoCloseable {
    private let chat: ChatImpl
    private let isClosed = Lock(false)
    private let listener = Lock<Result<ChatKit.AutoCloseable, PubNubError>?>(nil)

    init(_ chat: ChatImpl) { self.chat = chat }

    deinit { close() }

    func close() {
        isClosed.withLock { $0 = true }
        if case .success(let listener) = listener.withLock({ $0 }) { listener.close() }
    }

    func ready(within limit: Duration) async throws {
        guard let listener = try listener.withLock({ $0 })?.get() else { return }
        do { try await listener.ready(within: limit) } catch { throw PubNubError(error) }
    }

    func start(_ open: () throws -> ChatKit.AutoCloseable) {
        let opened = Result { try open() }.mapError { PubNubError($0) }
        listener.withLock { $0 = opened }
    }

    /// Runs a closure on the main queue and waits until it returns. The wait limits the number of pending events when
    /// the program is slow. Does nothing when the listener is closed.
    static func onMain(_ listener: MainQueueListener?, _ call: Handover<() -> Void>) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async { [weak listener] in
                if listener?.isClosed.withLock({ $0 }) == false { call.value() }
                continuation.resume()
            }
        }
    }
}

/// A listener that never calls its closure, because the list of objects to listen to is empty.
final class ClosedListener: AutoCloseable {
    func close() {}
    func ready(within limit: Duration) {}
}

extension ChatImpl {
    /// Calls a closure with each value of a sequence until the returned object is closed. When the gateway's address is
    /// invalid, the closure is never called.
    ///
    /// - Parameters:
    ///   - values: returns the sequence; throws the error of an invalid address.
    ///   - transform: converts an element to the value for the closure; nil skips the element.
    func listen<Element: Sendable, Value: Sendable>(
        _ values: () throws -> ChatStream<Element>?, _ transform: @escaping @Sendable (Element) async throws -> Value?,
        _ callback: @escaping (Value) -> Void
    ) -> any AutoCloseable {
        let (listener, callback) = (MainQueueListener(self), Handover(callback))
        listener.start {
            guard let values = try values() else {
                throw PubNubError(.invalidArguments, details: ["the list of objects to listen to is empty"])
            }
            return values.listen { [weak listener] element in
                // An element whose value cannot be read is skipped.
                guard let value = try? await transform(element) else { return }
                await MainQueueListener.onMain(listener, Handover { callback.value(value) })
            }
        }
        return listener
    }

    /// The ChatKit chat.
    ///
    /// - Throws: the error of an invalid address.
    var connected: ChatKit.Chat { get throws { try pubNub.connection.get().chat } }

    /// Calls back with each change of the connection status of the chat's listeners.
    ///
    /// - Returns: the listener. It ends when it is closed or released.
    public func addConnectionStatusListener(
        _ listener: @escaping (ChatConnectionStatus) -> Void
    ) -> any AutoCloseable {
        let (status, callback) = (MainQueueListener(self), Handover(listener))
        status.start {
            try connected.onConnectionStateChange { [weak status] state in
                let call = Handover { callback.value(ChatConnectionStatus(state)) }
                Task { await MainQueueListener.onMain(status, call) }
            }
        }
        return status
    }

    /// Returns the changes of the connection status of the chat's listeners. At most the newest 64 changes wait for a
    /// slow reader.
    public func connectionStatusStream() -> AsyncStream<ChatConnectionStatus> {
        AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
            let listener = try? connected.onConnectionStateChange { continuation.yield(ChatConnectionStatus($0)) }
            continuation.onTermination = { _ in listener?.close() }
            if listener == nil { continuation.finish() }
        }
    }
}

/// The connection status of a chat's listeners.
public enum ChatConnectionStatus: Equatable, Sendable {
    /// Every listener is connected.
    case online
    /// The chat was closed.
    case offline
    /// At least one listener is not connected. The listener reconnects, except after an error that a new connection
    /// cannot correct, such as a channel that the user may not read.
    case connectionError(error: PubNubError)

    init(_ state: ConnectionState) {
        self =
            switch state {
            case .connected: .online
            case .reconnecting(let error), .failed(let error): .connectionError(error: PubNubError(chat: error))
            case .closed: .offline
            }
    }

    /// The error of ``connectionError(error:)``; nil for the other states.
    public var error: PubNubError? { if case .connectionError(let error) = self { error } else { nil } }
    /// True when every listener is connected.
    public var isConnected: Bool { self == .online }
}
