import Glibc
import Testing

/// A listener whose clients are accepted by the system and never get an answer.
final class SilentServer: Sendable {
    private let socket: Int32
    let port: Int

    init() throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (listener, size) = (socket, length)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 16) == 0 ? getsockname(listener, $0, &length) : -1
            }
        }
        try #require(code == 0)
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(socket) }
}
