import ArgumentParser
import GatewayClient
import JSON

/// `parley webhooks`: manages webhooks.
struct WebhooksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks", abstract: "Manage webhooks and inspect their deliveries.",
        subcommands: [
            List.self, Create.self, Update.self, Get.self, Delete.self, Enable.self, Disable.self, Verify.self,
            RotateSecret.self, RotateSigningKey.self, Preview.self, Test.self, Replay.self, Stats.self,
        ])

    static func path(_ id: String) -> RequestPath { RequestPath("webhooks", id) }

    /// The health of a webhook: `ok`, or its problem with the time at which the problem began or ends.
    static let health = Column(title: "health") { webhook, _ in
        if let reason = webhook["status_reason"]?.string { return reason }
        if webhook["circuit"]?.string == "open", let until = webhook["open_until"]?.string {
            return "paused until \(EventLine.time(until))"
        }
        if let since = webhook["failing_since"]?.string { return "failing since \(EventLine.time(since))" }
        if webhook["circuit"]?.string == "half_open" { return "paused after failures, now one attempt at a time" }
        return webhook["last_error"]?.isNull == false ? "failing" : "ok"
    }

    struct List: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(abstract: "List the webhooks.")

        enum Status: String, ExpressibleByArgument, CaseIterable {
            case enabled, disabled, unreadable
            case pendingVerification = "pending_verification"
        }

        @Option(help: "Only webhooks with this status; may be repeated.")
        var status: [Status] = []

        @OptionGroup var list: ListOptions
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            var path = RequestPath("webhooks")
            path.add("status", each: status.map(\.rawValue))
            try await gateway.withResources { [path = list.adding(to: path)] access, output in
                try await output.list(
                    PagedList(access: access, path: path),
                    columns: [
                        Column("id"), Column("status"), WebhooksCommand.health,
                        Column("last_error.error", title: "last error"),
                        Column("url"), Column("types"), Column("channels"),
                    ],
                    empty: "no webhooks; 'parley webhooks create URL' registers one")
            }
        }
    }

    struct Get: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(abstract: "Show a webhook.")

        @Argument(help: "The webhook's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws { try await gateway.get(WebhooksCommand.path(id)) }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a webhook.")

        @Argument(help: "The webhook's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                output.done(
                    "deleted", id, try await access.send(Call("DELETE", WebhooksCommand.path(id))))
            }
        }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Enable a webhook, and send its held deliveries.")

        @Argument(help: "The webhook's id.") var id: String
        @Flag(help: "Mark the held deliveries as dead instead of sending them; a replay can send them later.")
        var discard = false
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let body = discard ? JSONText(trusted: Array(#"{"held":"dead"}"#.utf8)) : nil
            try await gateway.withResources { access, output in
                let path = RequestPath("webhooks", id, "enable")
                let answer = try await access.send(Call("POST", path, body: body))
                output.done(answer.document?.root["status"]?.string ?? "enabled", id, answer)
            }
        }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Disable a webhook; its deliveries are held until it is enabled.")

        @Argument(help: "The webhook's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                let path = RequestPath("webhooks", id, "disable")
                output.done("disabled", id, try await access.send(Call("POST", path)))
            }
        }
    }

    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a test event to a webhook; fails if the receiver does not accept it.")

        @Argument(help: "The webhook's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                let path = RequestPath("webhooks", id, "test")
                let attempt = try await access.send(Call("POST", path))
                output.show(attempt)
                let status = attempt.document?.root["status"]?.integer ?? 0
                guard (200..<300).contains(status) else {
                    throw CommandFailure("the webhook did not accept the test event")
                }
            }
        }
    }
}
