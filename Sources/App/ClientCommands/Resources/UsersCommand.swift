import ArgumentParser
import GatewayClient
import JSON

/// `parley users`: manages user records.
struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users", abstract: "List users; create, change and delete their records.",
        subcommands: [List.self, Get.self, Change.self, Delete.self])

    static func path(_ id: String) -> RequestPath { RequestPath("users", id) }

    struct List: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the users.",
            discussion: "parley users list --filter \"name LIKE 'An*'\" --sort name --limit 20")

        @OptionGroup var records: RecordListOptions
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await records.printList(
                ["users"], of: gateway,
                columns: [
                    Column("id"), Column("name"), Column("type"), Column("status"),
                    Column("updated_at", title: "updated"),
                ],
                empty: "no users; 'parley users set ID' creates one")
        }
    }

    struct Get: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(abstract: "Show a user.")

        @Argument(help: "The user's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws { try await gateway.get(UsersCommand.path(id)) }
    }

    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Change the given values of a user's record; create the record if it does not exist.",
            discussion: """
                parley users set ana --name 'Ana B.' --custom '{"floor":3}'
                parley users set ana --file @ana.json
                """)

        @Argument(help: "The user's id.") var id: String
        @Option(help: "The display name.") var name: String?
        @Option(help: ArgumentHelp("The address of the user's picture.", valueName: "url")) var profileURL: String?
        @Option(help: "The user's email address.") var email: String?
        @Option(help: ArgumentHelp("The user's id in another system.", valueName: "id")) var externalID: String?
        @Option(help: "A type that the app defines.") var type: String?
        @Option(help: "A status that the app defines.") var status: String?
        @Option(help: ArgumentHelp("Values that the app defines: a JSON object, @FILE or -.", valueName: "json"))
        var custom: String?
        @Option(
            help: ArgumentHelp(
                "A JSON object with the values to set: JSON, @FILE or -. Options take precedence.", valueName: "json"))
        var file: String?
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let body = try RequestDocument.object(
                file,
                [
                    ("name", JSONText(option: name)), ("profile_url", JSONText(option: profileURL)),
                    ("email", JSONText(option: email)), ("external_id", JSONText(option: externalID)),
                    ("type", JSONText(option: type)), ("status", JSONText(option: status)),
                    ("custom", try JSONText(option: custom, named: "--custom")),
                ])
            try await gateway.withResources { access, output in
                let path = UsersCommand.path(id)
                var answer = try await access.send(
                    Call("PATCH", path, body: body, accepting: [404]))
                if answer.status == 404 {
                    // The user is created only if it still does not exist, so that a user that another client has
                    // created is not replaced.
                    answer = try await access.send(
                        Call("PUT", path, body: body, mustBeNew: true))
                }
                output.show(answer)
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a user's record, and revoke the user's tokens.")

        @Argument(help: "The user's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws { try await gateway.delete(id, UsersCommand.path(id)) }
    }
}
