import ArgumentParser
import JSON

/// `parley apps`: the tenants of the gateway; for its operator.
struct AppsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps", abstract: "Make apps and delete them. Needs an admin key of the first app.",
        subcommands: [List.self, Create.self, Delete.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the apps.")

        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                try await output.list(
                    PagedList(access: access, path: RequestPath("v1", "apps")),
                    columns: [
                        Column("id"), Column("name"), Column("retention_hours"), Column("created_at", title: "created"),
                    ],
                    empty: "no apps")
            }
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Make an app. Its admin key is shown this once.")

        @Argument(help: "A name for people.") var name: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let body = JSONText { writer in
                writer.beginObject()
                writer.member("name", name)
                writer.endObject()
            }
            try await gateway.withResources { access, output in
                output.show(try await access.send(Call(method: "POST", path: RequestPath("v1", "apps"), body: body)))
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete an app with everything in it.")

        @Argument(help: "The app's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                output.done(
                    "deleted", id, try await access.send(Call(method: "DELETE", path: RequestPath("v1", "apps", id))))
            }
        }
    }
}
