import ArgumentParser
import GatewayClient
import JSON

/// `parley messages`: manages the chat messages of a channel.
struct MessagesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "messages", abstract: "List, send and delete the messages of a channel.",
        subcommands: [List.self, Get.self, Send.self, Delete.self])

    static func path(_ channel: String, _ timetoken: String) -> RequestPath {
        RequestPath("channels", channel, "messages", timetoken)
    }

    struct List: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "List a channel's messages, the newest first.",
            discussion: "parley messages list room.1 --user ana --limit 10")

        @Argument(help: "The channel's id.") var channel: String
        @Option(help: "Only messages that this user sent.") var user: String?
        @Option(help: ArgumentHelp("Only messages after this timetoken.", valueName: "timetoken")) var after: String?
        @Option(help: ArgumentHelp("Only messages before this timetoken.", valueName: "timetoken")) var before: String?
        @Option(help: "The order: asc prints the oldest message first, desc the newest.") var order = HistoryCommand
            .Order.desc
        @OptionGroup var length: LengthOptions
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let path = RequestPath("channels", channel, "messages").adding("user", user).adding("after", after)
                .adding("before", before).adding("order", order.rawValue)
            try await gateway.withResources { access, output in
                try await output.list(
                    PagedList(access: access, path: path), limit: length.limit,
                    columns: [
                        Column("timetoken"), Column("timestamp", title: "time"), Column("user"), Self.text,
                        Column("thread.reply_count", title: "replies"),
                    ],
                    empty: "no messages")
            }
        }

        /// The text of a message, or its data when it has no text.
        private static let text = Column(title: "text") { message, raw in
            if message["deleted"]?.isNull == false { return "(deleted)" }
            return message["data"]?["text"]?.string ?? raw.rawMember("data")?.onOneLine().description ?? "-"
        }
    }

    struct Get: AsyncParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a message in its current state, with edits and reactions.")

        @Argument(help: "The channel's id.") var channel: String
        @Argument(help: "The message's timetoken.") var timetoken: String
        @OptionGroup var gateway: GatewayOptions

        func run() async throws { try await gateway.get(MessagesCommand.path(channel, timetoken)) }
    }

    struct Send: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a text message.",
            discussion: """
                parley messages send room.1 'Good morning' --user ana
                parley messages send room.1 'So do I' --user ben --thread-of 17000000000000000

                A message with other data is an event: parley emit room.1 '{"text":"hi"}' --type message.created --user ana
                """)

        @Argument(help: "The channel's id.") var channel: String
        @Argument(help: "The text of the message.") var text: String
        @Option(help: "The user who sends the message; required with an API key.") var user: String?
        @Option(help: ArgumentHelp("The message to which this message replies.", valueName: "timetoken")) var threadOf:
            String?
        @Option(help: ArgumentHelp("The message that this message quotes.", valueName: "timetoken")) var quote: String?
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let body = try RequestDocument.object(
                nil,
                [
                    ("text", JSONText(string: text)), ("user", JSONText(option: user)),
                    ("thread_of", JSONText(option: threadOf)), ("quote", JSONText(option: quote)),
                ])
            try await gateway.withResources { access, output in
                let call = Call(
                    "POST", RequestPath("channels", channel, "messages"), body: body,
                    idempotencyKey: EmissionForm.newIdempotencyKey())
                output.show(try await access.send(call))
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a message. Without --hard, the message is only marked as deleted and can be restored.")

        @Argument(help: "The channel's id.") var channel: String
        @Argument(help: "The message's timetoken.") var timetoken: String
        @Flag(help: "Remove the message permanently.") var hard = false
        @Option(help: ArgumentHelp("The user who deletes the message; only with an API key.", valueName: "user"))
        var by: String?
        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let path = MessagesCommand.path(channel, timetoken).adding("hard", hard ? "true" : nil).adding("by", by)
            try await gateway.delete(timetoken, path)
        }
    }
}
