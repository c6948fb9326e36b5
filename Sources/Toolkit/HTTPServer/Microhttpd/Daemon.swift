internal import CMicrohttpd
import Glibc

/// One libmicrohttpd daemon, driven by the loop: it has no thread and no listening socket of its own.
///
/// Connections come in by `add`, the library reads and writes them, and calls back into ``ServerCore``. Closed once, on the
/// loop, when no connection is suspended any more: with one left the library would abort the process.
final class Daemon {
    private let daemon: OpaquePointer
    private let descriptor: Int32
    private let options: DaemonOptions
    private let loop: Loop
    private var source: SourceID?
    private var readiness: DaemonReadiness?

    /// Set when a connection was resumed: the library looks for those only when it runs, and nothing else would make it.
    var needsRun = false
    /// Whether one of its callbacks is under way.
    private(set) var isRunning = false

    /// Whether the library has work that no descriptor will announce.
    private(set) var isPending = false

    private final class DaemonReadiness: LoopSource {
        var isReady = false
        func ready(_ events: UInt32) { isReady = true }
    }

    init(core: ServerCore, loop: Loop, limits: ServerOptions.Limits) throws(ServerError) {
        self.loop = loop
        options = DaemonOptions(
            context: Unmanaged.passUnretained(core).toOpaque(), isSecure: core.isSecure, limits: limits)
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

    /// Hands an accepted socket over; the library closes it, now if it cannot take it.
    func add(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Bool {
        let isTaken = MHD_add_connection(daemon, socket, address, length) == .YES
        isPending = true
        return isTaken
    }

    /// Lets the library work, if it has anything to do. Not from within its own callbacks.
    func runIfNeeded() {
        guard !isRunning, needsRun || isPending || readiness?.isReady == true else { return }
        needsRun = false
        readiness?.isReady = false
        isRunning = true
        MHD_run(daemon)
        isRunning = false
        var timeout: UInt64 = 0
        // Zero means there is input in memory that no descriptor will announce: run again without waiting.
        isPending = MHD_get_timeout(daemon, &timeout) == .YES && timeout == 0
    }

    /// Closes every connection. The caller has seen to it that none is suspended.
    func stop() {
        if let source { loop.unwatch(source, descriptor: descriptor) }
        source = nil
        MHD_stop_daemon(daemon)
    }
}
