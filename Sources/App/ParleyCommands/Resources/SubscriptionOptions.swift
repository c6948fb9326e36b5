import ArgumentParser
import JSON

/// The settings of a subscription as options; only what is given is sent.
struct SubscriptionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Types or patterns; may be given several times. Default: all but the chatty ones."))
    var type: [String] = []

    @Option(help: ArgumentHelp("Channels or patterns; may be given several times. Default: all."))
    var channel: [String] = []

    @Option(help: ArgumentHelp("Only events this expression selects.", valueName: "expression"))
    var filter: String?

    @Option(help: "A note for people.")
    var description: String?

    @Option(help: ArgumentHelp("How long a delivery waits for its acknowledgement.", valueName: "seconds"))
    var ackDeadline: Int?

    @Option(help: ArgumentHelp("Deliveries that may be out at once.", valueName: "n"))
    var maxOutstanding: Int?

    @Option(help: "none, per_channel or strict.")
    var ordering: String?

    @Option(help: ArgumentHelp("Times a delivery is given out before it is dead.", valueName: "n"))
    var maxAttempts: Int?

    var document: JSONText {
        JSONText { writer in
            writer.beginObject()
            if !type.isEmpty { writer.member("types", type) }
            if !channel.isEmpty { writer.member("channels", channel) }
            if let filter { writer.member("filter", filter) }
            if let description { writer.member("description", description) }
            if let ackDeadline { writer.member("ack_deadline_seconds", ackDeadline) }
            if let maxOutstanding { writer.member("max_outstanding", maxOutstanding) }
            if let ordering { writer.member("ordering", ordering) }
            if let maxAttempts { writer.member("max_attempts", maxAttempts) }
            writer.endObject()
        }
    }
}
