import ArgumentParser
import GatewayClient
import JSON

/// `parley sources`: manages sources, to which other services post.
struct SourcesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sources", abstract: "Manage sources, which convert posts of other services into events.",
        subcommands: [
            List.self, Put.self, Update.self, Get.self, Delete.self, Test.self, Requests.self, Replay.self,
            Mappings.self,
        ])

    static func path(_ id: String) -> RequestPath { RequestPath("sources", id) }

    struct List: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(abstract: "List the sources.")

        @OptionGroup var list: ListOptions
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                try await output.list(
                    PagedList(access: access, path: list.adding(to: RequestPath("sources"))),
                    columns: [
                        Column("id"), Column("scheme"), Column("mapping.channel", title: "channel"),
                        Column("mapping.type", title: "type"),
                    ],
                    empty: "no sources; 'parley sources put ID' registers one")
            }
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change the given settings of a source; other settings stay unchanged.",
            discussion: "parley sources update github-main @change.json")

        @Argument(help: "The source's id.") var id: String
        @Argument(
            help: ArgumentHelp(
                "A JSON object with the settings to change: JSON, @FILE, or - for the standard input.",
                valueName: "json"
            ))
        var document: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let body = try InputText.json(document, "the change")
            try await gateway.withResources { access, output in
                output.show(try await access.send(Call("PATCH", SourcesCommand.path(id), body: body)))
            }
        }
    }

    struct Put: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a source, or replace its settings.",
            discussion: """
                Settings that are left out get their defaults, except that the secrets stay the same if the \
                scheme stays the same.

                parley sources put github-main --scheme github --secret "$SECRET" --mapping @mapping.json
                parley sources put shop --scheme generic --option header=X-Sig --secret @secret.txt --mapping @mapping.json
                parley sources put github-main @source.json

                A secret in an argument is visible in process lists; a secret in a file (@FILE) or in a document is \
                not.
                """)

        @Argument(help: "The source's id, which is the last part of its address.") var id: String

        @Argument(
            help: ArgumentHelp(
                "All settings as one JSON object: JSON, @FILE, or - for the standard input.", valueName: "json"))
        var document: String?

        @Option(help: ArgumentHelp("The signature scheme: github, standard, stripe, generic, …, or none."))
        var scheme: String?

        @Option(
            help: ArgumentHelp(
                "An option of the scheme, such as header=X-Sig; may be repeated.", valueName: "name=value"))
        var option: [String] = []

        @Option(
            help: ArgumentHelp(
                "A secret with which posts are signed: its text or @FILE; may be repeated.", valueName: "secret"))
        var secret: [String] = []

        @Option(help: "The kind of verification request to answer: slack, meta, x or cloudevents.")
        var handshake: String?

        @Option(help: ArgumentHelp("The token in Meta's verification request: its text or @FILE.", valueName: "token"))
        var verifyToken: String?

        @Option(help: ArgumentHelp("The mapping from a post to events: JSON, @FILE or -.", valueName: "json"))
        var mapping: String?

        @OptionGroup var gateway: GatewayOptions

        func validate() throws {
            let hasParts = scheme != nil || !secret.isEmpty || mapping != nil
            guard scheme != nil || (option.isEmpty && handshake == nil && verifyToken == nil) else {
                throw ValidationError("--option, --handshake and --verify-token can be used only with --scheme.")
            }
            guard (document != nil) != hasParts else {
                throw ValidationError(
                    "Pass either all settings as one JSON object, or --scheme, --secret and --mapping.")
            }
        }

        func run() async throws {
            let body = try document.map { try InputText.json($0, "the source") } ?? parts()
            try await gateway.withResources { access, output in
                output.show(try await access.send(Call("PUT", SourcesCommand.path(id), body: body)))
            }
        }

        private func parts() throws(CommandFailure) -> JSONText {
            let mapping = try mapping.map { argument throws(CommandFailure) in
                try InputText.json(argument, "--mapping")
            }
            let secrets = try secret.map { text throws(CommandFailure) in try InputText.secret(text) }
            let token = try verifyToken.map { text throws(CommandFailure) in try InputText.secret(text) }
            let options = try option.map { text throws(CommandFailure) in try NamedValue(text, "--option") }
            return JSONText { writer in
                writer.beginObject()
                if let scheme { writer.member("scheme", scheme) }
                if !options.isEmpty { writer.member("scheme_options", JSONText { NamedValue.print(options, to: &$0) }) }
                if !secrets.isEmpty { writer.member("secrets", secrets) }
                if let handshake { writer.member("handshake", handshake) }
                if let token { writer.member("verify_token", token) }
                if let mapping { writer.member("mapping", mapping) }
                writer.endObject()
            }
        }
    }

    struct Get: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(abstract: "Show a source.")

        @Argument(help: "The source's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws { try await gateway.get(SourcesCommand.path(id)) }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a source.")

        @Argument(help: "The source's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                output.done(
                    "deleted", id, try await access.send(Call("DELETE", SourcesCommand.path(id))))
            }
        }
    }
}
