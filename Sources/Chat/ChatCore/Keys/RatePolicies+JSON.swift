public import ChatModel
public import JSON

extension RatePolicies {
    /// Prints those that are set as members of an object: of records, and of the native API.
    func printMembers(to writer: inout JSONWriter) {
        if let requests { writer.member("rate_limit", requests.text) }
        if let events { writer.member("event_quota", events.text) }
    }

    /// Reads what `printMembers` printed.
    init(_ root: JSONValue) {
        self.init(requests: RatePolicy(root["rate_limit"]), events: RatePolicy(root["event_quota"]))
    }
}

extension RatePolicy {
    /// `{"quantity":…,"window_seconds":…}`
    public var text: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("quantity", quantity)
            writer.member("window_seconds", window.components.seconds)
            writer.endObject()
        }
    }

    fileprivate init?(_ value: JSONValue?) {
        guard let quantity = value?["quantity"]?.integer, let seconds = value?["window_seconds"]?.integer else {
            return nil
        }
        self.init(Int(quantity), in: .seconds(seconds))
    }
}
