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
/// Each call exists with a completion closure and as `async`. Closures are called on the main queue. The error of every
/// call is a ``PubNubError``. Releasing the chat and its objects ends its listeners.
public final class ChatImpl: Sendable {
    /// The client of the same user and gateway.
    public let pubNub: PubNub
    /// The settings with which the chat was created.
    public let config: ChatConfiguration
    /// The users whose messages and events the chat leaves out.
    public let mutedUsersManager = MutedUsersManager()
    private let ownRecord = Lock<UserRecord?>(nil)
    private let activity = Lock<Task<Void, Never>?>(nil)

    /// Creates a chat. Nothing is sent before the first call; an invalid address is the error of every call.
    public init(
        chatConfiguration: ChatConfiguration = ChatConfiguration(), pubNubConfiguration: PubNubConfiguration
    ) {
        config = chatConfiguration
        pubNub = PubNub(configuration: pubNubConfiguration)
    }

    deinit { activity.withLock { $0 }?.cancel() }

    /// The chat's user, as the record was when ``initialize()`` read it.
    public var currentUser: UserImpl {
        UserImpl(self, ownRecord.withLock { $0 } ?? UserRecord(id: pubNub.configuration.userId))
    }

    /// The type of the action that replaces a message's text.
    public var editMessageActionName: String { "edited" }
    /// The type of the action that marks a message as deleted.
    public var deleteMessageActionName: String { "deleted" }
    /// The type of the action that is a reaction.
    public var reactionsActionName: String { "reactions" }

    /// Reads the record of the chat's user, and creates it when it does not exist.
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

    /// Writes the time of the user's activity until the chat ends.
    private func keepActive(_ user: ChatKit.User) {
        let interval = Duration.seconds(config.interval)
        let task = Task {
            while (try? await Task.sleep(for: interval)) != nil {
                // A write that fails is repeated by the next one.
                _ = try? await user.storingActivity()
            }
        }
        activity.withLock { activity in
            activity?.cancel()
            activity = task
        }
    }

    /// Reads the record of the chat's user, and creates it when it does not exist.
    ///
    /// - Parameter completion: receives the chat.
    public func initialize(completion: ChatCompletion<ChatImpl>?) {
        run(completion) { try await self.initialize() }
    }

    /// Ends the listeners and connections of the chat. Later calls fail.
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
            // Another device created the record in the meantime, or a token may not create records.
            guard error.code == .conflict || error.code == .forbidden else { throw error }
            return try await backend.user(backend.user) ?? UserRecord(id: backend.user)
        }
    }
}

// MARK: - Calls

extension ChatImpl {
    /// Runs a call with the chat of the library.
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

    /// Runs a call and passes its result to the completion closure.
    func run<Value>(_ completion: ChatCompletion<Value>?, _ work: @escaping () async throws -> Value) {
        // The call belongs to the task from now on: the caller keeps only values that it cannot change.
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

    /// Reads values for several keys, ten at a time, in the order of the keys.
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
    /// Ends the listener: its closure is not called again. A repeated call changes nothing.
    func close()

    /// Waits for the connection. The closure is called for everything that happens after this returns.
    ///
    /// - Parameter limit: the maximum wait. The listener continues to connect afterwards.
    /// - Throws: ``PubNubError``: the error that prevents the connection.
    func ready(within limit: Duration) async throws
}

extension AutoCloseable {
    /// Waits 30 seconds at most for the connection; see ``ready(within:)``.
    public func ready() async throws { try await ready(within: .seconds(30)) }
}

/// A listener of the library whose closure is called on the main queue. It keeps the chat, whose connections end with it.
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

    /// Runs a closure on the main queue unless the listener is closed, and waits for its end, so that a slow program does
    /// not collect events without bound.
    static func onMain(_ listener: MainQueueListener?, _ call: Handover<() -> Void>) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async { [weak listener] in
                if listener?.isClosed.withLock({ $0 }) == false { call.value() }
                continuation.resume()
            }
        }
    }
}

/// A listener that has nothing to listen to.
final class ClosedListener: AutoCloseable {
    func close() {}
    func ready(within limit: Duration) {}
}

extension ChatImpl {
    /// Calls a closure with each value of a sequence until the returned object is closed. Without a valid address the
    /// closure is never called.
    ///
    /// - Parameters:
    ///   - values: the sequence; it throws the error of an invalid address.
    ///   - transform: makes the value of the closure; nil for an element to leave out.
    func listen<Element: Sendable, Value: Sendable>(
        _ values: () throws -> ChatStream<Element>?, _ transform: @escaping @Sendable (Element) async throws -> Value?,
        _ callback: @escaping (Value) -> Void
    ) -> any AutoCloseable {
        let (listener, callback) = (MainQueueListener(self), Handover(callback))
        listener.start {
            guard let values = try values() else {
                throw PubNubError(.invalidArguments, details: ["there is nothing to listen to"])
            }
            return values.listen { [weak listener] element in
                // A value that cannot be read now arrives with the next change.
                guard let value = try? await transform(element) else { return }
                await MainQueueListener.onMain(listener, Handover { callback.value(value) })
            }
        }
        return listener
    }

    /// The chat of the library.
    ///
    /// - Throws: the error of an invalid address.
    var connected: ChatKit.Chat { get throws { try pubNub.connection.get().chat } }

    /// Calls back with each change of the connection of the chat's listeners.
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

    /// Returns the changes of the connection of the chat's listeners. A slow reader receives the newest 64.
    public func connectionStatusStream() -> AsyncStream<ChatConnectionStatus> {
        AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
            let listener = try? connected.onConnectionStateChange { continuation.yield(ChatConnectionStatus($0)) }
            continuation.onTermination = { _ in listener?.close() }
            if listener == nil { continuation.finish() }
        }
    }
}

/// The state of the connection of a chat's listeners.
public enum ChatConnectionStatus: Equatable, Sendable {
    /// Every listener is connected.
    case online
    /// The chat was closed.
    case offline
    /// A listener is not connected. It reconnects unless the error is of its own making, such as a channel that the user
    /// may not read.
    case connectionError(error: PubNubError)

    init(_ state: ConnectionState) {
        self =
            switch state {
            case .connected: .online
            case .reconnecting(let error), .failed(let error): .connectionError(error: PubNubError(chat: error))
            case .closed: .offline
            }
    }

    /// The error; nil for the other states.
    public var error: PubNubError? { if case .connectionError(let error) = self { error } else { nil } }
    /// True while every listener is connected.
    public var isConnected: Bool { self == .online }
}
