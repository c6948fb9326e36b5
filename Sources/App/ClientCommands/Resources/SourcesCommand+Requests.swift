import ArgumentParser
import GatewayClient
import JSON
import Signing

extension SourcesCommand {
    struct Test: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the events that a post would become; nothing is stored.",
            discussion: """
                parley sources test github-main --header 'X-GitHub-Event: push' --body @push.json
                parley sources test github-main --request req_17000000000000000_1 --mapping @new.json
                """)

        @Argument(help: "The source's id.") var id: String

        @Option(help: ArgumentHelp("The post's body: the text itself, @FILE, or - for the standard input."))
        var body: String?

        @Option(help: ArgumentHelp("A header field of the post; may be repeated.", valueName: "name: value"))
        var header: [String] = []

        @Option(
            help: ArgumentHelp("A query parameter of the post; may be repeated.", valueName: "name=value"))
        var query: [String] = []

        @Option(help: ArgumentHelp("The HTTP method: POST, or GET or OPTIONS for a verification request."))
        var method: String?

        @Option(help: ArgumentHelp("The id of a logged request to test, instead of --body.", valueName: "id"))
        var request: String?

        @Option(
            help: ArgumentHelp("A mapping to test instead of the source's own: JSON, @FILE or -.", valueName: "json"))
        var mapping: String?

        @OptionGroup var gateway: GatewayOptions

        func validate() throws {
            let describes = body != nil || !header.isEmpty || !query.isEmpty || method != nil
            guard (request != nil) != describes else {
                throw ValidationError("Pass either --request, or --body with --header and --query.")
            }
        }

        func run() async throws {
            let post = try post()
            try await gateway.withResources { access, output in
                let path = RequestPath("sources", id, "test")
                let answer = try await access.send(Call("POST", path, body: post))
                output.show(
                    answer, tabulating: "events",
                    as: [
                        Column("channel"), Column("type"), Column("user"), Column("valid"), Column("data"),
                        Column("would_reach.webhooks", title: "webhooks"),
                    ])
                // The command fails if the mapping cannot be rendered, so that scripts notice the error.
                if let errors = answer.document?.root["errors"], errors.count > 0 { throw ExitCode.failure }
            }
        }

        private func post() throws(CommandFailure) -> JSONText {
            let headers = try header.map { text throws(CommandFailure) in try NamedValue(text, "--header", ":") }
            let parameters = try query.map { text throws(CommandFailure) in try NamedValue(text, "--query") }
            let content = try body.map { text throws(CommandFailure) in try InputText.bytes(text) }
            let mapping = try mapping.map { text throws(CommandFailure) in try InputText.json(text, "--mapping") }
            return JSONText { writer in
                writer.beginObject()
                if let request { writer.member("request", request) }
                if let method { writer.member("method", method) }
                if !headers.isEmpty { writer.member("headers", JSONText { NamedValue.list(headers, to: &$0) }) }
                if !parameters.isEmpty { writer.member("query", JSONText { NamedValue.list(parameters, to: &$0) }) }
                if let content {
                    if let text = String(validating: content, as: UTF8.self) {
                        writer.member("body", text)
                    } else {
                        writer.member("body_base64", Base64.encode(content))
                    }
                }
                if let mapping { writer.member("mapping", mapping) }
                writer.endObject()
            }
        }
    }

    struct Requests: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the latest requests to a source, or show one.",
            discussion:
                "The gateway keeps the latest requests of each source, including rejected ones, in memory until it restarts."
        )

        @Argument(help: "The source's id.") var id: String
        @Argument(help: "A request's id.") var request: String?

        @Option(
            help:
                "Only requests with this outcome: accepted, duplicate, dropped, handshake, signature_invalid or rejected."
        )
        var outcome: String?

        @Option(help: "The maximum number of requests to list.") var limit = 50
        @OptionGroup var list: ListOptions
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                if let request {
                    let path = RequestPath("sources", id, "requests", request)
                    return output.show(try await access.send(Call("GET", path)))
                }
                try await output.list(
                    PagedList(
                        access: access,
                        path: list.adding(
                            to: RequestPath("sources", id, "requests").adding("outcome", outcome))),
                    limit: limit,
                    columns: [
                        Column("id"), Column("received_at", title: "received"), Column("outcome"), Column("events"),
                        Column("reason"),
                    ],
                    empty: "no requests since the gateway started")
            }
        }
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Process a logged request again, with the source's current mapping.")

        @Argument(help: "The source's id.") var id: String
        @Argument(help: "The request's id.") var request: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                let path = RequestPath("sources", id, "requests", request, "replay")
                output.show(
                    try await access.send(Call("POST", path)), tabulating: "events",
                    as: [Column("id"), Column("duplicate")])
            }
        }
    }

    struct Mappings: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the versions of a source's mapping, newest first.")

        @Argument(help: "The source's id.") var id: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            try await gateway.withResources { access, output in
                output.show(
                    try await access.send(Call("GET", RequestPath("sources", id, "mappings"))), tabulating: "data",
                    as: [
                        Column("version"), Column("created_at", title: "created"),
                        Column("created_by", title: "created by"),
                        Column("mapping"),
                    ])
            }
        }
    }
}

/// An argument of the form `name=value` or `name: value`.
struct NamedValue {
    let name: String
    let value: String

    init(_ text: String, _ option: String, _ separator: Character = "=") throws(CommandFailure) {
        guard let at = text.firstIndex(of: separator), at > text.startIndex else {
            throw CommandFailure("\(option) must be a name and a value separated by '\(separator)'", code: 2)
        }
        name = String(text[..<at])
        value = String(text[text.index(after: at)...].drop { $0 == " " && separator == ":" })
    }

    /// Prints the values as one object.
    static func print(_ values: [NamedValue], to writer: inout JSONWriter) {
        writer.beginObject()
        for item in values {
            writer.key(text: item.name)
            writer.string(item.value)
        }
        writer.endObject()
    }

    /// Prints the values as an array, in which a name may occur several times.
    static func list(_ values: [NamedValue], to writer: inout JSONWriter) {
        writer.beginArray()
        for item in values {
            writer.beginObject()
            writer.member("name", item.name)
            writer.member("value", item.value)
            writer.endObject()
        }
        writer.endArray()
    }
}
