import ArgumentParser
import GatewayClient
import JSON

/// `parley events`: prints stored events of all channels, and the deliveries of one event.
struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Search the events of all channels, and explain what happened to an event.",
        subcommands: [List.self, Get.self, Explain.self])

    struct List: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the stored events of all channels, or of the given ones.",
            discussion: "parley events list --type 'order.*' --filter 'data.amount > 1000' --order desc --limit 10")

        @Option(
            help: ArgumentHelp("A channel or pattern; may be repeated. Default: all channels.", valueName: "channel"))
        var channel: [String] = []

        @OptionGroup var selection: EventOptions

        @Option(help: ArgumentHelp("Only events that match this filter expression.", valueName: "expression"))
        var filter: String?

        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            var path = RequestPath("events")
            path.add("channel", each: channel)
            path.add("filter", filter)
            selection.add(to: &path)
            try await gateway.print(path, selection, ifNone: "no events match")
        }
    }

    struct Get: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(abstract: "Show an event.")

        @Argument(help: "The event's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws { try await gateway.get(RequestPath("events", id)) }
    }

    struct Explain: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Show the schema check of an event, its deliveries, and why each webhook matched or did not match.")

        @Argument(help: "The event's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                let answer = try await access.send(Call("GET", RequestPath("events", id, "explain")))
                // The table of webhooks already contains the deliveries and the matches.
                output.show(
                    answer, omitting: output.isJSON ? [] : ["deliveries", "would_reach"], tabulating: "webhooks",
                    as: [
                        Column("webhook"), Column("match"), Column("why"), Column("delivery.status", title: "delivery"),
                        Column("delivery.attempts", title: "attempts"),
                        Column("delivery.next_attempt_at", title: "due"),
                    ])
            }
        }
    }
}

/// The options that select stored events and limit their number.
struct EventOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only events of this type or pattern; may be repeated.", valueName: "type"))
    var type: [String] = []

    @Option(help: "Only events caused by this user.")
    var user: String?

    @Option(help: ArgumentHelp("Only events after this timetoken.", valueName: "timetoken"))
    var after: String?

    @Option(help: ArgumentHelp("Only events before this timetoken.", valueName: "timetoken"))
    var before: String?

    @Option(help: "The order: asc prints the oldest event first, desc the newest.")
    var order: HistoryCommand.Order?

    @Option(help: ArgumentHelp("The maximum number of events to print; default: 50.", valueName: "n"))
    var limit: Int?

    @Flag(help: "Print all events.")
    var all = false

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
        if all, limit != nil { throw ValidationError("--limit and --all cannot be used together.") }
    }

    /// True when an option excludes events.
    var isNarrowing: Bool { !type.isEmpty || user != nil || after != nil || before != nil }

    func add(to path: inout RequestPath) {
        path.add("type", each: type)
        path.add("user", user)
        path.add("after", after)
        path.add("before", before)
        path.add("order", order?.rawValue)
    }
}

extension GatewayOptions {
    /// Prints stored events as they are read.
    ///
    /// - Parameter none: the line to print in text output when there are no events.
    func print(_ path: RequestPath, _ selection: EventOptions, ifNone none: String) async throws {
        try await withGateway { access, commandEnvironment in
            let output = commandEnvironment.console.output
            let pages = PagedList(access: access, path: path)
            var isEmpty = true
            let hasMore = try await pages.each(limit: selection.all ? .max : selection.limit ?? 50) { text, value in
                isEmpty = false
                output.line(isJSON ? text.onOneLine().bytes : Array(EventLine.text(text, value, output.style).utf8))
            }
            guard !isJSON else { return }
            if isEmpty, !hasMore { commandEnvironment.console.errors.line(none) }
            if hasMore, selection.limit == nil {
                commandEnvironment.console.errors.line("there are more events; use --limit or --all")
            }
        }
    }
}

/// `parley history`: prints the stored events of a channel.
struct HistoryCommand: AsyncParsableCommand, ReadOnlyCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Print the stored events of a channel, page by page.",
        discussion: """
            parley history orders.eu --order desc --limit 10
            parley history orders.eu --all --json > orders.ndjson
            """)

    @Argument(help: "The channel's id.")
    var channel: String

    @OptionGroup var selection: EventOptions
    @OptionGroup var gateway: GatewayOptions

    enum Order: String, ExpressibleByArgument, CaseIterable { case asc, desc }

    func run() async throws {
        var path = RequestPath("channels", channel, "events")
        selection.add(to: &path)
        let none =
            selection.isNarrowing
            ? "no events match in '\(SanitizedText.safe(channel))'"
            : "no events in '\(SanitizedText.safe(channel))': the channel has none; "
                + "'parley events list' shows the events of all channels"
        try await gateway.print(path, selection, ifNone: none)
    }
}
