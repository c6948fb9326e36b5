public import ChatCore
import ChatModel
public import JSON

/// A membership as a keyset lists it: for whoever moves it here.
public enum ImportMembership {
    /// What a write of it would be here: its status may be an invitation, and its `custom` may hold a read mark.
    public static func edit(_ object: JSONText) -> MembershipEdit {
        var edit = MembershipEdit()
        let value = (try? JSONDocument(object))?.root
        if let type = value?["type"]?.string { edit.type = .set(type) }
        if let status = value?["status"]?.string { edit.status = .set(status) }
        if value?["custom"]?.kind == .object, let custom = object.rawMember("custom") { edit.custom = .set(custom) }
        edit.takeFacts()
        return edit
    }
}
