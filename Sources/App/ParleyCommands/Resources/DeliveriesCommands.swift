import ArgumentParser
import JSON

extension WebhooksCommand {
    struct Deliveries: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List deliveries.")

        enum Status: String, ExpressibleByArgument, CaseIterable { case pending, failed, delivered, dead, held }

        @Argument(help: ArgumentHelp("Only those of this webhook.", valueName: "webhook"))
        var webhook: String?

        @Option(help: ArgumentHelp("Only those of this event.", valueName: "event-id"))
        var event: String?

        @Option(help: "Only those in this state.")
        var status: Status?

        @Option(help: ArgumentHelp("At most so many.", valueName: "n"))
        var limit = 50

        @OptionGroup var gateway: GatewayOptions

        func validate() throws {
            guard limit >= 1 else { throw ValidationError("--limit must be at least 1.") }
        }

        func run() async throws {
            let path = RequestPath("v1", "deliveries").adding("webhook", webhook).adding("event", event)
                .adding("status", status?.rawValue)
            try await gateway.withResources { access, output in
                try await output.list(
                    PagedList(access: access, path: path), limit: limit,
                    columns: [
                        Column("id"), Column("status"), Column("attempts"), Column("type"), Column("event"),
                        Column("webhook"), Column("next_attempt_at", title: "next attempt"),
                    ],
                    empty: "no deliveries")
            }
        }
    }

    struct Delivery: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show a delivery with its attempts.")

        @Argument(help: "The delivery's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                let answer = try await access.send(Call(path: RequestPath("v1", "deliveries", id)))
                output.show(
                    answer, tabulating: "attempt_log", as: ["at", "status", "error", "duration_ms"].map { Column($0) })
            }
        }
    }
}
