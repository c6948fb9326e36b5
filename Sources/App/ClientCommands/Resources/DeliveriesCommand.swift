import ArgumentParser
import GatewayClient
import JSON

/// `parley deliveries`: shows pending and past webhook deliveries.
struct DeliveriesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deliveries", abstract: "List deliveries, and resend or delete those that failed.",
        subcommands: [List.self, Get.self, Retry.self, Redrive.self, Purge.self])

    enum Status: String, ExpressibleByArgument, CaseIterable { case pending, failed, delivered, dead, held }

    struct List: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "List deliveries, by default with the newest event first.")

        @Argument(help: ArgumentHelp("Only deliveries of this webhook or subscription.", valueName: "subscriber"))
        var subscriber: String?

        @Option(help: ArgumentHelp("Only deliveries of this event.", valueName: "event-id"))
        var event: String?

        @Option(help: "Only deliveries with this status; may be repeated.")
        var status: [Status] = []

        @Option(
            help: ArgumentHelp("Only deliveries of events of this type or pattern; may be repeated.", valueName: "type")
        )
        var type: [String] = []

        @Option(
            help: ArgumentHelp(
                "Only deliveries of events on this channel or pattern; may be repeated.", valueName: "channel"))
        var channel: [String] = []

        @Option(help: ArgumentHelp("The maximum number of elements to list.", valueName: "n"))
        var limit = 50

        @OptionGroup var list: ListOptions
        @OptionGroup var gateway: GatewayOptions

        func validate() throws {
            guard limit >= 1 else { throw ValidationError("--limit must be at least 1.") }
        }

        func run() async throws {
            var path = RequestPath("deliveries").adding("subscriber", subscriber).adding("event", event)
            path.add("status", each: status.map(\.rawValue))
            path.add("type", each: type)
            path.add("channel", each: channel)
            path = list.adding(to: path)
            try await gateway.withResources { [path] access, output in
                // The schedule is read only for text output, because it needs a request of its own.
                let schedule: DeliverySchedule? = try await output.isJSON ? nil : DeliverySchedule(access)
                try await output.list(
                    PagedList(access: access, path: path), limit: limit,
                    columns: [
                        Column("id"), Column("status"), Column("attempts"), Column("type"), Column("event"),
                        Column("subscriber"), Column(title: "next") { row, _ in schedule?.next(of: row) ?? "-" },
                    ],
                    empty: "no deliveries")
            }
        }
    }

    struct Get: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(abstract: "Show a delivery with its attempts.")

        @Argument(help: "The delivery's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                let answer = try await access.send(Call("GET", RequestPath("deliveries", id)))
                var words: [String: String] = [:]
                if !output.isJSON, let delivery = answer.document?.root {
                    words["next_attempt_at"] = try await DeliverySchedule(access).next(of: delivery)
                }
                output.show(
                    answer, wording: words, tabulating: "attempt_log",
                    as: ["at", "status", "error", "message", "duration_ms"].map { Column($0) })
            }
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Send a delivery now, regardless of its status.")

        @Argument(help: "The delivery's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                output.show(
                    try await access.send(Call("POST", RequestPath("deliveries", id, "retry"))))
            }
        }
    }

    struct Redrive: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Start a job that sends dead deliveries again.",
            discussion: "parley deliveries redrive wh_… --type 'order.*' --rate 50 --dry-run")

        @Argument(help: ArgumentHelp("Only deliveries of this webhook.", valueName: "webhook"))
        var webhook: String?

        @Flag(help: "Send also the deliveries that wait for a retry.")
        var failed = false

        @OptionGroup var scope: ScopeOptions
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.begin(
                RequestPath("deliveries", "redrive"),
                scope.body(webhook: webhook, only: failed ? "failed" : "dead"))
        }
    }

    struct Purge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Start a job that deletes dead deliveries.")

        @Argument(help: ArgumentHelp("Only deliveries of this webhook.", valueName: "webhook"))
        var webhook: String?

        @Flag(help: "Delete all dead deliveries; required if no other option selects deliveries.")
        var all = false

        @OptionGroup var scope: ScopeOptions
        @OptionGroup var gateway: GatewayOptions

        func validate() throws {
            guard all || webhook != nil || scope.isNarrowing else {
                throw ValidationError(
                    "Select deliveries by a webhook, --after, --before, --type, --channel or --filter; or use --all.")
            }
        }

        func run() async throws {
            try await gateway.begin(RequestPath("deliveries", "purge"), scope.body(webhook: webhook, all: all))
        }
    }
}

/// Determines the time of the next attempt of each delivery. While the circuit of a webhook is open, the webhook
/// receives no attempts. Deliveries of a pull subscription have no attempts.
struct DeliverySchedule: Sendable {
    /// The times until which open circuits stay open, by the ids of their webhooks.
    private var openUntil: [String: String] = [:]

    /// The maximum number of webhooks whose circuits are read.
    private static let webhooks = 1000

    /// Reads the circuits of the app's webhooks.
    init(_ access: GatewayAccess) async throws {
        var found: [String: String] = [:]
        let pages = PagedList(access: access, path: RequestPath("webhooks"))
        _ = try await pages.each(limit: Self.webhooks) { _, webhook in
            if let id = webhook["id"]?.string, let until = webhook["open_until"]?.string { found[id] = until }
        }
        openUntil = found
    }

    /// Returns the time of the next attempt, or the reason why there is none.
    func next(of delivery: JSONValue) -> String {
        guard let due = delivery["next_attempt_at"]?.string else { return delivery["reason"]?.string ?? "-" }
        let subscriber = delivery["subscriber"]?.string ?? ""
        if subscriber.hasPrefix("sub_") { return "waits to be pulled" }
        // Timestamps of the API have a fixed format, so they can be compared as texts.
        if let until = openUntil[subscriber], until > due {
            return "after \(EventLine.time(until)); deliveries to the receiver are paused"
        }
        return EventLine.time(due)
    }
}
