import ArgumentParser
import GatewayClient
import JSON

extension WebhooksCommand {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a webhook. Its secret is shown only once.",
            discussion: """
                parley webhooks create https://example.com/hook --type 'order.*' --channel 'orders.*'
                parley webhooks create https://example.com/hook --format cloudevents --header 'X-Api-Key: k'
                parley webhooks create https://example.com/hook --file @settings.json
                """)

        @Argument(help: ArgumentHelp("The address that receives the events.", valueName: "target"))
        var target: String

        @OptionGroup var settings: WebhookOptions
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let body = try settings.document(url: target)
            try await gateway.withResources { access, output in
                output.show(
                    try await access.send(Call("POST", RequestPath("webhooks"), body: body)))
            }
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change the given settings of a webhook; other settings stay unchanged.",
            discussion: "parley webhooks update wh_… --type 'order.*' --ordering per_channel")

        @Argument(help: "The webhook's id.") var id: String
        @Option(help: ArgumentHelp("The new address of the receiver.", valueName: "target")) var target: String?
        @OptionGroup var settings: WebhookOptions
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let body = try settings.document(url: target)
            try await gateway.withResources { access, output in
                output.show(try await access.send(Call("PATCH", WebhooksCommand.path(id), body: body)))
            }
        }
    }

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ask a webhook's receiver for its consent, and enable the webhook.")

        @Argument(help: "The webhook's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                let path = RequestPath("webhooks", id, "verify")
                output.done("verified", id, try await access.send(Call("POST", path)))
            }
        }
    }

    struct RotateSecret: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate-secret",
            abstract:
                "Replace a webhook's secret. The new secret is shown only once; the old secret also signs for a while.")

        @Argument(help: "The webhook's id.") var id: String
        @Option(
            help: ArgumentHelp(
                "Seconds for which the old secret or key also signs; default: 86400.", valueName: "seconds"))
        var overlap: Int?
        @Option(
            help: ArgumentHelp("Your own secret, whsec_…; @FILE keeps it out of process lists.", valueName: "text")
        )
        var secret: String?
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let secret = try secret.map(InputText.secret)
            let body = JSONText { writer in
                writer.beginObject()
                if let overlap { writer.member("overlap_seconds", overlap) }
                if let secret { writer.member("secret", secret) }
                writer.endObject()
            }
            try await gateway.withResources { access, output in
                let path = RequestPath("webhooks", id, "rotate-secret")
                output.show(try await access.send(Call("POST", path, body: body)))
            }
        }
    }

    struct RotateSigningKey: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate-signing-key",
            abstract: "Replace the app's key for standard_ed25519 signatures; the old key also signs for a while.")

        @Option(
            help: ArgumentHelp(
                "Seconds for which the old secret or key also signs; default: 86400.", valueName: "seconds"))
        var overlap: Int?
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let body = JSONText { writer in
                writer.beginObject()
                if let overlap { writer.member("overlap_seconds", overlap) }
                writer.endObject()
            }
            try await gateway.withResources { access, output in
                let path = RequestPath("signing-key", "rotate")
                output.show(try await access.send(Call("POST", path, body: body)))
            }
        }
    }

    struct Preview: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the request that a webhook would receive for an event, without sending it.",
            discussion: """
                parley webhooks preview wh_… --event evt_17000000000000000
                parley webhooks preview wh_… --type order.paid --data '{"amount":5}'
                """)

        @Argument(help: "The webhook's id.") var id: String
        @Option(help: "The id of a stored event.") var event: String?
        @Option(help: "The type of a sample event.") var type: String?
        @Option(help: "The channel of a sample event.") var channel: String?
        @Option(help: ArgumentHelp("The payload of a sample event: JSON, @FILE, or -.", valueName: "json"))
        var data: String?
        @OptionGroup var gateway: GatewayOptions

        func validate() throws {
            guard (event == nil) != (type == nil) else {
                throw ValidationError("Pass either --event, or --type and --data.")
            }
        }

        func run() async throws {
            let payload = try data.map { try InputText.json($0, "the data") }
            let body = JSONText { writer in
                writer.beginObject()
                if let event { writer.member("event", event) }
                if let type { writer.member("type", type) }
                if let channel { writer.member("channel", channel) }
                if let payload { writer.member("data", payload) }
                writer.endObject()
            }
            try await gateway.withResources { access, output in
                let path = RequestPath("webhooks", id, "preview")
                let answer = try await access.send(Call("POST", path, body: body))
                guard !output.isJSON, let root = answer.document?.root else { return output.show(answer) }
                let fields = (root["headers"]?.elements ?? []).map { field in
                    "\(field[0]?.string ?? ""): \(field[1]?.string ?? "")"
                }
                let line = "\(root["method"]?.string ?? "") \(root["url"]?.string ?? "")"
                for text in [line] + fields + ["", root["body"]?.string ?? ""] {
                    output.console.output.line(SanitizedText.safe(text))
                }
            }
        }
    }
}
