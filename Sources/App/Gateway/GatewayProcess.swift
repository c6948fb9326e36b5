@preconcurrency import Dispatch
import Glibc
import Locking
import Logging

/// `parley serve`: the gateway as a process of its own, with log, signals and greeting.
public enum GatewayProcess {
    /// Serves until SIGTERM or SIGINT. SIGHUP reads the configuration again and takes over what can change.
    ///
    /// - Parameter reload: loads the configuration as it was loaded at the start.
    public static func serve(
        _ loaded: LoadedConfiguration, reload: @escaping @Sendable () throws -> LoadedConfiguration
    ) async throws {
        // The database holds secrets and payloads, also in a directory that was made by others.
        umask(0o077)
        LoggingSystem.bootstrap { LineLogHandler(label: $0) }
        LineLogHandler.threshold.withLock { $0 = loaded.configuration.threshold }
        LineLogHandler.format.withLock { $0 = loaded.configuration.logFormat }
        let logger = Logger(label: "gateway")
        for warning in loaded.warnings + loaded.unknownVariables { logger.warning("\(warning)") }
        raiseDescriptorLimit(logger)
        let configuration = loaded.configuration
        if configuration.isDevelopment {
            logger.warning("dev mode: well-known keys, loopback only; not for anything that matters")
        }
        #if DEBUG
            logger.warning("this build is not optimized and several times slower; 'make build' makes one that is")
        #endif
        let signals = await ProcessSignals.caught([SIGTERM, SIGINT, SIGHUP])
        try await GatewayServer(configuration, logger: logger).run(
            whenListening: { url in
                if configuration.isDevelopment { StartupMessage.lines(url: url).forEach(Terminal.say) }
                Terminal.say("listening on \(url)")
                StartupMemoryTrim.release()
            },
            reloadingUntil: { takeOver in
                // A reload may take long (a schema is held against its versions); a stop does not wait for it, and many
                // requests for one are answered by one.
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
                // A second one ends the process at once: whoever sends it has waited long enough.
                Glibc.signal(SIGTERM, SIG_DFL)
                Glibc.signal(SIGINT, SIG_DFL)
            })
    }

    /// Streams are descriptors: the soft limit of many shells (1024) would be the limit of streams.
    private static func raiseDescriptorLimit(_ logger: Logger) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) != 0 {
            logger.warning("cannot raise the limit of open files: \(String(cString: strerror(errno)))")
        }
    }
}

/// What a person sees when the gateway starts in a terminal.
enum StartupMessage {
    /// Three lines to paste (`product.md` 3); they work as they stand in dev mode.
    static func lines(url: String) -> [String] {
        [
            "watch   curl -N -H 'Authorization: Bearer dev' '\(url)/v1/stream?channel=demo'",
            "emit    curl -H 'Authorization: Bearer dev' --json '{\"text\":\"hello\"}' \(url)/v1/channels/demo/messages",
            "look    \(url)/",
        ]
    }

    /// The first key of a gateway that is not for trying: shown once, stored nowhere.
    static func firstKey(_ key: String, of app: String) -> [String] {
        ["made app '\(app)'; its admin key, shown only now:", "", "    \(key)", ""]
    }
}

/// Signals that the process handles itself.
///
/// libdispatch reads them with signalfd(2). A signalfd of our own would not work: a signal must be blocked in every thread,
/// and the runtime starts threads before `main`.
enum ProcessSignals {
    private static let queue = DispatchQueue(label: "signals")

    /// The signals that arrive from now on.
    ///
    /// Returns when all are caught. Their default action stays off from then on, also after the stream has ended. Equal
    /// signals that are pending together arrive once (signal(7)); the order of different ones is not defined.
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

/// The pages of code that the start needed: three quarters of what a gateway without work would have in memory.
///
/// They are clean copies of files, and the system could take them away itself, but does so only under pressure, and counts
/// them as the gateway's until then. What runs afterwards comes back with its first use, from the system's cache.
enum StartupMemoryTrim {
    /// Lets go of them. Only of what cannot have been written: pages that the loader has changed would come back as they
    /// lie in the file.
    static func release() {
        // Without the table nothing is let go of, which is no harm.
        guard let table = try? DurableFile("/proc/self/maps").bytes(limit: 4 * 1024 * 1024) else { return }
        for line in String(decoding: table, as: UTF8.self).split(separator: "\n") {
            guard let (start, length) = codeOfFile(line) else { continue }
            madvise(UnsafeMutableRawPointer(bitPattern: start), length, MADV_DONTNEED)
        }
    }

    /// `7f00-7f10 r-xp 00000000 fe:00 1234 /usr/bin/parley`
    static func codeOfFile(_ line: Substring) -> (start: UInt, length: Int)? {
        let fields = line.split(separator: " ")
        guard fields.count > 5, fields[1] == "r-xp", fields[5].hasPrefix("/") else { return nil }
        let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        guard bounds.count == 2, bounds[0] < bounds[1] else { return nil }
        return (bounds[0], Int(bounds[1] - bounds[0]))
    }
}

/// Words for the person at the terminal, apart from the log: to stderr, as plain lines.
enum Terminal {
    /// Whether there is a person: neither a file, a journal nor a log collector.
    static var isWatched: Bool { isatty(2) == 1 }

    static func say(_ line: String) {
        var line = line + "\n"
        // A terminal that is gone has nobody to be told.
        line.withUTF8 { _ = write(2, $0.baseAddress, $0.count) }
    }
}
