public import ChatModel
import Signing

/// A look at everything a gateway needs on its machine, without a gateway.
public struct Diagnostics: Sendable {
    let configuration: Configuration
    let clock: WallClock
    /// Whether the whole database is read for faults.
    let isThorough: Bool

    /// - Parameter isThorough: reads the whole database, which takes its time where that is large.
    public init(of configuration: Configuration, clock: WallClock = .system, isThorough: Bool = true) {
        self.configuration = configuration
        self.clock = clock
        self.isThorough = isThorough
    }

    /// Everything that was looked at, what is wrong and what is not, in a fixed order.
    public func findings() -> [CheckResult] {
        let data = DataCheck(path: configuration.dataDirectory)
        var findings = LibraryCheck().findings + LimitCheck(configuration: configuration).findings
        findings += CertificateCheck(configuration: configuration, clock: clock).findings
        findings += data.findings
        guard data.hasDatabase else { return findings }
        let vault: Vault
        do {
            vault = try configuration.vault()
        } catch {
            return findings + [CheckResult("secrets", .failure, error.description)]
        }
        return findings
            + StoreCheck(path: data.database, vault: vault, clock: clock, isThorough: isThorough).findings
    }

    /// Whether a gateway has the data directory, in whatever process; nil where there is nothing to have.
    public var isServed: Bool? { DataCheck(path: configuration.dataDirectory).isServed }
}
