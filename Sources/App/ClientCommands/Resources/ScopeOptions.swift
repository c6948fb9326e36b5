import ArgumentParser
import GatewayClient
import JSON

/// The options that select a job's deliveries.
struct ScopeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only events after this timetoken.", valueName: "timetoken"))
    var after: String?

    @Option(help: ArgumentHelp("Only events before this timetoken.", valueName: "timetoken"))
    var before: String?

    @Option(help: "Only events of this type or pattern; may be repeated.")
    var type: [String] = []

    @Option(help: "Only events on this channel or pattern; may be repeated.")
    var channel: [String] = []

    @Option(help: ArgumentHelp("Only events that match this filter expression.", valueName: "expression"))
    var filter: String?

    @Option(help: ArgumentHelp("The maximum number of deliveries per second.", valueName: "n"))
    var rate: Int?

    @Flag(help: "Only count the deliveries, and start no job.")
    var dryRun = false

    /// True when an option excludes deliveries.
    var isNarrowing: Bool {
        after != nil || before != nil || !type.isEmpty || !channel.isEmpty || filter != nil
    }

    func body(
        webhook: String? = nil, only: String? = nil, since: String? = nil, all: Bool = false
    ) -> JSONText {
        JSONText { writer in
            writer.beginObject()
            if all { writer.member("all", true) }
            if let webhook { writer.member("webhook", webhook) }
            if let only { writer.member("only", only) }
            if let since { writer.member("since", since) }
            if let after { writer.member("after", after) }
            if let before { writer.member("before", before) }
            if !type.isEmpty { writer.member("types", type) }
            if !channel.isEmpty { writer.member("channels", channel) }
            if let filter { writer.member("filter", filter) }
            if let rate { writer.member("rate_per_second", rate) }
            if dryRun { writer.member("dry_run", true) }
            writer.endObject()
        }
    }
}

extension GatewayOptions {
    /// Starts a job or, for a dry run, prints the number of deliveries that the job would select.
    func begin(_ path: RequestPath, _ body: JSONText) async throws {
        try await withResources { access, output in
            output.show(try await access.send(Call("POST", path, body: body)))
        }
    }
}
