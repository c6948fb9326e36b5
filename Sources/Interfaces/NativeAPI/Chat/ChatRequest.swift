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

/// Who acts, as a request names them: the member `by` of its body, or the parameter of that name where there is no body.
struct ActorName {
    static let parameter = "by"

    let name: String?

    init(_ parameters: Parameters, _ fields: Fields? = nil) throws(ChatError) {
        let member = try fields?.string(Self.parameter)
        let parameter = try parameters.text(Self.parameter)
        guard member == nil || parameter == nil else {
            throw ChatError(
                .malformed, "name who acts once: as the member 'by' or as the query parameter", slug: "bad_member")
        }
        name = member ?? parameter
    }
}
