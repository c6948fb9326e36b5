import ArgumentParser
import ClientCommands
import Gateway
import JSON

/// `parley backup`: copies the data of a gateway, which may be running.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the data of a gateway, running or not, to a new directory.",
        discussion: """
            parley backup --data /var/lib/parley /backup/parley-monday

            The copy is a consistent snapshot, and is verified after it is written. The key that encrypts stored \
            secrets (secrets_key) and the settings are not part of the copy: store them elsewhere.
            """)

    @Argument(help: "The directory to create.")
    var out: String

    @OptionGroup var options: ConfigurationOptions

    @Flag(name: .customLong("json"), help: "Print the manifest as JSON, for programs.")
    var isJSON = false

    func run() throws {
        let data = try options.dataDirectory()
        let report = BackupReport(isJSON: isJSON)
        let manifest = try report.following("backing up") { progress throws(BackupFailure) in
            try Backup(of: data).write(to: out, progress: progress)
        }
        report.done(manifest, "backed up \(SanitizedText.safe(data)) to \(SanitizedText.safe(out))")
    }
}

/// `parley restore`: creates a data directory from a backup.
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Create a data directory from a backup.",
        discussion: """
            parley restore /backup/parley-monday --data /var/lib/parley

            The directory must be empty or must not exist. The backup is compared with its checksums, and the result \
            is verified before it can be used.
            """)

    @Argument(help: "The directory that 'parley backup' created.")
    var backup: String

    @OptionGroup var options: ConfigurationOptions

    @Flag(name: .customLong("json"), help: "Print the manifest as JSON, for programs.")
    var isJSON = false

    func run() throws {
        let data = try options.dataDirectory()
        let report = BackupReport(isJSON: isJSON)
        let manifest = try report.following("restoring") { progress throws(BackupFailure) in
            try RestoreOperation(backup, into: data).run(progress: progress)
        }
        report.done(manifest, "restored \(SanitizedText.safe(backup)) into \(SanitizedText.safe(data))")
    }
}

extension ConfigurationOptions {
    /// Loads the settings, and returns the data directory.
    ///
    /// - Throws: a failure when the data is in a PostgreSQL database.
    fileprivate func dataDirectory() throws(CommandFailure) -> String {
        let configuration = try load().configuration
        guard !configuration.isCluster else {
            throw CommandFailure(
                "the data is in PostgreSQL: back it up and restore it with the tools of PostgreSQL, such as pg_dump; "
                    + "docs/cluster.md describes how")
        }
        return configuration.dataDirectory
    }
}

/// The output of `backup` and `restore`.
private struct BackupReport {
    let isJSON: Bool
    private let console = CommandEnvironment.current.console

    init(isJSON: Bool) { self.isJSON = isJSON }

    /// Runs a backup or restore, which is passed as `work`, and returns its manifest. Shows a progress bar if the error
    /// output is a terminal.
    func following(
        _ verb: String, _ work: ((BackupProgress) -> Void) throws(BackupFailure) -> BackupManifest
    ) throws(CommandFailure) -> BackupManifest {
        var bar = ProgressBar(on: console.errors)
        defer { bar.clear() }
        do throws(BackupFailure) {
            return try work { progress in
                switch progress {
                case .copying(let done, let total): bar.show(StepProgress(name: verb, done: done, total: total))
                case .checking: bar.show(StepProgress(name: "checking the copy"))
                case .hashing(let done, let total): bar.show(StepProgress(name: "hashing", done: done, total: total))
                }
            }
        } catch { throw CommandFailure(error.description) }
    }

    func done(_ manifest: BackupManifest, _ sentence: String) {
        if isJSON { return console.output.line(manifest.json.bytes) }
        let megabytes = manifest.files.reduce(0) { $0 + $1.bytes } / 1_000_000
        console.output.line(
            "\(console.output.style.good("ok")): \(sentence): \(manifest.events) events, \(manifest.records) records, "
                + "\(manifest.deliveries) deliveries, \(megabytes) MB, as of \(manifest.created)")
    }
}
