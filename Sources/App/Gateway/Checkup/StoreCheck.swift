import ChatModel
import Signing
import SQLiteEngine

/// Checks the database: its integrity, its schema version and its queue.
struct StoreCheck {
    let path: String
    /// The vault with the keys that decrypt the stored secrets.
    let vault: Vault
    let clock: WallClock
    let isThorough: Bool

    /// The maximum time by which the newest timetoken may be ahead of the clock. Timetokens are reserved one second in
    /// advance. A larger difference means that the clock was set back.
    private static let ahead: Duration = .seconds(10)

    var results: [CheckResult] {
        let file = StoreFile(at: path)
        do throws(SQLiteEngineFailure) {
            let version = try file.schemaVersion()
            guard version <= StoreFile.knownVersion else {
                return [
                    CheckResult(
                        "schema", .failure,
                        "the database has schema version \(version), but this version of Parley supports up to \(StoreFile.knownVersion)",
                        advice: "run the newer version of Parley that wrote the database")
                ]
            }
            var findings = [schema(version)]
            if isThorough { findings.append(integrity(try file.faults(isThorough: false))) }
            // Older database schemas lack tables that the following checks read.
            guard version == StoreFile.knownVersion else { return findings }
            findings.append(numbering(try file.lastReserved()))
            findings.append(secrets(try file.bodies(of: .app)))
            return findings + queue(try file.queue())
        } catch {
            return [
                CheckResult(
                    "database", .failure, error.description,
                    advice: "run as the gateway's account; if the database is damaged, restore the last backup")
            ]
        }
    }

    private func schema(_ version: Int) -> CheckResult {
        guard version < StoreFile.knownVersion else {
            return CheckResult("schema", .ok, "the database has schema version \(version)")
        }
        return CheckResult(
            "schema", .ok,
            "the database has schema version \(version); the next start of the gateway upgrades the database to \(StoreFile.knownVersion)",
            advice: "the upgrade cannot be undone: make a backup first")
    }

    private func integrity(_ faults: [String]) -> CheckResult {
        guard !faults.isEmpty else { return CheckResult("integrity", .ok, "the database is undamaged") }
        return CheckResult(
            "integrity", .failure, "the database is damaged: \(faults.joined(separator: "; "))",
            advice: "stop the gateway, keep a copy of the directory, and restore the last backup")
    }

    private func numbering(_ last: Timetoken) -> CheckResult {
        let now = clock.now
        guard last > now.adding(Self.ahead) else { return CheckResult("clock", .ok, now.timestamp) }
        let seconds = (last.rawValue - now.rawValue) / Timetoken.ticksPerSecond
        return CheckResult(
            "clock", .warning,
            "the newest event is \(seconds) s ahead of the clock; the clock was probably set back",
            advice: "correct the clock (timedatectl); until then, new events stay in order but have times in the future"
        )
    }

    /// Checks that the stored secrets can be decrypted.
    ///
    /// - Parameter apps: the bodies of the app records. Each record contains a secret, and each start of the gateway
    ///   encrypts all secrets with the first key.
    private func secrets(_ apps: [String]) -> CheckResult {
        let keys = Set(apps.compactMap { Vault.keyID(in: $0) })
        guard let missing = keys.filter({ !vault.knows(key: $0) }).min() else {
            return CheckResult(
                "secrets", .ok,
                keys.isEmpty
                    ? "stored secrets are not encrypted" : "stored secrets are encrypted, and their key is configured")
        }
        return CheckResult(
            "secrets", .failure,
            "stored secrets are encrypted with the key \(missing), which is not configured: the gateway cannot start",
            advice:
                "restore the key in secrets_key or secrets_key_file; to replace a key, put the new key before the old key"
        )
    }

    private func queue(_ queue: StoreQueue) -> [CheckResult] {
        [CheckResult("deliveries", .ok, "\(queue.waiting) deliveries are waiting"), disabled(queue), dead(queue)]
    }

    private func disabled(_ queue: StoreQueue) -> CheckResult {
        guard !queue.disabled.isEmpty else { return CheckResult("webhooks", .ok, "no webhook is disabled") }
        let names = queue.disabled.prefix(5).joined(separator: ", ") + (queue.disabled.count > 5 ? ", …" : "")
        return CheckResult(
            "webhooks", .warning, "\(queue.disabled.count) webhooks are disabled: \(names)",
            advice:
                "'parley webhooks get ID' shows the reason; repair the receiver, then run 'parley webhooks enable ID'")
    }

    private func dead(_ queue: StoreQueue) -> CheckResult {
        guard queue.dead > 0 else { return CheckResult("dead_letters", .ok, "no deliveries are dead") }
        return CheckResult(
            "dead_letters", .warning, "\(queue.dead) deliveries are dead and are not attempted again",
            advice: "'parley deliveries list --status dead' shows them; 'parley deliveries redrive' sends them again")
    }
}
