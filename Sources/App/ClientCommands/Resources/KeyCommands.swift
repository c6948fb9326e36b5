import ArgumentParser
import GatewayClient
import JSON

/// The subcommands of `parley keys` that call a gateway.
enum KeyCommands {
    static let all: [any ParsableCommand.Type] = [
        List.self, Get.self, Create.self, Update.self, Token.self, Delete.self,
    ]

    enum Scope: String, ExpressibleByArgument, CaseIterable { case emit, read, manage, admin }

    struct List: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(abstract: "List the keys.")

        @Option(help: ArgumentHelp("Only keys that were last used after this time.", valueName: "time"))
        var lastUsedAfter: String?

        @Option(help: ArgumentHelp("Only keys that were not used at or after this time.", valueName: "time"))
        var lastUsedBefore: String?

        @OptionGroup var list: ListOptions
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let path = RequestPath("keys").adding("last_used_after", lastUsedAfter)
                .adding("last_used_before", lastUsedBefore)
            try await gateway.withResources { access, output in
                try await output.list(
                    PagedList(access: access, path: list.adding(to: path)),
                    columns: [
                        Column("id"), Column("name"), Column("scopes"), Column("channels"), Column("types"),
                        Column("expires_at", title: "expires"), Column("last_used_at", title: "last used"),
                    ],
                    empty: "no keys")
            }
        }
    }

    struct Get: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a key's scopes and limits. The key itself is not stored and cannot be shown.")

        @Argument(help: "The key's id (key_…), not the key itself.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws { try await gateway.get(RequestPath("keys", id)) }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a key. The key is shown only once.",
            discussion: "parley keys create --name ci --scope emit --scope read --channel 'orders.*'")

        @Option(help: "The display name of the key.")
        var name: String?

        @Option(help: ArgumentHelp("A scope: emit, read, manage or admin; may be repeated."))
        var scope: [Scope]

        @Option(help: ArgumentHelp("A channel or pattern; may be repeated. Default: all channels."))
        var channel: [String] = []

        @Option(help: ArgumentHelp("An event type or pattern; may be repeated. Default: all types."))
        var type: [String] = []

        @Option(
            help: ArgumentHelp(
                "The time when the key expires, as RFC 3339: 2030-01-01T00:00:00Z. Default: never.", valueName: "time"))
        var expiresAt: String?

        @Option(
            help: ArgumentHelp(
                "A public key in PEM format, which verifies tokens of users that another service signs. The new key then has no secret. Requires --algorithm.",
                valueName: "file"))
        var publicKey: String?

        @Option(help: ArgumentHelp("The algorithm of the signatures: RS256, ES256 or EdDSA.", valueName: "name"))
        var algorithm: String?

        @OptionGroup var rates: RateOptions
        @OptionGroup var gateway: GatewayOptions

        func validate() throws {
            guard (publicKey == nil) == (algorithm == nil) else {
                throw ValidationError("--public-key and --algorithm must be used together.")
            }
        }

        func run() async throws {
            let pem = try publicKey.map { String(decoding: try InputText.source($0, limit: 8192), as: UTF8.self) }
            let body = JSONText { writer in
                writer.beginObject()
                if let name { writer.member("name", name) }
                writer.member("scopes", scope.map(\.rawValue))
                if !channel.isEmpty { writer.member("channels", channel) }
                if !type.isEmpty { writer.member("types", type) }
                if let expiresAt { writer.member("expires_at", expiresAt) }
                if let pem, let algorithm {
                    writer.member(
                        "jwt",
                        JSONText { jwt in
                            jwt.beginObject()
                            jwt.member("alg", algorithm)
                            jwt.member("public_key", pem)
                            jwt.endObject()
                        })
                }
                rates.print(to: &writer)
                writer.endObject()
            }
            try await gateway.withResources { access, output in
                output.show(try await access.send(Call("POST", RequestPath("keys"), body: body)))
            }
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change a key's name and limits.",
            discussion: "parley keys update KEY-ID --rate-limit 60/m")

        @Argument(help: "The key's id (key_…), not the key itself.") var id: String
        @Option(help: "The display name.") var name: String?
        @OptionGroup var rates: RateOptions
        @OptionGroup var gateway: GatewayOptions

        func validate() throws {
            if rates.isEmpty, name == nil {
                throw ValidationError("Give at least one change: --name, --rate-limit or --event-quota.")
            }
        }

        func run() async throws {
            let body = JSONText { writer in
                writer.beginObject()
                if let name { writer.member("name", name) }
                rates.print(to: &writer)
                writer.endObject()
            }
            try await gateway.withResources { access, output in
                output.show(
                    try await access.send(Call("PATCH", RequestPath("keys", id), body: body)))
            }
        }
    }

    struct Token: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a token with which a browser or an app acts for a user.",
            discussion: "parley keys token ana --scope read --scope emit --channel 'room.*'")

        @Argument(help: "The user whom the token identifies.") var user: String

        @Option(help: "A scope, read or emit; may be repeated. Default: read.")
        var scope: [Scope] = []

        @Option(help: "A channel or pattern; may be repeated. Default: all channels to which the key has access.")
        var channel: [String] = []

        @Option(help: "An event type or pattern; may be repeated. Default: all types to which the key has access.")
        var type: [String] = []

        @Option(help: ArgumentHelp("The lifetime of the token in seconds. Default: 3600.", valueName: "seconds"))
        var expiresIn: Int?

        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let body = JSONText { writer in
                writer.beginObject()
                writer.member("user", user)
                if !scope.isEmpty { writer.member("scopes", scope.map(\.rawValue)) }
                if !channel.isEmpty { writer.member("channels", channel) }
                if !type.isEmpty { writer.member("types", type) }
                if let expiresIn { writer.member("expires_in_seconds", expiresIn) }
                writer.endObject()
            }
            try await gateway.withResources { access, output in
                output.show(try await access.send(Call("POST", RequestPath("tokens"), body: body)))
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Revoke a key immediately.")

        @Argument(help: "The key's id (key_…), not the key itself.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                output.done(
                    "deleted", id, try await access.send(Call("DELETE", RequestPath("keys", id))))
            }
        }
    }
}
