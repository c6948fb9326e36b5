import ChatKit
import ChatModel
import GatewayClient
import JSON

/// A JSON object in a response, such as a record or a message.
struct ResponseObject: Sendable {
    let value: JSONValue
    let text: JSONText

    init(_ text: JSONText) throws(ChatError) {
        guard let document = try? JSONDocument(text), document.root.kind == .object else { throw .foreignAnswer }
        value = document.root
        self.text = text
    }

    var etag: String { value["etag"]?.string ?? "" }

    func timetoken(_ name: String) -> Timetoken { value[name]?.string.flatMap { Timetoken(text: $0) } ?? .zero }

    /// Returns a required text member.
    func text(_ name: String) throws(ChatError) -> String {
        guard let text = value[name]?.string else { throw .foreignAnswer }
        return text
    }

    /// The time of the record's last change, with microseconds.
    private var updated: Timetoken { value["updated_at"]?.string.flatMap { Timetoken(timestamp: $0) } ?? .zero }

    var user: UserRecord {
        var record = UserRecord(id: value["id"]?.string ?? "", value, text)
        record.etag = etag
        record.updated = updated
        return record
    }

    var channel: ChannelState {
        get throws(ChatError) {
            guard var record = ChannelRecord(id: value["id"]?.string ?? "", value, text) else { throw .foreignAnswer }
            record.etag = etag
            record.updated = updated
            return ChannelState(
                record, memberCount: value["member_count"]?.integer.map { Int($0) },
                joinedMemberCount: value["joined_member_count"]?.integer.map { Int($0) })
        }
    }

    var membership: MembershipRecord {
        get throws(ChatError) {
            guard var record = MembershipRecord(value, text) else { throw .foreignAnswer }
            record.etag = etag
            record.updated = updated
            return record
        }
    }

    var restriction: RestrictionRecord {
        get throws(ChatError) {
            guard var record = RestrictionRecord(value) else { throw .foreignAnswer }
            record.etag = etag
            record.updated = updated
            return record
        }
    }

    var group: GroupRecord {
        get throws(ChatError) {
            let channels = (value["channels"]?.elements ?? []).compactMap(\.string)
            var record = GroupRecord(id: try text("id"), channels: channels)
            record.etag = etag
            record.updated = updated
            return record
        }
    }

    var action: MessageAction {
        get throws(ChatError) {
            MessageAction(
                type: try text("type"), value: try text("value"), userId: try text("user"),
                timetoken: timetoken("action_timetoken"))
        }
    }
}

extension ChatError {
    /// The error for a response that lacks expected members, because the server is a newer gateway or is not a gateway.
    static let foreignAnswer = ChatError(
        .unavailable,
        "the gateway's response lacks a member that this library needs; the versions of the library and the gateway may not match"
    )

    /// Creates the error for a response that cannot be used.
    init(_ fault: GatewayResponse.Fault) {
        switch fault {
        case .tooLarge: self.init(.tooLarge, "the gateway's response is too large; request fewer elements")
        case .notJSON: self.init(.unavailable, "the server is not a Parley gateway: the response is not JSON")
        }
    }
}

extension JSONValue {
    func position(_ name: String) -> Timetoken? { self[name]?.string.flatMap { Timetoken(text: $0) } }
}

extension GatewayResponse {
    /// The root value of the document; nil when the response had no body.
    var root: JSONValue? { document?.root }
    /// The text of the document; `null` when the response had no body.
    var text: JSONText { document?.text ?? .null }

    subscript(name: String) -> JSONValue? { root?[name] }

    /// Returns a required timetoken member.
    func timetoken(_ name: String) throws(ChatError) -> Timetoken {
        guard let value = root?.position(name) else { throw .foreignAnswer }
        return value
    }

    /// Returns a required number member.
    func count(_ name: String) throws(ChatError) -> Int {
        guard let count = self[name]?.integer else { throw .foreignAnswer }
        return Int(count)
    }

    /// Returns the numbers in the object that is the value of the member `name`, by their names in the object. Values
    /// that are not numbers are left out. The result is empty when the value is not an object.
    func counts(_ name: String) -> [String: Int] {
        let members = (self[name]?.members ?? []).compactMap { member in
            member.value.integer.map { (member.name, Int($0)) }
        }
        return Dictionary(members, uniquingKeysWith: { $1 })
    }

    /// Returns the texts in the object that is the value of the member `name`, by their names in the object. Values
    /// that are not texts are left out. The result is empty when the value is not an object.
    func texts(_ name: String) -> [String: String] {
        let members = (self[name]?.members ?? []).compactMap { member in
            member.value.string.map { (member.name, $0) }
        }
        return Dictionary(members, uniquingKeysWith: { $1 })
    }

    var object: ResponseObject { get throws(ChatError) { try ResponseObject(text) } }

    /// The objects on the page that the response contains (its member `data`); empty when there are none.
    var items: [ResponseObject] {
        get throws(ChatError) {
            var items: [ResponseObject] = []
            for text in text.rawMember("data")?.rawElements() ?? [] { items.append(try ResponseObject(text)) }
            return items
        }
    }
}

// MARK: - Request bodies

extension UserFields {
    func body(by user: String) -> JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("by", user)
            if let name { writer.member("name", name) }
            if let externalID { writer.member("external_id", externalID) }
            if let profileURL { writer.member("profile_url", profileURL) }
            if let email { writer.member("email", email) }
            if let custom { writer.member("custom", custom.text) }
            if let status { writer.member("status", status) }
            if let type { writer.member("type", type) }
            writer.endObject()
        }
    }
}

extension ChannelFields {
    func printMembers(to writer: inout JSONWriter) {
        if let name { writer.member("name", name) }
        if let description { writer.member("description", description) }
        if let coverURL { writer.member("cover_url", coverURL) }
        if let customType { writer.member("custom_type", customType) }
        if let type { writer.member("type", type) }
        if let data { writer.member("data", data.text) }
        if let custom { writer.member("custom", custom.text) }
        if let status { writer.member("status", status) }
    }
}

extension MembershipFields {
    func body(by user: String) -> JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("by", user)
            if let custom { writer.member("custom", custom.text) }
            if let status { writer.member("status", status) }
            if let type { writer.member("type", type) }
            if let push { writer.member("push", push.rawValue) }
            writer.endObject()
        }
    }
}
