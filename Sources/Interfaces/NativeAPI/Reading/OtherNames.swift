import ChatModel
import HTTPServer

/// Names that a route knows under another name, where the spelling suggests nothing: the same object is called so on
/// other routes.
struct OtherNames {
    /// The name that the route reads, by the name that it does not read.
    let names: [String: String]

    /// A list of deliveries selects a webhook or a pull subscription; an operation on deliveries takes webhooks alone.
    static let ofDeliveryList = OtherNames(names: ["webhook": "subscriber", "subscription": "subscriber"])
    static let ofDeliveryJob = OtherNames(names: ["subscriber": "webhook"])

    /// Refuses a query with one of the names.
    ///
    /// - Throws: `.malformed`, slug `unknown_parameter`, with the name to send instead.
    func refuse(in query: Query) throws(ChatError) {
        guard let (name, known) = first(of: query.items.map { $0.name }) else { return }
        throw Self.error(
            "unknown query parameter '\(name)'; send '\(known)'", slug: "unknown_parameter",
            ChatError.FieldError(
                at: .parameter(name), keyword: "unknown", detail: "unknown query parameter; send '\(known)'"))
    }

    /// Refuses a body with one of the names.
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
