import ChatModel
import JSON

/// Values kept with a channel, by key. One record holds all values of a kind, so that changing several is one step.
struct ChannelValues<Value: Equatable & Sendable>: Sendable {
    var values: [ExactText: Value] = [:]

    /// The result of a change.
    struct Change: Sendable {
        var created: [ExactText: Value] = [:]
        var updated: [ExactText: Value] = [:]
        var removed: [String] = []
        var touched: [ExactText: Value] { created.merging(updated) { $1 } }
    }

    /// Adds keys.
    ///
    /// - Throws: `.conflict`, naming a key that already exists; what `set` throws.
    mutating func create(_ new: [ExactText: Value], most: Int) throws(ChatError) -> Change {
        if let known = new.keys.filter({ values[$0] != nil }).min() {
            throw ChatError(.conflict, "the channel already has the key '\(known)'")
        }
        return try set(new, adding: true, most: most) { _, new in new }
    }

    /// Sets keys.
    ///
    /// - Parameters:
    ///   - adding: true to create keys that do not exist; false to leave them out.
    ///   - removing: keys that are removed in the same step.
    ///   - combine: makes a key's new value from its old value, if any, and the given one.
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
                .tooMany, "a channel keeps at most \(most) keys; it would have \(values.count)", name: "limit",
                limit: most)
        }
        return change
    }

    /// Removes the given keys, or all of them for nil. Returns those that existed.
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

    /// The values as a JSON object, ordered by key.
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
