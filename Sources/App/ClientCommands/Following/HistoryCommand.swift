import ArgumentParser
import JSON

/// `parley history`: the kept events of a channel.
struct HistoryCommand: AsyncParsableCommand, ReadOnlyCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Print the kept events of a channel, page by page.",
        discussion: """
            parley history orders.eu --order desc --limit 10
            parley history orders.eu --all --json > orders.ndjson
            """)

    @Argument(help: "The channel.")
    var channel: String

    @OptionGroup var selection: EventOptions
    @OptionGroup var gateway: GatewayOptions

    enum Order: String, ExpressibleByArgument, CaseIterable { case asc, desc }

    func run() async throws {
        var path = RequestPath("v1", "channels", channel, "events")
        selection.add(to: &path)
        let none =
            selection.isNarrowing
            ? "no such events in '\(SanitizedText.safe(channel))'"
            : "no events in '\(SanitizedText.safe(channel))': no channel of this name has any; "
                + "'parley events list' shows those that there are"
        try await gateway.print(path, selection, ifNone: none)
    }
}
