import ArgumentParser
import JSON

/// The options for the most frequently used settings of a webhook. All settings can be given with `--file`.
struct WebhookOptions: ParsableArguments {
    @OptionGroup var selection: SelectionOptions

    @Option(help: "The format: envelope, flat, cloudevents, cloudevents_binary, cloudevents_batch or template.")
    var format: String?

    @Option(
        help: ArgumentHelp("The template of the body, for --format template: JSON, @FILE, or -.", valueName: "json"))
    var template: String?

    @Option(
        help: ArgumentHelp("A header field sent with every delivery; may be repeated.", valueName: "name: value"))
    var header: [String] = []

    @Option(
        help: ArgumentHelp(
            "The credential sent to receivers: basic:USER:PASSWORD, bearer:TOKEN, or a file with one of them: @FILE."))
    var auth: String?

    @Option(
        help: ArgumentHelp(
            "A method to sign posts: standard, standard_ed25519, hub_sha256, stripe or rfc9421; may be repeated."))
    var signature: [String] = []

    @Option(help: ArgumentHelp("The order of deliveries: none, per_channel or strict."))
    var ordering: String?

    @Option(help: ArgumentHelp("The maximum number of deliveries in one post.", valueName: "events"))
    var batch: Int?

    @Option(help: ArgumentHelp("The maximum number of attempts started per second.", valueName: "number"))
    var rate: Double?

    @Option(help: ArgumentHelp("The maximum number of concurrent attempts.", valueName: "n"))
    var concurrency: Int?

    @Option(help: ArgumentHelp("The time in seconds within which a receiver must respond.", valueName: "seconds"))
    var timeout: Int?

    @Option(
        help: ArgumentHelp(
            "Seconds before each retry, separated by commas: 5,60,3600. Empty: no retries.", valueName: "delays"))
    var retry: String?

    @Option(help: ArgumentHelp("The way in which the receiver must consent to deliveries: none, echo or cloudevents."))
    var verification: String?

    @Option(
        help: ArgumentHelp(
            "A JSON object with the settings: JSON, @FILE or -. Options take precedence.", valueName: "json"))
    var file: String?

    /// Returns the settings as a JSON document.
    func document(url: String?) throws -> JSONText {
        try RequestDocument.object(file, given(url))
    }

    private func given(_ url: String?) throws -> [(name: String, value: JSONText?)] {
        var members: [(name: String, value: JSONText?)] = [("url", JSONText(option: url))]
        for (name, value) in selection.members { members.append((name, value)) }
        members += [
            ("format", JSONText(option: format)),
            ("template", try template.map { try InputText.json($0, "the template") }), ("headers", try headers()),
            ("auth", try authentication()), ("signatures", signature.isEmpty ? nil : JSONText(strings: signature)),
            ("ordering", JSONText(option: ordering)),
            ("batch", batch.map { JSONText(trusted: Array(#"{"max_events":\#($0)}"#.utf8)) }),
            ("rate_per_second", rate.map { JSONText(trusted: Array("\($0)".utf8)) }),
            ("concurrency", concurrency.map(Self.number)), ("timeout_seconds", timeout.map(Self.number)),
            ("retry", try retrySchedule()),
            ("verification", JSONText(option: verification)),
        ]
        return members
    }

    private static func number(_ number: Int) -> JSONText { JSONText(trusted: Array(String(number).utf8)) }

    private func retrySchedule() throws -> JSONText? {
        guard let retry else { return nil }
        let delays = try retry.split(separator: ",").map { text in
            guard let seconds = Int(text.drop { $0 == " " }) else {
                throw CommandFailure("--retry must be seconds separated by commas, such as 5,60,3600", code: 2)
            }
            return seconds
        }
        return JSONText { writer in
            writer.beginObject()
            writer.key("delays_seconds")
            writer.beginArray()
            for delay in delays { writer.integer(delay) }
            writer.endArray()
            writer.endObject()
        }
    }

    private func headers() throws -> JSONText? {
        guard !header.isEmpty else { return nil }
        var writer = JSONWriter()
        writer.beginObject()
        for field in header {
            let parts = field.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { throw CommandFailure("a header must have the form 'name: value'", code: 2) }
            writer.key(text: String(parts[0]))
            writer.string(String(parts[1].drop { $0 == " " }))
        }
        writer.endObject()
        return writer.text
    }

    /// Returns the authentication settings of the webhook; nil when no option sets them. A secret may be given in a
    /// file, so that process lists do not show it.
    ///
    /// - Throws: a failure when the option `--auth` is malformed or its file cannot be read.
    private func authentication() throws -> JSONText? {
        guard let auth else { return nil }
        let parts = try InputText.secret(auth).split(
            separator: ":", maxSplits: 2, omittingEmptySubsequences: false
        ).map(String.init)
        let members: [(String, String)] =
            switch (parts.first, parts.count) {
            case ("basic", 3): [("username", parts[1]), ("password", parts[2])]
            case ("bearer", 2...): [("token", parts[1...].joined(separator: ":"))]
            default: throw CommandFailure("--auth must be basic:USER:PASSWORD or bearer:TOKEN", code: 2)
            }
        return JSONText { writer in
            writer.beginObject()
            writer.member("type", parts[0])
            for (name, value) in members {
                writer.key(text: name)
                writer.string(value)
            }
            writer.endObject()
        }
    }
}

/// The options that select the events that a webhook or pull subscription receives. Only the given settings are sent.
struct SelectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("An event type or pattern; may be repeated. Default: all types except high-volume types."))
    var type: [String] = []

    @Option(help: ArgumentHelp("A channel or pattern; may be repeated. Default: all channels."))
    var channel: [String] = []

    @Option(help: ArgumentHelp("Only events that match this filter expression.", valueName: "expression"))
    var filter: String?

    @Option(
        help: ArgumentHelp(
            "Objects to include with each event, separated by commas: user, channel, thread, member. Empty: none.",
            valueName: "objects"))
    var include: String?

    @Option(help: "A description for people, shown in lists.")
    var description: String?

    /// The members of the request body, in order.
    var members: [(name: String, value: JSONText)] {
        var members: [(String, JSONText)] = []
        if !type.isEmpty { members.append(("types", JSONText(strings: type))) }
        if !channel.isEmpty { members.append(("channels", JSONText(strings: channel))) }
        if let filter { members.append(("filter", JSONText(string: filter))) }
        if let include {
            members.append(("include", JSONText(strings: include.split(separator: ",").map(String.init))))
        }
        if let description { members.append(("description", JSONText(string: description))) }
        return members
    }
}

extension JSONText {
    init(strings: [String]) {
        self.init { writer in
            writer.beginArray()
            for string in strings { writer.string(string) }
            writer.endArray()
        }
    }
}
