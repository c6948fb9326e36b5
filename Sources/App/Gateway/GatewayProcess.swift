@preconcurrency import Dispatch
import Glibc
import Locking
import Logging

/// `parley serve`: runs the gateway as a process, with log, signals and startup message.
public enum GatewayProcess {
    /// Serves until SIGTERM or SIGINT. SIGHUP reloads the configuration and applies the reloadable settings.
    ///
    /// - Parameter reload: loads the configuration in the same way as at the start.
    /// - Throws: as ``GatewayServer/run(whenListening:until:)``. A reload that fails is logged and does not end the
    ///   process.
    public static func serve(
        _ loaded: LoadedConfiguration, reload: @escaping @Sendable () throws -> LoadedConfiguration
    ) async throws {
        // The database holds secrets and payloads, so new files are private even in a directory made by others.
        umask(0o077)
        LoggingSystem.bootstrap { LineLogHandler(label: $0) }
        LineLogHandler.threshold.withLock { $0 = loaded.configuration.threshold }
        LineLogHandler.format.withLock { $0 = loaded.configuration.logFormat }
        let logger = Logger(label: "gateway")
        for warning in loaded.warnings + loaded.unknownVariables { logger.warning("\(warning)") }
        raiseDescriptorLimit(logger)
        let configuration = loaded.configuration
        if configuration.isDevelopment {
            logger.warning("dev mode: well-known keys, loopback only; not for production")
        }
        #if DEBUG
            logger.warning("this build is not optimized and several times slower; 'make build' makes one that is")
        #endif
        let signals = await ProcessSignals.caught([SIGTERM, SIGINT, SIGHUP])
        try await GatewayServer(configuration, logger: logger).run(
            whenListening: { url in
                if configuration.isDevelopment { StartupMessage.lines(url: url).forEach(Terminal.printLine) }
                Terminal.printLine("listening on \(url)")
                StartupMemoryTrim.release()
            },
            reloadingUntil: { takeOver in
                // A reload may take long, because a schema is compared with its versions. A stop does not wait for it,
                // and several requests for a reload are merged into one.
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
                // A second signal ends the process at once.
                Glibc.signal(SIGTERM, SIG_DFL)
                Glibc.signal(SIGINT, SIG_DFL)
            })
    }

    /// Raises the soft descriptor limit, because each stream needs a descriptor and many shells limit them to 1024.
    private static func raiseDescriptorLimit(_ logger: Logger) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) != 0 {
            logger.warning("cannot raise the limit of open files: \(String(cString: strerror(errno)))")
        }
    }
}

/// The message at the start of the gateway in a terminal.
enum StartupMessage {
    /// Returns three commands to paste. In dev mode they work unchanged.
    static func lines(url: String) -> [String] {
        [
            "watch   curl -N -H 'Authorization: Bearer dev' '\(url)/v1/stream?channel=demo'",
            "emit    curl -H 'Authorization: Bearer dev' --json '{\"text\":\"hello\"}' \(url)/v1/channels/demo/messages",
            "look    \(url)/",
        ]
    }

    /// Returns the message with the first key of a gateway that is not in dev mode. The key is shown once and stored
    /// nowhere.
    static func firstKey(_ key: String, of app: String) -> [String] {
        ["created app '\(app)'; its admin key, shown only now:", "", "    \(key)", ""]
    }
}

/// The signals that the process handles itself.
///
/// libdispatch reads them with signalfd(2). A signalfd of our own would not work: a signal must be blocked in every
/// thread, and the runtime starts threads before `main`.
enum ProcessSignals {
    private static let queue = DispatchQueue(label: "signals")

    /// Returns the signals that arrive from now on.
    ///
    /// Returns when all of them are caught. Their default action stays disabled, also after the stream has ended.
    /// Several pending signals of the same number arrive once (signal(7)). The order of different signals is not
    /// defined.
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

/// The memory pages of code that only the start needed: three quarters of the resident memory of an idle gateway.
///
/// The pages are clean copies of files. The system would evict them only under memory pressure, and counts them as the
/// gateway's memory until then. A released page that is needed later is loaded again from the page cache.
enum StartupMemoryTrim {
    /// Releases the pages, but only those that cannot have been written: a page that the loader changed would come back
    /// as it is in the file.
    static func release() {
        // Without the table nothing is released, which does no harm.
        guard let table = try? DurableFile("/proc/self/maps").bytes(limit: 4 * 1024 * 1024) else { return }
        for line in String(decoding: table, as: UTF8.self).split(separator: "\n") {
            guard let (start, length) = codeOfFile(line) else { continue }
            madvise(UnsafeMutableRawPointer(bitPattern: start), length, MADV_DONTNEED)
        }
    }

    /// Parses a line such as `7f00-7f10 r-xp 00000000 fe:00 1234 /usr/bin/parley`.
    static func codeOfFile(_ line: Substring) -> (start: UInt, length: Int)? {
        let fields = line.split(separator: " ")
        guard fields.count > 5, fields[1] == "r-xp", fields[5].hasPrefix("/") else { return nil }
        let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        guard bounds.count == 2, bounds[0] < bounds[1] else { return nil }
        return (bounds[0], Int(bounds[1] - bounds[0]))
    }
}

/// Writes messages for the user at the terminal to stderr, as plain lines apart from the log.
enum Terminal {
    /// True when stderr is a terminal: no file, journal or log collector.
    static var isWatched: Bool { isatty(2) == 1 }

    static func printLine(_ line: String) {
        var line = line + "\n"
        // Errors are ignored: a closed terminal has no reader.
        line.withUTF8 { _ = write(2, $0.baseAddress, $0.count) }
    }
}
