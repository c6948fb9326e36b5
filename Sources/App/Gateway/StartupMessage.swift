/// What a person sees when the gateway starts in a terminal.
enum StartupMessage {
    /// Three lines to paste (`product.md` 3); they work as they stand in dev mode.
    static func lines(url: String) -> [String] {
        [
            "watch   curl -N -H 'Authorization: Bearer dev' '\(url)/v1/stream?channel=demo'",
            "emit    curl -H 'Authorization: Bearer dev' --json '{\"text\":\"hello\"}' \(url)/v1/channels/demo/messages",
            "look    \(url)/",
        ]
    }

    /// The first key of a gateway that is not for trying: shown once, stored nowhere.
    static func firstKey(_ key: String, of app: String) -> [String] {
        ["made app '\(app)'; its admin key, shown only now:", "", "    \(key)", ""]
    }
}
