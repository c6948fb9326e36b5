import Glibc
import JSON

/// `emit -`: reads lines, sends them to the gateway in batches, and prints the outcomes.
///
/// Reading waits for sending. At most `parallel` requests and a few batches are therefore in memory, regardless of the
/// size of the input.
struct LineEmission {
    let form: EmissionForm
    let isEnvelopes: Bool
    let parallel: Int
    let isJSON: Bool
    let access: GatewayAccess
    let commandEnvironment: CommandEnvironment
    private var progress = Progress()
    private var bar: ProgressBar

    /// The maximum size in bytes of all events in one batch. The gateway's limit is 64 bytes larger, for the text
    /// around the events.
    private static let batchBytes = 1024 * 1024 - 64

    init(
        form: EmissionForm, isEnvelopes: Bool, parallel: Int, isJSON: Bool, access: GatewayAccess,
        commandEnvironment: CommandEnvironment
    ) {
        self.form = form
        self.isEnvelopes = isEnvelopes
        self.parallel = parallel
        self.isJSON = isJSON
        self.access = access
        self.commandEnvironment = commandEnvironment
        bar = ProgressBar(on: commandEnvironment.console.errors)
    }

    /// Emits all lines.
    ///
    /// - Throws: `CommandFailure` when a line was rejected, or when the remaining lines could not be sent.
    mutating func run() async throws {
        // The size is read before the reader starts, because the size counts from the current position in the file.
        progress.totalBytes = Self.size(of: commandEnvironment.input)
        let feed = try InputReader(
            descriptor: commandEnvironment.input, limits: .init(bytes: Self.batchBytes, overhead: form.overhead))
        defer { feed.close() }
        do {
            try await emitAll(from: feed)
        } catch let failure as CommandFailure {
            bar.clear()
            throw CommandFailure(failure.message, details: failure.details + ["stopped after \(summary)"])
        }
        bar.clear()
        commandEnvironment.console.errors.line(summary)
        if progress.failed > 0 { throw CommandFailure("\(progress.failed) lines were not emitted") }
    }

    private mutating func emitAll(from feed: InputReader) async throws {
        let sender = BatchSender(form: form, isEnvelopes: isEnvelopes, access: access)
        try await withThrowingTaskGroup(of: BatchOutcome.self) { group in
            var running = 0
            while let batch = try await feed.next() {
                if running == parallel {
                    if let outcome = try await group.next() { try record(outcome) }
                    running -= 1
                }
                group.addTask { await sender.send(batch) }
                running += 1
            }
            while let outcome = try await group.next() { try record(outcome) }
        }
    }

    private mutating func record(_ outcome: BatchOutcome) throws(CommandFailure) {
        for line in outcome.lines {
            if isJSON {
                if commandEnvironment.console.output.isTerminal { bar.clear() }
                commandEnvironment.console.output.line(line.report.bytes)
            }
            guard let failure = line.failure else {
                progress.done += 1
                continue
            }
            progress.failed += 1
            let text = ([failure.message] + failure.details).map(SanitizedText.safe).joined(separator: "; ")
            bar.line("line \(line.number): \(text)")
        }
        progress.readBytes = max(progress.readBytes, outcome.readBytes)
        bar.show(progress)
        if let failure = outcome.failure { throw failure }
    }

    private var summary: String {
        let seconds = (bar.elapsed / .milliseconds(10)).rounded() / 100
        let failed = progress.failed > 0 ? ", \(progress.failed) failed" : ""
        return "\(progress.done) emitted\(failed) in \(seconds) s"
    }

    /// Returns the number of unread bytes of a regular file; nil for other kinds of input.
    private static func size(of descriptor: Int32) -> Int? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return max(0, Int(status.st_size) - max(0, Int(lseek(descriptor, 0, SEEK_CUR))))
    }
}
