import ChatCore
import ChatModel
import HTTPServer

extension NativeAPI {
    /// The app as the caller of a request may use it; its device is spared what it did itself, and the events of one
    /// request share its id.
    ///
    /// - Throws: `.malformed` for a device that is no name.
    func chat(for caller: Caller, _ request: Request) throws(ChatError) -> ChatAccess {
        let device = request.headers["X-Device-Id"]
        if let device, !(1...128).contains(device.utf8.count) {
            throw ChatError(.malformed, "X-Device-Id must be 1 to 128 bytes long")
        }
        return service.chat(for: caller, device: device, cause: request.id)
    }
}
