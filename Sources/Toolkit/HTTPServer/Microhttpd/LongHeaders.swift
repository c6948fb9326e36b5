internal import CMicrohttpd
import Glibc

/// Moves an unencrypted connection to the daemon with more memory when a request header is long.
///
/// The library reads a header into memory of the connection, and zeroes all of that memory after each request. Memory
/// for the longest accepted header would make every request slower, so connections start in a daemon with little memory
/// (``DaemonOptions/Memory``). When a header fills this memory, the library sends an error without calling a callback.
///
/// Therefore this file supplies the function `recv`, which the library calls through the dynamic linker to read from
/// sockets. `recv` reads for the library and stores the bytes of an incomplete header. When the header becomes too long
/// for the small memory, `recv` duplicates the socket, passes the duplicate to the other daemon, and reports a reset to
/// the first daemon. The other daemon first reads the stored bytes.
///
/// `recv` also counts the bytes of each connection, and refuses to read while a detached request has no response
/// (``ServerCore/detach(_:)``).
///
/// A connection whose number of received bytes is unknown cannot be moved. The number is unknown after a chunked body,
/// and when the client has sent a request before the response to the previous one. On such a connection, a request
/// whose header does not fit is rejected with status 414 or 431.
enum LongHeaders {
    /// The weight of a header above which its connection is moved. The weight is the number of bytes, plus 64 for each
    /// line, semicolon and comma. The library needs 56 bytes of memory for each field and for each cookie. It also
    /// copies the field `Cookie`.
    static let weightLimit = 4 * 1024
    /// The maximum weight of a header on a connection that cannot be moved. A request with a heavier header is rejected
    /// with status 414 or 431.
    static let fixedWeightLimit = 6 * 1024
    /// True when libmicrohttpd calls the `recv` of this file. Otherwise all connections need memory for long headers.
    /// `Package.swift` determines whether the linker exports a program's `recv`.
    static let isPossible: Bool = {
        let own: @convention(c) (Int32, UnsafeMutableRawPointer?, Int, Int32) -> Int = receive
        return dlsym(nil, "recv") == unsafeBitCast(own, to: UnsafeMutableRawPointer.self)
    }()

    /// Returns the weight of the header that `bytes` begin with, and whether `bytes` contain the end of the header.
    /// Reads no more than the first ``fixedWeightLimit`` + 1 bytes, so that a long body costs little time.
    static func weigh(_ bytes: UnsafeRawBufferPointer) -> (weight: Int, isComplete: Bool) {
        let bytes = UnsafeRawBufferPointer(start: bytes.baseAddress, count: min(bytes.count, fixedWeightLimit + 1))
        var lines = 0
        var lineStart = 0
        while let lineEnd = bytes.firstIndex(of: 0x0A, from: lineStart) {
            lines += 1
            // A line that is empty ends the header (RFC 9112, 2.1). Empty lines may precede the request line.
            if lineEnd - lineStart == 1, bytes[lineStart] == 0x0D, lineStart > 2 {
                let header = UnsafeRawBufferPointer(start: bytes.baseAddress, count: lineEnd + 1)
                return (header.count + 64 * (lines + separators(header)), true)
            }
            lineStart = lineEnd + 1
        }
        return (bytes.count + 64 * (lines + separators(bytes)), false)
    }

    /// The number of semicolons and commas.
    private static func separators(_ bytes: UnsafeRawBufferPointer) -> Int {
        var count = 0
        for separator in [UInt8(ascii: ";"), UInt8(ascii: ",")] {
            var start = 0
            while let found = bytes.firstIndex(of: separator, from: start) {
                count += 1
                start = found + 1
            }
        }
        return count
    }
}

extension UnsafeRawBufferPointer {
    /// The index of the first byte with this value, not before `start`; nil when there is none.
    fileprivate func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        guard let base = baseAddress, let found = memchr(base + start, Int32(byte), count - start) else { return nil }
        return UnsafeRawPointer(found) - base
    }
}

extension ServerCore {
    /// Reads from a socket for libmicrohttpd, as the C library's `recv` does. Moves a connection with a long header to
    /// the other daemon, and then returns -1 with `errno` ECONNRESET. Returns -1 with EAGAIN while a detached request
    /// of the connection has no response.
    fileprivate func read(
        _ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ size: Int, _ flags: Int32
    ) -> Int {
        if !movedBytes.isEmpty,
            let count = readMoved(descriptor, UnsafeMutableRawBufferPointer(start: buffer, count: size))
        {
            return count
        }
        let peer = peers[descriptor]
        if detachedRequests > 0, let exchange = peer?.exchange, exchange.isDetached { return refuseInput(of: exchange) }
        let count = recvfrom(descriptor, buffer, size, flags, nil, nil)
        guard count > 0, flags & Socket.peek == 0 else { return count }
        if let counted = peer?.countedBytes { peer?.countedBytes = counted &+ UInt64(count) }
        guard longHeaderDaemon != nil else { return count }
        let bytes = UnsafeRawBufferPointer(start: buffer, count: count)
        let header = LongHeaders.weigh(bytes)
        // If any connection has a partial header, these bytes may continue that header, although they look complete.
        if header.isComplete, header.weight <= LongHeaders.weightLimit, partialHeaders == 0 { return count }
        guard let peer, !peer.hasLongHeaders, peer.isReadingHeader else { return count }
        if peer.partialHeader.isEmpty { partialHeaders += 1 }
        peer.partialHeader.append(contentsOf: bytes)
        let weight = peer.partialHeader.withUnsafeBytes { LongHeaders.weigh($0).weight }
        guard weight > LongHeaders.weightLimit else { return count }
        if !moveToLongHeaderDaemon(peer) {
            guard weight > LongHeaders.fixedWeightLimit else { return count }
            // This server sends the response, because the library would send its response header twice when cookies
            // exceed its memory.
            let hasLine = peer.partialHeader.contains(0x0A)
            let limit = LongHeaders.fixedWeightLimit
            peer.cut(saying: rawResponse(to: hasLine ? .headersTooLarge(limit: limit) : .targetTooLong(limit: limit)))
        }
        errno = ECONNRESET
        return -1
    }

    /// Drops the bytes of a header that is complete, or whose connection has ended.
    func dropPartialHeader(of peer: HTTPConnection) {
        guard !peer.partialHeader.isEmpty else { return }
        peer.partialHeader = []
        partialHeaders -= 1
    }

    /// Copies the bytes that were received before the connection was moved to this daemon into the buffer, and returns
    /// their number; nil when no such bytes are left.
    private func readMoved(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard let bytes = movedBytes.removeValue(forKey: descriptor) else { return nil }
        let count = min(bytes.count, buffer.count)
        bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
        guard count == bytes.count else {
            movedBytes[descriptor] = bytes.dropFirst(count)
            return count
        }
        // After a short read, the library does not read again until more bytes arrive. Further bytes may already be
        // here, so they are read now.
        guard let rest = buffer.baseAddress.map({ $0 + count }), buffer.count > count else { return count }
        return count + max(0, recvfrom(descriptor, rest, buffer.count - count, Socket.sendFlags, nil, nil))
    }

    /// Passes a connection to the daemon with more memory. Returns false when the connection cannot be passed.
    private func moveToLongHeaderDaemon(_ peer: HTTPConnection) -> Bool {
        guard let longHeaderDaemon,
            peer.readBytes == peer.received &+ UInt64(peer.partialHeader.count), let socket = duplicate(peer)
        else { return false }
        movedBytes[socket] = peer.partialHeader[...]
        incoming = IncomingConnection(address: peer.address, received: peer.received, hasLongHeaders: true)
        if !longHeaderDaemon.add(socket) { movedBytes[socket] = nil }
        return true
    }
}

/// Replaces the C library's `recv` for the whole program; see ``LongHeaders``. When libmicrohttpd is not running, this
/// function only calls the system's `recvfrom` and does nothing else.
@c(recv)
public func receive(
    _ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ size: Int, _ flags: Int32
) -> Int {
    guard let core = MHDErrorPages.runningCore, let buffer else {
        return recvfrom(descriptor, buffer, size, flags, nil, nil)
    }
    return core.read(descriptor, buffer, size, flags)
}
