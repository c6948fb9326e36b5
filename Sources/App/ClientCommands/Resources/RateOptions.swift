import ArgumentParser
import JSON

/// The options for the rate limits of a key or an app.
struct RateOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The maximum rate of requests: 5/s, 60/m, 1000/h, or 60/30 for 60 requests in 30 seconds. 'none' removes the limit.",
            valueName: "rate"))
    var rateLimit: Rate?

    @Option(
        help: ArgumentHelp(
            "The maximum rate of events, such as 1000000/d, in the same format as --rate-limit.", valueName: "rate"))
    var eventQuota: Rate?

    var isEmpty: Bool { rateLimit == nil && eventQuota == nil }

    /// Writes the limits as members of a request body.
    func print(to writer: inout JSONWriter) {
        for (name, rate) in [("rate_limit", rateLimit), ("event_quota", eventQuota)] {
            guard let rate else { continue }
            writer.key(text: name)
            guard case .of(let quantity, let seconds) = rate else {
                writer.null()
                continue
            }
            writer.beginObject()
            writer.member("quantity", quantity)
            writer.member("window_seconds", seconds)
            writer.endObject()
        }
    }
}

/// A number of operations per window of time.
enum Rate: ExpressibleByArgument, Equatable {
    case of(quantity: Int, seconds: Int)
    /// No rate limit is set for the key or app; the default of the gateway applies.
    case none

    private static let units = ["s": 1, "m": 60, "h": 3600, "d": 24 * 3600]

    init?(argument: String) {
        if argument == "none" {
            self = .none
            return
        }
        let parts = argument.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let quantity = Int(parts[0]), let seconds = Self.units[parts[1]] ?? Int(parts[1]) else {
            return nil
        }
        self = .of(quantity: quantity, seconds: seconds)
    }
}
