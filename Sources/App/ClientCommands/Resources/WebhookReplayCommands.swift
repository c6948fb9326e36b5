import ArgumentParser
import GatewayClient
import JSON

extension WebhooksCommand {
    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Start a job that sends events to a webhook again.",
            discussion: "parley webhooks replay wh_… --since-last-success --dry-run")

        enum Only: String, ExpressibleByArgument, CaseIterable { case failed, dead, all }

        @Argument(help: "The webhook's id.") var id: String

        @Option(
            help:
                "The deliveries to send: failed (failed and dead deliveries), dead, or all (every stored event that the webhook matches now)."
        )
        var only: Only = .failed

        @Flag(help: "Only events that are newer than the newest delivered event.")
        var sinceLastSuccess = false

        @OptionGroup var scope: ScopeOptions
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.begin(
                RequestPath("webhooks", id, "replay"),
                scope.body(only: only.rawValue, since: sinceLastSuccess ? "last_success" : nil))
        }
    }

    struct Stats: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the waiting deliveries of a webhook and the results of its recent attempts.")

        @Argument(help: "The webhook's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                let answer = try await access.send(Call("GET", RequestPath("webhooks", id, "stats")))
                guard !output.isJSON, let stats = answer.document?.root else { return output.show(answer) }
                let sink = output.console.output
                for line in Table.pairs(Self.state(stats), sink.style) { sink.line(line) }
                sink.line("")
                for line in Self.windows(stats).lines(sink.style) { sink.line(line) }
            }
        }

        /// Returns the number of pending deliveries, the state of the circuit, and the times of the last successful and
        /// the last failed attempt.
        private static func state(_ stats: JSONValue) -> [(name: String, value: String)] {
            func time(_ name: String) -> String { stats[name]?.string.map(EventLine.time) ?? "-" }
            let most = stats["counted_up_to"]?.integer ?? .max
            let counts = (stats["deliveries"]?.members ?? []).map { name, value in
                let count = value.integer ?? 0
                return (name: name, value: "\(count)\(count >= most ? " or more" : "")")
            }
            let oldest = stats["oldest_waiting"].flatMap { oldest in
                oldest["id"]?.string.map { "\($0), \(oldest["type"]?.string ?? "-")" }
            }
            return [("webhook", stats["webhook"]?.string ?? "-")] + counts + [
                ("oldest waiting", oldest ?? "-"), ("circuit", stats["circuit"]?.string ?? "-"),
                ("open until", time("open_until")), ("last success", time("last_success_at")),
                ("last failure", time("last_failure_at")),
            ]
        }

        /// Returns a table of the attempts in the last five minutes, hour and day.
        private static func windows(_ stats: JSONValue) -> Table {
            let columns = ["attempts", "delivered", "failed", "p50_ms", "p95_ms", "p99_ms"]
            var table = Table(["last"] + columns.map { $0.replacing("_", with: " ") })
            for (name, window) in stats["windows"]?.members ?? [] {
                table.add([name] + columns.map { window[$0]?.integer.map(String.init) ?? "-" })
            }
            return table
        }
    }
}

/// `parley audit`: shows the audit log.
struct AuditCommand: AsyncParsableCommand, ReadOnlyCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "List the administrative changes in the audit log, by default the newest first.",
        discussion: "parley audit --action 'key.*' --limit 20")

    enum Result: String, ExpressibleByArgument, CaseIterable { case done, refused }

    @Option(help: ArgumentHelp("Only changes that were made with this credential.", valueName: "key-id"))
    var actor: String?

    @Option(
        help: ArgumentHelp(
            "Only this action, such as 'key.create', or all actions on a subject: 'key.*'.", valueName: "action")
    )
    var action: String?

    @Option(help: ArgumentHelp("Only changes of this resource.", valueName: "id"))
    var resource: String?

    @Option(help: "Only entries with this result: done or refused.")
    var result: Result?

    @Option(help: ArgumentHelp("The maximum number of elements to list.", valueName: "n"))
    var limit = 50

    @OptionGroup var list: ListOptions
    @OptionGroup var gateway: GatewayOptions

    func validate() throws {
        guard limit >= 1 else { throw ValidationError("--limit must be at least 1.") }
    }

    func run() async throws {
        let path = list.adding(
            to: RequestPath("audit").adding("actor", actor).adding("action", action)
                .adding("resource", resource).adding("result", result?.rawValue))
        try await gateway.withResources { access, output in
            try await output.list(
                PagedList(access: access, path: path), limit: limit,
                columns: [
                    Column("at"), Column("action"), Column("resource"), Column("result"), Column("actor"),
                    Column("address"),
                ],
                empty: "no entries")
        }
    }
}

/// The options that select a part of a list and its order.
struct ListOptions: ParsableArguments {
    enum Order: String, ExpressibleByArgument, CaseIterable { case asc, desc }

    @Option(help: "The order: asc or desc; asc starts with the oldest, or with the first id.")
    var order: Order?

    @Option(
        help: ArgumentHelp(
            "Only elements after this time: a timetoken, or a time such as 2030-01-31T12:00:00Z.", valueName: "time"))
    var after: String?

    @Option(help: ArgumentHelp("Only elements before this time.", valueName: "time"))
    var before: String?

    /// Adds these options to the path of a list.
    func adding(to path: RequestPath) -> RequestPath {
        path.adding("after", after).adding("before", before).adding("order", order?.rawValue)
    }
}
