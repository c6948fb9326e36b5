internal import CMicrohttpd
import Glibc

/// One libmicrohttpd daemon, which the loop runs. The daemon has no thread and no listening socket of its own.
///
/// Connections are added with `add`. The library reads from them, writes to them, and calls ``ServerCore`` through
/// ``Callbacks``. Call `stop` once, on the loop, when no connection is suspended. Otherwise the library aborts the
/// process.
final class Daemon {
    private let daemon: OpaquePointer
    private let descriptor: Int32
    private let options: DaemonOptions
    private let loop: Loop
    private var source: SourceID?
    private var readiness: DaemonReadiness?

    /// True when the library must run because a connection was resumed. No event of a descriptor announces a resumed
    /// connection.
    var needsRun = false
    /// True while `MHD_run` is running, which calls the callbacks of the library.
    private(set) var isRunning = false

    /// True when the library has work that no descriptor will announce.
    private var isPending = false

    /// True when the library must run in the next iteration of the loop without waiting.
    var isEager: Bool { needsRun || isPending }

    private final class DaemonReadiness: LoopSource {
        var isReady = false
        func ready(_ events: UInt32) { isReady = true }
    }

    init(core: ServerCore, loop: Loop, memory: DaemonOptions.Memory) throws(ServerError) {
        self.loop = loop
        options = DaemonOptions(
            context: Unmanaged.passUnretained(core).toOpaque(), isSecure: core.isSecure, limits: core.options.limits,
            memory: memory)
        guard let daemon = options.start() else {
            throw .daemon(core.lastWords ?? "no reason given")
        }
        self.daemon = daemon
        descriptor = shim_daemon_epoll_descriptor(daemon)
        let readiness = DaemonReadiness()
        do {
            source = try loop.watch(descriptor, for: 1 /* EPOLLIN */, readiness)
            self.readiness = readiness
        } catch {
            MHD_stop_daemon(daemon)
            throw error
        }
    }

    /// Transfers ownership of an accepted socket to the library. Returns false when the library cannot use the socket;
    /// the library has then closed it.
    func add(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Bool {
        let isTaken = MHD_add_connection(daemon, socket, address, length) == .YES
        isPending = true
        return isTaken
    }

    /// Passes a socket to the library without the client's address, which the library would only store for queries.
    /// Returns false when the library has closed the socket because it cannot use it.
    func add(_ socket: Int32) -> Bool {
        var address = sockaddr()
        address.sa_family = sa_family_t(AF_UNSPEC)
        return add(socket, &address, socklen_t(MemoryLayout<sockaddr>.size))
    }

    /// Runs the library if it has work. Does nothing inside the library's own callbacks.
    func runIfNeeded() {
        guard !isRunning, needsRun || isPending || readiness?.isReady == true else { return }
        needsRun = false
        readiness?.isReady = false
        isRunning = true
        MHD_run(daemon)
        isRunning = false
        var timeout: UInt64 = 0
        // A timeout of zero means that the library has input in memory, which no descriptor will announce. It must run
        // again without waiting.
        isPending = MHD_get_timeout(daemon, &timeout) == .YES && timeout == 0
    }

    /// Closes every connection and the daemon. No connection may be suspended.
    func stop() {
        if let source { loop.unwatch(source, descriptor: descriptor) }
        source = nil
        MHD_stop_daemon(daemon)
    }
}
