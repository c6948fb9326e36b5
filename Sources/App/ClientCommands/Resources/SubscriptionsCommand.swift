import ArgumentParser
import GatewayClient
import JSON

/// `parley subscriptions`: manages pull subscriptions.
struct SubscriptionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscriptions", abstract: "Pull deliveries from the gateway instead of receiving webhooks.",
        subcommands: [
            List.self, Create.self, Update.self, Get.self, Delete.self, Pull.self, Ack.self, Nack.self, Extend.self,
            Seek.self,
        ])

    static func path(_ id: String, _ verb: String? = nil) -> RequestPath {
        verb.map { RequestPath("subscriptions", id, $0) } ?? RequestPath("subscriptions", id)
    }

    struct List: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(abstract: "List the subscriptions.")

        @OptionGroup var list: ListOptions
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                try await output.list(
                    PagedList(access: access, path: list.adding(to: RequestPath("subscriptions"))),
                    columns: [
                        Column("id"), Column("backlog"), Column("types"), Column("channels"), Column("ordering"),
                        Column("description"),
                    ],
                    empty: "no subscriptions; 'parley subscriptions create' creates one")
            }
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a subscription, which receives the events emitted after its creation.")

        @OptionGroup var settings: SubscriptionOptions
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let body = settings.document
            try await gateway.withResources { access, output in
                let call = Call("POST", RequestPath("subscriptions"), body: body)
                output.show(try await access.send(call))
            }
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change the given settings of a subscription; other settings stay unchanged.")

        @Argument(help: "The subscription's id.") var id: String
        @OptionGroup var settings: SubscriptionOptions
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let body = settings.document
            try await gateway.withResources { access, output in
                let call = Call("PATCH", SubscriptionsCommand.path(id), body: body)
                output.show(try await access.send(call))
            }
        }
    }

    struct Get: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(abstract: "Show a subscription.")

        @Argument(help: "The subscription's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws { try await gateway.get(SubscriptionsCommand.path(id)) }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a subscription; its waiting deliveries become dead.")

        @Argument(help: "The subscription's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                output.done(
                    "deleted", id, try await access.send(Call("DELETE", SubscriptionsCommand.path(id))))
            }
        }
    }

    struct Seek: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Move a subscription to a position; events after the position are delivered again.")

        @Argument(help: "The subscription's id.") var id: String
        @Argument(help: "The position: earliest, latest or a timetoken.") var position: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let body = JSONText { writer in
                writer.beginObject()
                writer.member("to", position)
                writer.endObject()
            }
            try await gateway.withResources { access, output in
                let path = SubscriptionsCommand.path(id, "seek")
                output.show(try await access.send(Call("POST", path, body: body)))
            }
        }
    }
}

/// The options for the settings of a subscription. Only the given settings are sent.
struct SubscriptionOptions: ParsableArguments {
    @OptionGroup var selection: SelectionOptions

    @Option(
        help: ArgumentHelp("The time in seconds within which a delivery must be acknowledged.", valueName: "seconds"))
    var ackDeadline: Int?

    @Option(help: ArgumentHelp("The maximum number of unacknowledged deliveries at a time.", valueName: "n"))
    var maxOutstanding: Int?

    @Option(help: "The order of deliveries: none, per_channel or strict.")
    var ordering: String?

    @Option(
        help: ArgumentHelp(
            "The maximum number of attempts of a delivery, after which the delivery becomes dead.", valueName: "n"))
    var maxAttempts: Int?

    var document: JSONText {
        JSONText { writer in
            writer.beginObject()
            for (name, value) in selection.members {
                writer.key(text: name)
                writer.raw(value)
            }
            if let ackDeadline { writer.member("ack_deadline_seconds", ackDeadline) }
            if let maxOutstanding { writer.member("max_outstanding", maxOutstanding) }
            if let ordering { writer.member("ordering", ordering) }
            if let maxAttempts { writer.member("max_attempts", maxAttempts) }
            writer.endObject()
        }
    }
}
