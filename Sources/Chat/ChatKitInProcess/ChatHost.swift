import ChatCore
import ChatModel
import Locking

/// A chat service that uses an engine, shared by the chats of one program.
final class ChatHost: Sendable {
    let service: ChatService
    private let engine: any Engine
    private let running: Task<Void, Never>
    private let readers = Lock<[ObjectIdentifier: Outbox]>([:])

    /// Starts the service and returns when listeners can receive its events. The host owns the engine from now on, even
    /// when this call fails.
    ///
    /// - Parameter app: the app of the chat. The app is created when it does not exist.
    init(_ engine: any Engine, app: AppID, limits: Limits, clock: WallClock) async throws(ChatError) {
        self.engine = engine
        guard let thread = ThreadExecutor(name: "chat-hub") else {
            await engine.close()
            throw ChatError(.unavailable, "the system cannot start a thread")
        }
        let service = ChatService(engine: engine, limits: limits, clock: clock, executor: thread)
        self.service = service
        let (started, signal) = AsyncStream.makeStream(of: Bool.self)
        running = Task {
            // The error of a service that has ended is ignored here, because all operations fail from then on.
            try? await service.run { signal.yield(true) }
            signal.finish()
        }
        do throws(ChatError) {
            var states = started.makeAsyncIterator()
            guard await states.next(isolation: nil) == true else {
                throw ChatError(.unavailable, "the chat could not be started with this storage engine")
            }
            try await service.keyring.ensure(app)
        } catch {
            await close()
            throw error
        }
    }

    /// Registers the outbox of a reader, so that `close` ends the reader.
    func add(_ outbox: Outbox) { readers.withLock { $0[ObjectIdentifier(outbox)] = outbox } }

    func remove(_ outbox: Outbox) { readers.withLock { $0[ObjectIdentifier(outbox)] = nil } }

    func close() async {
        running.cancel()
        await running.value
        for outbox in readers.withLock({ Array($0.values) }) { outbox.close() }
        await engine.close()
    }
}
