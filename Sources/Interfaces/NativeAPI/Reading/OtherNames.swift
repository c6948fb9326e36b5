import ChatModel
import HTTPServer

/// Names of parameters and members that a route does not accept, but that other routes use for the same object. The
/// error for such a name suggests the name that this route accepts. The spelling of the two names is not similar, so a
/// search for similar names would not find it.
struct OtherNames {
    /// The accepted name for each name that the route does not accept.
    let names: [String: String]

    /// The names for the list of deliveries. The list accepts only `subscriber`, with the id of a webhook or a
    /// subscription. Other routes accept `webhook` or `subscription` for the same id.
    static let ofDeliveryList = OtherNames(names: ["webhook": "subscriber", "subscription": "subscriber"])
    static let ofDeliveryJob = OtherNames(names: ["subscriber": "webhook"])

    /// Rejects a query that contains one of the names.
    ///
    /// - Throws: `.malformed`, slug `unknown_parameter`, with the name to send instead.
    func refuse(in query: Query) throws(ChatError) {
        guard let (name, known) = first(of: query.items.map { $0.name }) else { return }
        throw Self.error(
            "unknown query parameter '\(name)'; send '\(known)'", slug: "unknown_parameter",
            ChatError.FieldError(
                at: .parameter(name), keyword: "unknown", detail: "unknown query parameter; send '\(known)'"))
    }

    /// Rejects a body that contains one of the names.
    ///
    /// - Throws: `.malformed`, slug `unknown_member`, with the name to send instead.
    func refuse(in fields: Fields) throws(ChatError) {
        guard let (name, known) = first(of: fields.members.map(\.name)) else { return }
        let fault = ChatError.FieldError(
            pointer: fields.pointer + "/" + name, keyword: "unknown", detail: "unknown member; send '\(known)'")
        throw Self.error("\(fault.place): \(fault.detail)", slug: "unknown_member", fault)
    }

    private func first(of sent: [String]) -> (name: String, known: String)? {
        for name in sent { if let known = names[name] { return (name, known) } }
        return nil
    }

    private static func error(_ message: String, slug: String, _ fault: ChatError.FieldError) -> ChatError {
        var error = ChatError(.malformed, message, slug: slug)
        error.faults = [fault]
        return error
    }
}
