import Glibc
import HTTPServer
import Locking
import Logging
import Testing

/// A server on a free port with a loop of its own.
struct Fixture: Sendable {
    let server: Server
    let loop: Loop
    let log: LogRecorder
    let port: UInt16

    /// Connects.
    func wire(receiveBuffer: Int32? = nil) throws -> Wire {
        try Wire(port: port, receiveBuffer: receiveBuffer)
    }

    /// Runs `body` on the loop and returns what it returns.
    func onLoop<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            loop.post { continuation.resume(returning: body()) }
        }
    }

    /// A broadcast made on the loop.
    func broadcast(_ options: Broadcast.Options = Broadcast.Options()) async -> Broadcast {
        await onLoop { [loop] in Broadcast(loop: loop, options: options) }
    }
}

/// Starts a server, lets `body` use it from a thread that may block, and stops it.
func withServer<Value: Sendable>(
    options: ServerOptions = ServerOptions(), cors: CORSPolicy = CORSPolicy(),
    onDrain: @escaping @Sendable () async -> Void = {}, routes: (inout Router, Loop) -> Void,
    body: @escaping @Sendable (Fixture) throws -> Value
) async throws -> Value {
    try await withAsyncServer(options: options, cors: cors, onDrain: onDrain, routes: routes) { fixture in
        try await blocking { try body(fixture) }
    }
}

func withAsyncServer<Value: Sendable>(
    options: ServerOptions = ServerOptions(), cors: CORSPolicy = CORSPolicy(),
    onDrain: @escaping @Sendable () async -> Void = {}, routes: (inout Router, Loop) -> Void,
    body: @escaping @Sendable (Fixture) async throws -> Value
) async throws -> Value {
    let loop = try Loop(name: "test")
    try loop.start()
    defer { loop.stop() }
    var router = Router(problemBaseURL: "http://gw.test", cors: cors)
    routes(&router, loop)
    let log = LogRecorder()
    let server = Server(options: options, router: router, loop: loop, logger: Logger(label: "test") { _ in log })
    try await server.start()
    let running = Task { try await server.run(onDrain: onDrain) }
    let fixture = Fixture(server: server, loop: loop, log: log, port: try #require(server.address?.port))
    let result: Result<Value, any Error>
    do {
        result = .success(try await body(fixture))
    } catch {
        result = .failure(error)
    }
    running.cancel()
    try await running.value
    return try result.get()
}

/// Keeps what is logged.
struct LogRecorder: LogHandler {
    private let lines = Shared<[String]>([])
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .debug

    var all: [String] { lines.value }

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
        lines.update { $0.append("\(event.level) \(event.message) \(fields)") }
    }
}

/// A value that tests and handlers share, and that can be waited for.
final class Shared<Value: Sendable>: Sendable {
    private let state: Lock<Value>

    init(_ value: Value) { state = Lock(value) }

    var value: Value { state.withLock { $0 } }

    func update(_ body: @Sendable (inout Value) -> Void) {
        state.withLock { body(&$0) }
    }

    /// Looks every millisecond, for five seconds at most; whether the condition came true.
    func waits(until condition: @Sendable (Value) -> Bool) -> Bool {
        for _ in 0..<5000 {
            if condition(value) { return true }
            usleep(1000)
        }
        return false
    }
}

/// Looks every other millisecond, for five seconds at most; whether the condition came true.
func eventually(_ condition: @Sendable () async throws -> Bool) async rethrows -> Bool {
    for _ in 0..<2500 {
        if try await condition() { return true }
        do { try await Task.sleep(for: .milliseconds(2)) } catch { return false }
    }
    return false
}

/// A gate that handlers wait at until a test opens it.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// How many connections to this port the server's side still holds, however they ended: the kernel keeps them as
/// established or waiting to be closed until the last descriptor is.
func heldConnections(port: UInt16) -> Int {
    guard let file = fopen("/proc/net/tcp", "r") else { return -1 }
    defer { fclose(file) }
    let wanted = String(port, radix: 16, uppercase: true)
    let suffix = ":" + String(repeating: "0", count: 4 - wanted.count) + wanted
    var line = [CChar](repeating: 0, count: 512)
    var count = 0
    while fgets(&line, Int32(line.count), file) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let columns = text.split(separator: " ")
        guard columns.count > 3, columns[1].hasSuffix(suffix) else { continue }
        if columns[3] == "01" || columns[3] == "08" { count += 1 }
    }
    return count
}

extension Logger {
    /// For servers whose words nobody reads.
    static let silent = Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() }
}
