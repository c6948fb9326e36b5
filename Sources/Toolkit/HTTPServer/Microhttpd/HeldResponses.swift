internal import CLinux
import Glibc

/// Delays the responses of one run of the library, so that they are sent together.
///
/// Waking a client process on the same machine costs as much as sending the response. With the delay, a client process
/// with many connections is woken once for all its responses. The library sends a response while its request is being
/// handled. Therefore this file supplies the functions `send` and `sendmsg`, which the library calls through the
/// dynamic linker. They tell the kernel that more bytes follow, and the kernel then delays the response until
/// ``sendHeldResponses()``, for at most 200 ms. If the library calls the C library's functions instead, responses are
/// not delayed.
extension ServerCore {
    /// The maximum number of responses that the kernel delays at the same time.
    private static let heldTogether = 32

    /// Delays the response that is queued on a connection, if one run of the library queues several responses.
    func hold(responseOf peer: HTTPConnection) {
        responsesOfRun += 1
        heldDescriptor = -1
        guard !isSecure, responsesOfRun > 1 || responsesOfLastRun > 1 else { return }
        if heldResponses.count == Self.heldTogether { sendHeldResponses() }
        heldDescriptor = peer.descriptor
        heldResponses.append(peer.descriptor)
    }

    /// Makes the kernel send the delayed responses. If a response is not completely written yet, its remaining bytes
    /// are not delayed.
    func sendHeldResponses() {
        guard !heldResponses.isEmpty else { return }
        heldDescriptor = -1
        // This may be called for a closed connection, whose descriptor may belong to another connection. It has no
        // effect then: no connection has a reason to delay bytes.
        for descriptor in heldResponses { Socket.push(descriptor) }
        heldResponses.removeAll(keepingCapacity: true)
    }
}

extension MHDErrorPages {
    /// The flags for sending bytes of the library on a socket.
    fileprivate static func flags(_ flags: Int32, on descriptor: Int32) -> Int32 {
        guard let core = runningCore, core.heldDescriptor == descriptor else { return flags }
        return flags | Socket.moreFollows
    }
}

/// Replaces the C library's `send` for the whole program; see ``ServerCore/hold(responseOf:)``.
@c(send)
public func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ size: Int, _ flags: Int32) -> Int {
    sendto(descriptor, bytes, size, MHDErrorPages.flags(flags, on: descriptor), nil, 0)
}

/// Replaces the C library's `sendmsg` for the whole program; see ``ServerCore/hold(responseOf:)``.
@c(sendmsg)
public func sendMessage(_ descriptor: Int32, _ message: UnsafeRawPointer?, _ flags: Int32) -> Int {
    shim_send_message(descriptor, message, MHDErrorPages.flags(flags, on: descriptor))
}
