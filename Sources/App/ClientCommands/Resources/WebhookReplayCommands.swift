import ArgumentParser
import JSON

extension WebhooksCommand {
    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send events to a webhook again, as a job.",
            discussion: "parley webhooks replay wh_… --since-last-success --dry-run")

        enum Only: String, ExpressibleByArgument, CaseIterable { case failed, dead, all }

        @Argument(help: "The webhook's id.") var id: String

        @Option(
            help:
                "What failed or was given up, what was given up alone, or every event of the log that it asks for now.")
        var only: Only = .failed

        @Flag(help: "Only what came after the newest event that was delivered.")
        var sinceLastSuccess = false

        @OptionGroup var scope: ScopeOptions
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.begin(
                RequestPath("v1", "webhooks", id, "replay"),
                scope.body(only: only.rawValue, since: sinceLastSuccess ? "last_success" : nil))
        }
    }

    struct Stats: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what is owed to a webhook and how its attempts went lately.")

        @Argument(help: "The webhook's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                output.show(try await access.send(Call(path: RequestPath("v1", "webhooks", id, "stats"))))
            }
        }
    }
}
