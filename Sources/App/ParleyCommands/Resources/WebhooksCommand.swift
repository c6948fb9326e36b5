import ArgumentParser
import JSON

/// `parley webhooks`: where events are sent.
struct WebhooksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks", abstract: "Register webhooks and see what became of their deliveries.",
        subcommands: [
            List.self, Create.self, Show.self, Delete.self, Enable.self, Disable.self, Replay.self, Stats.self,
            Test.self,
        ])

    static func path(_ id: String) -> RequestPath { RequestPath("v1", "webhooks", id) }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the webhooks.")

        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                try await output.list(
                    PagedList(access: access, path: RequestPath("v1", "webhooks")),
                    columns: [Column("id"), Column("status"), Column("url"), Column("types"), Column("channels")],
                    empty: "no webhooks; 'parley webhooks create URL' registers one")
            }
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Register a webhook. Its secret is shown this once.",
            discussion: "parley webhooks create https://example.com/hook --type 'order.*' --channel 'orders.*'")

        @Argument(help: ArgumentHelp("Where events are posted to.", valueName: "target"))
        var target: String

        @Option(help: ArgumentHelp("Types or patterns; may be given several times. Default: all but the chatty ones."))
        var type: [String] = []

        @Option(help: ArgumentHelp("Channels or patterns; may be given several times. Default: all."))
        var channel: [String] = []

        @Option(help: ArgumentHelp("Only events this expression selects.", valueName: "expression"))
        var filter: String?

        @Option(help: "A note for people.")
        var description: String?

        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let body = JSONText { writer in
                writer.beginObject()
                writer.member("url", target)
                if !type.isEmpty { writer.member("types", type) }
                if !channel.isEmpty { writer.member("channels", channel) }
                if let filter { writer.member("filter", filter) }
                if let description { writer.member("description", description) }
                writer.endObject()
            }
            try await gateway.withResources { access, output in
                output.show(
                    try await access.send(Call(method: "POST", path: RequestPath("v1", "webhooks"), body: body)))
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show a webhook.")

        @Argument(help: "The webhook's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                output.show(try await access.send(Call(path: WebhooksCommand.path(id))))
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a webhook.")

        @Argument(help: "The webhook's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                output.done(
                    "deleted", id, try await access.send(Call(method: "DELETE", path: WebhooksCommand.path(id))))
            }
        }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Enable a webhook; what was held for it goes out.")

        @Argument(help: "The webhook's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                let path = RequestPath("v1", "webhooks", id, "enable")
                output.done("enabled", id, try await access.send(Call(method: "POST", path: path)))
            }
        }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Disable a webhook; its deliveries are held.")

        @Argument(help: "The webhook's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                let path = RequestPath("v1", "webhooks", id, "disable")
                output.done("disabled", id, try await access.send(Call(method: "POST", path: path)))
            }
        }
    }

    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a webhook an event for trying; fails when it does not take it.")

        @Argument(help: "The webhook's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                let path = RequestPath("v1", "webhooks", id, "test")
                let attempt = try await access.send(Call(method: "POST", path: path))
                output.show(attempt)
                let status = attempt.document?.root["status"]?.integer ?? 0
                guard (200..<300).contains(status) else { throw CommandFailure("the webhook did not take it") }
            }
        }
    }
}
