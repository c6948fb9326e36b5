import Glibc
import HTTPServer
import Locking
import Logging
import TestSupport
import Testing

/// A server on a free port with a loop of its own.
struct Fixture: Sendable {
    let server: Server
    let loop: Loop
    let log: LogRecorder
    let port: UInt16

    /// Connects to the server.
    func wire(receiveBuffer: Int32? = nil, segment: Int32? = nil) throws -> Wire {
        try Wire(port: port, receiveBuffer: receiveBuffer, segment: segment)
    }

    /// Runs `body` on the loop and returns what it returns.
    func onLoop<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            loop.post { continuation.resume(returning: body()) }
        }
    }

    /// Creates a broadcast on the loop.
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

/// Records log messages.
struct LogRecorder: LogHandler {
    private let lines = Observed<[String]>([])
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

/// The number of connections to this port that the server still holds. The kernel lists them as established or waiting
/// to be closed until the last descriptor is closed.
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
    /// A logger for servers whose messages no test reads.
    static let silent = Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() }
}
