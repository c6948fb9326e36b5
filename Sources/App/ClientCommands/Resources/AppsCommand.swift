import ArgumentParser
import GatewayClient
import JSON

/// `parley apps`: manages the gateway's apps. Requires the operator's key.
struct AppsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps", abstract: "Create, change and delete apps. Requires an admin key of the first app.",
        subcommands: [List.self, Get.self, Create.self, Update.self, Delete.self])

    struct List: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(abstract: "List the apps.")

        @OptionGroup var list: ListOptions
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                try await output.list(
                    PagedList(access: access, path: list.adding(to: RequestPath("apps"))),
                    columns: [
                        Column("id"), Column("name"), Column("retention_hours"), Column("created_at", title: "created"),
                    ],
                    empty: "no apps")
            }
        }
    }

    struct Get: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show an app with its publish key and its subscribe key.",
            discussion: "The secret key is not shown; `GET /v1/apps/{id}` returns it.")

        @Argument(help: "The app's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.get(RequestPath("apps", id), omitting: ["secret_key"])
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create an app. Its admin key is shown only once.")

        @Argument(help: "The display name.") var name: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let body = JSONText { writer in
                writer.beginObject()
                writer.member("name", name)
                writer.endObject()
            }
            try await gateway.withResources { access, output in
                output.show(try await access.send(Call("POST", RequestPath("apps"), body: body)))
            }
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change an app's name, limits and retention.",
            discussion: "parley apps update demo --event-quota 1000000/d --retention-hours 720")

        @Argument(help: "The app's id.") var id: String
        @Option(help: "The display name.") var name: String?
        @Option(
            help: ArgumentHelp(
                "Hours for which events are stored, 1 to 876000; 'none' stores them forever.", valueName: "hours"))
        var retentionHours: String?
        @OptionGroup var rates: RateOptions
        @OptionGroup var gateway: GatewayOptions

        func validate() throws {
            if rates.isEmpty, retentionHours == nil, name == nil {
                throw ValidationError(
                    "Give at least one change: --name, --rate-limit, --event-quota or --retention-hours.")
            }
            if let retentionHours, retentionHours != "none", Int(retentionHours) == nil {
                throw ValidationError("--retention-hours takes a whole number or 'none', not '\(retentionHours)'.")
            }
        }

        func run() async throws {
            let body = JSONText { writer in
                writer.beginObject()
                if let name { writer.member("name", name) }
                if let retentionHours {
                    writer.key("retention_hours")
                    if let hours = Int(retentionHours) { writer.integer(hours) } else { writer.null() }
                }
                rates.print(to: &writer)
                writer.endObject()
            }
            try await gateway.withResources { access, output in
                output.show(
                    try await access.send(Call("PATCH", RequestPath("apps", id), body: body)))
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete an app with all its events and records.")

        @Argument(help: "The app's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                output.done(
                    "deleted", id, try await access.send(Call("DELETE", RequestPath("apps", id))))
            }
        }
    }
}
