public import ChatCore
import ChatModel
public import JSON

/// Reads the memberships that PubNub lists for a keyset, for import.
public enum ImportMembership {
    /// The equivalent edit. A status `pending` becomes an invitation, and a read mark in `custom` becomes the
    /// membership's own.
    public static func edit(_ object: JSONText) -> MembershipEdit {
        var edit = MembershipEdit()
        let value = (try? JSONDocument(object))?.root
        if let type = value?["type"]?.string { edit.type = .set(type) }
        if let status = value?["status"]?.string { edit.status = .set(status) }
        if value?["custom"]?.kind == .object, let custom = object.rawMember("custom") { edit.custom = .set(custom) }
        edit.applyFacts()
        return edit
    }
}
