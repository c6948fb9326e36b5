import ChatCore
import ChatModel
import JSON

/// A membership in the PubNub format: an invitation is a status, and the read mark is a member of `custom`. The store
/// has a field for each, from which this format is derived.
enum WireMembership {
    /// The status of an invited user.
    static let pending = "pending"
    /// The member of `custom` in which Chat SDKs keep the read mark, a timetoken as a string.
    static let readMark = "lastReadMessageTimetoken"
}

extension MembershipRecord {
    var wireStatus: String? { state == .invited ? WireMembership.pending : status }

    /// The app's own values, followed by the read mark if there is one.
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
    /// Moves the invitation and the read mark from the PubNub fields to fields of their own.
    ///
    /// The status `pending` invites the user. Any other status joins, and so does an edit without any field. An edit of
    /// other fields leaves an invitation as it is, because SDKs write the read mark of invited users.
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

    /// The read mark in `custom`. Nil when the member is not a timetoken; it is then the app's own value.
    private static func mark(_ custom: JSONText) -> Timetoken? {
        guard let value = custom.rawMember(WireMembership.readMark), let root = try? JSONDocument(value).root else {
            return nil
        }
        return root.string.flatMap { Timetoken(exactly: $0) }
    }
}

extension JSONText {
    /// An object of these members.
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
