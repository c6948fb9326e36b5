import ChatModel

/// What an answer of objects shows beside what it always does (`pubnub-wire.md` 14.3).
struct ObjectInclude: Sendable {
    /// The fields that are shown only when they are asked for.
    struct Fields: Sendable {
        var custom = false
        var status = false
        var type = false

        fileprivate init(_ names: some Collection<Substring>) {
            custom = names.contains("custom")
            status = names.contains("status")
            type = names.contains("type")
        }
    }

    let own: Fields
    /// Of the record at the other end of a membership; nil where only its id is shown.
    let other: Fields?

    /// - Parameter other: `channel` or `uuid`: what the other end of a membership is called.
    init(_ request: WireRequest, other: String = "") {
        let names = request["include"]?.split(separator: ",") ?? []
        own = Fields(names)
        let prefix = other + "."
        let parts = names.filter { $0.hasPrefix(prefix) }.map { $0.dropFirst(prefix.utf8.count) }
        self.other = names.contains { $0 == other } || !parts.isEmpty ? Fields(parts) : nil
    }
}
