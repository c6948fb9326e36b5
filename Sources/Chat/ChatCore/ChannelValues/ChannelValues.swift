import ChatModel
import JSON

/// What is kept with a channel by key: one record holds all of a kind, so that a change of several is one step.
struct ChannelValues<Value: Equatable & Sendable>: Sendable {
    var values: [ExactText: Value] = [:]

    /// What a change came to.
    struct Change: Sendable {
        var created: [ExactText: Value] = [:]
        var updated: [ExactText: Value] = [:]
        var removed: [String] = []
        var touched: [ExactText: Value] { created.merging(updated) { $1 } }
    }

    /// Adds keys that are not there.
    ///
    /// - Throws: `.conflict` naming one that is.
    mutating func create(_ new: [ExactText: Value], most: Int) throws(ChatError) -> Change {
        if let known = new.keys.filter({ values[$0] != nil }).min() {
            throw ChatError(.conflict, "the channel has the key '\(known)' already")
        }
        return try set(new, adding: true, most: most) { _, new in new }
    }

    /// Sets keys.
    ///
    /// - Parameters:
    ///   - adding: whether keys that are not there are made; otherwise they are left out.
    ///   - removing: keys that go in the same step.
    ///   - combine: makes a key's value of the one it has, if any, and the one given.
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

    /// Removes keys, or all of them; those that are gone.
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

    /// Values by key as an object, in the order of the keys.
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
