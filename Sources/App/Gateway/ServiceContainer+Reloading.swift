import ChatCore
import HTTPClient
import HTTPServer
import Locking
import Logging

/// The handling of SIGHUP: the settings are loaded again while the gateway runs.
extension ServiceContainer {
    static let notReloaded = "cannot reload the settings; the current settings stay in effect"

    /// Applies the reloadable settings, either all or none. Logs the changed settings that need a restart.
    ///
    /// Open streams, requests and connections keep the settings with which they began.
    func applyConfiguration(_ later: Configuration, logger: Logger) async {
        let current = inForce.withLock { $0 }
        do {
            let next = try current.applying(later)
            let networks = try next.allowedNetworks()
            // The steps that can fail run first, so that a failure changes nothing.
            try await server.reloadCertificate()
            try await declareTypes(of: next)
            try await server.replace(cors: next.corsPolicy)
            guarding.replace(allowed: networks)
            service.liveLimits.replace(by: next.limits)
            service.keyring.replace(limits: next.limits)
            LineLogHandler.threshold = next.threshold
            LineLogHandler.format.withLock { $0 = next.logFormat }
            inForce.withLock { $0 = next }
            report(current.differences(to: later), logger)
        } catch {
            logger.error("\(Self.notReloaded)", metadata: ["error": "\(error)"])
        }
    }

    /// Applies the files that declare event types, if a directory is configured.
    func declareTypes(of configuration: Configuration) async throws(DeclarationError) {
        guard !configuration.schemaDirectory.isEmpty else { return }
        try await SchemaFolder(path: configuration.schemaDirectory, limits: configuration.limits)
            .apply(to: service, logger: Logger(label: "schemas"))
    }

    private func report(_ differences: [SettingDifference], _ logger: Logger) {
        func names(_ isReloadable: Bool) -> [String] {
            differences.filter { $0.setting.isReloadable == isReloadable }.map(\.setting.name)
        }
        logger.notice("settings reloaded", metadata: ["changed": "\(names(true).joined(separator: ","))"])
        let waiting = names(false)
        guard !waiting.isEmpty else { return }
        logger.warning(
            "these changed settings take effect after a restart",
            metadata: ["settings": "\(waiting.joined(separator: ","))"])
    }
}

extension Configuration {
    var threshold: Logger.Level { Logger.Level(rawValue: logLevel) ?? .info }
}
