import ChatCore
import ChatModel
import JSON

/// The body of a request that writes an object. A member sets a field, null clears the field, and an absent member
/// leaves the field unchanged.
struct ObjectBody {
    private let value: JSONValue
    private let text: JSONText

    /// Parses a body.
    ///
    /// - Throws: `WireError.notJSON`; `WireError.invalidInput` when the body is not an object.
    init(_ bytes: [UInt8], _ limits: Limits) throws(WireError) {
        guard let payload = WirePayload(bytes, depth: limits.jsonDepth) else { throw .notJSON }
        try self.init(payload.value, payload.text)
    }

    private init(_ value: JSONValue, _ text: JSONText, in place: String = "") throws(WireError) {
        guard value.kind == .object else { throw Self.wrong("Must be a JSON object.", place) }
        self.value = value
        self.text = text
    }

    private static func wrong(_ message: String, _ location: String) -> WireError {
        .invalidInput([.init(message: message, location: location, kind: "body")])
    }

    private func text(_ name: String) throws(WireError) -> FieldEdit<String> {
        guard let field = value[name] else { return .keep }
        if field.kind == .null { return .clear }
        guard let text = field.string else { throw Self.wrong("Must be a string or null.", name) }
        return .set(text)
    }

    /// The change of `custom`, a flat object of strings, numbers, booleans and nulls.
    private func custom() throws(WireError) -> FieldEdit<JSONText> {
        guard let field = value["custom"], let raw = text.rawMember("custom") else { return .keep }
        if field.kind == .null { return .clear }
        guard field.kind == .object, field.members?.allSatisfy({ ![.object, .array].contains($0.value.kind) }) == true
        else { throw Self.wrong("Must be an object of strings, numbers, booleans and nulls.", "custom") }
        return .set(raw)
    }

    func user() throws(WireError) -> UserEdit {
        var edit = UserEdit()
        edit.name = try text("name")
        edit.externalID = try text("externalId")
        edit.profileURL = try text("profileUrl")
        edit.email = try text("email")
        edit.type = try text("type")
        edit.status = try text("status")
        edit.custom = try custom()
        return edit
    }

    func channel() throws(WireError) -> ChannelEdit {
        var edit = ChannelEdit()
        edit.name = try text("name")
        edit.description = try text("description")
        edit.type = try text("type")
        edit.status = try text("status")
        edit.custom = try custom()
        return edit
    }

    private func membership() throws(WireError) -> MembershipEdit {
        var edit = MembershipEdit()
        edit.type = try text("type")
        edit.status = try text("status")
        edit.custom = try custom()
        edit.applyFacts()
        return edit
    }

    /// The memberships in the member `name` of the body, each with the change to apply. If an id repeats, its last
    /// entry counts.
    ///
    /// - Parameter other: the name of the member that identifies the other object of each membership: `channel` or
    ///   `uuid`.
    /// - Throws: `WireError.invalidInput` for an invalid list or entry.
    func memberships(_ name: String, of other: String) throws(WireError) -> [(id: String, edit: MembershipEdit)] {
        guard let list = value[name], list.kind != .null else { return [] }
        guard let raw = text.rawMember(name)?.rawElements() else { throw Self.wrong("Must be an array.", name) }
        var found: [(id: String, edit: MembershipEdit)] = []
        for (index, text) in raw.enumerated() {
            guard let element = list[index] else { continue }
            let place = "\(name)[\(index)]"
            let entry = try ObjectBody(element, text, in: place)
            guard let id = element[other]?["id"]?.string, !id.isEmpty else {
                throw Self.wrong("Missing field", "\(place).\(other).id")
            }
            found.removeAll { ExactText($0.id) == ExactText(id) }
            found.append((id, name == "set" ? try entry.membership() : MembershipEdit()))
        }
        return found
    }
}
