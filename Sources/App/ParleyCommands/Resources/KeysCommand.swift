import ArgumentParser
import JSON

/// `parley keys`: who may ask.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Make API keys and take them back.",
        subcommands: [List.self, Create.self, Delete.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the keys.")

        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                try await output.list(
                    PagedList(access: access, path: RequestPath("v1", "keys")),
                    columns: [
                        Column("id"), Column("name"), Column("scopes"), Column("channels"), Column("types"),
                        Column("expires_at", title: "expires"),
                    ],
                    empty: "no keys")
            }
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a key. It is shown this once.",
            discussion: "parley keys create --name ci --scope emit --scope read --channel 'orders.*'")

        enum Scope: String, ExpressibleByArgument, CaseIterable { case emit, read, manage, admin }

        @Option(help: "A note for people.")
        var name: String?

        @Option(help: ArgumentHelp("What it allows; may be given several times."))
        var scope: [Scope]

        @Option(help: ArgumentHelp("Channels or patterns; may be given several times. Default: all."))
        var channel: [String] = []

        @Option(help: ArgumentHelp("Types or patterns; may be given several times. Default: all."))
        var type: [String] = []

        @Option(
            help: ArgumentHelp("When it ends, as RFC 3339: 2030-01-01T00:00:00Z. Default: never.", valueName: "time"))
        var expiresAt: String?

        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let body = JSONText { writer in
                writer.beginObject()
                if let name { writer.member("name", name) }
                writer.member("scopes", scope.map(\.rawValue))
                if !channel.isEmpty { writer.member("channels", channel) }
                if !type.isEmpty { writer.member("types", type) }
                if let expiresAt { writer.member("expires_at", expiresAt) }
                writer.endObject()
            }
            try await gateway.withResources { access, output in
                output.show(try await access.send(Call(method: "POST", path: RequestPath("v1", "keys"), body: body)))
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Take a key back; it ends at once.")

        @Argument(help: "The key's id, not the key.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                output.done(
                    "deleted", id, try await access.send(Call(method: "DELETE", path: RequestPath("v1", "keys", id))))
            }
        }
    }
}
