import ChatModel
import JSON

/// The values of one kind (metadata or metacounters) that an app stores with a channel, by key. One record contains all
/// of them, so that several values can be changed in one commit.
struct ChannelValues<Value: Equatable & Sendable>: Sendable {
    var values: [ExactText: Value] = [:]

    /// The result of a change: the created and updated values, and the removed keys.
    struct Change: Sendable {
        var created: [ExactText: Value] = [:]
        var updated: [ExactText: Value] = [:]
        var removed: [String] = []
        var touched: [ExactText: Value] { created.merging(updated) { $1 } }
    }

    /// Creates values with new keys.
    ///
    /// - Throws: `.conflict` when a key already exists; `.tooMany` when the channel would have more than `most` keys.
    mutating func create(_ new: [ExactText: Value], most: Int) throws(ChatError) -> Change {
        if let known = new.keys.filter({ values[$0] != nil }).min() {
            throw ChatError(.conflict, "the channel already has the key '\(known)'; change its value with PATCH")
        }
        return try set(new, adding: true, most: most) { _, new in new }
    }

    /// Sets the values of keys.
    ///
    /// - Parameters:
    ///   - adding: true to create keys that do not exist; false to ignore them.
    ///   - removing: keys to remove in the same step.
    ///   - most: the maximum number of keys of a channel.
    ///   - combine: returns the new value of a key, from its old value (nil when there is none) and the given value.
    /// - Throws: `.tooMany` when the channel would have more than `most` keys; the errors of `combine`.
    mutating func set(
        _ new: [ExactText: Value], adding: Bool, removing: [String] = [], most: Int,
        _ combine: (_ old: Value?, _ new: Value) throws(ChatError) -> Value
    ) throws(ChatError) -> Change {
        var change = Change()
        for (key, value) in new {
            let old = values[key]
            guard old != nil || adding else { continue }
            let made = try combine(old, value)
            if old == nil { change.created[key] = made } else { change.updated[key] = made }
            values[key] = made
        }
        change.removed = remove(removing)
        guard values.count <= most else {
            throw .over(
                .tooMany, "a channel may have at most \(most) keys; this change would result in \(values.count)",
                name: "limit",
                limit: most)
        }
        return change
    }

    /// Removes the given keys, or all keys when `keys` is nil. Returns the keys that existed.
    mutating func remove(_ keys: [String]?) -> [String] {
        let gone = (keys.map { $0.map { ExactText($0) } } ?? Array(values.keys)).filter { values[$0] != nil }
        for key in gone { values[key] = nil }
        return gone.sorted().map(\.text)
    }
}

extension ChannelValues {
    init(_ record: Record?, _ read: (JSONValue) -> Value?) {
        guard let record, let root = try? JSONDocument(record.body).root else { return }
        for (key, value) in root.members ?? [] { values[ExactText(key)] = read(value) }
    }

    func body(_ print: (Value, inout JSONWriter) -> Void) -> JSONText { Self.object(values, print) }

    /// Returns the values as a JSON object, ordered by key.
    static func object(_ values: [ExactText: Value], _ print: (Value, inout JSONWriter) -> Void) -> JSONText {
        JSONText(capacity: values.count * 32 + 2) { writer in
            writer.beginObject()
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                writer.key(text: key.text)
                print(value, &writer)
            }
            writer.endObject()
        }
    }
}
