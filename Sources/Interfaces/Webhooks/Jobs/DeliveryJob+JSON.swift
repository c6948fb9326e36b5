import ChatCore
import ChatModel
public import JSON

extension DeliveryJob {
    /// Prints the job as the API shows it, as the next value of `writer`.
    public func print(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", id)
        writer.member("kind", kind.rawValue)
        writer.member("state", state.rawValue)
        if let reason { writer.member("reason", reason) } else { writer.nullMember("reason") }
        scope.print(to: &writer)
        if let rate { writer.member("rate_per_second", rate) } else { writer.nullMember("rate_per_second") }
        writer.member("count", count)
        writer.member("count_is_exact", isCountExact)
        writer.member("examined", examined)
        writer.member("done", done)
        writer.member("skipped", skipped)
        writer.member("created_at", created.timestamp)
        writer.member("updated_at", updated.timestamp)
        if let finished { writer.member("finished_at", finished.timestamp) } else { writer.nullMember("finished_at") }
        writer.endObject()
    }

    var body: JSONText {
        JSONText(capacity: 512) { writer in
            writer.beginObject()
            writer.member("kind", kind.rawValue)
            writer.member("state", state.rawValue)
            if let reason { writer.member("reason", reason) }
            scope.print(to: &writer)
            scope.reach?.print(to: &writer)
            if let rate { writer.member("rate", rate) }
            writer.member("count", count)
            writer.member("count_is_exact", isCountExact)
            writer.member("examined", examined)
            writer.member("done", done)
            writer.member("skipped", skipped)
            if let position { writer.member("position", position) }
            if let runner {
                writer.member("node", runner.node)
                writer.member("node_until", runner.until.description)
            }
            writer.member("created", created.description)
            if let finished { writer.member("finished", finished.description) }
            writer.endObject()
        }
    }

    /// Parses a record in the form of `body`. Nil for a record that is not a valid job.
    ///
    /// - Parameter compilesFilter: false for a job that is only shown or changed.
    init?(_ record: Record, compilesFilter: Bool = true) {
        guard let root = try? JSONDocument(record.body).root,
            let kind = root["kind"]?.string.flatMap(Kind.init(rawValue:)),
            let state = root["state"]?.string.flatMap(State.init(rawValue:)),
            let scope = DeliveryScope(root, compilesFilter: compilesFilter)
        else { return nil }
        self.init(
            id: record.key.id, app: record.key.app, kind: kind, scope: scope, rate: Self.number(root["rate"]),
            created: root["created"]?.string.flatMap { Timetoken(text: $0) } ?? .zero)
        self.state = state
        reason = root["reason"]?.string
        count = Self.number(root["count"]) ?? 0
        isCountExact = root["count_is_exact"]?.boolean ?? false
        examined = Self.number(root["examined"]) ?? 0
        done = Self.number(root["done"]) ?? 0
        skipped = Self.number(root["skipped"]) ?? 0
        position = root["position"]?.string
        if let node = root["node"]?.integer, let until = root["node_until"]?.string.flatMap({ Timetoken(text: $0) }) {
            runner = (node, until)
        }
        finished = root["finished"]?.string.flatMap { Timetoken(text: $0) }
        updated = record.updated
        etag = record.etag
    }

    private static func number(_ value: JSONValue?) -> Int? { value?.integer.flatMap { Int(exactly: $0) } }
}

extension DeliveryScope {
    /// Prints the members of the scope (the job's selection of deliveries) into the object that `writer` has begun.
    func print(to writer: inout JSONWriter) {
        if let webhook { writer.member("webhook", webhook) } else { writer.nullMember("webhook") }
        writer.member("only", only.rawValue)
        writer.member("after", after.description)
        writer.member("before", before.description)
        for (name, patterns): (StaticString, [NamePattern]?) in [("types", types), ("channels", channels)] {
            if let patterns { writer.member(name, patterns.map(\.description)) } else { writer.nullMember(name) }
        }
        if let filter { writer.member("filter", filter.text) } else { writer.nullMember("filter") }
    }

    /// Parses a printed scope. Nil when one of its conditions cannot be parsed, because the scope without the condition
    /// would select more deliveries.
    init?(_ root: JSONValue, compilesFilter: Bool) {
        guard let only = root["only"]?.string.flatMap(Only.init(rawValue:)),
            let after = root["after"]?.string.flatMap({ Timetoken(text: $0) }),
            let before = root["before"]?.string.flatMap({ Timetoken(text: $0) })
        else { return nil }
        self.init(webhook: root["webhook"]?.string, only: only, after: after, before: before)
        types = root["types"]?.strings?.compactMap { NamePattern($0) }
        channels = root["channels"]?.strings?.compactMap { NamePattern($0) }
        if let text = root["filter"]?.string {
            guard let filter = Filter(ofRecord: text, compiles: compilesFilter) else { return nil }
            self.filter = filter
        }
        if let value = root["reach"] {
            guard let reach = Reach(value) else { return nil }
            self.reach = reach
        }
    }
}

extension DeliveryScope.Reach {
    fileprivate func print(to writer: inout JSONWriter) {
        writer.key("reach")
        writer.beginObject()
        writer.member("channels", channels.map(\.description))
        writer.member("types", types.map(\.description))
        writer.member("admin", isAdmin)
        writer.endObject()
    }

    fileprivate init?(_ value: JSONValue) {
        guard let channels = value["channels"]?.strings, let types = value["types"]?.strings,
            let isAdmin = value["admin"]?.boolean
        else { return nil }
        self.init(
            channels: channels.compactMap { NamePattern($0) }, types: types.compactMap { NamePattern($0) },
            isAdmin: isAdmin)
    }
}
