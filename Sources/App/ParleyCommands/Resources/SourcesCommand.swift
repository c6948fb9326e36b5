import ArgumentParser
import JSON

/// `parley sources`: what other services may post.
struct SourcesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sources", abstract: "Register sources: inbound posts that become events.",
        subcommands: [List.self, Put.self, Show.self, Delete.self])

    static func path(_ id: String) -> RequestPath { RequestPath("v1", "sources", id) }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the sources.")

        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                try await output.list(
                    PagedList(access: access, path: RequestPath("v1", "sources")),
                    columns: [
                        Column("id"), Column("scheme"), Column("mapping.channel", title: "channel"),
                        Column("mapping.type", title: "type"),
                    ],
                    empty: "no sources; 'parley sources put ID' registers one")
            }
        }
    }

    struct Put: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Register a source or replace it.",
            discussion: """
                parley sources put github-main --scheme github --secret "$SECRET" --mapping @mapping.json
                parley sources put github-main @source.json

                A secret in an argument can be read in process lists; in a document (@FILE or -) it cannot.
                """)

        @Argument(help: "The source's id: the last part of the address it is posted to.") var id: String

        @Argument(
            help: ArgumentHelp("The whole document: JSON, @FILE, or - for the standard input.", valueName: "json"))
        var document: String?

        @Option(help: ArgumentHelp("How its posts are signed: github, standard, stripe, …"))
        var scheme: String?

        @Option(help: ArgumentHelp("A secret posts are signed with; may be given several times.", valueName: "secret"))
        var secret: [String] = []

        @Option(help: ArgumentHelp("How a post becomes an event: JSON, @FILE or -.", valueName: "json"))
        var mapping: String?

        @OptionGroup var gateway: GatewayOptions

        func validate() throws {
            let hasParts = scheme != nil || !secret.isEmpty || mapping != nil
            guard (document != nil) != hasParts else {
                throw ValidationError("Give either the whole document, or --scheme, --secret and --mapping.")
            }
        }

        func run() async throws {
            let body = try document.map { try InputText.json($0, "the source") } ?? parts()
            try await gateway.withResources { access, output in
                output.show(try await access.send(Call(method: "PUT", path: SourcesCommand.path(id), body: body)))
            }
        }

        private func parts() throws(CommandFailure) -> JSONText {
            let mapping = try mapping.map { argument throws(CommandFailure) in
                try InputText.json(argument, "--mapping")
            }
            return JSONText { writer in
                writer.beginObject()
                if let scheme { writer.member("scheme", scheme) }
                if !secret.isEmpty { writer.member("secrets", secret) }
                if let mapping { writer.member("mapping", mapping) }
                writer.endObject()
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show a source.")

        @Argument(help: "The source's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                output.show(try await access.send(Call(path: SourcesCommand.path(id))))
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a source.")

        @Argument(help: "The source's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                output.done(
                    "deleted", id, try await access.send(Call(method: "DELETE", path: SourcesCommand.path(id))))
            }
        }
    }
}
