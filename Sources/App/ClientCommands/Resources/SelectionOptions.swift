import ArgumentParser
import JSON

/// What webhooks and subscriptions are told of, as options; only what is given is sent.
struct SelectionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Types or patterns; may be given several times. Default: all but the chatty ones."))
    var type: [String] = []

    @Option(help: ArgumentHelp("Channels or patterns; may be given several times. Default: all."))
    var channel: [String] = []

    @Option(help: ArgumentHelp("Only events this expression selects.", valueName: "expression"))
    var filter: String?

    @Option(
        help: ArgumentHelp(
            "Objects to have beside each event, with commas: user, channel, thread, member. Empty: none.",
            valueName: "objects"))
    var include: String?

    @Option(help: "A note for people.")
    var description: String?

    /// The members of a document, in their order.
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
