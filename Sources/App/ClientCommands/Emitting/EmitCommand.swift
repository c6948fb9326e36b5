import ArgumentParser
import GatewayClient
import JSON

/// `parley emit`: emits one event from the command line, or many from the standard input.
struct EmitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "emit", abstract: "Emit one event, or one for each line of the standard input.",
        discussion: """
            parley emit orders.eu '{"amount":4200}' --type order.paid --user shop-7
            tail -f payments.ndjson | parley emit orders.eu - --type order.paid
            parley history orders.eu --all --json | parley emit orders.test - --envelopes

            With '-' every line is the data of one event, or with --envelopes an event with type, user, data, meta, \
            custom_type, store and ttl_hours; the new event has its own channel, id and time. Messages and signals \
            take one request each, so --parallel helps. Rejected lines are reported with their number and do not stop \
            other lines. No event is emitted twice when a connection breaks, because each request carries an \
            idempotency key.
            """)

    @Argument(help: "The channel's id.")
    var channel: String

    @Argument(
        help: ArgumentHelp(
            "The event's data: JSON, @FILE, or - to emit one event for each line of JSON on the standard input. Default: {}.",
            valueName: "json"))
    var json: String?

    @Option(help: "The event's type; default: 'custom'.")
    var type: String?

    @Option(help: "The user who caused the event.")
    var user: String?

    @Option(help: ArgumentHelp("The event's metadata, which filters can use: JSON or @FILE.", valueName: "json"))
    var meta: String?

    @Option(
        name: .customLong("ttl-hours"),
        help: ArgumentHelp(
            "Hours for which the event is stored; default, or 0: the retention of its type or of the app.",
            valueName: "hours")
    )
    var ttlHours: Int?

    @Flag(help: "Do not store the event; only current listeners, and listeners that reconnect soon, receive it.")
    var ephemeral = false

    @Flag(
        help:
            "With '-': each line is a whole event, as 'history --json' prints it; options set members that a line lacks."
    )
    var envelopes = false

    @Option(
        help: ArgumentHelp(
            "With '-': the number of concurrent requests. More than one is faster, but events may be stored in another order.",
            valueName: "n"))
    var parallel = 1

    @OptionGroup var gateway: GatewayOptions

    func validate() throws {
        guard !channel.isEmpty else { throw ValidationError("The channel must not be empty.") }
        guard (1...32).contains(parallel) else { throw ValidationError("--parallel must be from 1 to 32.") }
        if let ttlHours, ttlHours < 0 { throw ValidationError("--ttl-hours must be at least 0.") }
        if envelopes, json != "-" {
            throw ValidationError("--envelopes requires '-', the lines of the standard input.")
        }
    }

    func run() async throws {
        let draft = EmissionForm(
            channel: channel, type: type, user: user, meta: try meta.map { try InputText.json($0, "--meta") },
            ttlHours: ttlHours, isEphemeral: ephemeral)
        if json == "-" {
            try await emitLines(draft)
        } else {
            let data = try json.map { try InputText.json($0, "the data") } ?? .emptyObject
            try await emit(draft.event(data: data, withChannel: false))
        }
    }

    private func emit(_ event: JSONText) async throws {
        try await gateway.withGateway { access, commandEnvironment in
            let answer = try await access.send(
                Call(
                    "POST", RequestPath("channels", channel, "events"), body: event,
                    idempotencyKey: EmissionForm.newIdempotencyKey()))
            let output = commandEnvironment.console.output
            if gateway.isJSON {
                if let document = answer.document { output.line(document.text.onOneLine().bytes) }
                return
            }
            let emitted = answer.document?.root
            let id = SanitizedText.safe(emitted?["id"]?.string ?? "an event")
            let isRepeat = emitted?["duplicate"]?.boolean == true
            let note = isRepeat ? " (already emitted by an earlier attempt)" : ""
            output.line("\(output.style.good("emitted")) \(id) to \(SanitizedText.safe(channel))\(note)")
        }
    }

    private func emitLines(_ form: EmissionForm) async throws {
        try await gateway.withGateway { access, commandEnvironment in
            var run = LineEmission(
                form: form, isEnvelopes: envelopes, parallel: parallel, isJSON: gateway.isJSON, access: access,
                commandEnvironment: commandEnvironment)
            try await run.run()
        }
    }
}
