import ArgumentParser
import JSON

/// `parley history`: the kept events of a channel.
struct HistoryCommand: AsyncParsableCommand, ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Print the kept events of a channel, page by page.",
        discussion: """
            parley history orders.eu --order desc --limit 10
            parley history orders.eu --all --json > orders.ndjson
            """)

    @Argument(help: "The channel.")
    var channel: String

    @Option(help: ArgumentHelp("Only events of this type or pattern; may be given several times.", valueName: "type"))
    var type: [String] = []

    @Option(help: "Only events caused by this user.")
    var user: String?

    @Option(help: ArgumentHelp("Only events after this timetoken.", valueName: "timetoken"))
    var after: String?

    @Option(help: ArgumentHelp("Only events before this timetoken.", valueName: "timetoken"))
    var before: String?

    @Option(help: "The oldest (asc) or the newest (desc) event first.")
    var order: Order?

    @Option(help: ArgumentHelp("At most so many events; default 50.", valueName: "n"))
    var limit: Int?

    @Flag(help: "All there are.")
    var all = false

    @OptionGroup var gateway: GatewayOptions

    enum Order: String, ExpressibleByArgument, CaseIterable { case asc, desc }

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
        if all, limit != nil { throw ValidationError("--limit and --all exclude each other.") }
    }

    func run() async throws {
        var path = RequestPath("v1", "channels", channel, "events")
        path.add("type", each: type)
        path.add("user", user)
        path.add("after", after)
        path.add("before", before)
        path.add("order", order?.rawValue)
        try await gateway.withGateway { access, surroundings in
            let output = surroundings.console.output
            let pages = PagedList(access: access, path: path)
            let hasMore = try await pages.each(limit: all ? .max : limit ?? 50) { text, value in
                if gateway.isJSON {
                    output.line(text.onOneLine().bytes)
                } else {
                    output.line(EventLine.text(text, value, output.style))
                }
            }
            if hasMore, limit == nil, !gateway.isJSON {
                surroundings.console.errors.line("there are more: --limit or --all")
            }
        }
    }
}
