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
