import ChatCore
import ChatModel
import JSON

/// One line of the output of `parley export`. The member `record` states its kind.
enum ImportedRecord {
    case message(ImportMessage)
    case record(ImportRecord)

    private enum Kind: String, CaseIterable {
        case user, channel, membership, group, restriction, message
    }

    init(_ element: BatchElements.Element) throws(ChatError) {
        let all = try element.fields(known: nil)
        let word = try all.required("record", try all.word("record", Kind.self))
        func fields(_ members: [String]) throws(ChatError) -> Fields {
            try element.fields(known: ["record"] + members.filter { $0 != ActorName.parameter })
        }
        switch word {
        case .user:
            let fields = try fields(["id"] + UserEdit.members)
            self = .record(.user(try fields.name("id"), try UserEdit(fields)))
        case .channel:
            let fields = try fields(["id", "kind"] + ChannelEdit.members)
            let kind = try fields.word("kind", ChannelKind.self) ?? .public
            self = .record(.channel(try fields.name("id"), kind, try ChannelEdit(fields)))
        case .membership:
            let fields = try fields(["user", "channel", "state", "read_timetoken"] + MembershipEdit.members)
            var edit = try MembershipEdit(fields)
            if try fields.word("state", MemberState.self) == .invited { edit.entry = .invite }
            edit.read = try fields.timetoken("read_timetoken")
            self = .record(.membership(user: try fields.name("user"), channel: try fields.name("channel"), edit))
        case .group:
            let fields = try fields(["id", "channels"])
            self = .record(.group(try fields.name("id"), try fields.strings("channels") ?? []))
        case .restriction:
            let fields = try fields(["user", "channel"] + RestrictionRequest.members)
            self = .record(
                .restriction(
                    user: try fields.name("user"), channel: try fields.name("channel"), try RestrictionRequest(fields)))
        case .message: self = .message(try ImportMessage(fields(ImportMessage.members)))
        }
    }
}

extension Fields {
    fileprivate func name(_ member: String) throws(ChatError) -> String { try required(member, try string(member)) }

    fileprivate func place() throws(ChatError) -> Timetoken { try required("timetoken", try timetoken("timetoken")) }
}

extension ImportMessage {
    fileprivate static let members = [
        "channel", "timetoken", "type", "user", "data", "meta", "custom_type", "wire", "file", "actions",
    ]

    fileprivate init(_ fields: Fields) throws(ChatError) {
        let channel = try fields.name("channel")
        var draft = EventDraft.event(
            channel: channel, type: try fields.string("type") ?? BuiltInTypes.messageCreated,
            data: try fields.required("data", fields.raw("data")), user: try fields.string("user"),
            meta: fields.member("meta")?.text)
        draft.customType = try fields.string("custom_type")
        draft.wire = fields.raw("wire")
        if try fields.boolean("file") == true { draft.kind = .file }
        self.init(draft, at: try fields.place(), actions: try Self.actions(fields))
    }

    private static func actions(_ fields: Fields) throws(ChatError) -> [Action] {
        guard let text = fields.member("actions")?.text else { return [] }
        let pointer = fields.pointer + "/actions"
        guard let texts = text.rawElements() else {
            throw Fields.wrongType(pointer, expected: "array", text.kind)
        }
        var actions: [Action] = []
        for (index, text) in texts.enumerated() {
            let action = try Fields(
                text, pointer: "\(pointer)/\(index)", known: ["type", "value", "user", "timetoken"])
            actions.append(
                Action(
                    type: try action.name("type"), value: try action.name("value"), user: try action.name("user"),
                    at: try action.place()))
        }
        return actions
    }
}
