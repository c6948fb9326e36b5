public import ChatCore
import ChatModel
public import JSON

/// Converts memberships that were exported from PubNub for an import into the store.
public enum ImportMembership {
    /// Returns the edit that creates the membership in the store. The status `pending` becomes an invitation, and a
    /// read mark in `custom` becomes the read mark of the membership.
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
