import ArgumentParser
import JSON

/// The settings of a subscription as options; only what is given is sent.
struct SubscriptionOptions: ParsableArguments {
    @OptionGroup var told: SelectionOptions

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
            for (name, value) in told.members {
                writer.key(text: name)
                writer.raw(value)
            }
            if let ackDeadline { writer.member("ack_deadline_seconds", ackDeadline) }
            if let maxOutstanding { writer.member("max_outstanding", maxOutstanding) }
            if let ordering { writer.member("ordering", ordering) }
            if let maxAttempts { writer.member("max_attempts", maxAttempts) }
            writer.endObject()
        }
    }
}
