@preconcurrency import Dispatch
import Glibc
import Locking
import Logging

/// `parley serve`: runs the gateway as a process, with logging, signals and a startup message.
public enum GatewayProcess {
    /// Serves until SIGTERM or SIGINT. SIGHUP loads the configuration again and applies the reloadable settings.
    ///
    /// - Parameter reload: loads the configuration in the same way as at the start.
    /// - Throws: the errors of ``GatewayServer/run(whenListening:until:)``. A failed reload is logged and does not end
    ///   the process.
    public static func serve(
        _ loaded: LoadedConfiguration, reload: @escaping @Sendable () throws -> LoadedConfiguration
    ) async throws {
        // New files are private even in a directory that others have created, because the database contains secrets.
        umask(0o077)
        LoggingSystem.bootstrap { LineLogHandler(label: $0) }
        LineLogHandler.threshold = loaded.configuration.threshold
        LineLogHandler.format.withLock { $0 = loaded.configuration.logFormat }
        let logger = Logger(label: "gateway")
        for warning in loaded.warnings + loaded.unknownVariables { logger.warning("\(warning)") }
        raiseDescriptorLimit(logger)
        let configuration = loaded.configuration
        if configuration.isDevelopment {
            logger.warning("dev mode: anyone on this machine can use its well-known keys; do not use it in production")
        }
        #if DEBUG
            logger.warning(
                "this build is not optimized and several times slower; 'make build' makes an optimized build")
        #endif
        let signals = await ProcessSignals.caught([SIGTERM, SIGINT, SIGHUP])
        try await GatewayServer(configuration, logger: logger).run(
            whenListening: { url in
                if configuration.isDevelopment { StartupMessage.lines(url: url).forEach(Terminal.printLine) }
                Terminal.printLine("listening on \(url)")
                StartupMemoryTrim.release()
            },
            reloadingUntil: { takeOver in
                // A reload runs in a task of its own, because it may take long: schemas are compared with their
                // versions. A stop does not wait for the reload. Several reload requests are merged into one.
                let (requests, reloads) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
                let reloading = Task {
                    for await _ in requests {
                        do {
                            await takeOver(try reload().configuration)
                        } catch {
                            logger.error("\(ServiceContainer.notReloaded)", metadata: ["error": "\(error)"])
                        }
                    }
                }
                for await signal in signals {
                    guard signal == SIGHUP else { break }
                    reloads.yield()
                }
                reloading.cancel()
                // A second signal ends the process immediately.
                Glibc.signal(SIGTERM, SIG_DFL)
                Glibc.signal(SIGINT, SIG_DFL)
            })
    }

    /// Raises the soft descriptor limit, because each stream needs a descriptor and many systems set the limit to 1024.
    private static func raiseDescriptorLimit(_ logger: Logger) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) != 0 {
            logger.warning("cannot raise the limit of open files: \(String(cString: strerror(errno)))")
        }
    }
}

/// The message that a gateway prints to a terminal at its start.
enum StartupMessage {
    /// Returns three commands for the user to try. In dev mode they work without changes.
    static func lines(url: String) -> [String] {
        [
            "watch   curl -N -H 'Authorization: Bearer dev' '\(url)/v1/stream?channel=demo'",
            "emit    curl -H 'Authorization: Bearer dev' --json '{\"text\":\"hello\"}' \(url)/v1/channels/demo/messages",
            "look    \(url)/",
        ]
    }

    /// Returns the message with the first key of a gateway that is not in dev mode. The key is shown only once, and the
    /// gateway stores only its digest.
    static func firstKey(_ key: String, of app: String) -> [String] {
        ["created app '\(app)'; its admin key, shown only now:", "", "    \(key)", ""]
    }
}

/// The signals that the process handles.
///
/// libdispatch reads the signals with signalfd(2). A signalfd of our own would not work: a signal must be blocked in
/// all threads, but the runtime starts threads before `main`.
enum ProcessSignals {
    private static let queue = DispatchQueue(label: "signals")

    /// Returns a stream of the signals that arrive from now on.
    ///
    /// The call returns when a handler for each signal in `signals` is installed. The default actions of these
    /// signals stay disabled, even after the stream has ended. Several pending signals with the same number arrive once
    /// (signal(7)). The order of signals with different numbers is not defined.
    static func caught(_ signals: [Int32]) async -> AsyncStream<Int32> {
        let (stream, arrivals) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .unbounded)
        let sources = signals.map { DispatchSource.makeSignalSource(signal: $0, queue: queue) }
        for (signal, source) in zip(signals, sources) {
            source.setEventHandler { arrivals.yield(signal) }
            await withCheckedContinuation { registered in
                source.setRegistrationHandler { registered.resume() }
                source.resume()
            }
        }
        arrivals.onTermination = { _ in
            for source in sources { source.cancel() }
        }
        return stream
    }
}

/// Releases the memory pages of code that only the start needed. They are three quarters of the resident memory of an
/// idle gateway.
///
/// The pages are unmodified copies of files. The system would release them only when memory is short, and until then
/// counts them as memory of the gateway. A released page that is needed later is loaded again from the page cache.
enum StartupMemoryTrim {
    /// Releases only pages that are never written (executable mappings of files). A page that the loader has changed
    /// would be loaded again without the change.
    static func release() {
        // If the table cannot be read, nothing is released, which does no harm.
        guard let table = try? DurableFile("/proc/self/maps").bytes(limit: 4 * 1024 * 1024) else { return }
        for line in String(decoding: table, as: UTF8.self).split(separator: "\n") {
            guard let (start, length) = codeOfFile(line) else { continue }
            madvise(UnsafeMutableRawPointer(bitPattern: start), length, MADV_DONTNEED)
        }
    }

    /// Parses a line of `/proc/self/maps`, such as `7f00-7f10 r-xp 00000000 fe:00 1234 /usr/bin/parley`. Returns the
    /// start address and the length in bytes of the memory; nil for a line that is not the code of a file.
    static func codeOfFile(_ line: Substring) -> (start: UInt, length: Int)? {
        let fields = line.split(separator: " ")
        guard fields.count > 5, fields[1] == "r-xp", fields[5].hasPrefix("/") else { return nil }
        let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        guard bounds.count == 2, bounds[0] < bounds[1] else { return nil }
        return (bounds[0], Int(bounds[1] - bounds[0]))
    }
}

/// Writes messages for a user at a terminal to stderr. They are plain lines and not part of the log.
enum Terminal {
    /// True when stderr is a terminal and not a file, a journal or a log collector.
    static var isWatched: Bool { isatty(2) == 1 }

    static func printLine(_ line: String) {
        var line = line + "\n"
        // Errors are ignored, because no user can read a message about a closed terminal.
        line.withUTF8 { _ = write(2, $0.baseAddress, $0.count) }
    }
}
