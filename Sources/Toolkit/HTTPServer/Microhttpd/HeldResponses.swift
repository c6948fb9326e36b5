internal import CLinux
import Glibc

/// The responses that the library has written in this iteration of the loop and that are not yet sent.
///
/// Waking a client process on the same machine costs as much as sending the response. The loop therefore sends the
/// responses of an iteration one after the other at its end, and after the events of the iteration. The library sends a
/// response while its request is being handled. Therefore this file supplies the functions `send` and `sendmsg`, which
/// the library calls through the dynamic linker. They copy the response instead. If the library calls the C library's
/// functions, it sends each response itself.
///
/// The library regards a held response as sent. A response is therefore held only if the socket will accept all of it:
/// the response is short, and the client has acknowledged everything that was sent before.
struct HeldResponses {
    /// The maximum number of responses.
    fileprivate static let mostResponses = 32
    /// The maximum number of bytes of one response. A socket without unsent bytes accepts them, because this is the
    /// smallest buffer that Linux allows (`tcp_wmem`).
    fileprivate static let mostBytes = 4096

    /// The responses in the order in which they were written. `end` is the index after the response's last byte.
    fileprivate var responses: [(peer: HTTPConnection, end: Int)] = []
    fileprivate var bytes: [UInt8] = []
    /// The index of the first byte of the last response.
    fileprivate var start = 0
    /// The socket of the last response, while the library may still write bytes of it; -1 at other times.
    fileprivate var descriptor: Int32 = -1
}

extension ServerCore {
    /// Holds the response that is queued on a connection until the end of the iteration, if the response is short.
    func hold(responseOf peer: HTTPConnection) {
        if peer.hasHeldResponse || held.responses.count == HeldResponses.mostResponses { sendHeldResponses() }
        guard !isSecure, Socket.hasSentEverything(peer.descriptor) else { return held.descriptor = -1 }
        peer.hasHeldResponse = true
        held.descriptor = peer.descriptor
        held.start = held.bytes.count
        held.responses.append((peer, held.start))
    }

    /// Sends the held responses. If a response is not completely written yet, its remaining bytes are not held.
    func sendHeldResponses() {
        guard !held.responses.isEmpty else { return }
        var due = HeldResponses()
        swap(&due, &held)
        due.bytes.withUnsafeBytes { bytes in
            var start = 0
            for (peer, end) in due.responses {
                peer.hasHeldResponse = false
                if end > start { peer.send(UnsafeRawBufferPointer(rebasing: bytes[start..<end])) }
                start = end
            }
        }
        // The memory is used again.
        due.responses.removeAll(keepingCapacity: true)
        due.bytes.removeAll(keepingCapacity: true)
        due.descriptor = -1
        if held.responses.isEmpty { held = due }
    }

    /// Holds bytes that the library sends. Returns false if the caller must send them.
    fileprivate func hold(_ parts: UnsafeBufferPointer<iovec>, for descriptor: Int32) -> Bool {
        guard descriptor == held.descriptor else {
            if peers[descriptor]?.hasHeldResponse == true { sendHeldResponses() }
            return false
        }
        guard held.bytes.count - held.start + parts.reduce(0, { $0 + $1.iov_len }) <= HeldResponses.mostBytes else {
            sendHeldResponses()
            return false
        }
        for part in parts { held.bytes += UnsafeRawBufferPointer(start: part.iov_base, count: part.iov_len) }
        held.responses[held.responses.count - 1].end = held.bytes.count
        return true
    }
}

/// Replaces the C library's `send` for the whole program; see ``HeldResponses``.
@c(send)
public func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ size: Int, _ flags: Int32) -> Int {
    if let core = MHDErrorPages.runningCore {
        let part = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes), iov_len: size)
        let isHeld = withUnsafePointer(to: part) {
            core.hold(UnsafeBufferPointer(start: $0, count: 1), for: descriptor)
        }
        if isHeld { return size }
    }
    return sendto(descriptor, bytes, size, flags, nil, 0)
}

/// Replaces the C library's `sendmsg` for the whole program; see ``HeldResponses``.
@c(sendmsg)
public func sendMessage(_ descriptor: Int32, _ message: UnsafeRawPointer?, _ flags: Int32) -> Int {
    if let core = MHDErrorPages.runningCore, let header = message?.assumingMemoryBound(to: msghdr.self) {
        let parts = UnsafeBufferPointer(start: header.pointee.msg_iov, count: Int(header.pointee.msg_iovlen))
        if core.hold(parts, for: descriptor) { return parts.reduce(0) { $0 + $1.iov_len } }
    }
    return shim_send_message(descriptor, message, flags)
}
