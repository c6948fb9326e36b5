import ArgumentParser
import ClientCommands
import Glibc
import JSON

/// `parley import`: imports the data of another service into a gateway.
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import the data of another service into a gateway.",
        discussion: """
            Imported messages keep their times, and no stream or webhook receives them. Existing data stays unchanged, so the \
            same data may be imported again. Requires a key with the scopes 'manage' and 'emit'.
            """,
        subcommands: [PubNub.self, Lines.self])

    struct PubNub: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pubnub", abstract: "Import the data of a PubNub keyset.",
            discussion: """
                parley import pubnub --subscribe-key sub-c-1 --publish-key pub-c-1 --secret-key @secret.txt --state move.json

                Works like 'parley export pubnub', but writes directly into the gateway. Run it again with the same \
                --state to import the data that is new since then.
                """)

        @OptionGroup var keyset: KeysetOptions
        @OptionGroup var target: ImportOptions

        func run() async throws {
            try await target.gateway.withGateway { access, commandEnvironment in
                let sink = GatewaySink(sender: ImportSender(access, isReplacing: target.replace))
                let export = try await keyset.export(to: sink, commandEnvironment)
                var tally = export.sink.sender.tally
                for _ in 0..<export.counts.unreadable { tally.count("message", 0) }
                try target.conclude(tally, commandEnvironment.console)
            }
        }
    }

    struct Lines: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "file", abstract: "Import a file that 'parley export' or a program of your own wrote.",
            discussion: """
                parley import file chat.ndjson
                convert archive.csv | parley import file -

                The input has one JSON object per line; docs/pubnub-migration.md describes them. Rejected lines are \
                reported with their number and do not stop the other lines.
                """)

        @Argument(help: ArgumentHelp("The file; - for the standard input.", valueName: "file")) var file: String
        @OptionGroup var target: ImportOptions

        func run() async throws {
            try await target.gateway.withGateway { access, commandEnvironment in
                let descriptor = file == "-" ? commandEnvironment.input : open(file, O_RDONLY | O_CLOEXEC)
                guard descriptor >= 0 else { throw CommandFailure("\(file): \(String(cString: strerror(errno)))") }
                defer { if file != "-" { close(descriptor) } }
                let feed = try InputReader(descriptor: descriptor, limits: ImportSender.lines)
                defer { feed.close() }
                var bar = ProgressBar(on: commandEnvironment.console.errors)
                var sender = ImportSender(access, isReplacing: target.replace)
                defer { bar.clear() }
                while let batch = try await feed.next() {
                    try await send(batch, &sender, &bar)
                    bar.show(sender.tally)
                }
                bar.clear()
                try target.conclude(sender.tally, commandEnvironment.console)
            }
        }

        private func send(_ batch: InputBatch, _ sender: inout ImportSender, _ bar: inout ProgressBar) async throws {
            var lines: [(number: Int, text: JSONText)] = []
            for line in batch.lines {
                if let bytes = line.bytes, let document = try? JSONDocument(bytes, numbers: .lenient) {
                    lines.append((line.number, document.text))
                } else {
                    let reason = line.bytes == nil ? "longer than the maximum size of a request" : "not JSON"
                    sender.refuse("line \(line.number)", reason, &bar)
                }
            }
            try await sender.send(lines.map(\.text), name: { "line \(lines[$0].number)" }, &bar)
        }
    }
}

/// The options of every import.
struct ImportOptions: ParsableArguments {
    @Flag(help: "Update existing users, channels, memberships and restrictions with the imported values.")
    var replace = false

    @OptionGroup var gateway: GatewayOptions

    /// Prints the result of an import, as JSON or as a sentence.
    ///
    /// - Throws: `CommandFailure` if the gateway rejected at least one record.
    func conclude(_ tally: ImportTally, _ console: Console) throws(CommandFailure) {
        if gateway.isJSON { console.output.line(tally.report.bytes) } else { console.output.line(tally.summary) }
        if tally.refused > 0 { throw CommandFailure("\(tally.refused) records were rejected") }
    }
}

/// A destination that collects lines into requests to the gateway.
struct GatewaySink: ExportSink {
    private(set) var sender: ImportSender
    private var lines: [JSONText] = []
    private var bytes = 0

    init(sender: ImportSender) { self.sender = sender }

    mutating func write(_ line: JSONText, _ bar: inout ProgressBar) async throws {
        let limits = ImportSender.lines
        let cost = line.count + limits.overhead
        if lines.count == limits.lines || bytes + cost > limits.bytes { try await flush(&bar) }
        lines.append(line)
        bytes += cost
    }

    mutating func flush(_ bar: inout ProgressBar) async throws {
        let sent = lines
        lines = []
        bytes = 0
        try await sender.send(sent, name: { Self.name(of: sent[$0]) }, &bar)
    }

    private static func name(of line: JSONText) -> String {
        let root = (try? JSONDocument(line.bytes, numbers: .lenient))?.root
        return ["record", "id", "channel", "user", "timetoken"].compactMap { root?[$0]?.string }.joined(separator: " ")
    }
}
