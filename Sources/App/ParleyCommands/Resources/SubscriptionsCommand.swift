import ArgumentParser
import JSON

/// `parley subscriptions`: deliveries that are pulled.
struct SubscriptionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscriptions", abstract: "Take deliveries from the gateway instead of being told.",
        subcommands: [List.self, Create.self, Show.self, Delete.self, Pull.self, Ack.self, Nack.self, Seek.self])

    static func path(_ id: String, _ verb: String? = nil) -> RequestPath {
        verb.map { RequestPath("v1", "subscriptions", id, $0) } ?? RequestPath("v1", "subscriptions", id)
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the subscriptions.")

        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                try await output.list(
                    PagedList(access: access, path: RequestPath("v1", "subscriptions")),
                    columns: [
                        Column("id"), Column("types"), Column("channels"), Column("ordering"), Column("description"),
                    ],
                    empty: "no subscriptions; 'parley subscriptions create' makes one")
            }
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Make a subscription; later events are kept for it.")

        @Option(help: ArgumentHelp("Types or patterns; may be given several times. Default: all but the chatty ones."))
        var type: [String] = []

        @Option(help: ArgumentHelp("Channels or patterns; may be given several times. Default: all."))
        var channel: [String] = []

        @Option(help: ArgumentHelp("Only events this expression selects.", valueName: "expression"))
        var filter: String?

        @Option(help: "A note for people.")
        var description: String?

        @Option(help: ArgumentHelp("How long a delivery waits for its acknowledgement.", valueName: "seconds"))
        var ackDeadline: Int?

        @Option(help: ArgumentHelp("Deliveries that may be out at once.", valueName: "n"))
        var maxOutstanding: Int?

        @Option(help: "none, per_channel or strict.")
        var ordering: String?

        @Option(help: ArgumentHelp("Times a delivery is given out before it is dead.", valueName: "n"))
        var maxAttempts: Int?

        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let body = document
            try await gateway.withResources { access, output in
                let call = Call(method: "POST", path: RequestPath("v1", "subscriptions"), body: body)
                output.show(try await access.send(call))
            }
        }

        private var document: JSONText {
            JSONText { writer in
                writer.beginObject()
                if !type.isEmpty { writer.member("types", type) }
                if !channel.isEmpty { writer.member("channels", channel) }
                if let filter { writer.member("filter", filter) }
                if let description { writer.member("description", description) }
                if let ackDeadline { writer.member("ack_deadline_seconds", ackDeadline) }
                if let maxOutstanding { writer.member("max_outstanding", maxOutstanding) }
                if let ordering { writer.member("ordering", ordering) }
                if let maxAttempts { writer.member("max_attempts", maxAttempts) }
                writer.endObject()
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show a subscription.")

        @Argument(help: "The subscription's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                output.show(try await access.send(Call(path: SubscriptionsCommand.path(id))))
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a subscription; what waited for it is dead.")

        @Argument(help: "The subscription's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                output.done(
                    "deleted", id, try await access.send(Call(method: "DELETE", path: SubscriptionsCommand.path(id))))
            }
        }
    }

    struct Seek: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Go back or ahead in the log: what lies behind the position is given out again.")

        @Argument(help: "The subscription's id.") var id: String
        @Argument(help: "earliest, latest or a timetoken.") var position: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let body = JSONText { writer in
                writer.beginObject()
                writer.member("to", position)
                writer.endObject()
            }
            try await gateway.withResources { access, output in
                let path = SubscriptionsCommand.path(id, "seek")
                output.show(try await access.send(Call(method: "POST", path: path, body: body)))
            }
        }
    }
}
