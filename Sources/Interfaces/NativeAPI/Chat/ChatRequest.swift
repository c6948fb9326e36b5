import ChatCore
import ChatModel
import HTTPServer

/// The longest name of a device.
private let deviceBytesMost = 128

extension NativeAPI {
    /// The app as this request may use it: as its caller, from the device it names, with its id as the cause of what
    /// follows.
    func chat(for caller: Caller, _ request: Request) throws(ChatError) -> ChatAccess {
        let device = request.headers["X-Device-Id"]
        if let device, !(1...deviceBytesMost).contains(device.utf8.count) {
            throw ChatError(.malformed, "X-Device-Id must be 1 to \(deviceBytesMost) bytes long")
        }
        return service.chat(for: caller, device: device, cause: request.id)
    }
}

/// The name under which a request says who acts: a member of its body, or a query parameter where the route takes no body.
enum ActorName {
    static let parameter = "by"

    /// The fault of an invalid user name; nil for a valid one.
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
    /// The acting user: the member `by`.
    ///
    /// - Throws: `.malformed` with the pointer, for what is not a user's name.
    func actor() throws(ChatError) -> String? {
        guard let name = try string(ActorName.parameter) else { return nil }
        if let detail = ActorName.fault(name) { throw fault(ActorName.parameter, "format", detail) }
        return name
    }
}

extension Parameters {
    /// The acting user, from the query parameter `by`.
    ///
    /// - Throws: `.malformed`, slug `bad_parameter`, if the value is not a valid user name.
    func actor() throws(ChatError) -> String? {
        guard let name = try text(ActorName.parameter) else { return nil }
        if let detail = ActorName.fault(name) { throw Self.bad(ActorName.parameter, "names a user: \(detail)") }
        return name
    }
}
