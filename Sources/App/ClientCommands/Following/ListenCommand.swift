import ArgumentParser
import GatewayClient
import JSON
import Signing

/// `parley listen`: prints events as they happen.
struct ListenCommand: AsyncParsableCommand, ReadOnlyCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen", abstract: "Print events as they happen, or forward them to a local URL.",
        discussion: """
            parley listen 'orders.*' --type 'order.*' --filter 'data.amount > 1000'
            parley listen orders.eu --forward http://127.0.0.1:3000/hook

            parley listen 'room.*' ana --user ana --token-command ./fetch-token

            A broken connection is resumed without losing or repeating an event. With --forward each event is posted \
            once, signed like a webhook (Standard Webhooks), so that a webhook endpoint can be tested before it has a \
            public address.
            """)

    @Argument(help: ArgumentHelp("Channels: a name, 'a.b.*' or '*'.", valueName: "pattern"))
    var patterns: [String]

    @Option(help: ArgumentHelp("Only events of this type or pattern; may be repeated.", valueName: "type"))
    var type: [String] = []

    @Option(
        help: ArgumentHelp(
            "Listen as a device of this user, and also receive the events that are sent only to this user.",
            valueName: "user"))
    var user: String?

    @Option(help: ArgumentHelp("Only events that match this filter expression.", valueName: "expression"))
    var filter: String?

    @Option(
        help: ArgumentHelp(
            "Objects to include with each event, separated by commas: user, channel, thread, member.",
            valueName: "objects"))
    var include: String?

    @Option(
        help: ArgumentHelp(
            "Start after this timetoken; 'earliest' starts with the first stored event. Default: only new events.",
            valueName: "cursor"))
    var since: String?

    @Option(help: ArgumentHelp("Stop after this number of events.", valueName: "n"))
    var count: Int?

    @Option(
        help: ArgumentHelp(
            "Post each event to this URL instead of printing it, and print the responses.", valueName: "url"))
    var forward: String?

    @Option(
        help: ArgumentHelp(
            "With --forward: the secret that signs the posts, whsec_…; default: a generated one.", valueName: "secret"))
    var secret: String?

    @OptionGroup var gateway: GatewayOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be at least 1.") }
        if secret != nil, forward == nil { throw ValidationError("--secret requires --forward.") }
        if let forward, !forward.hasPrefix("http://"), !forward.hasPrefix("https://") {
            throw ValidationError("--forward must be an http:// or https:// URL.")
        }
    }

    func run() async throws {
        let key = try signingKey()
        var path = RequestPath("stream")
        path.add("channel", each: patterns)
        path.add("type", each: type)
        path.add("filter", filter)
        path.add("user", user)
        path.add("include", include)
        try await gateway.withGateway { access, commandEnvironment in
            let console = commandEnvironment.console
            let forwarder = forward.map { EventForwarder(url: $0, key: key, client: access.client) }
            if let forwarder { console.errors.line("forwarding to \(forwarder.url), signed with \(key.text)") }
            var follower = StreamFollower(
                access: access, commandEnvironment: commandEnvironment, path: path, since: since)
            var left = count ?? .max
            try await follower.follow { envelope, document in
                if let forwarder {
                    let outcome = try await forwarder.post(envelope, document.root)
                    console.output.line(
                        gateway.isJSON ? outcome.json.description : outcome.text(console.output.style))
                } else if gateway.isJSON {
                    console.output.line(envelope.bytes)
                } else {
                    console.output.line(EventLine.text(envelope, document.root, console.output.style))
                }
                left -= 1
                return left > 0
            }
        }
    }

    private func signingKey() throws(CommandFailure) -> StandardSigningKey {
        guard let secret else { return .generate(from: SystemRandomSource()) }
        do { return try StandardSigningKey(secret) } catch {
            throw CommandFailure(
                "--secret must be 'whsec_' and base64 of at least \(StandardSigningKey.minimumSecretBytes) bytes",
                code: 2)
        }
    }
}

/// Formats an event as one line of text: time, channel, type, user, data.
enum EventLine {
    static func text(_ envelope: JSONText, _ event: JSONValue, _ style: Style) -> String {
        func field(_ name: String) -> String { SanitizedText.safe(event[name]?.string ?? "-") }
        let data = SanitizedText.safe(envelope.rawMember("data")?.onOneLine().description ?? "")
        let words = [
            style.faint(time(field("timestamp"))), style.name(field("channel")), style.heading(field("type")),
            field("user"), data,
        ]
        return words.joined(separator: "  ")
    }

    /// Formats a timestamp such as `2024-11-24T01:39:05.678901Z` with milliseconds and a space between date and time.
    static func time(_ timestamp: String) -> String {
        guard timestamp.utf8.count == 27, timestamp.hasSuffix("Z") else { return timestamp }
        return timestamp.dropLast(4).replacing("T", with: " ") + "Z"
    }
}
