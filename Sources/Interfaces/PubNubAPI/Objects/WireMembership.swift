import ChatCore
import ChatModel
import JSON

/// The PubNub format of a membership. In this format, an invitation is a status, and the read mark is a member of
/// `custom`. The store has a separate field for each of them, from which the PubNub format is derived.
enum WireMembership {
    /// The status of an invited user.
    static let pending = "pending"
    /// The member of `custom` in which Chat SDKs store the read mark: a timetoken as a string.
    static let readMark = "lastReadMessageTimetoken"
}

extension MembershipRecord {
    var wireStatus: String? { state == .invited ? WireMembership.pending : status }

    /// The `custom` object of the PubNub format: the app's own members, followed by the read mark if there is one. Nil
    /// when there are no members and no read mark.
    var wireCustom: JSONText? {
        guard custom != nil || read > .zero else { return nil }
        let own = (custom?.rawMembers() ?? []).filter { $0.name != WireMembership.readMark || read == .zero }
        return JSONText { writer in
            writer.beginObject()
            for (name, value) in own {
                writer.key(text: name)
                writer.raw(value)
            }
            if read > .zero {
                writer.key(text: WireMembership.readMark)
                writer.string(read.description)
            }
            writer.endObject()
        }
    }
}

extension MembershipEdit {
    /// Moves the invitation and the read mark from the PubNub members to the fields of the store.
    ///
    /// The status `pending` invites the user. Any other status makes the user join. An edit without any member also
    /// makes the user join. An edit of other members leaves an invitation unchanged, because SDKs also write the read
    /// marks of invited users.
    mutating func applyFacts() {
        switch (status, custom, type) {
        case (.set(WireMembership.pending), _, _):
            status = .keep
            entry = .invite
        case (.keep, .keep, .keep): entry = .join
        case (.keep, _, _): entry = .keep
        default: entry = .join
        }
        guard case .set(let text) = custom, let mark = Self.mark(text) else { return }
        read = mark
        let rest = (text.rawMembers() ?? []).filter { $0.name != WireMembership.readMark }
        custom = rest.isEmpty ? .clear : .set(JSONText(members: rest))
    }

    /// The read mark in `custom`; nil when the member is absent or is not a timetoken. A member with another value
    /// contains data of the app.
    private static func mark(_ custom: JSONText) -> Timetoken? {
        guard let value = custom.rawMember(WireMembership.readMark), let root = try? JSONDocument(value).root else {
            return nil
        }
        return root.string.flatMap { Timetoken(exactly: $0) }
    }
}

extension JSONText {
    /// Creates an object that consists of these members.
    fileprivate init(members: [(name: String, value: JSONText)]) {
        self.init { writer in
            writer.beginObject()
            for (name, value) in members {
                writer.key(text: name)
                writer.raw(value)
            }
            writer.endObject()
        }
    }
}
