import ChatCore
import ChatModel
import HTTPServer
import JSON

/// The maximum length of a device's name, in bytes.
private let deviceBytesMost = 128

extension NativeAPI {
    /// The access to the chat with the rights of the caller and the device that `X-Device-Id` names. The request's id
    /// becomes the cause of the resulting events.
    func chat(for caller: Caller, _ request: Request) throws(ChatError) -> ChatAccess {
        let device = request.headers["X-Device-Id"]
        if let device, !(1...deviceBytesMost).contains(device.utf8.count) {
            throw ChatError(
                .malformed, "X-Device-Id must be 1 to \(deviceBytesMost) bytes long", field: "X-Device-Id")
        }
        return service.chat(for: caller, device: device, cause: request.id)
    }
}

/// The name of the acting user in requests: a member of the body, or a query parameter on routes without a body.
enum ActorName {
    static let parameter = "by"

    /// The description of the error in an invalid user name; nil for a valid user name.
    fileprivate static func fault(_ name: String) -> String? {
        do throws(ChatError) {
            try Names.check(user: name)
            return nil
        } catch {
            return error.message
        }
    }
}

extension Fields {
    /// The acting user in the member `by`; nil when the member is absent.
    ///
    /// - Throws: `.malformed`, with the pointer, when the value is not a valid user name.
    func actor() throws(ChatError) -> String? {
        guard let name = try string(ActorName.parameter) else { return nil }
        if let detail = ActorName.fault(name) { throw fault(ActorName.parameter, "format", detail) }
        return name
    }
}

extension Parameters {
    /// The acting user in the query parameter `by`; nil when the parameter is absent.
    ///
    /// - Throws: `.malformed`, slug `bad_parameter`, when the value is not a valid user name.
    func actor() throws(ChatError) -> String? {
        guard let name = try text(ActorName.parameter) else { return nil }
        if let detail = ActorName.fault(name) { throw Self.bad(ActorName.parameter, "must be a user's id: \(detail)") }
        return name
    }
}
