import ChatModel
import JSON
import Signing

/// The form in which a request is stored in the directory of records, and sent to another node.
extension InboundRequest {
    func key(of source: RecordKey) -> RecordKey {
        RecordKey(.inboundRequest, parts: [source.id, id], in: source.app)
    }

    func change(of source: RecordKey) -> RecordChange {
        RecordChange(key(of: source), body: recordBody, parent: source.id)
    }

    var recordBody: JSONText {
        JSONText(capacity: 1024 + body.count / 3 * 4) { writer in
            writer.beginObject()
            writer.member("id", id)
            writer.member("at", at.description)
            writer.member("method", method)
            for (name, fields): (StaticString, [InboundPost.Field]) in [("headers", headers), ("query", query)] {
                writer.member(name, fields.flatMap { [$0.name, $0.value] })
            }
            writer.member("altered_headers", alteredHeaders.sorted())
            writer.member("altered_query", alteredQuery.sorted())
            writer.member("body", Base64.encode(body))
            writer.member("body_bytes", bodyBytes)
            writer.member("outcome", outcome.rawValue)
            if let reason { writer.member("reason", reason) }
            writer.key("faults")
            writer.beginArray()
            for fault in faults { fault.print(to: &writer) }
            writer.endArray()
            if !events.isEmpty { writer.member("events", events) }
            if let secretIndex { writer.member("secret", secretIndex) }
            writer.member("mapping_version", mappingVersion)
            if let replayOf { writer.member("replay_of", replayOf) }
            switch identity {
            case .value(let id): writer.member("delivery", id)
            case .bodyPointer(let pointer): writer.member("delivery_pointer", pointer)
            case .some(.none): break
            case nil: writer.member("is_verified", false)
            }
            writer.endObject()
        }
    }

    /// Parses the record that `change` wrote. Returns nil for an invalid record.
    init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root else { return nil }
        self.init(root)
    }

    /// Parses the JSON that ``recordBody`` prints; nil for another value.
    init?(_ root: JSONValue) {
        guard let id = root["id"]?.string,
            let at = root["at"]?.string.flatMap({ Timetoken(text: $0) }), let method = root["method"]?.string,
            let headers = Self.fields(root["headers"], altered: root["altered_headers"]),
            let query = Self.fields(root["query"], altered: root["altered_query"]),
            let body = root["body"]?.string.flatMap({ Base64.decode($0) }),
            let bodyBytes = root["body_bytes"]?.integer.flatMap({ Int(exactly: $0) }),
            let outcome = root["outcome"]?.string.flatMap(Outcome.init(rawValue:)),
            let version = root["mapping_version"]?.integer.flatMap({ Int(exactly: $0) })
        else { return nil }
        self.init(
            id: id, at: at, method: method, headers: headers, query: query, body: body, bodyBytes: bodyBytes,
            mappingVersion: version)
        self.outcome = outcome
        reason = root["reason"]?.string
        faults = (root["faults"]?.elements ?? []).map { ChatError.FieldError($0) }
        events = root["events"]?.strings ?? []
        secretIndex = root["secret"]?.integer.flatMap { Int(exactly: $0) }
        replayOf = root["replay_of"]?.string
        guard root["is_verified"]?.boolean != false else { return }
        identity =
            root["delivery"]?.string.map { .value($0) } ?? root["delivery_pointer"]?.string.map { .bodyPointer($0) }
            ?? DeliveryIdentity.none
    }

    private static func fields(_ list: JSONValue?, altered: JSONValue?) -> StoredHeaders? {
        guard let texts = list?.strings, texts.count.isMultiple(of: 2), let altered = altered?.strings else {
            return nil
        }
        return (stride(from: 0, to: texts.count, by: 2).map { (texts[$0], texts[$0 + 1]) }, altered)
    }
}
