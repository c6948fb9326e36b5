import ArgumentParser
import GatewayClient
import JSON

/// `parley types`: manages the event types of an app and the versions of their schemas.
struct TypesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "types", abstract: "List event types and their schemas, and declare event types.",
        discussion: "'parley schema' checks schemas in files without a gateway.",
        subcommands: [List.self, Get.self, Versions.self, Put.self, AddVersion.self])

    static func path(_ type: String) -> RequestPath { RequestPath("event-types", type) }

    struct List: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the event types of the app, without the built-in ones.",
            discussion: "parley types list --prefix order.")

        @Option(help: ArgumentHelp("Only types whose names begin with this text.", valueName: "text")) var prefix:
            String?
        @Flag(help: "List the built-in types instead of the app's.") var builtIn = false
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let path = RequestPath("event-types").adding("prefix", prefix)
                .adding("built_in", builtIn ? "true" : "false")
            try await gateway.withResources { access, output in
                try await output.list(
                    PagedList(access: access, path: path),
                    columns: [
                        Column("type"), Column("latest_version", title: "version"), Column("mode"), Column("owner"),
                        Column("deprecated"), Column("description"),
                    ],
                    empty: "no event types; 'parley types put TYPE' declares one")
            }
        }
    }

    struct Get: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show an event type.", discussion: "'parley types versions TYPE VERSION' shows a schema.")

        @Argument(help: "The event type.") var type: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws { try await gateway.get(TypesCommand.path(type)) }
    }

    struct Versions: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the versions of a type's schema, or print the schema of one version.",
            discussion: """
                parley types versions order.paid
                parley types versions order.paid 2 > order.paid.json

                With --json the second command prints the whole object of the version.
                """)

        @Argument(help: "The event type.") var type: String
        @Argument(help: "The number of the version whose schema is printed.") var version: Int?
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                if let version {
                    let path = RequestPath("event-types", type, "versions", String(version))
                    let answer = try await access.send(Call("GET", path))
                    guard !output.isJSON, let schema = answer.document?.text.rawMember("schema") else {
                        return output.show(answer)
                    }
                    return output.console.output.line(schema.bytes)
                }
                try await output.list(
                    PagedList(access: access, path: RequestPath("event-types", type, "versions")),
                    columns: [
                        Column("version"), Column("compatibility"), Column("forced"),
                        Column("created_at", title: "created"),
                    ],
                    empty: "no versions; 'parley types add-version \(type) @schema.json' adds one")
            }
        }
    }

    struct Put: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Declare an event type, or replace its settings.",
            discussion: """
                parley types put order.paid --owner billing --mode warn

                Settings that are left out get their defaults; the versions of the schema stay unchanged.
                """)

        @Argument(help: "The event type.") var type: String
        @Option(help: "The meaning of events of the type.") var description: String?
        @Option(help: "The team or person responsible for the type.") var owner: String?
        @Option(help: "What happens to events that do not match the schema: enforce, warn or off.") var mode: String?
        @Option(
            help:
                "The compatibility that new versions must have: none, backward, forward or full, optionally with a suffix such as _transitive."
        )
        var compatibility: String?
        @Option(help: ArgumentHelp("The reason why the type should no longer be used.", valueName: "reason"))
        var deprecated: String?
        @Option(help: ArgumentHelp("Hours for which events of the type are stored, 1 to 876000.", valueName: "hours"))
        var retentionHours: Int?
        @Option(
            help: ArgumentHelp(
                "A JSON object with the settings: JSON, @FILE or -. Options take precedence.", valueName: "json"))
        var file: String?
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let body = try RequestDocument.object(
                file,
                [
                    ("description", JSONText(option: description)), ("owner", JSONText(option: owner)),
                    ("mode", JSONText(option: mode)), ("compatibility", JSONText(option: compatibility)),
                    ("deprecated", JSONText(option: deprecated)),
                    ("retention_hours", retentionHours.map { JSONText(trusted: Array(String($0).utf8)) }),
                ])
            try await gateway.withResources { access, output in
                output.show(try await access.send(Call("PUT", TypesCommand.path(type), body: body)))
            }
        }
    }

    struct AddVersion: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add-version", abstract: "Add a version to a type's schema.",
            discussion: "parley types add-version order.paid @schema.json --dry-run")

        @Argument(help: "The event type.") var type: String
        @Argument(help: ArgumentHelp("The schema: JSON, @FILE, or -.", valueName: "json")) var schema: String
        @Flag(help: "Check the version and print the response, but add nothing.") var dryRun = false
        @Option(
            help: ArgumentHelp("The reason to accept the version although it is incompatible.", valueName: "reason"))
        var force: String?
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let body = try RequestDocument.object(
                nil, [("schema", try InputText.json(schema, "the schema")), ("force", JSONText(option: force))])
            try await gateway.withResources { access, output in
                let path = RequestPath("event-types", type, "versions").adding("dry_run", dryRun ? "true" : nil)
                output.show(
                    try await access.send(
                        Call("POST", path, body: body, idempotencyKey: EmissionForm.newIdempotencyKey())))
            }
        }
    }
}
